"""How well a probability separates two kinds of pairs: the receiver operating characteristic, its area, an interval.

Arrays only: localfact/api/roc.py decides which pairs are the positives, and which belong to one row.
"""

from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from localfact.errors import InputError
from localfact.records import Probability, Record
from localfact.scoring.bootstrap import CONFIDENCE, RESAMPLES, Estimator, percentile_interval, resample

Count = Annotated[int, Field(ge=0)]


class RocPoint(Record):
    """One point of a curve: the rates when every score of at least `threshold` is called positive.

    Attributes:
        threshold: None at the origin, where nothing is called positive.
        false_positive_rate, true_positive_rate: shares of the negatives and of the positives.
    """

    threshold: float | None
    false_positive_rate: Probability
    true_positive_rate: Probability


class RocCurve(Record):
    """A receiver operating characteristic.

    Attributes:
        points: from (0, 0) to (1, 1), both rates never falling; those on a straight line between others are left out.
        area: under the curve: the probability that a positive scores above a negative, ties counting half.
        ci: of the area, from a bootstrap over rows (`area_interval`); None with fewer than two rows.
        positives, negatives: how many scores of each kind.
        rows: from how many rows they come.
    """

    points: tuple[RocPoint, ...]
    area: Probability
    ci: tuple[Probability, Probability] | None
    positives: Count
    negatives: Count
    rows: Count


def interval_method(seed: int) -> str:
    """How the intervals are made, in words for readers."""
    return (
        f"{CONFIDENCE:.0%} percentile bootstrap of {RESAMPLES:,} resamples over rows, all scores of a row together, seed {seed}"
    )


def roc_curve(scores: NDArray[np.float64], positive: NDArray[np.bool_], rows: NDArray[np.int64], *, seed: int = 0) -> RocCurve:
    """The curve of n scores (FactReasoner, Figures 6-10), its area and the area's interval.

    Args:
        scores: (n,) finite; a higher one speaks for a positive.
        positive: (n,) which are positives in truth.
        rows: (n,) which scores belong together (the hypotheses of one question, say); any whole numbers.
        seed: of the bootstrap.

    Raises:
        InputError: there are no positives, or no negatives.
    """
    from sklearn.metrics import auc
    from sklearn.metrics import roc_curve as curve_of

    positives = int(positive.sum())
    negatives = len(positive) - positives
    if not positives or not negatives:
        raise InputError(
            f"A ROC curve needs both kinds, and here are {positives} positives and {negatives} negatives. "
            "Give rows with both that the relation model can relate."
        )
    false_rates, true_rates, thresholds = curve_of(positive, scores)
    points = tuple(
        RocPoint(
            threshold=float(threshold) if np.isfinite(threshold) else None,
            false_positive_rate=float(false_rate),
            true_positive_rate=float(true_rate),
        )
        for false_rate, true_rate, threshold in zip(false_rates, true_rates, thresholds, strict=True)
    )
    return RocCurve(
        points=points,
        area=min(1.0, float(auc(false_rates, true_rates))),
        ci=area_interval(scores, positive, rows, seed=seed),
        positives=positives,
        negatives=negatives,
        rows=len(np.unique(rows)),
    )


def area_interval(
    scores: NDArray[np.float64], positive: NDArray[np.bool_], rows: NDArray[np.int64], *, seed: int = 0
) -> tuple[float, float] | None:
    """The 95 % percentile bootstrap interval of the area, in [0, 1]; the arguments are those of `roc_curve`.

    Whole rows are drawn, for the scores of one row depend on each other. A resample that happens to hold one kind only has no
    area and is left out. None with fewer than two rows, or where no resample has both kinds.
    """
    _, row = np.unique(rows, return_inverse=True)
    count = int(row.max()) + 1 if len(row) else 0
    if count < 2:
        return None
    areas = resample(area_of_rows(scores, positive, row, count), count, seed)
    known = areas[~np.isnan(areas)]
    return percentile_interval(np.clip(known, 0.0, 1.0)) if len(known) else None


def area_of_rows(scores: NDArray[np.float64], positive: NDArray[np.bool_], row: NDArray[np.int64], count: int) -> Estimator:
    """The area when rows count as often as they were drawn: the Mann-Whitney statistic over the distinct scores, ascending."""
    distinct, level = np.unique(scores, return_inverse=True)

    def estimate(chosen: NDArray[np.int64]) -> float:
        times = np.bincount(chosen, minlength=count)[row]
        positives = np.bincount(level, weights=times * positive, minlength=len(distinct))
        negatives = np.bincount(level, weights=times * ~positive, minlength=len(distinct))
        pairs = positives.sum() * negatives.sum()
        below = np.cumsum(negatives) - negatives / 2  # a tie counts half
        return float(positives @ below / pairs) if pairs else float("nan")

    return estimate
