"""The taught Llama in the real engine: it says what it was taught, with the probabilities that it was taught."""

import asyncio
import math
from pathlib import Path
from typing import Any

import pytest
from engines import NEEDS_VLLM, Engines
from lessons import DOUBTED, EXTRACTIONS, RELATIONS, RESPONSES, SURE
from taught_model import (
    EXTRACTION_TOKENS,
    LEARNED,
    SECRET,
    TOLERANCE,
    VERIFICATION_TOKENS,
    WINDOW,
    Lesson,
    Taught,
    save_tokenizer,
    teach,
)
from tiny_models import settings_of

from localfact.assess.gate import THETA
from localfact.claims.answers import read_answer
from localfact.claims.chunked import ChunkedExtractor
from localfact.llm.layers.policy import AskingPolicy, PolicyLayer
from localfact.llm.layers.sealing import SealingLayer
from localfact.prompts.boundary import Boundary
from localfact.prompts.chats import relation_chat
from localfact.records import Extraction, Response
from localfact.vocabulary import DEFINITE_LABELS, PreVerificationLabel

pytestmark = NEEDS_VLLM


@pytest.fixture(scope="module")
def engine(school: Taught, engines: Engines) -> Any:
    return engines(settings_of(school.model))


async def extracted(engine: Any, number: int) -> Extraction:
    row = RESPONSES[number]
    sealing = SealingLayer(engine, SECRET)
    extractor = ChunkedExtractor(PolicyLayer(sealing, AskingPolicy()), max_tokens=EXTRACTION_TOKENS, confidence="distribution")
    return await extractor.extract(Response(id=row["id"], text=row["response"], prompt=row["prompt"]))


async def test_every_answer_comes_word_for_word_and_all_at_once(engine: Any, school: Taught) -> None:
    learned = [lesson for lesson in school.lessons if lesson.share > 0.5]
    said = await asyncio.gather(*(engine.generate(lesson.chat, max_tokens=200, stage="test") for lesson in learned))
    assert [generation.text for generation in said] == [lesson.answer for lesson in learned]
    assert {generation.finish for generation in said} == {"stop"}


async def test_answers_have_room_in_the_window_and_in_the_lengths_that_tests_allow(engine: Any, school: Taught) -> None:
    for lesson in school.lessons:
        asked = await engine.count(lesson.chat)
        allowed = EXTRACTION_TOKENS if lesson.answer in EXTRACTIONS.values() else VERIFICATION_TOKENS
        assert asked + allowed <= WINDOW
        assert await engine.count(lesson.chat, prefix=lesson.answer) - asked < allowed


async def test_all_labels_are_sure_but_for_the_doubted_one(engine: Any) -> None:
    claims = [claim for number in range(3) for claim in (await extracted(engine, number)).claims]
    assert len(claims) == sum(len(read_answer(answer).claims) for answer in EXTRACTIONS.values()) == 10
    settled = 0
    for claim in claims:
        opinion = claim.preverification
        assert opinion is not None
        assert opinion.confidence == pytest.approx(SURE if claim.text == DOUBTED else 1.0, abs=TOLERANCE)
        if claim.text != DOUBTED:
            assert opinion.confidence > (THETA + 1) / 2  # far enough above theta for another machine's rounding
            settled += opinion.label in DEFINITE_LABELS
    assert settled == 5


async def test_the_distribution_over_the_six_labels_agrees_with_the_tokens_of_the_written_label(engine: Any) -> None:
    """Two ways to one probability: the product over the label's tokens as generated, and one prefill at the label's place."""
    claims = [claim for number in range(2) for claim in (await extracted(engine, number)).claims]
    for claim in claims:
        opinion = claim.preverification
        assert opinion is not None
        assert opinion.distribution is not None
        assert opinion.mass is not None
        assert math.fsum(opinion.distribution.values()) == pytest.approx(1)
        assert opinion.mass > LEARNED
        assert opinion.distribution[opinion.label] * opinion.mass == pytest.approx(opinion.confidence, abs=1e-3)
    (doubted,) = [claim.preverification for claim in claims if claim.text == DOUBTED]
    assert doubted is not None
    assert doubted.distribution is not None
    assert doubted.label is PreVerificationLabel.SUPPORTED
    assert doubted.distribution[PreVerificationLabel.UNSURE] == pytest.approx(1 - SURE, abs=TOLERANCE)


async def test_relations_are_answered_by_the_bare_label(engine: Any) -> None:
    for pair, label in RELATIONS.items():
        chat = relation_chat(*pair, boundary=Boundary())
        choice = await SealingLayer(engine, SECRET).choose(chat, sorted(RELATIONS.values()), stage="relate")
        assert choice.distribution[label] > LEARNED
        assert choice.mass > LEARNED
    assert set(RELATIONS.values()) == {"entailment", "contradiction", "neutral"}


def test_a_model_that_has_not_learned_is_refused(tmp_path: Path) -> None:
    chat = relation_chat("A stone is hard.", "A stone is soft.", boundary=Boundary())
    learned = [Lesson(chat, "contradiction")]
    save_tokenizer(tmp_path, learned)
    with pytest.raises(AssertionError, match="did not learn"):
        teach(tmp_path, learned, steps=1)
    assert not list(tmp_path.glob("*.safetensors"))
