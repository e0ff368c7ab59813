"""Checked citations as rows, for data frames, CSV and JSON: one for each source that a sentence cites, or for one uncited."""

from collections.abc import Iterable, Iterator
from typing import Any

from localfact.records import Assessment
from localfact.report.table_data import Column, Group, Table, number

NUMBERS = ("entailment", "contradiction")
COLUMNS = (
    *("sentence", "marks", "verdict", "counts", "supported", "entailment", "contradiction", "quote"),
    *("source", "title", "state", "origin"),
)


def citation_rows(assessments: Iterable[Assessment]) -> Iterator[dict[str, Any]]:
    """Yields rows in the order of the texts, as plain values; None for a missing value.

    `supported` is of the sentence, `counts` of the citation (ALCE's recall and precision). An uncited sentence has one row
    with the verdict "uncited".
    """
    for assessment in assessments:
        if assessment.citations is None:
            continue
        sources = {source.id: source for source in assessment.citations.sources}
        for sentence in assessment.citations.sentences:
            row = {"response": assessment.response_id, **dict.fromkeys(COLUMNS), "sentence": sentence.text}
            row |= {"verdict": "uncited", "supported": sentence.supported}
            if not sentence.citations:
                yield row
            for citation in sentence.citations:
                source = sources[citation.source]
                yield row | {
                    "marks": " ".join(assessment.text[span.start : span.end] for span in citation.marks),
                    "verdict": citation.verdict.value,
                    "counts": citation.counts,
                    "entailment": citation.entailment,
                    "contradiction": citation.contradiction,
                    "quote": citation.quote,
                    "source": source.link or source.mark,
                    "title": source.title or None,
                    "state": source.state,
                    "origin": source.origin,
                }


def citations_table(assessments: Iterable[Assessment]) -> Table:
    """The rows as a table, those of a response under its id."""
    groups: dict[str, list[tuple[Any, ...]]] = {}
    for row in citation_rows(assessments):
        cells = (number(row[name]) if name in NUMBERS else "" if row[name] is None else str(row[name]) for name in COLUMNS)
        groups.setdefault(row["response"], []).append(tuple(cells))
    return Table(
        title="Citations",
        columns=tuple(Column(name, "right" if name in NUMBERS else "left") for name in COLUMNS),
        groups=tuple(Group(response, tuple(rows)) for response, rows in groups.items()),
        grouped_by="response",
    )
