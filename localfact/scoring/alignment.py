"""How near a run is to people's annotation of the same responses (FastFact, Table 1): claims, labels, K' and F1@K'.

Claims of the two sides are matched one to one by a similarity that the caller gives; everything here is counting.
"""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from localfact.records import Assessment, Record
from localfact.scoring.agreement import Agreement, agreement
from localfact.scoring.recall import GAMMA, f1, recall_at_k_prime
from localfact.scoring.tally import tally
from localfact.vocabulary import NOT_SUPPORTED_LABELS, GoldLabel, VerdictLabel

#: Verdict -> what a score counts of it. A failed one counts nowhere, and neither does an unverifiable one: that is no claim,
#: and annotators remove it, where an irrelevant claim is one with nothing to do with the question (FastFact, appendix I).
AS_GOLD: Mapping[VerdictLabel, GoldLabel] = {
    VerdictLabel.SUPPORTED: GoldLabel.SUPPORTED,
    **dict.fromkeys(sorted(NOT_SUPPORTED_LABELS), GoldLabel.NOT_SUPPORTED),
    VerdictLabel.IRRELEVANT: GoldLabel.IRRELEVANT,
}
#: Edits in the order of FastFact's Table 1.
EDITS = ("removed", "added", "revised", "unchanged")


@dataclass(frozen=True)
class GoldClaim:
    """A claim of the annotation: what scores count of its label, and the label where it says more."""

    text: str
    gold: GoldLabel | None = None
    label: VerdictLabel | None = None


@dataclass(frozen=True)
class AlignedResponse:
    """A response on both sides.

    Attributes:
        run: its assessment.
        claims: of the annotation.
        matches: (place among the run's claims, place among the annotation's), each place at most once.
        same: for each match, whether the two are the same text.
    """

    run: Assessment
    claims: Sequence[GoldClaim]
    matches: Sequence[tuple[int, int]]
    same: Sequence[bool]

    @property
    def edits(self) -> dict[str, int]:
        """What makes the annotation's claims of the run's: EDITS -> claims."""
        matched, unchanged = len(self.matches), sum(self.same)
        added, removed = len(self.claims) - matched, len(self.run.claims) - matched
        return dict(zip(EDITS, (removed, added, matched - unchanged, unchanged), strict=True))


class AnnotationDifference(Record):
    """A quantity of a response on both sides: their means, and the mean over responses of the absolute difference."""

    run: float
    annotation: float
    absolute: float


class Alignment(Record):
    """Responses of a run beside their annotation, all or those of one source.

    Attributes:
        n: responses.
        edits: EDITS -> claims a response, on average.
        exact: agreement on the five labels, of matched claims, where the whole annotation has them.
        scoring: agreement on supported, not supported, irrelevant.
        k_prime: S + N. supported, not_supported, irrelevant: claims.
        f1: F1@K' by the annotation's K', of responses in which both sides have claims that count; its `absolute` is that of
            single responses, where FastFact prints the difference of the means.
        f1_n: how many those are.
    """

    n: int
    edits: Mapping[str, float] = Field(default_factory=dict)
    exact: Agreement = Agreement(n=0)
    scoring: Agreement = Agreement(n=0)
    k_prime: AnnotationDifference | None = None
    supported: AnnotationDifference | None = None
    not_supported: AnnotationDifference | None = None
    irrelevant: AnnotationDifference | None = None
    f1: AnnotationDifference | None = None
    f1_n: int = 0


def align(responses: Sequence[AlignedResponse], gamma: float = GAMMA) -> Alignment:
    """Compares a run with an annotation (FastFact, Table 1 and section 7.1).

    Args:
        responses: those that both sides have.
        gamma: of F1@K'.
    """
    if not responses:
        return Alignment(n=0)
    counted = [_counts(one) for one in responses]
    scores = [
        (_f1(run[0], run[1], sum(people[:2]), gamma), _f1(people[0], people[1], sum(people[:2]), gamma))
        for run, people in counted
        if sum(run[:2]) and sum(people[:2])
    ]
    return Alignment(
        n=len(responses),
        edits={name: fmean(one.edits[name] for one in responses) for name in EDITS},
        exact=agreement([pair for one in responses for pair in _exact(one)] if five_labels(responses) else []),
        scoring=agreement([pair for one in responses for pair in _score_items(one)]),
        k_prime=_difference([(sum(run[:2]), sum(people[:2])) for run, people in counted]),
        supported=_difference([(run[0], people[0]) for run, people in counted]),
        not_supported=_difference([(run[1], people[1]) for run, people in counted]),
        irrelevant=_difference([(run[2], people[2]) for run, people in counted]),
        f1=_difference(scores) if scores else None,
        f1_n=len(scores),
    )


def five_labels(responses: Sequence[AlignedResponse]) -> bool:
    """Whether every claim of the annotation has one of the five labels; NS is none, as it does not say why.

    Otherwise only the easy claims would carry the finer labels.
    """
    return all(claim.label is not None for one in responses for claim in one.claims if claim.gold is not None)


def best_matches(similarity: NDArray[np.float64], least: float) -> list[tuple[int, int]]:
    """The one-to-one pairs of positions with the greatest sum of similarities, each at least `least`.

    Args:
        similarity: (n, m), of each claim of one side with each of the other.
    """
    from scipy.optimize import linear_sum_assignment

    if not similarity.size:
        return []
    kept = np.where(similarity >= least, similarity, 0.0)
    return [(int(one), int(other)) for one, other in zip(*linear_sum_assignment(-kept), strict=True) if kept[one, other] > 0]


def _exact(one: AlignedResponse) -> list[tuple[Hashable, Hashable]]:
    pairs = [(one.run.verdicts[ours].label, one.claims[theirs].label) for ours, theirs in one.matches]
    return [pair for pair in pairs if pair[0] is not VerdictLabel.FAILED and pair[1] is not None]


def _score_items(one: AlignedResponse) -> list[tuple[Hashable, Hashable]]:
    pairs = [(one.run.verdicts[ours].label, one.claims[theirs]) for ours, theirs in one.matches]
    return [
        (AS_GOLD.get(verdict, verdict), _gold_counted(claim))
        for verdict, claim in pairs
        if verdict is not VerdictLabel.FAILED and claim.gold is not None
    ]


def _gold_counted(claim: GoldClaim) -> GoldLabel | VerdictLabel | None:
    """What scores count of a claim of the annotation, and "unverifiable" where it says so."""
    return claim.label if claim.label is VerdictLabel.UNVERIFIABLE else claim.gold


def _counts(one: AlignedResponse) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
    """Supported, not supported and irrelevant claims of the run, and of the annotation."""
    judged, gold = tally(one.run), Counter(map(_gold_counted, one.claims))
    irrelevant = sum(verdict.label is VerdictLabel.IRRELEVANT for verdict in one.run.verdicts)
    return (judged.supported, judged.not_supported, irrelevant), (
        gold[GoldLabel.SUPPORTED],
        gold[GoldLabel.NOT_SUPPORTED],
        gold[GoldLabel.IRRELEVANT],
    )


def _f1(supported: int, not_supported: int, k_prime: int, gamma: float) -> float:
    return f1(supported / (supported + not_supported), recall_at_k_prime(supported, k_prime, gamma))


def _difference(values: Sequence[tuple[float, float]]) -> AnnotationDifference:
    return AnnotationDifference(
        run=fmean(run for run, _ in values),
        annotation=fmean(people for _, people in values),
        absolute=fmean(abs(run - people) for run, people in values),
    )
