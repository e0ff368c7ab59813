"""The real engine over tiny models, against a plain forward pass of the same weights in transformers."""

import asyncio
import math
import os
import signal
from concurrent.futures import ThreadPoolExecutor
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest
from engines import FAST_START, NEEDS_VLLM
from tiny_models import settings_of, tiny_llama

from localfact.errors import EngineError, InputError, MissingError, PromptTooLongError
from localfact.llm.cores.process_environment import CACHE_BLOCK
from localfact.llm.cores.vllm import VLLMEngine, _Core
from localfact.llm.engine import Chat, Generation, Message
from localfact.llm.tokens.chat import ChatLayout
from localfact.llm.tokens.offsets import write

pytestmark = [NEEDS_VLLM, pytest.mark.slow]


@pytest.fixture
def fast_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """For the engines that these tests start themselves."""
    for name, value in FAST_START.items():
        monkeypatch.setenv(name, value)


CHAT = (Message("system", "Answer in one word."), Message("user", "Is the café in Zürich open? 🌦"))
EXACT = {"rel": 0, "abs": 1e-4}


def asking(words: int, end: str = "") -> Chat:
    return (Message("user", "the passage " * words + end),)


def assert_covered(generation: Generation) -> None:
    reached = 0
    for token in generation.tokens:
        assert token.start <= reached
        assert token.start < token.end
        reached = max(reached, token.end)
    assert reached == len(generation.text)


def shared_start(sequences: list[list[int]]) -> list[int]:
    columns = zip(*sequences, strict=False)
    return [column[0] for column in takewhile(lambda column: len(set(column)) == 1, columns)]


async def test_labels_of_different_first_tokens_have_the_log_probabilities_of_a_forward_pass(both: Any) -> None:
    engine, reference = both
    labels = ["entailment", "contradiction", "neutral"]
    choice = await engine.choose(CHAT, labels, stage="relation")
    begun = reference.ids(reference.prompt(CHAT))
    told = reference.log_probs(begun)
    for label in labels:
        first = reference.ids(reference.prompt(CHAT) + label)[len(begun)]
        assert choice.log_probs[label] == pytest.approx(float(told[first]), **EXACT)
    assert choice.usage.requests == 1
    assert choice.usage.prompt_tokens == len(begun)
    assert choice.usage.output_tokens == 0
    assert sum(choice.distribution.values()) == pytest.approx(1)


@pytest.mark.parametrize("prefix", ["", "I think: ", "### Verdict:"])
async def test_labels_that_share_tokens_add_up_over_the_branchings_alone(both: Any, prefix: str) -> None:
    engine, reference = both
    labels = ["Likely supported", "Likely non-supported", "Supported", "Non-supported", "Support", "Irrelevant"]
    choice = await engine.choose(CHAT, labels, prefix=prefix, whole=True, stage="pre-verification")
    text = reference.prompt(CHAT, prefix)
    written = {label: reference.ids(text + label) for label in labels}
    base = shared_start([reference.ids(text), *written.values()])
    paths = {label: ids[len(base) :] for label, ids in written.items()}
    for label, path in paths.items():
        expected = forced = 0.0
        steps = reference.path(base, path)
        for place in range(len(path) + 1):
            after = {
                other[place : place + 1] != [] and other[place] for other in paths.values() if other[:place] == path[:place]
            }
            if place == len(path):
                children = [child for child in after if child is not False]
                said = reference.log_probs([*base, *path])
                expected += math.log(1 - sum(math.exp(float(said[child])) for child in children)) if children else 0.0
            elif place == 0 or len(after) > 1:
                expected += steps[place]
            else:
                forced += steps[place]
        assert choice.log_probs[label] == pytest.approx(expected, **EXACT), label
        if label == choice.best:
            assert choice.whole == pytest.approx(expected + forced, **EXACT)
    assert choice.usage.requests > 1


