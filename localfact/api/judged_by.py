"""Who judged, and what such a verdict is not: for every answer of a service, whose reader sees no report."""

from localfact.api.report import how_decided, limits_of
from localfact.methods.settings import Settings
from localfact.records import Record
from localfact.report.explanations import NO_PROOF
from localfact.runs.record import RunSettings


class JudgedBy(Record):
    """What judged.

    Attributes:
        method: its name in `localfact methods`.
        relations: the relation model with its revision; None for a method without one.
        model: the language model; None where none is asked.
        corpus: the hash, or the id, of the pages that were searched; None where none were.
        limits: what a verdict is not, and what else its reader must know.
    """

    method: str
    relations: str | None
    model: str | None
    corpus: str | None
    limits: str


def judged_by(settings: Settings) -> JudgedBy:
    """Who judges under these settings."""
    read = RunSettings.read(settings.plain())
    return JudgedBy(
        method=read.method,
        relations=read.assessment.relations or None,
        model=None if read.model is None else read.model.model,
        corpus=read.evidence.corpus,
        limits=" ".join(filter(None, (NO_PROOF, limits_of(read.assessment)))),
    )


def how_verdicts_are_reached(settings: Settings) -> str:
    """How verdicts are reached under these settings, in sentences."""
    return how_decided(RunSettings.read(settings.plain()).assessment)
