"""One call a sentence, each with the examples that are most like it."""

import pytest

from localfact.claims.atomizer import WindowedAtomizer
from localfact.claims.decomposer import EXAMPLES, Decomposer, similar_examples
from localfact.claims.relevance import RelevantClaims
from localfact.errors import EngineError
from localfact.llm.engine import Chat
from localfact.llm.scripted import ScriptedEngine
from localfact.prompts import examples_of
from localfact.records import Claim, Extraction, Response
from localfact.vocabulary import PreVerificationLabel

RESPONSE = Response(id="r", text="Ada Morel was born in Lyon. She won a medal. It was gold.", prompt="Who is Ada Morel?")


def test_the_examples_are_those_of_the_pool_that_are_most_alike_and_hang_on_the_text() -> None:
    pool = examples_of("decomposition")
    assert len(pool) >= 20
    assert all(len(example["claims"]) >= 2 for example in pool)
    for place in (3, 11, 19):
        assert similar_examples(pool[place]["text"])[-1] == pool[place]
    for text in ("A brewery was founded in 1987.", "???", ""):
        found = similar_examples(text)
        assert len(found) == EXAMPLES
        assert found == similar_examples(text)


async def test_each_sentence_is_asked_about_alone() -> None:
    engine = ScriptedEngine(lambda chat: "[1] A fact.\n[2] Another.")
    extraction = await Decomposer(engine).extract(RESPONSE)
    assert len(engine.calls) == extraction.counts["sentences"] == 3
    assert [claim.text for claim in extraction.claims] == ["A fact.", "Another."]
    assert extraction.counts["duplicates_merged"] == 4
    asked = engine.calls[1][0].content
    assert "She won a medal." in asked
    assert "Lyon" not in asked.rpartition("Now do the same")[2]


async def test_a_window_has_three_sentences_before_and_one_after() -> None:
    engine = ScriptedEngine(lambda chat: "[1] A fact.")
    await WindowedAtomizer(engine).extract(RESPONSE)
    asked = engine.calls[1][0].content.rpartition("Now do the same")[2]
    assert asked.index("Lyon") < asked.index("She won a medal.") < asked.index("It was gold.")
    assert len(engine.calls) == 3


class Given:
    async def extract(self, response: Response) -> Extraction:
        return Extraction(claims=(Claim(id="a", text="Ada Morel won a medal."), Claim(id="b", text="Gold is yellow.")))


async def test_an_irrelevant_claim_carries_its_label_and_how_sure_that_is() -> None:
    def choose(chat: Chat, labels: object) -> dict[str, float]:
        return {"yes": 0.2, "no": 0.6} if "Gold is yellow." in chat[0].content else {"yes": 0.9, "no": 0.1}

    engine = ScriptedEngine(choose=choose)
    extraction = await RelevantClaims(Given(), engine).extract(RESPONSE)
    first, second = extraction.claims
    assert first.preverification is None
    assert second.preverification is not None
    assert second.preverification.label is PreVerificationLabel.IRRELEVANT
    assert second.preverification.confidence == pytest.approx(0.75)
    assert extraction.counts["claims_irrelevant"] == 1
    assert len(engine.calls) == 2


async def test_without_a_question_all_claims_are_relevant_and_nothing_is_asked() -> None:
    engine = ScriptedEngine()
    extraction = await RelevantClaims(Given(), engine).extract(RESPONSE.model_copy(update={"prompt": None}))
    assert all(claim.preverification is None for claim in extraction.claims)
    assert engine.calls == []


async def test_a_dead_engine_is_no_relevant_claim() -> None:
    def dead(chat: Chat, labels: object) -> dict[str, float]:
        raise EngineError("The engine has died.")

    with pytest.raises(EngineError):
        await RelevantClaims(Given(), ScriptedEngine(choose=dead)).extract(RESPONSE)