async def test_a_label_that_melts_with_the_begun_answer_is_read_in_its_own_tokens(
    byte_engine: Any, byte_reference: Any
) -> None:
    """ " supported" is one token: after a prefix that ends in the space, the space is taken back."""
    prefix = "It is "
    text = byte_reference.prompt(CHAT, prefix)
    begun, written = byte_reference.ids(text), byte_reference.ids(text + "supported")
    assert written[: len(begun)] != begun
    choice = await byte_engine.choose(CHAT, ["supported", "true"], prefix=prefix, stage="relation")
    shared = shared_start([begun, written, byte_reference.ids(text + "true")])
    said = byte_reference.log_probs(shared)
    assert choice.log_probs["supported"] == pytest.approx(float(said[written[len(shared)]]), **EXACT)


async def test_more_labels_than_one_request_tells_are_asked_in_several(byte_engine: Any, byte_reference: Any) -> None:
    text = byte_reference.prompt(CHAT)
    begun = byte_reference.ids(text)
    signs = [chr(code) for code in (*range(0x21, 0x7F), *range(0xC0, 0x180))]
    labels = {sign: ids[-1] for sign in signs if len(ids := byte_reference.ids(text + sign)) == len(begun) + 1}
    pieces = [byte_reference.tokenizer.decode([number]) for number in range(270, 512)]
    labels |= {piece: ids[-1] for piece in pieces if len(ids := byte_reference.ids(text + piece)) == len(begun) + 1}
    assert len(labels) > 128
    choice = await byte_engine.choose(CHAT, list(labels), stage="relation")
    said = byte_reference.log_probs(begun)
    assert choice.usage.requests == -(-len(set(labels.values())) // 128)
    assert choice.log_probs == pytest.approx({label: float(said[token]) for label, token in labels.items()}, **EXACT)


async def test_greedy_text_and_log_probabilities_are_those_of_transformers(both: Any) -> None:
    engine, reference = both
    generation = await engine.generate(CHAT, max_tokens=24, stage="extraction")
    ids = reference.ids(reference.prompt(CHAT))
    said: list[int] = []
    log_probs: list[float] = []
    for _ in range(24):
        following = reference.log_probs([*ids, *said])
        said.append(int(following.argmax()))
        log_probs.append(float(following[said[-1]]))
    # Which tokens stand in the text, by the writing that test_offsets.py holds to account.
    writing = write(reference.tokenizer.backend_tokenizer, ids, said, frozenset(reference.tokenizer.all_special_ids))
    assert generation.text == writing.text
    assert [token.log_prob for token in generation.tokens] == pytest.approx(
        [log_probs[place.number] for place in writing.places], **EXACT
    )
    assert generation.usage.prompt_tokens == len(ids)
    assert generation.usage.output_tokens == 24
    assert generation.finish == "length"


async def test_places_cover_whatever_a_random_model_says(both: Any) -> None:
    engine, _ = both
    said = await asyncio.gather(
        *(engine.generate(CHAT, max_tokens=60, temperature=1.5, seed=seed, stage="extraction") for seed in range(30))
    )
    for generation in said:
        assert_covered(generation)
    assert len({generation.text for generation in said}) > 20
    assert any("�" in generation.text for generation in said)


async def test_the_same_seed_says_the_same(byte_engine: Any) -> None:
    first, second = [await byte_engine.generate(CHAT, max_tokens=30, temperature=1.0, seed=7, stage="x") for _ in range(2)]
    assert first.text == second.text
    assert first.tokens == second.tokens


async def test_a_stop_string_cuts_text_and_tokens_and_clips_the_token_it_begins_in(both: Any) -> None:
    engine, _ = both
    whole = await engine.generate(CHAT, max_tokens=40, stage="extraction")
    long = next(
        token for token in whole.tokens[5:] if token.end - token.start >= 3 and whole.text[token.start : token.end].isascii()
    )
    word = whole.text[long.start + 1 : long.end]
    cut = await engine.generate(CHAT, max_tokens=40, stop=[word], stage="extraction")
    assert cut.text == whole.text[: whole.text.index(word)]
    assert cut.finish == "stop"
    assert_covered(cut)
    assert cut.tokens[:-1] == whole.tokens[: len(cut.tokens) - 1]
    clipped = whole.tokens[len(cut.tokens) - 1]
    assert cut.tokens[-1] == clipped.model_copy(update={"end": len(cut.text)})


async def test_an_answer_is_cut_where_the_window_ends(byte_engine: Any) -> None:
    least, pair = [await byte_engine.count(asking(words)) for words in (1, 2)]
    chat = asking((byte_engine.identity.window - least) // (pair - least) - 3)
    room = byte_engine.identity.window - await byte_engine.count(chat)
    assert 1 < room < 100
    generation = await byte_engine.generate(chat, max_tokens=100, stage="extraction")
    assert (generation.finish, generation.usage.output_tokens) == ("length", room)


async def test_a_prompt_longer_than_the_window_is_refused_with_its_numbers(both: Any) -> None:
    engine, _ = both
    chat = asking(3000)
    tokens = await engine.count(chat)
    with pytest.raises(PromptTooLongError, match=rf"{tokens:,} tokens.*window.*2,048"):
        await engine.generate(chat, max_tokens=10, stage="extraction")
    with pytest.raises(PromptTooLongError, match=rf"{tokens:,} tokens"):
        await engine.choose(chat, ["yes", "no"], stage="relation")


async def test_two_hundred_coroutines_are_answered_as_if_each_were_alone_and_one_too_long_prompt_fails_alone(
    byte_engine: Any,
) -> None:
    labels = ["entailment", "contradiction", "neutral", "Likely supported", "Likely non-supported"]

    async def ask(number: int) -> Any:
        if number == 100:
            return await byte_engine.choose(asking(3000), labels, stage="relation")
        if number % 4 == 0:
            return await byte_engine.generate(asking(20, f"{number % 8}"), max_tokens=8, stage="extraction")
        return await byte_engine.choose(asking(20, f"{number % 10}"), labels[: 2 + number % 4], stage="relation")

    found = await asyncio.gather(*(ask(number) for number in range(200)), return_exceptions=True)
    assert isinstance(found[100], PromptTooLongError)
    for number in (*range(0, 40, 3), 96, 104, 199):
        alone = await ask(number)
        if isinstance(alone, Generation):
            assert (found[number].text, found[number].tokens) == (alone.text, alone.tokens)
        else:
            assert found[number].log_probs == alone.log_probs
    assert not [error for number, error in enumerate(found) if isinstance(error, Exception) and number != 100]


@pytest.mark.parametrize("passage_first", [True, False])
async def test_what_many_relations_share_is_computed_once_where_it_comes_first(byte_engine: Any, passage_first: bool) -> None:
    """6 passages x 8 claims, passage by passage: all but the first claim of each find its whole blocks cached."""
    passages = [f"Passage {number}{passage_first}: " + "the river runs to the sea. " * 55 for number in range(6)]
    claims = [f"Claim {number}{passage_first}: it is open." for number in range(8)]
    cached_tokens = 0
    for passage in passages:
        for claim in claims:
            parts = (passage, claim) if passage_first else (claim, passage)
            choice = await byte_engine.choose((Message("user", "\n\n".join(parts)),), ["yes", "no"], stage="relation")
            cached_tokens += choice.usage.cached_tokens
    shared = await byte_engine.count((Message("user", passages[0]),)) // CACHE_BLOCK * CACHE_BLOCK
    assert shared > 16 * CACHE_BLOCK
    assert cached_tokens == 6 * (8 - 1) * shared if passage_first else cached_tokens <= 6 * 8 * CACHE_BLOCK


async def test_a_cancelled_call_leaves_the_engine_to_the_others(byte_engine: Any) -> None:
    call = asyncio.create_task(byte_engine.generate(asking(3), max_tokens=1500, temperature=1.0, stage="extraction"))
    await byte_engine.choose(CHAT, ["yes", "no"], stage="relation")
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    await byte_engine.choose(CHAT, ["yes", "no"], stage="relation")
    assert byte_engine._core._llm.output_processor.get_num_unfinished_requests() == 0


def test_one_engine_answers_on_several_event_loops_one_after_the_other(byte_engine: Any) -> None:
    first, second = (asyncio.run(byte_engine.choose(CHAT, ["yes", "no"], stage="relation")) for _ in range(2))
    assert first.log_probs == second.log_probs


async def test_parameters_that_make_no_sense_are_an_error_of_that_call(byte_engine: Any) -> None:
    with pytest.raises(InputError):
        await byte_engine.generate(CHAT, max_tokens=0, stage="extraction")
    with pytest.raises(InputError):
        await byte_engine.generate(CHAT, max_tokens=5, stop=[""], stage="extraction")
    with pytest.raises(InputError, match="message"):
        await byte_engine.count(())


async def test_a_base_model_reads_the_plain_texts_after_one_token_of_beginning(tmp_path: Path, fast_start: None) -> None:
    """The same engine is killed at last: every open call and every later one says so, and none hangs."""
    folder = tiny_llama(tmp_path / "base", "pieces", window=512, template=False)
    settings = settings_of(folder)
    assert settings.identity.template == "plain"
    engine = VLLMEngine(settings)
    try:
        layout = ChatLayout(folder)
        expected = layout.decoder.encode(layout.render_question(CHAT, "So: "), add_special_tokens=True).ids
        assert layout.text(CHAT) == f"{CHAT[0].content}\n\n{CHAT[1].content}\n"
        assert layout.ids(layout.render_question(CHAT, "So: ")) == expected
        assert expected.count(expected[0]) == 1
        assert await engine.count(CHAT, prefix="So: ") == len(expected)
        choice = await engine.choose(CHAT, ["true", "false"], prefix="So: ", stage="relation")
        assert 0 < choice.mass < 1
        await assert_death_is_told(engine)
    finally:
        await engine.aclose()
        await engine.aclose()
    with pytest.raises(EngineError, match="closed"):
        await engine.choose(CHAT, ["true", "false"], stage="relation")


async def assert_death_is_told(engine: Any) -> None:
    calls = [
        asyncio.create_task(engine.generate(CHAT, max_tokens=400, temperature=1.0, seed=seed, stage="extraction"))
        for seed in range(8)
    ]
    await engine.count(CHAT)
    (process,) = engine._core._llm.engine_core.resources.engine_manager.processes
    os.kill(process.pid, signal.SIGKILL)
    async with asyncio.timeout(60):  # a hang must fail the test, not stop it
        ended = await asyncio.gather(*calls, return_exceptions=True)
        with pytest.raises(EngineError, match="same command goes on"):
            await engine.choose(CHAT, ["true", "false"], stage="relation")
    assert all(isinstance(answer, Generation | EngineError) for answer in ended)
    assert any(isinstance(answer, EngineError) for answer in ended)


def test_an_engine_that_cannot_start_says_why_in_one_sentence(tmp_path: Path, fast_start: None) -> None:
    folder = tiny_llama(tmp_path / "model", "bytes", window=256)
    with pytest.raises(EngineError, match="could not start"):
        VLLMEngine(settings_of(folder, no_such_argument=1))
    with pytest.raises(EngineError, match=r"could not start: .*512"):
        VLLMEngine(settings_of(folder, max_model_len=512))


def test_a_process_that_dies_as_soon_as_it_has_loaded_is_told_and_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """As vLLM does when its worker is killed between the loading and the first question."""

    class Dead:
        errored = True

        async def get_supported_tasks(self) -> None:
            await asyncio.sleep(60)  # without end, but for a test that fails

    monkeypatch.setattr("localfact.llm.cores.vllm.SECONDS_BETWEEN_LOOKS", 0.01)
    # In a thread of its own, as always: what it starts is spared from Ctrl-C, as is all that this thread would start.
    with ThreadPoolExecutor(1) as thread, pytest.raises(EngineError, match="died as soon as it had loaded"):
        thread.submit(asyncio.run, _Core._start(object.__new__(_Core), Dead)).result()


@pytest.mark.parametrize("damage", ["{", '{"version": "1.0", "model": {"type": "none"}}', None])
def test_a_tokenizer_that_cannot_be_used_is_told_before_the_model_is_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: str | None
) -> None:
    loaded: list[object] = []
    monkeypatch.setattr("localfact.llm.cores.vllm._Core", lambda *given, **named: loaded.append(given))
    folder = tiny_llama(tmp_path / "model", "bytes", window=256)
    settings = settings_of(folder)
    if damage is None:
        (folder / "tokenizer.json").unlink()
    else:
        (folder / "tokenizer.json").write_text(damage)
    with pytest.raises(MissingError if damage is None else Exception):
        VLLMEngine(settings)
    assert not loaded
