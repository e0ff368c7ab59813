"""The bar that a run must reach: bounds on scores and counts, as `--fail-under precision=0.8,contradicted=0` names them.

A score that is not there is below every bar, and so is a run in which nothing was scored: an abstention passes nothing.
"""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from localfact.errors import InputError
from localfact.records import Assessment
from localfact.report.summary import Summary, count_verdicts
from localfact.scoring import ScoreResult, score, standard_scores
from localfact.vocabulary import VerdictLabel

#: Name of a bound -> how the score's own name begins. The mean over responses should be at least that.
AT_LEAST: Mapping[str, str] = {
    "precision": "Pr",
    "recall": "R@K(",
    "f1": "F1@K(",
    "recall-prime": "R@K'(",
    "f1-prime": "F1@K'(",
    "gold-f1": "F1(gold)",
    "citation-recall": "citation recall",
    "citation-precision": "citation precision",
    "evidence-recall": "R@E",
    "evidence-f1": "F1@E",
}
#: The same of scores of which less is better.
AT_MOST: Mapping[str, str] = {
    "entropy": "E(",
    "precision-error": "MAE(",
    "brier": "Brier(claim)",
    "brier-response": "Brier(response)",
    "calibration-error": "ECE(",
}
#: Statuses of responses that have no score though they did not fail: how many there may be at most.
UNSCORED = ("abstained", "unscored")
#: Verdicts: how many claims may have each at most, and of the supported should at least.
VERDICTS: tuple[str, ...] = tuple(label.value for label in VerdictLabel)

BOUNDS_HELP = (
    f"At least, of scores in [0, 1]: {', '.join(AT_LEAST)}; of claims: supported. "
    f"At most, of scores: {', '.join(AT_MOST)}; of claims: {', '.join(VERDICTS[1:])}; of responses: {', '.join(UNSCORED)}; "
    "failed counts responses, too."
)
_EXAMPLE = "precision=0.8,contradicted=0"
#: A comma that stands for a point, as many languages write it: no name begins with a digit.
_DECIMAL_COMMA = re.compile(r"(?<=\d)\s*,\s*(?=\d)")


class Bound(NamedTuple):
    """A limit on one score or count; `least` says on which side of it values pass."""

    name: str
    limit: float
    least: bool

    def __str__(self) -> str:
        return f"{self.name} {self.wanted}"

    @property
    def wanted(self) -> str:
        """What values should be: "at least 0.8"."""
        return f"at {'least' if self.least else 'most'} {self.limit:g}"


class Measured(NamedTuple):
    """What bounds are held against: scores, verdict -> number of claims, status -> number of responses."""

    scores: Sequence[ScoreResult]
    verdicts: Mapping[str, int]
    responses: Mapping[str, int]


class Held(NamedTuple):
    """A bound held against what was measured. said: the value beside the bound, in words."""

    bound: Bound
    passed: bool
    said: str


def parse_bounds(text: str) -> tuple[Bound, ...]:
    """Parses "precision=0.8,contradicted=0".

    Raises:
        InputError: an unknown name, a number that it cannot have, or a name twice.
    """
    if _DECIMAL_COMMA.search(text):
        meant = _DECIMAL_COMMA.sub(".", text)
        raise InputError(f"--fail-under {text!r} has a comma in a number, and commas stand between bounds: write {meant}.")
    bounds = tuple(_parse_bound(part.strip()) for part in text.split(",") if part.strip())
    if not bounds:
        raise InputError(f"--fail-under {text!r} names no bound. Write it as {_EXAMPLE}. {BOUNDS_HELP}")
    twice = [name for name, times in Counter(bound.name for bound in bounds).items() if times > 1]
    if twice:
        raise InputError(f"--fail-under bounds {twice[0]} twice: leave one of them.")
    return bounds


def _parse_bound(part: str) -> Bound:
    written, equals, number = part.partition("=")
    name = written.strip().lower()
    name = name.replace("-", "_") if name.replace("-", "_") in VERDICTS else name.replace("_", "-")
    if name not in (*AT_LEAST, *AT_MOST, *VERDICTS, *UNSCORED):
        raise InputError(f"--fail-under cannot bound {written.strip()!r}. {BOUNDS_HELP}")
    try:
        limit = float(number)
    except ValueError:
        limit = math.nan
    said = f"{name}={number.strip()}" if equals else f"{name} without a number"
    return make_bound(name, limit, f"--fail-under cannot be {said}")


def make_bound(name: str, limit: float, refusal: str) -> Bound:
    """The bound of this name.

    Args:
        refusal: the beginning of the message, which says what was given where.

    Raises:
        InputError: values of that name never have such a limit.
    """
    is_score = name in AT_LEAST or name in AT_MOST
    if not (0 <= limit <= 1 if is_score else 0 <= limit < math.inf and limit == int(limit)):
        raise InputError(f"{refusal}: {name} is {'a number from 0 to 1, as 0.8' if is_score else 'a whole number, as 0'}.")
    return Bound(name, limit, name in AT_LEAST or name == VerdictLabel.SUPPORTED)


def measured_of(found: Summary | Sequence[Assessment]) -> Measured:
    """What bounds are held against, of the summary of a run or of assessments."""
    if isinstance(found, Summary):
        bare = {"abstained": found.responses_abstained, "unscored": found.responses_unscored, "failed": found.responses_failed}
        return Measured(found.scores, found.verdicts, {**bare, "scored": found.responses - sum(bare.values())})
    return Measured(score(found, standard_scores(found)), count_verdicts(found), Counter(one.status for one in found))


def hold(bounds: Sequence[Bound], measured: Measured) -> list[Held]:
    """Holds each bound against what was measured; none passes where no response was scored."""
    return [_hold(bound, measured) for bound in bounds]


def _hold(bound: Bound, measured: Measured) -> Held:
    value, reason = _value(bound.name, measured)
    if value is None:
        return Held(bound, False, f"{bound.name} has no value ({reason}), and should be {bound.wanted}")
    said = f"{bound.name} is {_shown(value, bound.limit)}, and should be {bound.wanted}"
    if not measured.responses.get("scored", 0):
        return Held(bound, False, f"{said}; but no response has a claim that was judged, so nothing is shown by that")
    return Held(bound, value >= bound.limit if bound.least else value <= bound.limit, said)


def _value(name: str, measured: Measured) -> tuple[float | None, str | None]:
    if name in (*VERDICTS, *UNSCORED):  # claims and responses have no word in common but "failed"
        return measured.verdicts.get(name, 0) + measured.responses.get(name, 0), None
    begins = {**AT_LEAST, **AT_MOST}[name]
    found = next((one for one in measured.scores if one.name == begins or one.name.startswith(begins)), None)
    return (None, "the data have no annotation, or the method no posterior") if found is None else (found.value, found.reason)


def _shown(value: float, limit: float) -> str:
    """With three places, or as many as tell it from the limit."""
    short = f"{value:.3f}".rstrip("0").rstrip(".")
    return short if value == limit or float(short) != limit else repr(value)
