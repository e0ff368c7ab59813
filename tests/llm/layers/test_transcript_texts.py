"""What calls say alike stands once in a transcript, comes back as it was, and what is damaged is said to be so."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
import zstandard
from counting_engine import CountingEngine, generate
from hypothesis import given
from hypothesis import strategies as st

from localfact.errors import InputError, RequestError, WriteError
from localfact.llm.engine import Message
from localfact.llm.layers import transcript_texts
from localfact.llm.layers.recording import RecordingLayer, ReplayEngine
from localfact.llm.layers.transcript_store import CallStore
from localfact.llm.layers.transcript_texts import DEPTH, MOST_BYTES, Base, Bases, lines_of, pack, unpack


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "calls.sqlite"


PREMISES = [" ".join(f"{chr(97 + place % 26)}{number * place % 97}" for place in range(120)) for number in range(5)]
INSTRUCTIONS = "\n".join(f"Rule {number}: say of each pair what holds, and nothing else." for number in range(20))


def prompt(premise: int, claim: int) -> str:
    return f"{INSTRUCTIONS}\n{PREMISES[premise]}\nClaim {claim} of somebody about {premise}."


async def recorded_pairs(file: Path, claims: int) -> int:
    """Records choices about every premise and claim; returns the characters of all that was asked and answered."""
    recording = RecordingLayer(CountingEngine(), file)
    for claim in range(claims):
        for premise in range(len(PREMISES)):
            await recording.choose([Message("user", prompt(premise, claim))], ["yes", "no"], stage="relate")
    await recording.aclose()
    with closing(CallStore.to_replay(file)) as store:
        rows = list(store.read_first(10_000))
        assert store.count() == claims * len(PREMISES) == len(rows)
    assert [json.loads(request)["messages"][0]["content"] for _, request, _ in rows] == [
        prompt(premise, claim) for claim in range(claims) for premise in range(len(PREMISES))
    ]
    return sum(len(request) + len(answer) for _, request, answer in rows)


async def test_what_calls_say_alike_stands_once(file: Path) -> None:
    characters = await recorded_pairs(file, 60)
    assert file.stat().st_size < characters / 5
    with closing(sqlite3.connect(file)) as database:
        bases = database.execute("SELECT base, count(*) FROM calls GROUP BY base ORDER BY base").fetchall()
    # The first stands alone, the other premises' first on it, and all others on the first about their premise.
    assert bases == [(None, 1), (1, 59 + 4), (2, 59), (3, 59), (4, 59), (5, 59)]


async def test_a_call_that_failed_is_no_base_of_others_and_its_row_can_change(file: Path) -> None:
    engine = CountingEngine()
    engine.failures = [RequestError("busy")]
    recording = RecordingLayer(engine, file)
    chats = [[Message("user", prompt(0, claim))] for claim in range(3)]
    with pytest.raises(RequestError):
        await recording.choose(chats[0], ["yes", "no"], stage="relate")
    answers = [await recording.choose(chat, ["yes", "no"], stage="relate") for chat in (*chats[1:], chats[0])]
    await recording.aclose()
    with closing(sqlite3.connect(file)) as database:
        assert database.execute("SELECT row, base FROM calls ORDER BY row").fetchall() == [(1, 2), (2, None), (3, 2)]
    replay = ReplayEngine(file)
    assert [await replay.choose(chat, ["yes", "no"], stage="relate") for chat in (*chats[1:], chats[0])] == answers
    await replay.aclose()


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("UPDATE calls SET base = row", "bases have bases"),
        ("UPDATE calls SET base = 7 - row", "bases have bases"),
        ("UPDATE calls SET base = 999", "its base is not there"),
        # Another text than the one that it was written with.
        ("UPDATE calls SET base = CASE row WHEN 6 THEN 2 END", "a call in it cannot be read"),
        ("UPDATE calls SET answer = x'00'", "a call in it cannot be read"),
        ("UPDATE calls SET answer = zeroblob(9)", "a call in it cannot be read"),
    ],
)
async def test_bases_that_lead_nowhere_or_round_in_a_circle_are_damage(file: Path, statement: str, said: str) -> None:
    await recorded_pairs(file, 2)
    with closing(sqlite3.connect(file)) as database, database:
        database.execute(statement)
    replay = ReplayEngine(file)
    with pytest.raises(InputError, match=f"is damaged: .*{said}"):
        await replay.choose([Message("user", prompt(0, 1))], ["yes", "no"], stage="relate")
    await replay.aclose()


def test_a_frame_that_says_it_holds_too_much_is_not_opened() -> None:
    bomb = zstandard.ZstdCompressor().compress(b"x" * (MOST_BYTES + 1))
    assert len(bomb) < 10_000
    with pytest.raises(ValueError, match="more than 64 MiB"):
        unpack(bomb, None)


@given(st.text(), st.none() | st.text())
def test_a_text_comes_back_with_its_base_alone(text: str, base: str | None) -> None:
    text, base = text.encode("utf-8", "replace").decode(), base and base.encode("utf-8", "replace").decode()
    assert unpack(pack(text, base), base) == text


def test_a_frame_tells_another_base_from_its_own() -> None:
    frame = pack(prompt(0, 1), prompt(0, 0))
    assert len(frame) < 100
    with pytest.raises(ValueError, match="checksum"):
        unpack(frame, prompt(0, 0).replace("holds", "folds"))


async def test_bases_stand_on_bases_only_so_high(file: Path) -> None:
    recording = RecordingLayer(CountingEngine(), file)
    lines = [f"This is line number {number}, which is long enough." for number in range(40)]
    for end in range(5, 40):
        # Each shares most with the one before it.
        await recording.choose([Message("user", "\n".join(lines[end - 5 : end]))], ["yes", "no"], stage="relate")
    await recording.aclose()
    with closing(sqlite3.connect(file)) as database:
        bases = dict(database.execute("SELECT row, base FROM calls"))
    heights = [0] * (len(bases) + 1)
    for row, base in sorted(bases.items()):
        heights[row] = heights[base] + 1 if base else 0
    assert max(heights) == DEPTH
    replay = ReplayEngine(file)
    for end in range(5, 40):
        await replay.choose([Message("user", "\n".join(lines[end - 5 : end]))], ["yes", "no"], stage="relate")
    await replay.aclose()


async def test_a_call_too_long_to_be_read_again_is_not_kept(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recording = RecordingLayer(CountingEngine(), file)
    monkeypatch.setattr(transcript_texts, "MOST_BYTES", 1000)
    with pytest.raises(WriteError, match=f"{file} cannot be written: a text has more than"):
        await generate(recording, "x" * 1000)
    assert (await generate(recording, "x")).text == "first 2"
    await recording.aclose()


def test_bases_are_forgotten_by_their_size_and_their_lines_with_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transcript_texts, "BASES_SIZE", 3000)
    bases = Bases()
    requests = [f"{'Instructions of all stages. ' * 3}\\n{str(number) * 100}" for number in range(8)]
    for row, request in enumerate(requests):
        lines = lines_of("s", request)
        bases.offer(Base(row, request, "", 0, frozenset(lines)))
        bases.of(lines_of("s", requests[0]))  # is used all the time
    found = [bases.of(lines_of("s", request.partition("\\n")[2])) for request in requests]
    assert [base and base.row for base in found] == [0, None, None, None, 4, 5, 6, 7]  # five of 586 characters each
    assert len(bases._first) == 1 + sum(base is not None for base in found)
    bases.offer(Base(9, "y" * 4000, "", 0, frozenset(lines_of("s", "y" * 4000))))
    assert bases.of(lines_of("s", "y" * 4000)) is None
    with_depth = Base(10, "z" * 50, "", DEPTH, frozenset(lines_of("s", "z" * 50)))
    bases.offer(with_depth)
    assert bases.of(lines_of("s", "z" * 50)) is None
