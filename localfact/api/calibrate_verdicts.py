"""Fits thresholds of verdicts on a run over labelled claims: what is supported or contradicted then is so at a known risk.

The statistics, and what exactly is guaranteed, are in `scoring/verdict_risk.py`.
"""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from localfact.assess.thresholds import VerdictThresholds, explain_thresholds, settings_behind
from localfact.errors import InputError
from localfact.records import Assessment, Record
from localfact.runs.record import read_record
from localfact.scoring.verdict_risk import ThresholdPoint, fewest_responses, lowest_threshold, threshold_curve
from localfact.vocabulary import GoldLabel, VerdictLabel

#: Verdicts that get a threshold -> the annotator's label that agrees with each.
AGREES = {VerdictLabel.SUPPORTED: GoldLabel.SUPPORTED, VerdictLabel.CONTRADICTED: GoldLabel.NOT_SUPPORTED}


class VerdictCalibration(Record):
    """The result of a calibration of verdicts.

    Attributes:
        thresholds: what `eval --verdict-thresholds` reads. meaning: what they promise, in a sentence.
        supported, contradicted: the risk at each candidate, the strictest first.
        supported_chosen, contradicted_chosen: the most lenient one that is shown to hold; None if none is.
        enough_responses: how many with as many such verdicts each, all right, would show the risk.
        passed_over: labelled claims without a verdict that has a threshold.
    """

    thresholds: VerdictThresholds
    meaning: str
    supported: tuple[ThresholdPoint, ...]
    contradicted: tuple[ThresholdPoint, ...]
    supported_chosen: ThresholdPoint | None
    contradicted_chosen: ThresholdPoint | None
    enough_responses: int
    passed_over: int


def calibrate_verdicts(run: str | Path, *, max_risk: float = 0.05, delta: float = 0.05) -> VerdictCalibration:
    """Chooses thresholds on a finished run over claims that people labelled; nothing is computed again, nothing written.

    Args:
        run: a run folder of a method with a graph, made with --claims given.
        max_risk: the largest share of wrong ones among the verdicts of each kind that stand.
        delta: the probability, for each kind, that it is exceeded.

    Raises:
        MissingError: there is no such run. InputError: its method has no posteriors, it has thresholds already or no labelled
            claims, or a number is out of its range (scoring/risk.py).
    """
    record = read_record(Path(run))
    if record.settings.assessment.tables is None:
        raise InputError(f"The method {record.settings.method} gives no posterior, so that no threshold can be set on one.")
    if record.settings.assessment.thresholds is not None:
        raise InputError(f"{run} was made with --verdict-thresholds: calibrate on a run without them.")
    labelled = [one for one in record.outlines if any(claim.gold in AGREES.values() for claim in one.claims)]
    if not labelled:
        raise InputError(
            f"{run} has no claims labelled S or NS: `localfact eval --data FILE --claims given` judges those of labelled data."
        )
    points, chosen, standing = {}, {}, 0
    for label in AGREES:
        confidence, wrong = zip(*(sureness_of(one, label) for one in labelled), strict=True)
        points[label] = tuple(threshold_curve(confidence, wrong, max_risk))
        chosen[label] = lowest_threshold(confidence, points[label], max_risk, delta)
        standing += sum(map(len, confidence))
    supported, contradicted = chosen[VerdictLabel.SUPPORTED], chosen[VerdictLabel.CONTRADICTED]
    claims = sum(claim.gold in AGREES.values() for one in labelled for claim in one.claims)
    thresholds = VerdictThresholds(
        supported=supported.threshold if supported else None,
        contradicted=round(1 - contradicted.threshold, 6) if contradicted else None,
        max_risk=max_risk,
        delta=delta,
        settings=settings_behind(record.plain_settings),
        data=_digest(labelled),
        responses=len(labelled),
        claims=claims,
    )
    return VerdictCalibration(
        thresholds=thresholds,
        meaning=explain_thresholds(thresholds),
        supported=points[VerdictLabel.SUPPORTED],
        contradicted=points[VerdictLabel.CONTRADICTED],
        supported_chosen=supported,
        contradicted_chosen=contradicted,
        enough_responses=fewest_responses(max_risk, delta),
        passed_over=claims - standing,
    )


def sureness_of(assessment: Assessment, label: VerdictLabel) -> tuple[list[float], list[bool]]:
    """How sure the verdicts with that label are, by their posteriors, and whether the annotator disagrees."""
    found = [
        (verdict.posterior, claim.gold is not AGREES[label])
        for claim, verdict in zip(assessment.claims, assessment.verdicts, strict=True)
        if claim.gold in AGREES.values() and verdict.label is label and verdict.posterior is not None
    ]
    sure = [posterior if label is VerdictLabel.SUPPORTED else 1 - posterior for posterior, _ in found]
    return sure, [wrong for _, wrong in found]


def _digest(labelled: Sequence[Assessment]) -> str:
    """The SHA-256 of the claims and their labels, by response."""
    rows = [[[claim.text, claim.gold and claim.gold.value] for claim in one.claims] for one in labelled]
    return hashlib.sha256(json.dumps(rows, ensure_ascii=False).encode("utf-8", "surrogatepass")).hexdigest()


def view_rows(found: VerdictCalibration) -> list[dict[str, Any]]:
    """For people: of each kind of verdict the chosen threshold, or the one that came nearest."""
    rows = []
    for name, points, chosen in (
        ("supported", found.supported, found.supported_chosen),
        ("contradicted", found.contradicted, found.contradicted_chosen),
    ):
        best = chosen or min(points, key=lambda point: point.p)
        limit = best.threshold if name == "supported" else 1 - best.threshold
        rows.append(
            {
                "verdict": name,
                "stands": f"{'from' if name == 'supported' else 'up to'} {limit:.3g}" if chosen else "never",
                "best candidate": f"{limit:.3g}",
                "claims": best.standing,
                "wrong": best.wrong,
                "of responses": best.responses,
                "risk": f"{best.risk:.3f}" if best.risk is not None else "",
                "p": f"{best.p:.3f}",
            }
        )
    return rows
