"""Whether one run is better than another on the same responses: paired one-sided t test and paired bootstrap."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from localfact.errors import InputError
from localfact.records import Assessment, Probability, Record
from localfact.scoring.aggregate import ResponseScore, contribution_of
from localfact.scoring.bootstrap import percentile_interval, resampled
from localfact.scoring.tally import Unscored

Alternative = Literal["greater", "less"]

#: Differences this close are equal: what remains is rounding.
ROUNDING = 1e-12


class TTest(Record):
    """A paired one-sided t test: the statistic, its degrees of freedom, and the p-value of no difference."""

    t: float
    degrees_of_freedom: int
    p: Probability


class Comparison(Record):
    """One score of two runs over the same responses.

    Attributes:
        score: its name, with the K that holds for both runs.
        alternative: what is tested: that the first run's mean is `greater` or `less`.
        n: responses that have the score in both runs. left_out: why -> how many have not.
        first, second: the means over those n; None when n = 0.
        difference: first - second. ci: its 95 % percentile bootstrap interval; None with fewer than two pairs.
        effect: the mean difference in standard deviations of the differences (Cohen's d of paired samples).
        t_test: None with fewer than two pairs, or where all differences are equal and t does not exist; so is `effect`.
        p_bootstrap: share of the resamples in which the first run is not better, each side counted once more (never 0).
    """

    score: str
    alternative: Alternative
    n: int
    left_out: Mapping[str, int] = Field(default_factory=dict)
    first: float | None = None
    second: float | None = None
    difference: float | None = None
    ci: tuple[float, float] | None = None
    effect: float | None = None
    t_test: TTest | None = None
    p_bootstrap: Probability | None = None


def compare(
    first: Sequence[Assessment],
    second: Sequence[Assessment],
    score: ResponseScore,
    *,
    alternative: Alternative | None = None,
    seed: int = 0,
) -> Comparison:
    """Tests whether the first run is better on one score (FactReasoner, Table 4 and section C.4).

    Args:
        first, second: two runs over the same responses, matched by id.
        score: one that a response has for itself. Its K is taken from both runs together, so that both are measured alike.
        alternative: the side that is tested; None: the score's better one.
        seed: of the bootstrap.

    Raises:
        InputError: the runs are not over the same responses.
    """
    fitted = score.fitted_to([*first, *second])
    side: Alternative = alternative or ("less" if score.lower_is_better else "greater")
    values: list[tuple[float, float]] = []
    left_out: Counter[str] = Counter()
    for one, other in _matched(first, second):
        value, other_value = contribution_of(fitted, one), contribution_of(fitted, other)
        if isinstance(value, Unscored):
            left_out[value.reason] += 1
        elif isinstance(other_value, Unscored):
            left_out[other_value.reason] += 1
        else:
            values.append((value, other_value))
    tests = _tests(np.array(values), side, seed) if values else {}
    return Comparison(score=str(fitted), alternative=side, n=len(values), left_out=dict(left_out), **tests)


def paired_t_test(differences: NDArray[np.float64], alternative: Alternative) -> TTest | None:
    """The one-sided t test that the mean of the differences (n,) is 0; None where n < 2 or all differences are equal."""
    from scipy.special import stdtr

    n = len(differences)
    deviation = _deviation(differences)
    if deviation is None:
        return None
    t = float(differences.mean() / (deviation / math.sqrt(n)))
    p = float(stdtr(n - 1, -t if alternative == "greater" else t))
    return TTest(t=t, degrees_of_freedom=n - 1, p=p)


def _matched(first: Sequence[Assessment], second: Sequence[Assessment]) -> list[tuple[Assessment, Assessment]]:
    """The pairs in the order of the first run's input."""
    others = {assessment.response_id: assessment for assessment in second}
    ids = {assessment.response_id for assessment in first}
    if ids != others.keys() or not len(ids) == len(first) == len(second):
        raise InputError(
            f"The two runs are not over the same responses ({len(ids & others.keys())} ids in common of {len(first)} and "
            f"{len(second)}). Compare runs of the same data file."
        )
    ordered = sorted(first, key=lambda assessment: assessment.index)
    return [(assessment, others[assessment.response_id]) for assessment in ordered]


def _tests(values: NDArray[np.float64], alternative: Alternative, seed: int) -> dict[str, Any]:
    """The fields of a Comparison that follow from the values (n, 2), n >= 1."""
    differences = values[:, 0] - values[:, 1]
    means = values.mean(axis=0)
    fields: dict[str, Any] = {
        "first": float(means[0]),
        "second": float(means[1]),
        "difference": float(differences.mean()),
    }
    if len(differences) < 2:
        return fields
    estimates = resampled(lambda chosen: float(differences[chosen].mean()), len(differences), seed)
    gains = estimates if alternative == "greater" else -estimates
    deviation = _deviation(differences)
    return fields | {
        "ci": percentile_interval(estimates),
        "effect": None if deviation is None else float(differences.mean()) / deviation,
        "t_test": paired_t_test(differences, alternative),
        "p_bootstrap": (1 + int((gains <= 0).sum())) / (1 + len(gains)),
    }


def _deviation(differences: NDArray[np.float64]) -> float | None:
    """The standard deviation (n - 1); None where there is none to divide by."""
    if len(differences) < 2 or np.ptp(differences) <= ROUNDING:
        return None
    return float(np.std(differences, ddof=1))
