"""Reads what people say of responses, claim by claim, in more labels than a score counts, and what they changed of claims.

Any file of responses with labelled claims will do (`responses.py`), FaStfact's `claims_lst` with five labels and edits too.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any

from pydantic import Field

from localfact.inputs.claims import label_name
from localfact.inputs.json_rows import Row, RowError, first
from localfact.inputs.responses import CLAIM_KEYS, FASTFACT_CLAIMS, REMOVED, RESPONSES, fastfact_claims, responses_of
from localfact.inputs.row_files import read_rows
from localfact.records import Record, Response
from localfact.text import readable
from localfact.vocabulary import GoldLabel, VerdictLabel

#: Labels that say more than supported, not supported or irrelevant.
FINE_LABELS: Mapping[str, VerdictLabel] = {
    **dict.fromkeys(("s", "supported"), VerdictLabel.SUPPORTED),
    **dict.fromkeys(("refuted", "contradicted"), VerdictLabel.CONTRADICTED),
    **dict.fromkeys(("conflicting evidence", "conflicting"), VerdictLabel.CONFLICTING),
    **dict.fromkeys(("not enough evidence", "inconclusive"), VerdictLabel.NOT_ENOUGH_EVIDENCE),
    **dict.fromkeys(("unverifiable", "not a claim", "redundant"), VerdictLabel.UNVERIFIABLE),
    **dict.fromkeys(("ir", "irrelevant"), VerdictLabel.IRRELEVANT),
}


class Edit(StrEnum):
    """What an annotator did with an extractor's claim (FastFact, Table 1)."""

    UNCHANGED = "unchanged"
    REVISED = "revised"
    ADDED = "added"
    REMOVED = "removed"


class IrrelevantMeaning(StrEnum):
    """What annotators meant by "irrelevant": what FastFact's appendix I says, or what earlier projects here said."""

    UNRELATED = "nothing to do with the question"
    UNDECIDABLE = "nothing that evidence could decide"


class AnnotatedClaim(Record):
    """A claim after annotation. `gold`: its label as scores count it; `label`: the finer label, where there is one."""

    text: str
    gold: GoldLabel | None = None
    label: VerdictLabel | None = None


class AnnotatedResponse(Record):
    """The annotation of one response.

    Attributes:
        claims: those that stand; removed ones are in `edits` alone.
        edits: how many claims met each, where edits were recorded.
        irrelevant_means: as `irrelevant_means`.
        problem: why the row cannot be used; None for one that can.
    """

    id: str
    id_given: bool = False
    prompt: str | None = None
    text: str
    model: str | None = None
    source: str | None = None
    claims: tuple[AnnotatedClaim, ...] = ()
    edits: Mapping[Edit, int] = Field(default_factory=dict)
    irrelevant_means: IrrelevantMeaning = IrrelevantMeaning.UNRELATED
    problem: str | None = None


def read_annotations(path: Path) -> list[AnnotatedResponse]:
    """Reads all rows of a file. A row that cannot be used has a `problem`; the others are read all the same.

    Raises:
        InputError: the file is missing, unreadable, empty, or not JSON at all.
    """
    rows = list(read_rows(path, RESPONSES))
    return [make_annotated(row, response) for row, response in zip(rows, responses_of(rows), strict=True)]


def make_annotated(row: Row | RowError, response: Response) -> AnnotatedResponse:
    """The annotation of a row, given its response."""
    bare = AnnotatedResponse(
        id=response.id,
        id_given=response.id_given,
        prompt=response.prompt,
        text=response.text,
        model=response.model,
        source=response.source,
        problem=response.problem,
    )
    if isinstance(row, RowError) or response.problem is not None:
        return bare
    labels, edits = labels_and_edits(row)
    claims = [
        AnnotatedClaim(text=claim.text, gold=claim.gold, label=FINE_LABELS.get(next(labels.get(claim.text, iter(())), "")))
        for claim in response.annotation or response.claims or ()
    ]
    return bare.model_copy(update={"claims": tuple(claims), "edits": edits, "irrelevant_means": irrelevant_means(row)})


def irrelevant_means(row: Row) -> IrrelevantMeaning:
    """What annotators of a row meant by "irrelevant": what it says itself, else what FastFact's appendix I says.

    `localfact annotate export` always wrote "how" and "annotators"; while it did not write the meaning, that was the other one.
    """
    said = row.get("irrelevant_means")
    earlier = "how" in row and "annotators" in row if said is None else said != IrrelevantMeaning.UNRELATED
    return IrrelevantMeaning.UNDECIDABLE if earlier else IrrelevantMeaning.UNRELATED


def labels_and_edits(row: Row) -> tuple[dict[str, Iterator[str]], dict[Edit, int]]:
    """Text of a claim -> the labels of those with that text, in order, "" for none; and how many claims were edited how."""
    items: list[Any] = list(fastfact_claims(row[FASTFACT_CLAIMS])) if isinstance(row.get(FASTFACT_CLAIMS), list) else []
    items = items or [one for one in first(row, ("annotation", *CLAIM_KEYS)) or () if isinstance(one, dict)]
    kept = [one for one in items if one.get("edit") != REMOVED]
    labels: dict[str, list[str]] = {}
    for one in kept:
        labels.setdefault(readable(str(one.get("text") or "")), []).append(label_name(one.get("label")))
    known = {edit.value: edit for edit in Edit}
    edits = Counter(known[name] for one in items if (name := str(one.get("edit") or "")) in known)
    return {text: iter(each) for text, each in labels.items()}, dict(edits)
