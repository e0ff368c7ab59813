"""What every engine promises (`llm/engine.py`), held over the scripted one, over vLLM in this process, and over a server."""

import asyncio
import math
from typing import Any

import pytest
from engines import NEEDS_VLLM, Engines

from localfact.errors import InputError, PromptTooLongError
from localfact.llm.engine import Engine, Message
from localfact.llm.scripted import ScriptedEngine

CHAT = (Message("user", "Is the café in Zürich open? 🌦"),)
LABELS = ["Supported", "Non-supported", "Likely supported"]


@pytest.fixture(
    params=[
        "scripted",
        pytest.param("byte_engine", marks=[NEEDS_VLLM, pytest.mark.slow]),
        pytest.param("endpoint_engine", marks=[NEEDS_VLLM, pytest.mark.models]),
    ]
)
def engine(request: pytest.FixtureRequest, engines: Engines) -> Engine:
    if request.param == "scripted":
        answer = "The café, naïve 😀 and all, is open ### Supported. It is open because the door stands open."
        return ScriptedEngine(lambda chat: answer, lambda chat, labels: {labels[0]: 0.7}, window=2048)
    real: Any = request.getfixturevalue(request.param)
    return real  # type: ignore[no-any-return]


async def test_tokens_stand_in_order_and_cover_the_text(engine: Engine) -> None:
    generation = await engine.generate(CHAT, max_tokens=30, stage="extraction")
    assert generation.text
    reached = 0
    for token in generation.tokens:
        assert token.start <= reached
        assert token.start < token.end <= len(generation.text)
        assert token.log_prob <= 1e-6
        reached = max(reached, token.end)
    assert reached == len(generation.text)
    total = math.exp(sum(token.log_prob for token in generation.tokens))
    assert generation.probability(0, len(generation.text)) == pytest.approx(total)


async def test_an_answer_has_no_more_tokens_than_asked_for(engine: Engine) -> None:
    generation = await engine.generate(CHAT, max_tokens=5, stage="extraction")
    assert generation.finish == "length"
    assert generation.usage.output_tokens == 5
    longer = await engine.generate(CHAT, max_tokens=12, stage="extraction")
    assert longer.text.startswith(generation.text)


async def test_a_stop_string_is_not_in_the_text_and_no_token_reaches_past_its_end(engine: Engine) -> None:
    whole = await engine.generate(CHAT, max_tokens=30, stage="extraction")
    word = whole.text[whole.tokens[8].start :][:2]
    cut = await engine.generate(CHAT, max_tokens=30, stop=[word], stage="extraction")
    assert cut.text == whole.text[: whole.text.index(word)]
    assert cut.finish == "stop"
    assert max((token.end for token in cut.tokens), default=0) == len(cut.text)


async def test_a_greedy_answer_is_the_same_each_time(engine: Engine) -> None:
    first, second = [await engine.generate(CHAT, max_tokens=20, stage="extraction") for _ in range(2)]
    assert (first.text, first.tokens, first.finish) == (second.text, second.tokens, second.finish)


async def test_a_choice_names_every_label_once_in_order_and_is_a_distribution(engine: Engine) -> None:
    choice = await engine.choose(CHAT, LABELS, prefix="It is: ", stage="relation")
    assert list(choice.log_probs) == LABELS
    assert sum(choice.distribution.values()) == pytest.approx(1)
    assert 0 < choice.mass <= 1
    assert choice.usage.output_tokens == 0
    assert choice.usage.requests >= 1


async def test_usage_counts_what_count_counts(engine: Engine) -> None:
    tokens = await engine.count(CHAT)
    assert (await engine.generate(CHAT, max_tokens=3, stage="extraction")).usage.prompt_tokens == tokens
    begun = await engine.count(CHAT, prefix="It is: ")
    assert begun > tokens
    assert (await engine.choose(CHAT, ["one", "two"], prefix="It is: ", stage="relation")).usage.requests == 1


@pytest.mark.parametrize("labels", [[], ["yes", ""], ["yes", "yes"]])
async def test_labels_that_are_no_closed_set_are_refused(engine: Engine, labels: list[str]) -> None:
    with pytest.raises(InputError):
        await engine.choose(CHAT, labels, stage="relation")


async def test_a_prompt_too_long_fails_alone_and_names_its_numbers(engine: Engine) -> None:
    long = (Message("user", "the passage " * 3000),)
    tokens = await engine.count(long)
    answered = await asyncio.gather(
        engine.choose(CHAT, LABELS, stage="relation"),
        engine.choose(long, LABELS, stage="relation"),
        engine.generate(long, max_tokens=5, stage="extraction"),
        engine.generate(CHAT, max_tokens=5, stage="extraction"),
        return_exceptions=True,
    )
    assert [isinstance(answer, PromptTooLongError) for answer in answered] == [False, True, True, False]
    assert f"{tokens:,}" in str(answered[1])
    assert f"{engine.identity.window:,}" in str(answered[2])
