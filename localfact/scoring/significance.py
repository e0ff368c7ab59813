"""Tests of differences between paired values: t tests, a permutation test, clustered standard errors, Holm's adjustment.

Values that hang together (claims of one response, responses to one prompt) form a cluster, and what is drawn by lot is drawn by
cluster: without that, a hundred claims of one response would count as a hundred witnesses.
"""

import math
from collections.abc import Iterator, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from localfact.records import Probability, Record
from localfact.scoring.bootstrap import RESAMPLES, percentile_interval, resample

Alternative = Literal["two-sided", "greater", "less"]
Values = NDArray[np.float64]

#: Differences this close are equal: what remains is rounding.
ROUNDING = 1e-12
#: The most flips of signs that the permutation test draws; it makes all of them where there are no more.
PERMUTATIONS = 9_999
#: Flips that are in memory at once.
PART = 250


class TTest(Record):
    """A t test: the statistic, its degrees of freedom, and the p-value of no difference."""

    t: float
    degrees_of_freedom: float
    p: Probability


class PairedDifference(Record):
    """How paired values of two runs differ.

    Attributes:
        first, second: the means.
        difference: first - second.
        wins, ties, losses: pairs in which the first value is larger, equal, smaller (smaller is a win of a score of which less
            is better).
        clusters: of how many clusters the pairs are.
        error: the standard error of the difference, clustered; None with fewer than two clusters.
        ci: the 95 % percentile bootstrap interval of the difference, whole clusters drawn; None with fewer than two.
        effect: the mean difference in standard deviations of the differences (Cohen's d of paired samples).
        t_test: paired; by the clustered error, which without clusters is the common paired test. None with fewer than two
            clusters, or where all differences are equal and t does not exist; so is `effect`.
        unpaired: Welch's test of the two samples as if they were of different responses, which the p-values of FactReasoner's
            tables fit. It gives away what pairing knows; None where there are clusters, of which it knows nothing.
        p_permutation: of the paired permutation test: each cluster's difference may as well have had the other sign.
        p_bootstrap: share of the resamples that do not favour the alternative (twice the smaller side's, of two), each side
            counted once more, so never 0.
    """

    first: float
    second: float
    difference: float
    wins: int
    ties: int
    losses: int
    clusters: int
    error: float | None = None
    ci: tuple[float, float] | None = None
    effect: float | None = None
    t_test: TTest | None = None
    unpaired: TTest | None = None
    p_permutation: Probability | None = None
    p_bootstrap: Probability | None = None


def difference(
    first: Values, second: Values, alternative: Alternative, clusters: Sequence[str] | None = None, seed: int = 0
) -> PairedDifference:
    """Compares paired values, shape (n,) each, n >= 1.

    Args:
        alternative: what is tested against no difference: that the first mean is `greater`, `less`, or another.
        clusters: which cluster each pair is of; None: each is its own.
        seed: of the bootstrap and of the permutations.
    """
    differences = first - second
    differences[np.abs(differences) <= ROUNDING] = 0.0
    sums, sizes = cluster_sums(differences, clusters)
    fields: dict[str, Any] = {
        "first": float(first.mean()),
        "second": float(second.mean()),
        "difference": float(differences.mean()),
        "wins": int((differences > ROUNDING).sum()),
        "ties": int((np.abs(differences) <= ROUNDING).sum()),
        "losses": int((differences < -ROUNDING).sum()),
        "clusters": len(sums),
    }
    if len(sums) > 1:
        estimates = resample(lambda chosen: float(sums[chosen].sum() / sizes[chosen].sum()), len(sums), seed)
        deviation = _deviation(differences)
        error = clustered_error(differences, clusters)
        fields |= {
            "error": error,
            "ci": percentile_interval(estimates),
            "effect": None if deviation is None else float(differences.mean()) / deviation,
            "t_test": None if deviation is None else _t_test(differences.mean(), error, len(sums) - 1, alternative),
            "unpaired": welch_t_test(first, second, alternative) if clusters is None else None,
            "p_permutation": permutation_p(sums, alternative, seed),
            "p_bootstrap": _bootstrap_p(estimates, alternative),
        }
    return PairedDifference(**fields)


def cluster_sums(values: Values, clusters: Sequence[str] | None) -> tuple[Values, NDArray[np.int64]]:
    """The sums of the values by cluster, and how many values each has; in the order in which the clusters first appear."""
    if clusters is None:
        return values, np.ones(len(values), dtype=np.int64)
    places = {name: place for place, name in enumerate(dict.fromkeys(clusters))}
    index = np.array([places[name] for name in clusters])
    return np.bincount(index, weights=values).astype(np.float64), np.bincount(index).astype(np.int64)


