"""Who judged, and what such a verdict is not: for every answer of a service, whose reader sees no report."""

from localfact.api.report import limits_of
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


def judged_by(read: RunSettings) -> JudgedBy:
    """Who judges, or judged, under these settings."""
    return JudgedBy(
        method=read.method,
        relations=read.assessment.relations or None,
        model=None if read.model is None else read.model.model,
        corpus=read.evidence.corpus,
        limits=" ".join(filter(None, (NO_PROOF, limits_of(read.assessment)))),
    )
