"""What other tools' logs say beside a score: which method judged, by whose reading, and what it found wrong."""

from localfact.api.report import limits_of
from localfact.records import Assessment
from localfact.report.plain_findings import MOST_TOLD, describe_all
from localfact.runs.record import RunSettings


def describe_judge(settings: RunSettings) -> str:
    """The method, and who read the passages: "builtin-fr2 (relations: lexical@1a2b, which is a demonstration)"."""
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
        judge: from `describe_judge`.
    """
    found = f"{assessment.headline[:1].upper()}{assessment.headline[1:]}."
    return f"Judged by localfact, {judge}. {found}\n{describe_all(assessment.contradicted, MOST_TOLD)}".rstrip()
