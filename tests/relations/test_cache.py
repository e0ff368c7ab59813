"""Kept relations: nothing is asked twice, what is kept comes back bit for bit, and files that are not ours are told."""

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from localfact.errors import EngineError, InputError, WriteError
from localfact.llm.engine import Chat, Choice
from localfact.llm.scripted import ScriptedEngine
from localfact.records import Distribution, Failure, Pair, Span
from localfact.relations import cache, llm
from localfact.relations.cache import CachedRelations
from localfact.relations.lexical.model import LexicalRelationModel
from localfact.relations.llm import LLMRelationModel
from localfact.stages import Relations

FILE = "relations.sqlite"
PAIRS = [Pair(f"Passage {number // 3}.", f"Claim {number % 3}.") for number in range(9)]
THIRD = Distribution(
    entailment=1 / 3,
    contradiction=0.1 + 0.2,
    neutral=1 - 1 / 3 - (0.1 + 0.2),
    windows=7,
    window=Span(start=3, end=9),
)


class Asked:
    """Answers `THIRD` to all; fails on "broken"; keeps what it was asked. With a gate it waits until that is open."""

    def __init__(self, identity: str = "asked@1", gate: asyncio.Event | None = None) -> None:
        self.identity = identity
        self.calls: list[list[Pair]] = []
        self.gate = gate
        self.error: Exception | None = None

    @property
    def pairs(self) -> list[Pair]:
        return [pair for call in self.calls for pair in call]

    async def relate(self, pairs: Sequence[Pair]) -> Sequence[Distribution | Failure]:
        self.calls.append(list(pairs))
        if self.gate is not None:
            await self.gate.wait()
        if self.error is not None:
            raise self.error
        return [Failure(reason="cannot read it") if "broken" in pair.hypothesis else THIRD for pair in pairs]


class Reporting(Asked):
    """Reports its answers one after another, and each as often as the loop goes round."""

    async def relate_reporting(self, pairs: Sequence[Pair], report: Callable[[Relations], None]) -> None:
        for pair in pairs:
            report(dict(zip([pair], await self.relate([pair]), strict=True)))
            await asyncio.sleep(0)


class Turns(ScriptedEngine):
    """Answers nothing by itself: `turn` answers calls that wait."""

    def __init__(self) -> None:
        super().__init__(choose=lambda chat, labels: {"entailment": 0.2, "contradiction": 0.3})
        self.waiting: list[asyncio.Future[None]] = []

    async def choose(self, chat: Chat, labels: Sequence[str], *, prefix: str = "", stage: str) -> Choice:
        choice = await super().choose(chat, labels, prefix=prefix, stage=stage)
        self.waiting.append(asyncio.get_running_loop().create_future())
        await self.waiting[-1]
        return choice

    async def settled(self, calls: int) -> None:
        """Waits until so many calls were sent."""
        while len(self.calls) < calls:
            await asyncio.sleep(0)

    def turn(self, answered: int) -> None:
        """Answers some of those that wait, not the first ones first, as an engine does that works at all of them."""
        for future in [*self.waiting[1::2], *self.waiting[::2]][:answered]:
            self.waiting.remove(future)
            future.set_result(None)


def kept_pairs(file: Path) -> int:
    database = sqlite3.connect(file)
    (number,) = database.execute("SELECT count(*) FROM relations").fetchone()
    database.close()
    return int(number)


async def test_a_pair_is_asked_once_in_the_life_of_its_file_and_comes_back_bit_for_bit(tmp_path: Path) -> None:
    first = Asked()
    keeper = CachedRelations(first, tmp_path / FILE)
    said = await keeper.relate([*PAIRS, PAIRS[0]])
    assert await keeper.relate(PAIRS[:4]) == said[:4]
    assert sorted(first.pairs) == sorted(PAIRS)
    assert keeper.counts == {"asked": 9, "found": 4}
    keeper.close()

    second = Asked()
    again = CachedRelations(second, tmp_path / FILE)
    assert await again.relate([*PAIRS, PAIRS[0]]) == said == [THIRD] * 10
    assert second.calls == []
    assert again.counts == {"asked": 0, "found": 9}
    again.close()


async def test_one_set_of_pairs_serves_its_subsets_and_only_what_is_new_is_asked(tmp_path: Path) -> None:
    model = Asked()
    keeper = CachedRelations(model, tmp_path / FILE)
    await keeper.relate(PAIRS[:5])
    await keeper.relate(PAIRS)
    assert sorted(model.calls[1]) == sorted(PAIRS[5:])
    keeper.close()


