"""What other tools' logs say beside a score: which method judged, by whose reading, and what it found wrong."""

from localfact.api.report import limits_of
from localfact.records import Assessment
from localfact.runs.record import RunSettings

#: Claims in an explanation.
CLAIMS_TOLD = 20


def judged_by(settings: RunSettings) -> str:
    """The method, and who read the passages: "builtin-fr2 (relations: builtin-nli@1a2b, which is a demonstration)"."""
    readers = {
        "relations": settings.assessment.relations,
        "language model": settings.model.model if settings.model is not None else "",
    }
    told = "; ".join(f"{what}: {name}" for what, name in readers.items() if name)
    shipped = ", which is a demonstration" if limits_of(settings.assessment) else ""
    return f"{settings.method} ({told}{shipped})" if told else settings.method


def explain(assessment: Assessment, judge: str) -> str:
    """What came out, who judged, and each contradicted claim with the sentence against it and its source.

    Args:
        judge: from `judged_by`.
    """
    lines = [f"Judged by localfact, {judge}. {assessment.headline[:1].upper()}{assessment.headline[1:]}."]
    for claim in assessment.contradicted[:CLAIMS_TOLD]:
        sentence = "" if claim.sentence is None else f"\n  against it: {' '.join(claim.sentence.split())}"
        source = "" if claim.source is None else f"\n  in: {claim.source}"
        lines.append(f"- contradicted: {claim.text}{sentence}{source}")
    more = len(assessment.contradicted) - CLAIMS_TOLD
    return "\n".join([*lines, *([f"And {more} more."] if more > 0 else [])])
