"""The claims of a run as rows: each with its verdict and its decisive passage, for data frames, CSV and Markdown."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from localfact.records import Assessment, Claim, CountedPassage, Passage
from localfact.report.findings import UNKNOWN
from localfact.report.marked_text import decisive_sentence
from localfact.report.table_data import Cell, Column, Group, Table, number

_NUMBERS = ("posterior", "probability")
#: The columns that say which sample of another tool's log a response is, in a run of such a log.
SAMPLE_COLUMNS = ("task", "sample", "epoch")
#: The columns of a table of claims, also of one without rows.
COLUMNS = ("claim", "text", "verdict", "posterior", "flags", "label", "relation", "probability", "sentence", "source")


def claim_rows(assessments: Iterable[Assessment]) -> Iterator[dict[str, Any]]:
    """Yields a row for each claim, in order, as plain values; None for a missing value.

    `relation`, `probability`, `sentence` and `source` are of the passage that speaks most for the verdict; `task`, `sample` and
    `epoch` say which sample of another tool's log the response is.
    """
    for assessment in assessments:
        passages = {passage.id: passage for passage in assessment.passages}
        for claim, verdict in zip(assessment.claims, assessment.verdicts, strict=True):
            counted = next((one for one in verdict.speaking_passages if one.passage_id in passages), None)
            yield {
                "response": assessment.response_id,
                "claim": claim.id,
                "text": claim.text,
                "verdict": verdict.label.value,
                "posterior": verdict.posterior,
                "flags": ", ".join(flag.value for flag in verdict.flags),
                "label": claim.gold.value if claim.gold is not None else None,
                **_resting_on(claim, counted, passages),
                **_sample_of(assessment),
            }


def _sample_of(assessment: Assessment) -> dict[str, Any]:
    of = assessment.sample
    values = (None, None, None) if of is None else (of.task, of.id, of.epoch)
    return dict(zip(SAMPLE_COLUMNS, values, strict=True))


def _resting_on(claim: Claim, counted: CountedPassage | None, passages: dict[str, Passage]) -> dict[str, Any]:
    if counted is None:
        return dict.fromkeys(("relation", "probability", "sentence", "source"))
    passage = passages[counted.passage_id]
    sentence = decisive_sentence(passage, claim, counted)
    return {
        "relation": counted.relation.value if counted.relation is not None else None,
        "probability": counted.probability,
        "sentence": passage.text[sentence.start : sentence.end] if sentence is not None else passage.text,
        "source": passage.links[0] if passage.links else passage.title or None,
    }


def least_likely(row: Mapping[str, Any]) -> float:
    """By what rows are sorted, those that are the least likely to be true first."""
    return UNKNOWN if row["posterior"] is None else row["posterior"]


def claims_table(assessments: Iterable[Assessment], *, worst_first: bool = False) -> Table:
    """The rows as a table, those of a response under its id; or all of them, the least likely to be true first."""
    rows = list(claim_rows(assessments))
    if worst_first:
        rows.sort(key=least_likely)
    names = (*COLUMNS, *(name for name in SAMPLE_COLUMNS if any(row[name] is not None for row in rows)))
    groups: list[tuple[str, list[tuple[Cell, ...]]]] = []
    for row in rows:
        cells = (number(row[name]) if name in _NUMBERS else str(row[name] or "") for name in names)
        if not groups or groups[-1][0] != row["response"]:
            groups.append((row["response"], []))
        groups[-1][1].append(tuple(cells))
    return Table(
        title="Claims",
        columns=tuple(Column(name, "right" if name in _NUMBERS else "left") for name in names),
        groups=tuple(Group(response, tuple(cells)) for response, cells in groups),
        grouped_by="response",
    )