async def test_a_real_models_predictions_come_back_in_order(tmp_path: Path) -> None:
    model = LexicalRelationModel()
    pairs = [Pair(f"The tower of {place} was built in 1{number}62.", f"The tower was built in 1{number}62 in {place}.")
             for number in range(9) for place in ("Paris", "Split", "\ud800")]  # fmt: skip
    said = list(await model.relate(pairs))
    for _ in range(2):
        keeper = CachedRelations(model, tmp_path / FILE)
        assert keeper.identity == model.identity
        assert await keeper.relate(pairs[::-1]) == said[::-1]
        keeper.close()
    assert len({prediction.model_dump_json() for prediction in said}) > 1


async def test_a_failure_is_not_kept_but_asked_again(tmp_path: Path) -> None:
    model = Asked()
    keeper = CachedRelations(model, tmp_path / FILE)
    pairs = [PAIRS[0], Pair("a", "broken"), PAIRS[1]]
    for _ in range(2):
        assert [type(one) for one in await keeper.relate(pairs)] == [Distribution, Failure, Distribution]
    assert model.calls[1] == [pairs[1]]
    assert keeper.counts == {"asked": 4, "found": 2}
    keeper.close()


async def test_models_of_other_identities_share_a_file_and_no_prediction(tmp_path: Path) -> None:
    for identity in ("asked@1", "asked@2"):
        model = Asked(identity)
        keeper = CachedRelations(model, tmp_path / FILE)
        await keeper.relate(PAIRS)
        assert len(model.pairs) == 9
        keeper.close()


async def test_premise_and_hypothesis_are_not_exchanged(tmp_path: Path) -> None:
    model = Asked()
    keeper = CachedRelations(model, tmp_path / FILE)
    await keeper.relate([Pair("a", "b")])
    await keeper.relate([Pair("b", "a"), Pair("ab", ""), Pair("", "ab")])
    assert len(model.pairs) == 4
    keeper.close()


async def test_pairs_on_their_way_for_one_response_are_not_asked_for_another(tmp_path: Path) -> None:
    model = Asked(gate=asyncio.Event())
    keeper = CachedRelations(model, tmp_path / FILE)
    assert model.gate is not None
    calls = [asyncio.ensure_future(keeper.relate(PAIRS[begin : begin + 5])) for begin in (0, 2, 4)]
    while len(model.calls) < 3:
        await asyncio.sleep(0)
    model.gate.set()
    assert await asyncio.gather(*calls) == [[THIRD] * 5] * 3
    assert sorted(model.pairs) == sorted(PAIRS)
    assert keeper.counts == {"asked": 9, "found": 6}
    keeper.close()


async def test_who_waits_for_a_response_that_is_cancelled_asks_itself(tmp_path: Path) -> None:
    model = Asked(gate=asyncio.Event())
    keeper = CachedRelations(model, tmp_path / FILE)
    assert model.gate is not None
    first, second = (asyncio.ensure_future(keeper.relate(PAIRS)) for _ in range(2))
    while not model.calls:
        await asyncio.sleep(0)
    first.cancel()
    while len(model.calls) < 2:
        await asyncio.sleep(0)
    model.gate.set()
    assert await second == [THIRD] * 9
    assert first.cancelled()
    keeper.close()


async def test_a_cancelled_response_takes_nothing_from_the_one_that_asks(tmp_path: Path) -> None:
    model = Asked(gate=asyncio.Event())
    keeper = CachedRelations(model, tmp_path / FILE)
    assert model.gate is not None
    first, second = (asyncio.ensure_future(keeper.relate(PAIRS)) for _ in range(2))
    while not model.calls:
        await asyncio.sleep(0)
    second.cancel()
    await asyncio.sleep(0)
    model.gate.set()
    assert await first == [THIRD] * 9
    assert second.cancelled()
    assert len(model.calls) == 1
    keeper.close()


async def test_an_error_of_the_model_is_raised_to_each_that_asks_and_leaves_the_next_a_fresh_try(tmp_path: Path) -> None:
    model = Asked()
    model.error = EngineError("It died.")
    keeper = CachedRelations(model, tmp_path / FILE)
    ends = await asyncio.gather(keeper.relate(PAIRS), keeper.relate(PAIRS), return_exceptions=True)
    assert [type(end) for end in ends] == [EngineError, EngineError]
    model.error = None
    assert await keeper.relate(PAIRS) == [THIRD] * 9
    keeper.close()


