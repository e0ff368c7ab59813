"""A second opinion: which pairs it is asked about, and that its answers, where it has any, are those that count."""

import asyncio
from collections.abc import Sequence

from localfact.records import Claim, Distribution, Failure, Pair
from localfact.relations.second_opinion import MOST_ASKED, SecondOpinion, choose_pairs

CLAIM, OTHER = Claim(id="c0", text="It is old."), Claim(id="c1", text="It is red.")


def says(entailment: float, contradiction: float) -> Distribution:
    return Distribution(entailment=entailment, contradiction=contradiction, neutral=1 - entailment - contradiction)


class Second:
    """Contradicts everything but what it fails at, and remembers what it was asked."""

    identity = "second"

    def __init__(self, *failing: str) -> None:
        self.failing = failing
        self.asked: list[Pair] = []

    async def relate(self, pairs: Sequence[Pair]) -> Sequence[Distribution | Failure]:
        self.asked += pairs
        return [Failure(reason="-") if pair.premise in self.failing else says(0.0, 0.9) for pair in pairs]


def test_the_pairs_least_likely_to_be_neutral_are_asked_again_claim_by_claim() -> None:
    relations = {
        Pair("mild", CLAIM.text): says(0.6, 0.1),
        Pair("sure", CLAIM.text): says(0.95, 0.01),
        Pair("against", CLAIM.text): says(0.1, 0.8),
        Pair("failed", CLAIM.text): Failure(reason="-"),
        Pair("silent", OTHER.text): says(0.1, 0.1),
        Pair("a passage", "another passage"): says(0.99, 0.0),
    }
    asked = [Pair("sure", CLAIM.text), Pair("against", CLAIM.text), Pair("silent", OTHER.text)]
    assert choose_pairs([CLAIM, OTHER], relations) == asked
    assert MOST_ASKED == 2


def test_its_answers_take_the_place_of_the_first_ones_and_are_counted() -> None:
    relations = {Pair(name, CLAIM.text): says(0.9, 0.0) for name in ("one", "two")} | {Pair("x", OTHER.text): says(0.0, 0.9)}
    second = Second("two")
    review = asyncio.run(SecondOpinion(second).review([CLAIM, OTHER], relations))
    assert review.relations == {
        Pair("one", CLAIM.text): says(0.0, 0.9),
        Pair("two", CLAIM.text): says(0.9, 0.0),  # the second failed: the first's stays
        Pair("x", OTHER.text): says(0.0, 0.9),
    }
    assert review.counts == {"second_opinions": 2, "second_opinions_other": 1, "second_opinions_failed": 1}


def test_where_nothing_was_found_nobody_is_asked() -> None:
    second = Second()
    assert asyncio.run(SecondOpinion(second).review([CLAIM], {})) == ({}, {})
    assert not second.asked
