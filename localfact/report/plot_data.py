"""The numbers behind the figures of runs, or why a run has none. run_plots.py draws them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localfact.records import Assessment
from localfact.scoring.aggregate import Score, contribution_of
from localfact.scoring.bootstrap import percentile_interval, resample
from localfact.scoring.calibration import ReliabilityBin, reliability_bins
from localfact.scoring.roc import RocCurve, roc_curve
from localfact.scoring.scores import quality_scores
from localfact.scoring.selective import CoverageCurve, coverage_curve
from localfact.scoring.tally import Unscored, labelled_claims, reason_unscored, tally
from localfact.text import word_count

#: Where a posterior is above it, the claim is taken for supported.
HALF = 0.5
#: The most bins of precision by length, and the fewest responses in one.
LENGTH_BINS, FEWEST_IN_BIN = 10, 5


@dataclass(frozen=True)
class AnnotatedClaims:
    """The n >= 1 claims of a run that have a posterior and are annotated as supported or not supported.

    Attributes:
        posteriors: (n,) P(claim is true).
        supported: (n,) by the annotation.
        responses: (n,) the index of each one's response.
    """

    posteriors: NDArray[np.float64]
    supported: NDArray[np.bool_]
    responses: NDArray[np.int64]


@dataclass(frozen=True)
class LengthBin:
    """Responses of about one length: their mean length in words, mean precision, and its 95 % bootstrap interval."""

    words: float
    precision: float
    ci: tuple[float, float]


@dataclass(frozen=True)
class PrecisionByLength:
    """The precision of each of n responses and its length.

    Attributes:
        words: (n,) of the response.
        precision: (n,) S / (S + N), in [0, 1].
        bins: of equal count, by ascending length; empty where the responses are too few for two.
    """

    words: NDArray[np.int64]
    precision: NDArray[np.float64]
    bins: tuple[LengthBin, ...]


@dataclass(frozen=True)
class ScoreValues:
    """One score of single responses.

    Attributes:
        name: with its policy, which is one for all runs.
        lower_is_better: as the score says.
        values: run -> (n,) the scores of its responses, ascending; a run without any is not in it.
    """

    name: str
    lower_is_better: bool
    values: Mapping[str, NDArray[np.float64]]


@dataclass(frozen=True)
class PassagePosteriors:
    """What the factor graphs of n responses make of their own passages.

    Attributes:
        variables: (n,) of the factor graph: claims and passages.
        posteriors: (n,) the mean over its passages, in [0, 1].
    """

    variables: NDArray[np.int64]
    posteriors: NDArray[np.float64]


def claims_with_labels(assessments: Sequence[Assessment]) -> AnnotatedClaims | Unscored:
    """The annotated claims of all responses together."""
    labelled = [(one.index, gold, verdict) for one in assessments for gold, verdict in labelled_claims(one)]
    rows = [(verdict.posterior, gold, index) for index, gold, verdict in labelled if verdict.posterior is not None]
    if not rows:
        return Unscored("no posteriors of annotated claims" if labelled else "no annotated claims")
    posteriors, supported, responses = zip(*rows, strict=True)
    return AnnotatedClaims(np.array(posteriors, dtype=np.float64), np.array(supported), np.array(responses, dtype=np.int64))


def reliability(assessments: Sequence[Assessment]) -> tuple[ReliabilityBin, ...] | Unscored:
    """The bins of the run's calibration error."""
    claims = claims_with_labels(assessments)
    return claims if isinstance(claims, Unscored) else reliability_bins(claims.posteriors, claims.supported.astype(np.float64))


def risk_coverage(assessments: Sequence[Assessment]) -> CoverageCurve | Unscored:
    """The error rate against the share of claims kept, those whose posteriors are farthest from 0.5 first.

    A posterior of 0.5 counts as not supported, as F1(gold) counts undecided claims.
    """
    claims = claims_with_labels(assessments)
    if isinstance(claims, Unscored):
        return claims
    confidence = np.maximum(claims.posteriors, 1 - claims.posteriors)
    return coverage_curve(confidence, (claims.posteriors > HALF) != claims.supported, claims.responses)


def roc(assessments: Sequence[Assessment]) -> RocCurve | Unscored:
    """Supported claims (the positives) against the others, by posterior; claims of a response are resampled together."""
    claims = claims_with_labels(assessments)
    if isinstance(claims, Unscored):
        return claims
    if claims.supported.all() or not claims.supported.any():
        return Unscored("annotated claims of one kind alone")
    return roc_curve(claims.posteriors, claims.supported, claims.responses)


def precision_by_length(assessments: Sequence[Assessment]) -> PrecisionByLength | Unscored:
    """Of the responses that have a precision and a text."""
    scored = [one for one in assessments if reason_unscored(one) is None and one.text.strip()]
    if not scored:
        return Unscored("no responses with a text and a precision")
    found = sorted((word_count(one.text), tally(one).precision) for one in scored)
    words, precision = (np.array(values) for values in zip(*found, strict=True))
    count = min(LENGTH_BINS, len(scored) // FEWEST_IN_BIN)
    edges = [place * len(scored) // count for place in range(count + 1)] if count > 1 else []
    return PrecisionByLength(
        words, precision, tuple(_bin(words[start:end], precision[start:end]) for start, end in pairwise(edges))
    )


def select_scored(assessments: Sequence[Assessment]) -> Sequence[Assessment] | Unscored:
    """The assessments, where some response has a score."""
    return assessments if any(reason_unscored(one) is None for one in assessments) else Unscored("no responses with a score")


def response_scores(runs: Mapping[str, Sequence[Assessment]]) -> tuple[ScoreValues, ...]:
    """The measures of quality that each response has for itself, in the order of a run's summary.

    K and what else depends on the data is taken from all runs together, so that all are measured alike.
    """
    together = [assessment for run in runs.values() for assessment in run]
    found = []
    for score in quality_scores(together):
        fitted = score.fit(together)
        values = {name: _values(fitted, run) for name, run in runs.items()}
        found.append(ScoreValues(str(fitted), score.lower_is_better, {name: one for name, one in values.items() if len(one)}))
    return tuple(one for one in found if one.values)


def _values(score: Score[Any], assessments: Sequence[Assessment]) -> NDArray[np.float64]:
    contributions = [contribution_of(score, assessment) for assessment in assessments]
    return np.sort(np.array([one for one in contributions if not isinstance(one, Unscored)], dtype=np.float64))


def _bin(words: NDArray[np.int64], precision: NDArray[np.float64]) -> LengthBin:
    estimates = resample(lambda chosen: float(precision[chosen].mean()), len(precision), seed=0)
    return LengthBin(float(words.mean()), float(precision.mean()), percentile_interval(estimates))