def clustered_error(values: Values, clusters: Sequence[str] | None = None) -> float:
    """The standard error of the mean of values, shape (n,), that depend on each other within clusters, of at least two.

    The sandwich estimator with the factor G / (G - 1) for G clusters; where each value is its own cluster, s / sqrt(n).
    """
    sums, _ = cluster_sums(values - values.mean(), clusters)
    count = len(sums)
    return math.sqrt(float((sums**2).sum()) * count / (count - 1)) / len(values)


def welch_t_test(first: Values, second: Values, alternative: Alternative) -> TTest | None:
    """Welch's t test of two samples with variances of their own; None where both are constant, or one has no second value."""
    deviations = [_deviation(sample) or 0.0 for sample in (first, second)]
    if min(len(first), len(second)) < 2 or not any(deviations):
        return None
    spread = [deviation**2 / len(sample) for deviation, sample in zip(deviations, (first, second), strict=True)]
    freedom = sum(spread) ** 2 / sum(one**2 / (len(sample) - 1) for one, sample in zip(spread, (first, second), strict=True))
    return _t_test(float(first.mean() - second.mean()), math.sqrt(sum(spread)), freedom, alternative)


def permutation_p(differences: Values, alternative: Alternative, seed: int = 0) -> float:
    """The p-value of the paired permutation test: each of the differences (n,), n >= 2, may as well have had the other sign.

    All signs are tried where there are at most PERMUTATIONS; else so many are drawn, and the one that was seen counts besides.
    """
    kept = differences[np.abs(differences) > ROUNDING]
    seen, tolerance = float(kept.sum()), ROUNDING * max(1.0, float(np.abs(kept).sum()))
    exact = 2 ** min(len(kept), 60) <= PERMUTATIONS
    at_least = at_most = made = 0
    for signs in _all_signs(len(kept)) if exact else _draw_signs(len(kept), seed):
        sums = signs @ kept
        at_least += int((sums >= seen - tolerance).sum())
        at_most += int((sums <= seen + tolerance).sum())
        made += len(sums)
    seen_besides = 0 if exact else 1
    greater, less = ((count + seen_besides) / (made + seen_besides) for count in (at_least, at_most))
    if alternative == "two-sided":
        return min(1.0, 2 * min(greater, less))
    return greater if alternative == "greater" else less


def _all_signs(count: int) -> Iterator[Values]:
    numbers = np.arange(2**count)[:, None] >> np.arange(count)
    yield 1.0 - 2.0 * (numbers & 1)


def _draw_signs(count: int, seed: int) -> Iterator[Values]:
    """PERMUTATIONS of them, in parts, so that thousands of responses take no gigabytes."""
    generator = np.random.default_rng(seed)
    for begin in range(0, PERMUTATIONS, PART):
        yield generator.choice((-1.0, 1.0), (min(PART, PERMUTATIONS - begin), count))


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Adjusts the p-values of one table for multiple testing by Holm's method.

    If every test with an adjusted p-value of at most alpha is called significant, the probability of one or more false
    positives among them is at most alpha.

    Args:
        p_values: in any order; None where no test was made.

    Returns:
        The adjusted p-values, in the same order. None stays None and does not count as a test.
    """
    known = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    largest = 0.0
    for rank, (p, place) in enumerate(known):
        largest = max(largest, min(1.0, (len(known) - rank) * p))
        adjusted[place] = largest
    return adjusted


def _t_test(mean: float, error: float, degrees_of_freedom: float, alternative: Alternative) -> TTest | None:
    """The t-test; None if the error is 0 within rounding, so that t does not exist."""
    from scipy.special import stdtr

    if error <= ROUNDING:
        return None
    t = float(mean) / error
    sides = {"greater": -t, "less": t, "two-sided": -abs(t)}
    p = float(stdtr(degrees_of_freedom, sides[alternative])) * (2 if alternative == "two-sided" else 1)
    return TTest(t=t, degrees_of_freedom=degrees_of_freedom, p=min(1.0, p))


def _bootstrap_p(estimates: Values, alternative: Alternative) -> float:
    not_greater, not_less = ((1 + int(against.sum())) / (1 + RESAMPLES) for against in (estimates <= 0, estimates >= 0))
    if alternative == "two-sided":
        return min(1.0, 2 * min(not_greater, not_less))
    return not_greater if alternative == "greater" else not_less


def _deviation(values: Values) -> float | None:
    """The standard deviation (n - 1); None where there is none to divide by."""
    if len(values) < 2 or np.ptp(values) <= ROUNDING:
        return None
    return float(np.std(values, ddof=1))
