"""From which posterior on a verdict may stand, so that few of those that stand are wrong: a bound over responses, not claims.

Arrays only; `localfact calibrate --verdicts` provides the judged claims. The method is Learn then Test (Angelopoulos, Bates,
Candès, Jordan and Lei, 2021), as for theta (risk.py). Claims of one response depend on each other, so that what is tested is
the sum of each response, by betting against it (Waudby-Smith and Ramdas, 2023): responses have to be independent, claims not.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from localfact.errors import InputError
from localfact.records import Probability, Record
from localfact.scoring.risk import LARGEST_DELTA, LARGEST_RISK

#: Candidates, strict to lenient, fixed before any label is seen.
THRESHOLDS = (0.999, 0.998, *(round(0.995 - 0.005 * step, 3) for step in range(100)))
#: Bets, as parts of the largest that cannot lose more than everything; of these the best is made for a risk that is so small a
#: part of the allowed one, where all verdicts of a response are right or wrong together.
_BETS = np.arange(1, 20) / 20
_EXPECTED = 0.25
#: Tests begin where so large a part of the allowed risk, in every response alike, would still be shown to be low enough.
_ROOM = 0.5


class ThresholdPoint(Record):
    """The effect of one threshold on the labelled claims.

    Attributes:
        threshold: verdicts stand whose probability of being right, by their posterior, is at least this.
        standing: how many stand. wrong: how many of those disagree with the annotation. responses: in how many they are.
        risk: wrong / standing; None where none stands.
        p: at most so probable would labels this good be, if the risk were above the allowed one; in (0, 1].
    """

    threshold: Probability
    standing: int
    wrong: int
    responses: int
    risk: Probability | None
    p: Probability


def threshold_curve(
    confidence: Sequence[ArrayLike], wrong: Sequence[ArrayLike], max_risk: float, thresholds: Sequence[float] = THRESHOLDS
) -> list[ThresholdPoint]:
    """One point a threshold, strict to lenient.

    Args:
        confidence: of each response, (n,) how probable its verdicts of one kind are right: P(claim) of supported ones,
            1 - P(claim) of contradicted ones; in [0, 1].
        wrong: of each response, (n,) whether they disagree with the annotation.
        max_risk: the share of standing verdicts that may be wrong, in (0, 0.5].
        thresholds: chosen without looking at `wrong`.

    Raises:
        InputError: max_risk is out of its range, or the arrays do not belong together.
    """
    if not 0 < max_risk <= LARGEST_RISK:
        raise InputError(f"The risk must be above 0 and at most {LARGEST_RISK}, not {max_risk}.")
    sure, bad = [np.asarray(one, dtype=float) for one in confidence], [np.asarray(one, dtype=bool) for one in wrong]
    if [one.shape for one in sure] != [one.shape for one in bad] or any(one.ndim != 1 for one in sure):
        raise InputError("Confidences and labels do not belong together: each response needs one of each for every verdict.")
    points = []
    for threshold in sorted(set(thresholds), reverse=True):
        standing = np.array([np.count_nonzero(one >= threshold) for one in sure])
        mistaken = np.array([np.count_nonzero(no[one >= threshold]) for one, no in zip(sure, bad, strict=True)])
        points.append(
            ThresholdPoint(
                threshold=threshold,
                standing=(total := int(standing.sum())),
                wrong=int(mistaken.sum()),
                responses=int(np.count_nonzero(standing)),
                risk=mistaken.sum() / total if total else None,
                p=_p_value(standing, mistaken, max_risk),
            )
        )
    return points


def lowest_threshold(
    confidence: Sequence[ArrayLike], points: Sequence[ThresholdPoint], max_risk: float, delta: float
) -> ThresholdPoint | None:
    """The most lenient threshold at which at most `max_risk` of the standing verdicts are shown to be wrong; None if none is.

    From strict to lenient each threshold is tested at the full delta; the first that fails ends it (fixed-sequence testing).
    The first is the strictest at which a risk of half the allowed one, spread evenly over responses, would be shown; where
    there is none, the strictest at which none wrong would be. Both depend on posteriors alone.

    Guaranteed, with probability 1 - delta over the labels: of all verdicts of the labelled responses that stand, the expected
    share of wrong ones is at most `max_risk`. Assumed: given the posteriors, responses are independent of each other; claims of
    one may depend on each other in any way. For other responses it holds as far as they are exchangeable with these: same
    method, settings and kind of text.

    Args:
        confidence: see `threshold_curve`, which made the points.
        delta: the probability with which it may fail, in (0, 0.25].

    Raises:
        InputError: delta is out of its range.
    """
    if not 0 < delta <= LARGEST_DELTA:
        raise InputError(f"delta must be above 0 and at most {LARGEST_DELTA}, not {delta}.")
    ordered = sorted(points, key=lambda point: -point.threshold)
    standing = [
        np.array([np.count_nonzero(np.asarray(one, dtype=float) >= point.threshold) for one in confidence]) for point in ordered
    ]
    for room in (_ROOM, 0.0):
        shown = (_p_value(counts, room * max_risk * counts, max_risk) <= delta for counts in standing)
        if (first := next((place for place, can in enumerate(shown) if can), None)) is not None:
            break
    else:
        return None
    chosen = None
    for point in ordered[first:]:
        if point.p > delta:
            break
        chosen = point
    return chosen


def fewest_responses(max_risk: float, delta: float) -> int:
    """How many responses with as many standing verdicts each, none wrong, it takes to show a risk of at most `max_risk`."""
    count = 1
    while _p_value(np.ones(count), np.zeros(count), max_risk) > delta:
        count += 1
    return count


def _p_value(standing: NDArray[np.float64] | NDArray[np.int_], mistaken: ArrayLike, max_risk: float) -> float:
    """An upper bound on the probability of so few mistakes where their expected share is above `max_risk`.

    Each response has the loss (mistaken - max_risk * standing) / the most that stand in one, in [-max_risk, 1 - max_risk], of
    expectation above 0. A stake on the opposite, times 1 - b * loss a response, grows by no more than 1 in expectation for any
    b <= 1 / (1 - max_risk) that no label decides, so that it exceeds 1 / p with a probability of at most p (Markov).
    """
    most = standing.max(initial=0)
    if not most:
        return 1.0
    losses = (np.asarray(mistaken) - max_risk * standing) / most
    bets = _BETS[:, None] / (1 - max_risk)
    expected, shares = _EXPECTED * max_risk, standing / most
    growth = (1 - expected) * np.log1p(bets * max_risk * shares) + expected * np.log1p(-bets * (1 - max_risk) * shares)
    bet = bets[growth.sum(axis=1).argmax()]
    return float(min(1.0, np.exp(-np.log1p(-bet * losses).sum())))
