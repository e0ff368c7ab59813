"""The claims of a response beside one another: who finds a contradiction, where it stands, and the score."""

import pytest

from localfact.coherence.relating import ModelClaimRelator
from localfact.records import Claim, Distribution, Failure, Pair, Response, Span

NEUTRAL = Distribution(entailment=0.0, contradiction=0.0, neutral=1.0)
AGAINST = Distribution(entailment=0.0, contradiction=0.9, neutral=0.1)


def response(*texts: str) -> tuple[Response, list[Claim]]:
    """A text of these sentences, each a claim."""
    text, claims = " ".join(texts), []
    for number, one in enumerate(texts, start=1):
        start = text.index(one)
        claims.append(Claim(id=f"c{number}", text=one, spans=(Span(start=start, end=start + len(one)),)))
    return Response(id="r", text=text), claims


async def found(*texts: str, said: Distribution | Failure = NEUTRAL, slots_only: bool = False):
    asked: list[Pair] = []

    async def relate(pairs):
        asked.extend(pairs)
        return dict.fromkeys(pairs, said)

    return await ModelClaimRelator(slots_only).relate(*response(*texts), relate), asked


async def test_a_contradiction_has_both_places_and_the_values_that_differ() -> None:
    texts = ("The Moss Bridge opened in 1931.", "Salt dissolves in water.", "The Moss Bridge opened in 1935.")
    among, asked = await found(*texts)
    (one,) = among.coherence.contradictions
    assert (one.found_by, one.reason) == ("values", "“1931” against “1935”")
    assert [(side.number, side.quoted) for side in (one.first, one.second)] == [
        (1, texts[0]),
        (3, texts[2]),
    ]
    assert one.second.span == Span(start=57, end=88)
    assert one.second.value == Span(start=26, end=30)
    assert among.coherence.score == pytest.approx(1 / 3)
    assert asked == [Pair(texts[0], texts[2]), Pair(texts[2], texts[0])]
    assert all(said.label.value == "contradiction" for said in among.relations.values())


async def test_a_small_model_is_believed_only_where_one_slot_is_filled_twice_or_one_side_denies() -> None:
    texts = ("The grey heron of Moss Lake hunts at dawn.", "The grey heron of Moss Lake eats small fish.")
    for small, score in ((True, 1.0), (False, 0.0)):
        among, _ = await found(*texts, said=AGAINST, slots_only=small)
        assert among.coherence.score == score
    denied, _ = await found(texts[0], "The grey heron of Moss Lake does not hunt at dawn.", said=AGAINST, slots_only=True)
    assert [one.found_by for one in denied.coherence.contradictions] == ["relations"]


async def test_a_failed_prediction_is_counted_and_contradicts_nothing() -> None:
    texts = ("The grey heron of Moss Lake hunts at dawn.", "The grey heron of Moss Lake eats small fish.")
    among, _ = await found(*texts, said=Failure(reason="no answer"))
    assert (among.coherence.score, among.coherence.pairs_failed) == (1.0, 1)


async def test_one_claim_may_contradict_itself() -> None:
    among, asked = await found("The three-day festival ran from Monday to Tuesday.")
    (one,) = among.coherence.contradictions
    assert (one.first.claim_id, one.second.claim_id, one.found_by, asked) == ("c1", "c1", "times", [])
    assert among.coherence.score == 0.0