async def test_what_was_asked_before_an_error_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "PAIRS_AT_ONCE", 4)

    class Dying(Asked):
        async def relate(self, pairs: Sequence[Pair]) -> Sequence[Distribution | Failure]:
            if self.calls:
                raise EngineError("It died.")
            return await super().relate(pairs)

    dying = Dying()
    keeper = CachedRelations(dying, tmp_path / FILE)
    with pytest.raises(EngineError):
        await keeper.relate(PAIRS)
    model = Asked()
    again = CachedRelations(model, tmp_path / FILE)
    await again.relate(PAIRS)
    assert len(dying.pairs) == 4
    assert sorted(model.pairs + dying.pairs) == sorted(PAIRS)
    again.close()
    keeper.close()


async def test_a_cancelled_call_of_a_language_model_keeps_every_pair_that_was_answered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(llm, "PAIRS_AT_ONCE", 8)
    engine = Turns()
    keeper = CachedRelations(LLMRelationModel(engine), tmp_path / FILE)
    call = asyncio.ensure_future(keeper.relate([Pair(f"Passage {number}.", "Claim.") for number in range(40)]))
    for answered in range(0, 30, 2):
        await engine.settled(8 + answered)
        engine.turn(2)
    await engine.settled(38)
    call.cancel()
    await asyncio.wait([call])
    assert call.cancelled()
    keeper.close()
    assert kept_pairs(tmp_path / FILE) == 30
    assert keeper.counts == {"asked": 30, "found": 0}


async def test_an_engine_that_dies_takes_no_answer_with_it(tmp_path: Path) -> None:
    class Dying(ScriptedEngine):
        async def choose(self, chat: Chat, labels: Sequence[str], *, prefix: str = "", stage: str) -> Choice:
            if len(self.calls) == 25:
                raise EngineError("It died.")
            return await super().choose(chat, labels, prefix=prefix, stage=stage)

    keeper = CachedRelations(LLMRelationModel(Dying()), tmp_path / FILE)
    with pytest.raises(EngineError, match="It died"):
        await keeper.relate([Pair(f"Passage {number}.", "Claim.") for number in range(40)])
    keeper.close()
    assert kept_pairs(tmp_path / FILE) == 25


async def test_keeping_leaves_an_engine_full_to_the_last_pair_and_asked_premise_by_premise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "PAIRS_AT_ONCE", 20)
    monkeypatch.setattr(llm, "PAIRS_AT_ONCE", 8)
    engine = Turns()
    keeper = CachedRelations(LLMRelationModel(engine), tmp_path / FILE)
    pairs = [Pair(f"Passage {number % 16:02}.", f"Claim {number // 16}.") for number in range(96)]
    call = asyncio.ensure_future(keeper.relate(pairs))
    for answered in range(0, 96, 4):
        await engine.settled(min(96, answered + 8))
        assert len(engine.waiting) == min(8, 96 - answered)
        engine.turn(4)
    await call
    keeper.close()
    shown = [chat[-1].content.rpartition("Passage ")[2][:2] for chat in engine.calls]
    assert shown == sorted(shown)
    assert kept_pairs(tmp_path / FILE) == 96


async def test_what_was_told_and_is_being_written_is_not_asked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = Reporting()
    keeper = CachedRelations(model, tmp_path / FILE)
    writing, gate = threading.Event(), threading.Event()
    keep = keeper._store.add

    def slowly(predictions: Mapping[Pair, Distribution | Failure]) -> None:
        writing.set()
        gate.wait()
        keep(predictions)

    monkeypatch.setattr(keeper._store, "add", slowly)
    first = asyncio.ensure_future(keeper.relate(PAIRS))
    while not writing.is_set() or len(model.calls) < 9:
        await asyncio.sleep(0)
    first.cancel()
    await asyncio.wait([first])
    second = asyncio.ensure_future(keeper.relate(PAIRS))
    await asyncio.sleep(0)
    gate.set()
    assert await second == [THIRD] * 9
    assert len(model.calls) == 9
    keeper.close()
    assert kept_pairs(tmp_path / FILE) == 9


@pytest.mark.parametrize("pairs", [1, 9])
async def test_answers_that_cannot_be_written_end_the_call_and_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pairs: int
) -> None:
    keeper = CachedRelations(model := Reporting(), tmp_path / FILE)

    def full(predictions: Mapping[Pair, Distribution | Failure]) -> None:
        raise WriteError("The disk is full.")

    with monkeypatch.context() as patch:
        patch.setattr(keeper._store, "add", full)
        with pytest.raises(WriteError, match="disk is full"):
            await keeper.relate(PAIRS[:pairs])
    model.calls.clear()
    assert await keeper.relate(PAIRS) == [THIRD] * 9
    assert len(model.calls) == 9
    keeper.close()


async def test_no_pairs_are_no_question(tmp_path: Path) -> None:
    model = Asked()
    keeper = CachedRelations(model, tmp_path / FILE)
    assert await keeper.relate([]) == []
    assert model.calls == []
    keeper.close()


