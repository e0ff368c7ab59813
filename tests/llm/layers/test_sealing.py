"""What a model is sent has codes that nobody can compute who does not know the machine's secret."""

import re
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localfact.llm.engine import Message
from localfact.llm.layers.recording import RecordingLayer, ReplayEngine, describe_identity
from localfact.llm.layers.sealing import SECRET_FILE, SealingLayer, key_codes, machine_secret, seal
from localfact.llm.markers import MARKER
from localfact.llm.scripted import ScriptedEngine
from localfact.methods.engine import EngineFacts, open_engine
from localfact.methods.options import Options
from localfact.prompts.boundary import Boundary
from localfact.prompts.chats import relation_chat

PAIR = ("Water boils at 100 degrees.", "Water boils.")
CHAT = relation_chat(*PAIR, boundary=Boundary())
CODES = {found["code"] for turn in CHAT for found in MARKER.finditer(turn.content)}


def codes(text: str) -> set[str]:
    return {found["code"] for found in MARKER.finditer(text)}


async def test_the_model_is_sent_other_codes_and_nothing_else_is_changed() -> None:
    engine = ScriptedEngine(lambda chat: [("Fine.", 1.0)])
    await SealingLayer(engine, b"secret").generate(CHAT, max_tokens=9, stage="test")
    ((sent,),) = engine.calls
    assert CODES
    assert codes(sent.content).isdisjoint(CODES)
    assert len(codes(sent.content)) == len(CODES)
    assert MARKER.sub("", sent.content) == MARKER.sub("", CHAT[0].content)
    for before, after in zip(MARKER.finditer(CHAT[0].content), MARKER.finditer(sent.content), strict=True):
        assert (before["before"], key_codes(b"secret")(before["code"])) == (after["before"], after["code"])


async def test_codes_that_a_model_repeats_are_turned_back_in_their_place() -> None:
    engine = ScriptedEngine(lambda chat: [(f"As {MARKER.search(chat[0].content)[0]} says.", 1.0)])  # type: ignore[index]
    said = await SealingLayer(engine, b"secret").generate(CHAT, max_tokens=99, stage="test")
    first = MARKER.search(CHAT[0].content)
    assert first is not None
    assert said.text == f"As {first[0]} says."
    assert said.covered


async def test_a_transcript_knows_no_secret_and_is_replayed_without(tmp_path: Path) -> None:
    engine = ScriptedEngine(lambda chat: [("Fine.", 1.0)])
    recording = RecordingLayer(SealingLayer(engine, b"one secret"), tmp_path / "calls.sqlite")
    said = await recording.generate(CHAT, max_tokens=9, stage="test")
    await recording.aclose()
    replay = ReplayEngine(tmp_path / "calls.sqlite", describe_identity(engine.identity))
    assert (await replay.generate(CHAT, max_tokens=9, stage="test")).text == said.text
    kept = (tmp_path / "calls.sqlite").read_bytes()
    assert all(key_codes(b"one secret")(code).encode() not in kept for code in CODES)


def test_equal_secrets_give_equal_codes_and_others_do_not() -> None:
    assert key_codes(b"a")("0123abcd") == key_codes(b"a")("0123abcd") != key_codes(b"b")("0123abcd")
    assert re.fullmatch("[0-9a-f]{8}", key_codes(b"a")("0123abcd"))


@given(st.text(), st.text())
def test_no_text_between_markers_is_changed(text: str, title: str) -> None:
    enclosed = Boundary().enclose("evidence", text, title)
    (turn,), _ = seal((Message("user", enclosed),), key_codes(b"secret"))
    assert turn.content.split("\n")[1:-1] == enclosed.split("\n")[1:-1]
    assert turn.content != enclosed


def test_the_secret_of_a_machine_is_made_once_for_its_user_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    first = machine_secret()
    assert machine_secret() == first
    assert len(first) == 64
    assert (tmp_path / "localfact" / SECRET_FILE).stat().st_mode & 0o777 == 0o600


def test_where_no_secret_can_be_kept_each_call_has_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    assert machine_secret() != machine_secret()


def test_a_secret_that_was_emptied_is_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    (tmp_path / "localfact").mkdir()
    (tmp_path / "localfact" / SECRET_FILE).write_bytes(b"")
    assert machine_secret() == machine_secret() != b""
    assert [file.name for file in (tmp_path / "localfact").iterdir()] == [SECRET_FILE]


def test_a_user_without_a_home_has_a_secret_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("XDG_STATE_HOME", "HOME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr("pwd.getpwuid", lambda uid: {}[uid])
    assert len(machine_secret()) == 64


def test_a_link_in_the_place_of_the_secret_is_not_written_through(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    (tmp_path / "localfact").mkdir()
    (tmp_path / "localfact" / SECRET_FILE).symlink_to(tmp_path / "elsewhere")
    machine_secret()
    assert not (tmp_path / "elsewhere").exists()


async def test_the_engine_that_is_opened_seals() -> None:
    engine = ScriptedEngine(lambda chat: [("Fine.", 1.0)])
    settings: Any = object()
    facts = EngineFacts(engine.identity, settings=settings)
    async with AsyncExitStack() as opened:
        for secret in (None, b"another machine's"):
            made = open_engine(Options(model="any"), opened, facts, lambda _: engine, secret)
            await made.generate(CHAT, max_tokens=9, stage="test")
    here, there = (codes(chat[0].content) for chat in engine.calls)
    assert here.isdisjoint(CODES)
    assert here == codes(seal(CHAT, key_codes(machine_secret()))[0][0].content)
    assert there == codes(seal(CHAT, key_codes(b"another machine's"))[0][0].content)
