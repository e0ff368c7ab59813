import asyncio
import json
import math
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from counting_engine import IDENTITY, LABELS, CountingEngine, asked, generate

from localfact.errors import EngineError, InputError, MissingError, PromptTooLongError, RequestError
from localfact.llm.engine import Engine, EngineIdentity, Generation
from localfact.llm.layers.recording import RecordingLayer, ReplayEngine, identities, prepare
from localfact.llm.layers.transcript_store import CallStore
from localfact.llm.scripted import ScriptedEngine


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "calls.sqlite"


def rows(file: Path, statement: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(file)) as database:
        return database.execute(statement).fetchall()


def kept(file: Path) -> list[tuple[str, str, str]]:
    """Stage, request and answer of every call that is no count."""
    with closing(CallStore.to_replay(file)) as store:
        return list(store.read_first(1000))


def kept_texts(file: Path) -> list[str]:
    return [json.loads(answer)["text"] for _, _, answer in kept(file)]


async def test_a_replay_is_bit_for_bit_what_was_recorded(file: Path) -> None:
    answer = [("Zoë", 1 / 3), (" 😀", 0.1 + 0.2), ("\n", 5e-324)]
    engine = ScriptedEngine(lambda chat: answer, lambda chat, labels: {"neutral": 1 / 7})
    recording = RecordingLayer(engine, file)

    async def run(model: Any) -> list[Any]:
        return [
            await model.count(asked("a b"), prefix="c"),
            await generate(model, "a"),
            await generate(model, "a", stop=["\n"], temperature=0.7, seed=3),
            await model.choose(asked("a"), LABELS, stage="relations"),
            await model.choose(asked("a"), LABELS, prefix="It is ", stage="relations"),
        ]

    recorded = await run(recording)
    again = await run(recording)
    await recording.aclose()
    replay = ReplayEngine(file)
    replayed = await run(replay)
    await replay.aclose()
    assert len(engine.calls) == 4  # counting is not a call of the scripted engine
    assert replay.identity == engine.identity
    assert recorded == again == replayed
    as_bytes = [[one.model_dump_json() for one in answers[1:]] for answers in (recorded, again, replayed)]
    assert as_bytes[0] == as_bytes[1] == as_bytes[2]
    assert recorded[1] == await generate(engine, "a")
    assert [token.log_prob for token in replayed[1].tokens] == [math.log(1 / 3), math.log(0.1 + 0.2), math.log(5e-324)]


async def test_a_choice_keeps_the_order_of_its_own_request(file: Path) -> None:
    engine = CountingEngine()
    recording = RecordingLayer(engine, file)
    first = await recording.choose(asked("a"), LABELS, stage="s")
    turned = await recording.choose(asked("a"), LABELS[::-1], stage="s")
    await recording.aclose()
    assert engine.calls == 1
    assert (list(first.log_probs), list(turned.log_probs)) == (list(LABELS), list(LABELS[::-1]))
    assert first == turned


async def test_a_miss_names_the_call_and_the_cure(file: Path) -> None:
    recording = RecordingLayer(ScriptedEngine(), file)
    await generate(recording, "Known.")
    await recording.aclose()
    replay = ReplayEngine(file)
    with pytest.raises(MissingError) as caught:
        await generate(replay, "x" * 500 + "\ud800\nIs   the moon\x00 of cheese?")
    message = str(caught.value)
    message.encode()
    assert "'generate' of the stage 'extraction'" in message
    assert "Is the moon of cheese?”" in message
    assert f"--transcript {file}" in message
    assert len(message) < 600
    with pytest.raises(MissingError, match=r"'count' \(key [0-9a-f]{12}"):
        await replay.count(asked("Known."), prefix="but begun")
    await replay.aclose()


async def test_a_prompt_that_is_too_long_is_replayed_as_such_and_only_for_its_window(file: Path) -> None:
    chat = asked(" ".join(["word"] * 30))
    short = RecordingLayer(ScriptedEngine(window=20), file)
    with pytest.raises(PromptTooLongError) as recorded:
        await short.choose(chat, LABELS, stage="s")
    await short.aclose()
    long = RecordingLayer(ScriptedEngine(window=400), file)
    await long.choose(chat, LABELS, stage="s")
    await long.aclose()
    windows = [identity.window for identity in identities(file)]
    assert windows == [20, 400]
    replay = ReplayEngine(file, "scripted@0 float32, template plain, window 20")
    with pytest.raises(PromptTooLongError) as replayed:
        await replay.choose(chat, LABELS, stage="s")
    assert str(replayed.value) == str(recorded.value)
    await replay.aclose()
    replay = ReplayEngine(file, "scripted@0 float32, template plain, window 400")
    assert (await replay.choose(chat, LABELS, stage="s")).mass == pytest.approx(1)
    await replay.aclose()


