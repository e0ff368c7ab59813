"""What a relation model's answers to labelled pairs say of it: accuracy, F1, area under the curve, calibration; with intervals.

Arrays only. Pairs of one topic are not independent, so whole topics are drawn in every bootstrap. Which pairs are asked is
decided in `evaluated_sets.py`, the answers come from `asking.py`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from localfact.records import Distribution, Failure
from localfact.scoring.bootstrap import Estimator, percentile_interval, resampled
from localfact.scoring.calibration import expected_calibration_error
from localfact.scoring.roc import RocCurve, area_of_rows, roc_curve
from scripts.training.relation_model.examples import CONTRADICTION, ENTAILMENT, LABELS

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Whole = NDArray[np.int64]
Interval = tuple[float, float]

#: The label of sets that tell only whether a premise entails its hypothesis.
NOT_ENTAILMENT = "not_entailment"
TWO_WAY = (ENTAILMENT, NOT_ENTAILMENT)
#: What `said` has for a pair that the model has no answer to: right for no label.
UNANSWERED = -1


@dataclass(frozen=True)
class Answers:
    """Labelled pairs and what a model said, for n pairs and k labels.

    Attributes:
        labels: k names. gold, said: (n,) places in it; `said` is UNANSWERED where the model failed.
        probabilities: (n, k); NaN where it failed.
        topics: (n,) which pairs are about the same: numbers from 0 without a gap.
    """

    labels: tuple[str, ...]
    gold: Whole
    said: Whole
    probabilities: Floats
    topics: Whole

    @property
    def topic_count(self) -> int:
        """How many topics there are."""
        return int(self.topics.max()) + 1 if len(self.topics) else 0

    @property
    def right(self) -> Flags:
        """(n,) whether the label said is that of the data set."""
        right: Flags = self.said == self.gold
        return right

    @property
    def answered(self) -> Flags:
        """(n,) whether the model has an answer."""
        answered: Flags = self.said != UNANSWERED
        return answered

    @property
    def stated(self) -> Floats:
        """The probability of the label said, for each pair that is answered."""
        places = np.flatnonzero(self.answered)
        stated: Floats = self.probabilities[places, self.said[places]]
        return stated

    @property
    def outcomes(self) -> Floats:
        """1 where the label said is right, else 0, for each pair that is answered: what `stated` is held against."""
        return self.right[self.answered].astype(np.float64)


class Estimated(NamedTuple):
    """A figure and what it is on each resample of the topics, (2000,)."""

    value: float
    resamples: Floats

    @property
    def interval(self) -> Interval | None:
        """The middle 95 % of the resamples on which the figure exists; None where there are none."""
        known = self.resamples[~np.isnan(self.resamples)]
        return percentile_interval(known) if len(known) else None

    def minus(self, other: "Estimated") -> "Estimated":
        """The difference, paired: both are of the same pairs, resampled alike."""
        return Estimated(self.value - other.value, self.resamples - other.resamples)


def answers_of(labels: Sequence[str], said: Sequence[Distribution | Failure], topics: Sequence[str]) -> Answers:
    """The arrays for pairs with these labels of their data set, what a model said of them, and what each is about.

    With a label NOT_ENTAILMENT among them, contradiction and neutral count as one.
    """
    names = TWO_WAY if NOT_ENTAILMENT in labels else LABELS
    numbers = np.full((len(said), 3), np.nan)
    chosen = np.full(len(said), UNANSWERED, dtype=np.int64)
    for place, one in enumerate(said):
        if isinstance(one, Distribution):
            numbers[place] = (one.entailment, one.contradiction, one.neutral)
            chosen[place] = min(LABELS.index(one.label), len(names) - 1)
    if names is TWO_WAY:
        numbers = np.column_stack([numbers[:, 0], numbers[:, 1:].sum(axis=1)])
    gold = np.array([names.index(label) for label in labels], dtype=np.int64)
    _, numbered = np.unique(np.array(topics, dtype=object), return_inverse=True)
    return Answers(names, gold, chosen, numbers, numbered.astype(np.int64))


def estimated(measure: Callable[[Answers], Estimator], answers: Answers, seed: int) -> Estimated:
    """A figure over all pairs, and its resamples. With fewer than two topics there are none to draw from: NaN."""
    estimator, count = measure(answers), answers.topic_count
    value = estimator(np.arange(count, dtype=np.int64))
    return Estimated(value, resampled(estimator, count, seed) if count > 1 else np.full(1, np.nan))


def accuracy(answers: Answers) -> Estimator:
    """The share of pairs whose label is said, in [0, 1]; a pair without an answer is wrong."""
    right, pairs = _per_topic(answers, answers.right), _per_topic(answers, np.ones(len(answers.gold)))
    return lambda chosen: float(right[chosen].sum() / pairs[chosen].sum())


def macro_f1(answers: Answers) -> Estimator:
    """The mean over the data set's labels of F1, 2 tp / (said + gold), in [0, 1].

    A label that a resample has neither in the data nor in the answers is left out of its mean.
    """
    places = np.unique(answers.gold)
    hits = np.stack([_per_topic(answers, (answers.gold == place) & (answers.said == place)) for place in places])
    both = np.stack([_per_topic(answers, (answers.gold == place) * 1.0 + (answers.said == place)) for place in places])

    def estimate(chosen: Whole) -> float:
        hit, total = hits[:, chosen].sum(axis=1), both[:, chosen].sum(axis=1)
        present = total > 0
        return float(np.mean(2 * hit[present] / total[present]))

    return estimate


def area(answers: Answers) -> Estimator:
    """Of the receiver operating characteristic: P(contradiction) of contradicted pairs against all others, in [0, 1]."""
    known = answers.answered
    scores, positive = answers.probabilities[known, LABELS.index(CONTRADICTION)], _is(answers, CONTRADICTION)[known]
    return area_of_rows(scores, positive, answers.topics[known], answers.topic_count)


def calibration(answers: Answers) -> Estimator:
    """The expected calibration error of the label said, in [0, 1]: ten bins of equal count; unanswered pairs are in none.

    It cannot be negative, and resampling adds noise to every bin: the interval lies somewhat too high (Kumar et al., 2019).
    """
    order = np.argsort(answers.stated, kind="stable")
    stated, right = answers.stated[order], answers.outcomes[order]
    topics = answers.topics[answers.answered][order]

    def estimate(chosen: Whole) -> float:
        times = np.bincount(chosen, minlength=answers.topic_count)[topics]
        drawn = np.repeat(stated, times)
        return expected_calibration_error(drawn, np.repeat(right, times)) if len(drawn) else float("nan")

    return estimate


def curve(answers: Answers, label: str, seed: int) -> RocCurve:
    """The receiver operating characteristic of P(label) on pairs with that label against all others.

    Raises:
        InputError: all pairs have that label, or none.
    """
    known = answers.answered
    scores = answers.probabilities[known, LABELS.index(label)]
    return roc_curve(scores, _is(answers, label)[known], answers.topics[known], seed=seed)


def _is(answers: Answers, label: str) -> Flags:
    having: Flags = answers.gold == answers.labels.index(label)
    return having


def _per_topic(answers: Answers, counted: Floats | Flags) -> Floats:
    """The sum of `counted` over the pairs of each topic."""
    return np.bincount(answers.topics, weights=counted.astype(np.float64), minlength=answers.topic_count).astype(np.float64)
