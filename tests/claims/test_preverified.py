"""Given claims get their pre-verification from the probabilities of the six labels at the label's place."""

from collections.abc import Mapping, Sequence

import pytest

from localfact.claims.preverified import PreVerifiedClaims
from localfact.llm.engine import Chat
from localfact.llm.scripted import ScriptedEngine
from localfact.records import Claim, Extraction, PreVerification, Response
from localfact.vocabulary import PreVerificationLabel

TRUE, FALSE = "Ice floats on water.", "Iron floats on water."
RESPONSE = Response(
    id="r1", text=f"{TRUE} {FALSE}", prompt="What floats?", claims=(Claim(id="a", text=TRUE), Claim(id="b", text=FALSE))
)


class NoExtractor:
    async def extract(self, response: Response) -> Extraction:
        return Extraction(unparsed=("the fallback was asked",))


def sure(chat: Chat, labels: Sequence[str]) -> Mapping[str, float]:
    return {"SUPPORTED": 0.9, "UNSURE": 0.05} if TRUE in chat[-1].content else {"NON-SUPPORTED": 0.6}


def engine_of(window: int = 32_768) -> ScriptedEngine:
    return ScriptedEngine(choose=sure, window=window)


async def test_the_most_probable_label_at_the_labels_place_and_its_raw_probability_are_kept() -> None:
    engine = engine_of()
    extraction = await PreVerifiedClaims(engine, NoExtractor()).extract(RESPONSE)
    first, second = (claim.preverification for claim in extraction.claims)
    assert first is not None
    assert second is not None
    assert (first.label, second.label) == (PreVerificationLabel.SUPPORTED, PreVerificationLabel.NON_SUPPORTED)
    assert (first.confidence, second.confidence) == (pytest.approx(0.9), pytest.approx(0.6))
    assert first.distribution is not None
    assert sum(first.distribution.values()) == pytest.approx(1)
    assert set(first.distribution) == set(PreVerificationLabel)
    assert [call[-1].content for call in engine.calls] == [f"- {claim} ###" for claim in (TRUE, FALSE)]
    assert len({call[0].content for call in engine.calls}) == 1, "all claims share one prompt, for the prefix cache"


async def test_a_claim_that_was_pre_verified_before_is_not_asked_about() -> None:
    known = PreVerification(label=PreVerificationLabel.UNSURE, confidence=0.5)
    response = RESPONSE.model_copy(update={"claims": (Claim(id="a", text=TRUE, preverification=known),)})
    engine = engine_of()
    extraction = await PreVerifiedClaims(engine, NoExtractor()).extract(response)
    assert extraction.claims[0].preverification == known
    assert not engine.calls


async def test_confidence_is_the_probability_of_the_whole_label_and_not_of_what_tells_it_from_the_others() -> None:
    def spelled(chat: Chat, labels: Sequence[str]) -> Mapping[str, float]:
        return {"SUPPORTED": 0.7} if len(labels) == 1 else {"SUPPORTED": 0.9}

    extraction = await PreVerifiedClaims(ScriptedEngine(choose=spelled), NoExtractor()).extract(RESPONSE)
    assert [claim.preverification.confidence for claim in extraction.claims if claim.preverification] == pytest.approx(
        [0.7] * 2
    )


async def test_claims_of_an_extractor_that_ran_before_come_with_what_it_said_and_are_not_asked_about() -> None:
    said = Extraction(unparsed=("Sure!",), counts={"chunks": 3}, warnings=("One answer was cut.",))
    engine = engine_of()
    extraction = await PreVerifiedClaims(engine, NoExtractor()).extract(RESPONSE.model_copy(update={"extraction": said}))
    assert extraction == said.model_copy(update={"claims": RESPONSE.claims})
    assert not engine.calls


async def test_a_response_too_long_for_the_window_leaves_its_claims_to_evidence_and_says_so() -> None:
    extraction = await PreVerifiedClaims(engine_of(window=50), NoExtractor()).extract(RESPONSE)
    assert [claim.preverification for claim in extraction.claims] == [None, None]
    assert extraction.counts["preverifications_missing"] == 2
    assert len(extraction.warnings) == 1


async def test_a_response_without_claims_goes_to_the_extractor() -> None:
    bare = RESPONSE.model_copy(update={"claims": None})
    extraction = await PreVerifiedClaims(engine_of(), NoExtractor()).extract(bare)
    assert extraction.unparsed == ("the fallback was asked",)
