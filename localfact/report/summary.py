"""Sums a finished run up: counts that add up, scores that name their policy, usage and warnings. This is summary.json."""

from collections import Counter
from collections.abc import Mapping, Sequence

from pydantic import Field

from localfact.records import SCHEMA_VERSION, Assessment, Record, VerdictLabel
from localfact.scoring import KPolicy, ScoreResult, score, standard_scores


class Summary(Record):
    """The sums of a run.

    Attributes:
        run: the run folder as it was named; None for a summary of loose assessments.
        responses: how many rows the input has; the scored are those that are in none of the three counts below.
        verdicts: claims per verdict, every verdict named; they add up to `claims`.
        scores: in the order in which they are printed.
        usage: what was counted on the way, summed over responses (passages, pairs asked, gated, ...).
        warnings: each once, with how many responses it concerns where that is more than one.
    """

    schema_version: int = SCHEMA_VERSION
    method: str
    run: str | None = None
    responses: int
    responses_abstained: int
    responses_unscored: int
    responses_failed: int
    claims: int
    verdicts: Mapping[str, int]
    scores: tuple[ScoreResult, ...]
    usage: Mapping[str, int] = Field(default_factory=dict)
    warnings: tuple[str, ...] = ()


def summarise(
    assessments: Sequence[Assessment],
    *,
    method: str,
    run: str | None = None,
    recall_k: KPolicy | None = None,
    warnings: Sequence[str] = (),
    seed: int = 0,
) -> Summary:
    """Sums up assessments.

    Args:
        assessments: of one run, in the order of the input.
        method: its method's name.
        run: the run folder, for the reader.
        recall_k: the K of R@K and F1@K; the median when None.
        warnings: of the run itself, before those of the responses.
        seed: of the bootstrap intervals.
    """
    statuses = Counter(assessment.status for assessment in assessments)
    labels = Counter(verdict.label for assessment in assessments for verdict in assessment.verdicts)
    usage: Counter[str] = Counter()
    for assessment in assessments:
        usage.update(assessment.counts)
    return Summary(
        method=method,
        run=run,
        responses=len(assessments),
        responses_abstained=statuses["abstained"],
        responses_unscored=statuses["unscored"],
        responses_failed=statuses["failed"],
        claims=sum(len(assessment.claims) for assessment in assessments),
        verdicts={label.value: labels[label] for label in VerdictLabel},
        scores=score(assessments, standard_scores(assessments, recall_k), seed=seed),
        usage=dict(usage),
        warnings=(*warnings, *gathered_warnings(assessments)),
    )


def gathered_warnings(assessments: Sequence[Assessment]) -> list[str]:
    """Each warning once, in the order of its first appearance; failures last, with their reasons."""
    times = Counter(warning for assessment in assessments for warning in assessment.warnings)
    lines = [f"{warning} ({count} responses)" if count > 1 else warning for warning, count in times.items()]
    reasons = Counter(assessment.error for assessment in assessments if assessment.error)
    return lines + [
        f"Failed: {reason} ({count} responses)" if count > 1 else f"Failed: {reason}" for reason, count in reasons.items()
    ]
