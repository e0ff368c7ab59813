"""Merges claims with equal wording, so that no verdict counts twice, where a method does so."""

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Literal, NamedTuple

from localfact.records import Claim, PreVerification
from localfact.text import normalise
from localfact.vocabulary import DEFINITE_LABELS

#: Which equal claims become one: none (the papers' methods), those of a sentence (FActScore's code), all of a response.
Merging = Literal["none", "sentence", "response"]


class MergedClaims(NamedTuple):
    """The result of merging claims with equal wording.

    Attributes:
        claims: in the order of their first mention.
        duplicates: how many were merged into another.
        conflicting: how many merged claims had pre-verifications that contradict each other.
    """

    claims: tuple[Claim, ...]
    duplicates: int
    conflicting: int


def merge_claims(claims: Sequence[Claim]) -> MergedClaims:
    """Merges claims that are equal after `normalise`: the first one's id and wording, the places of all.

    Claims with an annotator's label are not merged, as comparisons count each of them.
    """
    groups: dict[tuple[str, str], list[Claim]] = {}
    for claim in claims:
        annotated = claim.id if claim.gold is not None else ""
        groups.setdefault((normalise(claim.text), annotated), []).append(claim)
    kept, conflicting = [], 0
    for group in groups.values():
        spans = tuple(dict.fromkeys(span for claim in group for span in claim.spans))
        known = [claim.preverification for claim in group if claim.preverification]
        preverification = _most_doubtful(known) if known else None
        conflicting += bool(known) and preverification is None
        kept.append(group[0].model_copy(update={"spans": spans, "preverification": preverification}))
    return MergedClaims(tuple(kept), len(claims) - len(kept), conflicting)


def merge_within(parts: Sequence[Sequence[Claim]], merging: Merging) -> MergedClaims:
    """The claims of all parts, which are sentences or chunks, with equal ones merged: of all parts, of each part, or none."""
    claims = tuple(chain.from_iterable(parts))
    if merging == "response":
        return merge_claims(claims)
    if merging == "none":
        return MergedClaims(claims, 0, 0)
    merged = [merge_claims(part) for part in parts]
    kept = tuple(chain.from_iterable(one.claims for one in merged))
    return MergedClaims(kept, len(claims) - len(kept), sum(one.conflicting for one in merged))


def number_claims(claims: Iterable[Claim]) -> tuple[Claim, ...]:
    """The claims with the ids c1, c2, ... in their order."""
    return tuple(claim.model_copy(update={"id": f"c{number}"}) for number, claim in enumerate(claims, start=1))


def _most_doubtful(preverifications: Sequence[PreVerification]) -> PreVerification | None:
    """The pre-verification that settles the claim least: a claim that the model doubted once needs evidence.

    None where all are definite and differ: then nothing is settled, however sure the model was.
    """
    lowest = min(preverifications, key=lambda one: (one.label in DEFINITE_LABELS, one.confidence))
    labels = {one.label for one in preverifications}
    return None if len(labels) > 1 and lowest.label in DEFINITE_LABELS else lowest
