"""How often a claim that the gate accepts is wrong, for each theta, and which theta keeps that below a given risk.

Arrays only; `localfact calibrate` provides the labelled claims. The method is Learn then Test (Angelopoulos, Bates, Candès,
Jordan and Lei, 2021) with exact binomial bounds (Clopper and Pearson, 1934). `smallest_theta` says what is guaranteed.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from localfact.errors import InputError
from localfact.records import Probability, Record

#: Candidates for theta, denser where most confidences are; 0.995 is the paper's (FastFact, section 4.1).
THETAS = (1.0, 0.9999, 0.999, 0.998, 0.995, 0.99, 0.98, 0.95, 0.9, 0.8, 0.7, 0.6, 0.5, 0.0)
#: The default probability with which the guarantee may fail.
DELTA = 0.05
#: The largest values for which the binomial tail is a bound (see `smallest_theta`).
LARGEST_DELTA = 0.25
LARGEST_RISK = 0.5


class RiskPoint(Record):
    """The effect of one theta on the labelled claims.

    Attributes:
        accepted: how many have a definite label and C > theta.
        wrong: how many of those disagree with the annotation.
        risk: wrong / accepted; None where nothing is accepted.
        bound: the upper end of the exact one-sided interval around `risk`, at 1 - delta for this theta alone; 1 without claims.
        best_bound: what `bound` would be if none were wrong: so few claims cannot show a lower risk.
        skipped: accepted / all claims, those with an indefinite label included: the share that needs no search.
    """

    theta: float
    accepted: int
    wrong: int
    risk: Probability | None
    bound: Probability
    best_bound: Probability
    skipped: Probability


def risk_curve(
    confidence: ArrayLike,
    correct: ArrayLike,
    total: int,
    delta: float = DELTA,
    thetas: Sequence[float] = THETAS,
    *,
    inclusive: bool = False,
) -> list[RiskPoint]:
    """One point a theta, strict to lenient.

    Args:
        confidence: (n,) the raw C of every claim with a definite label (FastFact, equation 1), in [0, 1].
        correct: (n,) whether that label agrees with the annotation.
        total: how many claims there are, those with an indefinite label included; at least n.
        delta: the probability with which a bound may fail, in (0, 0.25].
        thetas: candidates, chosen without looking at `correct`; order and repetition do not matter.
        inclusive: whether a claim with C = theta is accepted, too, which the gate does not.

    Raises:
        InputError: an argument is out of its range, or the arrays differ in length.
    """
    if not 0 < delta <= LARGEST_DELTA:
        raise InputError(f"delta must be above 0 and at most {LARGEST_DELTA}, not {delta}.")
    confidences, agrees = np.asarray(confidence, dtype=np.float64), np.asarray(correct, dtype=bool)
    if confidences.ndim != 1 or confidences.shape != agrees.shape or len(confidences) > total:
        raise InputError(f"{confidences.shape} confidences, {agrees.shape} labels and {total} claims do not belong together.")
    if not np.all((confidences >= 0) & (confidences <= 1)):
        raise InputError("A confidence is outside [0, 1].")
    order = np.argsort(-confidences, kind="stable")
    descending = confidences[order]
    wrong_among_first = np.concatenate([[0], np.cumsum(~agrees[order])])
    points = []
    for theta in sorted(set(thetas), reverse=True):
        accepted = int(np.searchsorted(-descending, -theta, side="right" if inclusive else "left"))
        points.append(_point(theta, accepted, int(wrong_among_first[accepted]), total, delta))
    return points


def smallest_theta(points: Sequence[RiskPoint], max_risk: float) -> RiskPoint | None:
    """The most lenient theta whose accepted claims are shown to be wrong in at most `max_risk` of all cases; None if none is.

    From strict to lenient, beginning where enough claims are accepted to show anything, each theta is tested at the full delta;
    the first that fails ends it (fixed-sequence testing), so that many candidates cost nothing.

    Guaranteed, with probability 1 - delta over the labels: the mean of P(wrong | confidence) over the claims accepted at the
    chosen theta is at most `max_risk`. Assumed: given the confidences, labels are right or wrong independently of each other.
    Candidates and beginning depend on confidences alone; and a sum of unequal trials falls that low no more often than a
    binomial one of the same mean (Hoeffding, 1956). For other claims it holds as far as they are exchangeable with these: same
    model, prompt and kind of text. Claims of one response depend on each other, which this does not make up for: label a few
    claims each of many responses rather than many of a few.

    Args:
        points: of `risk_curve`.
        max_risk: the share of accepted claims that may be wrong, in (0, 0.5].

    Raises:
        InputError: `max_risk` is out of its range.
    """
    if not 0 < max_risk <= LARGEST_RISK:
        raise InputError(f"The risk must be above 0 and at most {LARGEST_RISK}, not {max_risk}.")
    chosen = None
    for point in sorted(points, key=lambda point: -point.theta):
        if point.best_bound > max_risk:
            continue
        if point.bound > max_risk:
            break
        chosen = point
    return chosen


def upper_bound(wrong: int, accepted: int, delta: float) -> float:
    """The largest risk at which so few wrong ones, or fewer, still have probability delta (Clopper and Pearson, 1934)."""
    from scipy.special import betaincinv

    if wrong >= accepted:
        return 1.0
    return float(betaincinv(wrong + 1, accepted - wrong, 1.0 - delta))


def fewest_claims(max_risk: float, delta: float = DELTA) -> int:
    """How many accepted claims, none of them wrong, it takes to show a risk of at most `max_risk`: 59 for 0.05 at 95 %."""
    return math.ceil(math.log(delta) / math.log1p(-max_risk))


def _point(theta: float, accepted: int, wrong: int, total: int, delta: float) -> RiskPoint:
    return RiskPoint(
        theta=theta,
        accepted=accepted,
        wrong=wrong,
        risk=wrong / accepted if accepted else None,
        bound=upper_bound(wrong, accepted, delta),
        best_bound=upper_bound(0, accepted, delta),
        skipped=accepted / total if total else 0.0,
    )
