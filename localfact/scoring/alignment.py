"""How well a run agrees with human annotation: precision, numbers of claims and F1@K' per response, and labels per claim.

Claims are compared only where the annotated claims themselves were given to the run; counts are compared always.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from localfact.records import Assessment, Probability, Record
from localfact.scoring.recall import GAMMA, f1, recall_at_k_prime
from localfact.scoring.tally import annotated_total, tally, unscored_reason
from localfact.vocabulary import NOT_SUPPORTED_LABELS, GoldLabel, VerdictLabel

#: Verdict -> the corresponding gold label; a failed one has none.
AS_GOLD: Mapping[VerdictLabel, GoldLabel] = {
    VerdictLabel.SUPPORTED: GoldLabel.SUPPORTED,
    **dict.fromkeys(sorted(NOT_SUPPORTED_LABELS), GoldLabel.NOT_SUPPORTED),
    VerdictLabel.IRRELEVANT: GoldLabel.IRRELEVANT,
    VerdictLabel.UNVERIFIABLE: GoldLabel.IRRELEVANT,
}
#: Correlations of fewer points, or of points that are all equal on one side, are undefined.
FEWEST_POINTS = 2


class Measured(Record):
    """One quantity of the run and of the annotation, over responses (FastFact, Table 1).

    Attributes:
        run, annotation: the two means.
        difference: run - annotation: which way the run leans.
        absolute_error: the mean of the absolute differences per response.
    """

    run: float
    annotation: float
    difference: float
    absolute_error: float


class LabelAgreement(Record):
    """The verdicts of claims that carry a gold label.

    Attributes:
        claims: how many verdicts were compared. failed: how many were not, since they failed.
        agreement: share with the same label among supported, not supported, irrelevant (unverifiable verdicts are irrelevant):
            FastFact's agreement rate for scoring. None without a claim.
        precision, recall, f1: of the supported class over all compared claims but those that gold calls irrelevant; None
            where the denominator is 0.
        confusion: gold label -> verdict -> number of claims, failed ones included; the pairs that occur.
    """

    claims: int
    failed: int
    agreement: Probability | None
    precision: Probability | None
    recall: Probability | None
    f1: Probability | None
    confusion: Mapping[str, Mapping[str, int]]


class Alignment(Record):
    """A run compared with its annotation.

    Attributes:
        n: responses compared: those with a score and with an annotation in which S' + N' > 0.
        left_out: reason -> how many were not.
        measured: precision, claims (S + N against K'), supported, not_supported, f1_at_k_prime (both by the annotation's K');
            empty when n = 0.
        pearson, spearman: correlation of the two precisions over responses; None where it is undefined.
        labels: the agreement claim by claim; None when no claim carries a gold label.
    """

    n: int
    left_out: Mapping[str, int] = Field(default_factory=dict)
    measured: Mapping[str, Measured] = Field(default_factory=dict)
    pearson: float | None = None
    spearman: float | None = None
    labels: LabelAgreement | None = None


class Side(NamedTuple):
    """The quantities of one side, run or annotation, for a response; the fields name them."""

    precision: float
    claims: float
    supported: float
    not_supported: float
    f1_at_k_prime: float


def align(assessments: Sequence[Assessment], gamma: float = GAMMA) -> Alignment:
    """Compares a run with the annotation in its input (FastFact, Table 1 and section 7.1).

    Args:
        assessments: of one run; their order does not matter.
        gamma: of F1@K'.
    """
    runs: list[Side] = []
    annotations: list[Side] = []
    left_out: Counter[str] = Counter()
    for assessment in sorted(assessments, key=lambda one: one.index):
        reason = unscored_reason(assessment) or (None if annotated_total(assessment) else "no annotated precision")
        if reason is not None:
            left_out[reason] += 1
            continue
        supported, total = assessment.gold_supported or 0, annotated_total(assessment) or 0
        counts = tally(assessment)
        runs.append(_side(counts.supported, counts.judged, total, gamma))
        annotations.append(_side(supported, total, total, gamma))
    if not runs:
        return Alignment(n=0, left_out=dict(left_out), labels=label_agreement(assessments))
    run, annotation = np.array(runs), np.array(annotations)
    return Alignment(
        n=len(runs),
        left_out=dict(left_out),
        measured={name: _measured(run[:, at], annotation[:, at]) for at, name in enumerate(Side._fields)},
        pearson=correlation(run[:, 0], annotation[:, 0]),
        spearman=correlation(average_ranks(run[:, 0]), average_ranks(annotation[:, 0])),
        labels=label_agreement(assessments),
    )


def label_agreement(assessments: Sequence[Assessment]) -> LabelAgreement | None:
    """Compares the verdicts of all claims that carry a gold label; None when there is none."""
    counts = Counter(
        (claim.gold, verdict.label)
        for assessment in assessments
        for claim, verdict in zip(assessment.claims, assessment.verdicts, strict=True)
        if claim.gold is not None
    )
    if not counts:
        return None
    compared = {pair: count for pair, count in counts.items() if pair[1] is not VerdictLabel.FAILED}
    total = sum(compared.values())
    hits = compared.get((GoldLabel.SUPPORTED, VerdictLabel.SUPPORTED), 0)
    false_alarms = compared.get((GoldLabel.NOT_SUPPORTED, VerdictLabel.SUPPORTED), 0)
    supported = sum(count for (gold, _), count in compared.items() if gold is GoldLabel.SUPPORTED)
    return LabelAgreement(
        claims=total,
        failed=counts.total() - total,
        agreement=_share(sum(count for (gold, label), count in compared.items() if AS_GOLD.get(label) is gold), total),
        precision=_share(hits, hits + false_alarms),
        recall=_share(hits, supported),
        f1=_share(2 * hits, hits + false_alarms + supported),
        confusion={
            gold.value: {label.value: counts[gold, label] for label in VerdictLabel if counts[gold, label]}
            for gold in GoldLabel
        },
    )


def correlation(x: NDArray[np.float64], y: NDArray[np.float64]) -> float | None:
    """Pearson's correlation of (n,) and (n,), in [-1, 1]; None with fewer than two points or where one side is constant."""
    if len(x) < FEWEST_POINTS or np.ptp(x) == 0 or np.ptp(y) == 0:
        return None
    return float(np.clip(np.corrcoef(x, y)[0, 1], -1.0, 1.0))


def average_ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Ranks from 1, equal values sharing the mean of theirs, for Spearman's correlation; shape (n,)."""
    _, position, counts = np.unique(values, return_inverse=True, return_counts=True)
    mean_ranks: NDArray[np.float64] = np.cumsum(counts) - (counts - 1) / 2
    return mean_ranks[position]


def _side(supported: int, claims: int, k_prime: int, gamma: float) -> Side:
    precision = supported / claims
    own_f1 = f1(precision, recall_at_k_prime(supported, k_prime, gamma))
    return Side(precision, claims, supported, claims - supported, own_f1)


def _measured(run: NDArray[np.float64], annotation: NDArray[np.float64]) -> Measured:
    return Measured(
        run=float(run.mean()),
        annotation=float(annotation.mean()),
        difference=float((run - annotation).mean()),
        absolute_error=float(np.abs(run - annotation).mean()),
    )


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