async def test_two_may_keep_in_one_file(tmp_path: Path) -> None:
    one, other = (CachedRelations(Asked(), tmp_path / FILE) for _ in range(2))
    await asyncio.gather(one.relate(PAIRS[:6]), other.relate(PAIRS[3:]))
    one.close()
    model = Asked()
    third = CachedRelations(model, tmp_path / FILE)
    await third.relate(PAIRS)
    assert model.calls == []
    third.close()
    other.close()


async def test_a_closed_file_is_one_plain_file(tmp_path: Path) -> None:
    keeper = CachedRelations(Asked(), tmp_path / "new" / FILE)
    await keeper.relate(PAIRS)
    keeper.close()
    keeper.close()
    assert [file.name for file in (tmp_path / "new").iterdir()] == [FILE]


KILLED = f"""
import asyncio, os, signal, sys
from pathlib import Path
from localfact.records import Distribution, Pair
from localfact.relations import cache

cache.PAIRS_AT_ONCE = 5

class Model:
    identity = "asked@1"
    calls = 0
    async def relate(self, pairs):
        self.calls += 1
        if self.calls == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        return [Distribution(**{THIRD.model_dump()})] * len(pairs)

pairs = [Pair(f"Passage {{number}}.", "Claim.") for number in range(20)]
asyncio.run(cache.CachedRelations(Model(), Path(sys.argv[1])).relate(pairs))
"""


async def test_a_killed_process_loses_no_more_than_what_was_being_asked(tmp_path: Path) -> None:
    here = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])}
    ended = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path / FILE)], env=here, check=False)
    assert ended.returncode == -signal.SIGKILL
    model = Asked()
    keeper = CachedRelations(model, tmp_path / FILE)
    assert await keeper.relate([Pair(f"Passage {number}.", "Claim.") for number in range(20)]) == [THIRD] * 20
    assert keeper.counts == {"asked": 10, "found": 10}
    keeper.close()


def test_a_file_of_something_else_is_told_and_left_as_it_is(tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("These are notes. " * 100)
    with pytest.raises(InputError, match=r"notes\.txt holds no relations of localfact\. Move it away"):
        CachedRelations(Asked(), text)
    assert text.read_text() == "These are notes. " * 100
    other = tmp_path / "other.sqlite"
    database = sqlite3.connect(other)
    database.execute("CREATE TABLE notes (note TEXT)")
    database.close()
    before = other.read_bytes()
    with pytest.raises(InputError, match="holds no relations of localfact"):
        CachedRelations(Asked(), other)
    assert other.read_bytes() == before


@pytest.mark.parametrize("number", [1, 3])
def test_a_file_of_another_format_is_told(tmp_path: Path, number: int) -> None:
    CachedRelations(Asked(), tmp_path / FILE).close()
    database = sqlite3.connect(tmp_path / FILE)
    database.execute(f"PRAGMA user_version = {number}")
    database.close()
    with pytest.raises(InputError, match=f"format {number}, and this version of localfact reads format 2 alone"):
        CachedRelations(Asked(), tmp_path / FILE)


async def test_a_damaged_file_is_told_with_a_cure(tmp_path: Path) -> None:
    keeper = CachedRelations(Asked(), tmp_path / FILE)
    await keeper.relate([Pair(f"Passage {number}.", "Claim.") for number in range(500)])
    keeper.close()
    content = bytearray((tmp_path / FILE).read_bytes())
    content[4096:] = b"\xff" * (len(content) - 4096)
    (tmp_path / FILE).write_bytes(content)
    with pytest.raises(InputError, match=r"is damaged: .* Remove it: the pairs it kept are then asked again"):
        await CachedRelations(Asked(), tmp_path / FILE).relate(PAIRS)


async def test_a_kept_number_that_is_no_probability_is_told(tmp_path: Path) -> None:
    keeper = CachedRelations(Asked(), tmp_path / FILE)
    await keeper.relate(PAIRS)
    keeper.close()
    database = sqlite3.connect(tmp_path / FILE)
    database.execute("UPDATE relations SET neutral = 7.0")
    database.commit()
    database.close()
    again = CachedRelations(Asked(), tmp_path / FILE)
    with pytest.raises(InputError, match="is damaged: a prediction in it is none"):
        await again.relate(PAIRS)
    again.close()


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(WriteError, match="cannot be written"):
        CachedRelations(Asked(), tmp_path / "file" / FILE)
    with pytest.raises(WriteError, match="cannot be written"):
        CachedRelations(Asked(), tmp_path)