async def test_a_request_that_failed_fails_in_a_replay_too_until_it_was_recorded_again(file: Path) -> None:
    for failures, answered, asked_again in (([RequestError("(NaN)")], False, 1), ([], True, 1), ([], True, 0)):
        engine = CountingEngine()
        engine.failures = list(failures)
        recording = RecordingLayer(engine, file)
        assert isinstance(await anyhow(recording), Generation) == answered
        assert engine.calls == asked_again
        await recording.aclose()
        replay = ReplayEngine(file)
        assert isinstance(await anyhow(replay), Generation) == answered
        await replay.aclose()


async def anyhow(engine: Engine) -> Generation | str:
    try:
        return await generate(engine, "a")
    except RequestError as error:
        return str(error)


async def test_equal_calls_at_once_are_asked_once(file: Path) -> None:
    engine = CountingEngine()
    recording = RecordingLayer(engine, file)
    answers = await asyncio.gather(*(generate(recording, "same") for _ in range(50)), generate(recording, "other"))
    await recording.aclose()
    assert engine.calls == 2
    assert len({answer.text for answer in answers[:50]}) == 1


async def test_a_first_call_that_fails_does_not_fail_those_that_wait_along(file: Path) -> None:
    engine = CountingEngine()
    engine.failures = [EngineError("a cable came loose")]
    recording = RecordingLayer(engine, file)
    answers = await asyncio.gather(*(generate(recording, "same") for _ in range(5)), return_exceptions=True)
    assert isinstance(answers[0], EngineError)
    assert answers[1:] == [await generate(recording, "same")] * 4
    assert engine.calls == 2
    await recording.aclose()


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not condition():
            await asyncio.sleep(0)


async def test_a_cancelled_first_call_does_not_cancel_those_that_wait_along(file: Path) -> None:
    engine = CountingEngine()
    engine.gate.clear()
    recording = RecordingLayer(engine, file)
    first, second = (asyncio.create_task(generate(recording, "same")) for _ in range(2))
    await until(lambda: engine.calls == 1)
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    engine.gate.set()
    assert (await second).text == "first 1"
    assert engine.cancelled == 0
    await recording.aclose()


async def test_a_call_that_nobody_waits_for_any_more_is_taken_back_and_may_be_made_again(file: Path) -> None:
    engine = CountingEngine()
    engine.gate.clear()
    recording = RecordingLayer(engine, file)
    waiting = [asyncio.create_task(generate(recording, "same")) for _ in range(3)]
    await until(lambda: engine.calls == 1)
    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    again = asyncio.create_task(generate(recording, "same"))
    await until(lambda: engine.cancelled == 1 and engine.calls == 2)
    engine.gate.set()
    assert (await again).text == "first 2"
    await recording.aclose()
    assert kept_texts(file) == ["first 2"]


@pytest.mark.parametrize("failure", [EngineError("the engine is gone"), InputError("no such role"), ValueError("a bug")])
async def test_other_errors_are_raised_and_not_kept(file: Path, failure: Exception) -> None:
    engine = CountingEngine()
    engine.failures = [failure]
    recording = RecordingLayer(engine, file)
    with pytest.raises(type(failure), match=str(failure)):
        await generate(recording, "a")
    assert (await generate(recording, "a")).text == "first 2"
    await recording.aclose()


async def test_calls_still_open_when_the_engine_closes_fail_and_so_do_later_ones(file: Path) -> None:
    engine = CountingEngine()
    recording = RecordingLayer(engine, file)
    await generate(recording, "known")
    engine.gate.clear()
    still_open = [asyncio.create_task(generate(recording, "same")) for _ in range(2)]
    await until(lambda: engine.calls == 2)
    await recording.aclose()
    for task in still_open:
        with pytest.raises(EngineError, match="closed while a call was open"):
            await task
    with pytest.raises(EngineError, match="was closed"):
        await generate(recording, "known")
    await recording.aclose()
    assert engine.closed


async def test_the_first_answer_that_is_kept_stands_for_all_who_share_the_file(file: Path) -> None:
    engines = [CountingEngine("one"), CountingEngine("two")]
    first, second = (RecordingLayer(engine, file) for engine in engines)
    for engine in engines:
        engine.gate.clear()
    tasks = [asyncio.create_task(generate(recording, "same")) for recording in (first, second)]
    await until(lambda: engines[0].calls == engines[1].calls == 1)  # both have looked in vain
    engines[1].gate.set()
    assert (await tasks[1]).text == "two 1"
    engines[0].gate.set()
    assert (await tasks[0]).text == "two 1"
    await first.aclose()
    await second.aclose()
    assert sorted(path.name for path in file.parent.iterdir()) == ["calls.sqlite"]


def test_threads_with_event_loops_of_their_own_share_one_recording(file: Path) -> None:
    engine = CountingEngine()
    recording = RecordingLayer(engine, file)
    answers: list[list[str]] = []

    def work() -> None:
        async def run() -> list[str]:
            return [answer.text for answer in await asyncio.gather(*(generate(recording, f"{i}") for i in range(40)))]

        answers.append(asyncio.run(run()))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    asyncio.run(recording.aclose())
    assert len(answers) == 4
    assert all(one == answers[0] for one in answers)
    assert rows(file, "SELECT COUNT(*) FROM calls") == [(40,)]


