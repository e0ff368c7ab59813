"""Relates the claims of a text to one another and finds those that cannot both be true, by a relation model and two rules."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from localfact.coherence.choosing import ChosenPairs, choose_pairs
from localfact.coherence.slots import compare_slots
from localfact.coherence.times import TimeConflict, find_time_conflicts
from localfact.records import (
    Claim,
    ClaimPlace,
    Coherence,
    Distribution,
    Failure,
    Finder,
    Pair,
    Response,
    SelfContradiction,
    Span,
)
from localfact.stages import ClaimRelations, Relate, Relations

#: The mean probability of contradiction in both directions above which two claims contradict one another.
LEAST_CONTRADICTION = 0.5
#: What a rule's contradiction is given: people call 140 of 141 pairs so that the rule of values finds in half of ChatProtect.
BY_RULE = 0.99
RULED = Distribution(entailment=0.0, contradiction=BY_RULE, neutral=1 - BY_RULE)


class ComparedClaims(NamedTuple):
    """Two claims by their places, what is said of both directions with the rules before the model, and who decided."""

    places: tuple[int, int]
    directions: tuple[Distribution | Failure, Distribution | Failure]
    found_by: Finder
    values: tuple[Span | None, Span | None] = (None, None)
    reason: str | None = None

    @property
    def probability(self) -> float:
        """That both cannot be true: the mean of both directions; 0 where one failed."""
        said = [one.contradiction for one in self.directions if isinstance(one, Distribution)]
        return sum(said) / 2 if len(said) == 2 else 0.0

    @property
    def failed(self) -> bool:
        """Whether the model failed at one of the directions."""
        return any(isinstance(one, Failure) for one in self.directions)


@dataclass(frozen=True)
class ModelClaimRelator:
    """A ClaimRelator: a relation model over pairs that speak of the same, and rules of values and times that go before it.

    Attributes:
        slots_only: whether the model is believed a contradiction only where both claims fill one slot, or one of them denies:
            a small model takes much that is merely different for a denial.
    """

    slots_only: bool = False

    async def relate(self, response: Response, claims: Sequence[Claim], relate: Relate) -> ClaimRelations:
        """The relations of the chosen pairs, and the coherence of the response."""
        chosen, conflicts = await asyncio.to_thread(lambda: (choose_pairs(claims, response.text), find_time_conflicts(claims)))
        asked = [pair for one, other in chosen.pairs for pair in _directions(claims[one], claims[other])]
        said = await relate(list(dict.fromkeys(asked)))
        return await asyncio.to_thread(self._judge, response, claims, chosen, conflicts, said)

    def _judge(
        self,
        response: Response,
        claims: Sequence[Claim],
        chosen: ChosenPairs,
        conflicts: Sequence[TimeConflict],
        said: Relations,
    ) -> ClaimRelations:
        by_time = {(one.first, one.second): one for one in conflicts}
        compared = [
            _by_time(by_time[places]) if places in by_time else _compare(places, claims, said, self.slots_only)
            for places in sorted({*chosen.pairs, *by_time})
        ]
        relations = {
            pair: direction
            for one in compared
            if one.places[0] != one.places[1]
            for pair, direction in zip(_directions(*(claims[place] for place in one.places)), one.directions, strict=True)
        }
        found = sorted((one for one in compared if one.probability > LEAST_CONTRADICTION), key=lambda one: -one.probability)
        contradictions = tuple(_contradiction(response, claims, one) for one in found)
        against = {place for one in found for place in one.places}
        return ClaimRelations(
            relations,
            Coherence(
                score=1 - len(against) / len(claims) if claims else None,
                contradictions=contradictions,
                claims=len(claims),
                pairs=len(chosen.pairs),
                pairs_left_out=chosen.left_out,
                pairs_failed=sum(one.failed for one in compared),
            ),
        )


def _directions(one: Claim, other: Claim) -> tuple[Pair, Pair]:
    return Pair(one.text, other.text), Pair(other.text, one.text)


def _by_time(conflict: TimeConflict) -> ComparedClaims:
    values = conflict.first_value, conflict.second_value
    return ComparedClaims((conflict.first, conflict.second), (RULED, RULED), "times", values, conflict.reason)


def _compare(places: tuple[int, int], claims: Sequence[Claim], said: Relations, slots_only: bool) -> ComparedClaims:
    """Two claims by what the model says of them, unless their values settle it."""
    one, other = (claims[place].text for place in places)
    slots = compare_slots(one, other)
    if slots.sure:
        return ComparedClaims(places, (RULED, RULED), "values", slots.values, slots.reason)
    directions = said[Pair(one, other)], said[Pair(other, one)]
    if slots_only and not slots.may_differ:
        directions = _without_contradiction(directions[0]), _without_contradiction(directions[1])
    return ComparedClaims(places, directions, "relations", slots.values, slots.reason)


def _without_contradiction(said: Distribution | Failure) -> Distribution | Failure:
    if isinstance(said, Failure):
        return said
    return said.model_copy(update={"contradiction": 0.0, "neutral": said.neutral + said.contradiction})


def _contradiction(response: Response, claims: Sequence[Claim], compared: ComparedClaims) -> SelfContradiction:
    first, second = (
        place_of(response.text, claims[place], place, value)
        for place, value in zip(compared.places, compared.values, strict=True)
    )
    return SelfContradiction(
        first=first,
        second=second,
        probability=compared.probability,
        found_by=compared.found_by,
        reason=compared.reason or "the relation model finds that both cannot be true",
    )


def place_of(text: str, claim: Claim, place: int, value: Span | None) -> ClaimPlace:
    """Where a claim stands in the text, its first place there."""
    span = next((one for one in claim.spans if one.start < one.end <= len(text)), None)
    quoted = claim.text if span is None else text[span.start : span.end]
    return ClaimPlace(claim_id=claim.id, number=place + 1, text=claim.text, span=span, quoted=quoted, value=value)