async def test_a_file_of_several_models_is_replayed_by_name(file: Path) -> None:
    others = [
        IDENTITY,
        EngineIdentity(model="other", revision="2", dtype="bfloat16", quantisation="fp8", window=64),
        EngineIdentity(model="other", revision="3", dtype="bfloat16", window=64),
    ]
    for identity in others:
        recording = RecordingLayer(CountingEngine(identity.revision, identity), file)
        assert (await generate(recording, "same")).text == f"{identity.revision} 1"
        await recording.aclose()
    assert identities(file) == others
    for name, identity in [("tiny", others[0]), ("other@2", others[1]), ("other@3", others[2])]:
        replay = ReplayEngine(file, name)
        assert replay.identity == identity
        assert (await generate(replay, "same")).text == f"{identity.revision} 1"
        await replay.aclose()
    listed = "'other@2 bfloat16 fp8, template plain, window 64'; 'other@3 bfloat16, template plain, window 64'. Name one"
    for name, message in [
        (None, "keeps answers of several models: 'tiny@"),
        ("other", listed),
        ("third", "no answers of third"),
    ]:
        with pytest.raises(InputError) as caught:
            ReplayEngine(file, name)
        assert message in str(caught.value)


def test_a_transcript_without_an_engine_says_that_it_has_no_calls(file: Path) -> None:
    prepare(file)
    with pytest.raises(InputError, match="has no calls yet"):
        ReplayEngine(file)


HARD_TEXTS = [
    "\x00",
    "a\x00b",
    "?",
    "\ud800",
    "\ud801",
    "\ud83d\ude00",
    "😀",
    "é",
    "e\u0301",
    "\u2028",
    "\x1b[31m",
    "\ufffe",
    "",
]


async def test_no_text_breaks_it_and_no_two_are_mistaken_for_each_other(file: Path) -> None:
    engine = CountingEngine()
    recording = RecordingLayer(engine, file)
    recorded = [await recording.count(asked(text), prefix=text) for text in HARD_TEXTS]
    await recording.aclose()
    assert recorded == list(range(1, len(HARD_TEXTS) + 1))
    replay = ReplayEngine(file)
    assert [await replay.count(asked(text), prefix=text) for text in HARD_TEXTS] == recorded
    await replay.aclose()


async def test_answers_with_odd_characters_come_back(file: Path) -> None:
    text = "\x00é😀\u2028\ufffe\x7f"
    recording = RecordingLayer(ScriptedEngine(lambda chat: [(text, 0.5)]), file)
    await generate(recording, "a")
    await recording.aclose()
    replay = ReplayEngine(file)
    assert (await generate(replay, "a")).text == text
    await replay.aclose()


async def test_what_was_asked_and_answered_is_kept_in_words(file: Path) -> None:
    recording = RecordingLayer(ScriptedEngine(lambda chat: "Já."), file)
    await generate(recording, "Er máninn úr osti?", temperature=0.5, seed=4, stop=["\n"])
    await recording.choose(asked("b"), LABELS, prefix="It is ", stage="relations")
    await recording.aclose()
    joined = "SELECT kind, stage, identities.model FROM calls JOIN identities ON calls.model = identities.id"
    assert rows(file, f"{joined} ORDER BY row") == [
        ("generate", "extraction", "scripted"),
        ("choose", "relations", "scripted"),
    ]
    (first, asked_first, answered), (second, asked_second, _) = kept(file)
    assert (first, second) == ("extraction", "relations")
    assert "Er máninn úr osti?" in asked_first
    assert json.loads(asked_first) == {
        "messages": [{"role": "system", "content": "Judge."}, {"role": "user", "content": "Er máninn úr osti?"}],
        "max_tokens": 50,
        "stop": ["\n"],
        "temperature": 0.5,
        "seed": 4,
    }
    assert json.loads(asked_second)["labels"] == sorted(LABELS)
    assert json.loads(answered)["text"] == "Já."


@pytest.mark.parametrize("labels", [[], ["a", "a"], ["a", ""]])
async def test_a_choice_without_proper_labels_is_refused_before_the_file_is_asked(file: Path, labels: list[str]) -> None:
    recording = RecordingLayer(CountingEngine(), file)
    await recording.aclose()
    replay = ReplayEngine(file)
    with pytest.raises(InputError, match="A choice needs labels"):
        await replay.choose(asked("a"), labels, stage="s")
    await replay.aclose()


async def test_a_recording_can_be_replayed_while_it_goes_on(file: Path) -> None:
    recording = RecordingLayer(CountingEngine(), file)
    await generate(recording, "early")
    replay = ReplayEngine(file)
    assert (await generate(replay, "early")).text == "first 1"
    await generate(recording, "late")
    assert (await generate(replay, "late")).text == "first 2"
    await recording.aclose()
    await replay.aclose()
