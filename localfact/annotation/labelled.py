"""Reads claims that people labelled elsewhere, whatever the file: what each of them said of each response."""

from collections.abc import Iterator
from pathlib import Path

from localfact.annotation.labelled_rows import GatheredRows, edit_of, group_rows
from localfact.annotation.labels import REMOVALS, Label, Removal, label_of
from localfact.annotation.steps import LONGEST_TEXT
from localfact.annotation.tasks import AnnotationTask, of_responses
from localfact.inputs.annotations import Edit, IrrelevantMeaning, irrelevant_means
from localfact.inputs.claims import NO_LABEL, label_name, optional_text, read_spans, spans_of
from localfact.inputs.json_rows import Row, RowError
from localfact.inputs.responses import responses_of
from localfact.inputs.row_files import read_rows
from localfact.records import Record, Response, Span
from localfact.text import readable

#: What a file should hold, for messages.
LABELLED = "labelled claims: gold data, FActScore's or FastFact's files, a table with a row a claim, or Label Studio's JSON"
#: Most spans of a claim, and characters of its id.
_MOST_SPANS, _LONGEST_ID = 50, 200
#: Characters of an unknown label that are told.
_SHOWN = 40


class ImportedClaim(Record):
    """A claim as a file has it.

    Attributes:
        id: "" where the file gives none.
        original: the machine's wording, where the annotator's is another.
        spans, placed: where it stands, and whether the file says so itself.
        label: None for none, or one that is not known.
        unknown: that one's name.
        edit: None where the file does not say.
        removal: why it is removed; None where it stands.
    """

    text: str
    id: str = ""
    original: str | None = None
    spans: tuple[Span, ...] = ()
    placed: bool = False
    label: Label | None = None
    unknown: str = ""
    edit: Edit | None = None
    removal: Removal | None = None
    comment: str = ""


class Labelled(Record):
    """What one person said of one response.

    Attributes:
        task: the response, with the claims that the annotator found; several annotators of a response have the same.
        annotator: "" where the file names nobody.
        irrelevant_means: to that person.
        whole: whether a claim of the machine that is not here was left out by the annotator; else nobody looked at it.
        problem: why it cannot be used; None for one that can.
    """

    task: AnnotationTask
    claims: tuple[ImportedClaim, ...] = ()
    annotator: str = ""
    irrelevant_means: IrrelevantMeaning = IrrelevantMeaning.UNRELATED
    whole: bool = True
    problem: str | None = None


def read_labelled(file: Path) -> list[Labelled]:
    """Reads all labelled responses of a file, one for each response and annotator; a row that cannot be used stops no other.

    What a row is, its content says:

    - gold data, and all that `inputs/responses.py` reads: a response with its claims. Of FastFact's annotated claims
      (`operation`, `annotator_label`, `revised_claim` beside `claim`) those that nobody added are the machine's, in its
      wording; of files without edits all are.
    - a row a claim, of a table (.csv, .tsv) or JSON: `response`, `claim`, `label`, and where they are known `id` of the
      response (which may then have its text in one row alone), `prompt`, `topic`, `model`, `source`, `comment`, `annotator`,
      `claim_id`.
    - a task of Label Studio's JSON export, (a) of one claim: its data has `claim` (or `text`) and `response`, and an annotation
      is a `choices` result with the label; or (b) of one response: its data has `response` or `text`, and each result of
      type `labels` marks a claim, whose label is that of the mark or a `choices` result of the same region. A `textarea` is a
      comment. `id`, `prompt`, `topic`, `model`, `source` of the data are the response's. A mark that not all annotators of a
      response have is a claim that those added who have it.

    Labels are FastFact's five and FActScore's S, NS, IR. NS, "not supported" and "unsupported" become "refuted". "redundant",
    "not a claim" and "unverifiable" remove a claim, unless its row says what became of it. A claim whose label nobody knows has
    none.

    Raises:
        InputError: the file is missing, unreadable, empty, or neither JSON nor a table.
    """
    gathered = group_rows(read_rows(file, LABELLED))
    rows = [one.row if isinstance(one.row, RowError) else {**one.row, "claims": one.machine} for one in gathered]
    found: list[Labelled] = []
    for one, response in zip(gathered, responses_of(rows), strict=True):
        found += _read_labels(one, response)
    return found


def _read_labels(gathered: GatheredRows, response: Response) -> Iterator[Labelled]:
    """What each annotator said of a response."""
    bare = AnnotationTask(id=response.id, text=response.text)
    if isinstance(gathered.row, RowError):
        yield Labelled(task=bare, problem=response.problem)
        return
    meaning = irrelevant_means(gathered.row)
    task = next(of_responses([response]), None)
    if task is None or not gathered.by:
        yield Labelled(task=bare, problem=_of(response, response.problem or "Nobody labelled its claims."))
        return
    for name, items in gathered.by.items():
        try:
            claims = tuple(_claim(item, place, task.text) for place, item in enumerate(items, start=1))
        except RowError as error:
            yield Labelled(task=bare, annotator=name, problem=_of(response, error))
        else:
            yield Labelled(task=task, claims=claims, annotator=name, irrelevant_means=meaning, whole=gathered.whole)


def _of(response: Response, problem: object) -> str:
    return readable(f"{response.id}: {problem}")


def _claim(item: Row, place: int, text: str) -> ImportedClaim:
    """An annotator's claim.

    Raises:
        RowError: it has no text, or too long a one, or spans that are none.
    """
    wording = (optional_text(item.get("text")) or "").strip()
    if not wording:
        raise RowError(f"Claim {place} has no text.")
    name = readable(str(item.get("id") or ""))
    if len(wording) > LONGEST_TEXT or len(name) > _LONGEST_ID:
        raise RowError(f"Claim {place} is longer than {LONGEST_TEXT:,} characters, or its id than {_LONGEST_ID}.")
    placed = item.get("spans") is not None
    spans = read_spans(item["spans"], place, text) if placed else spans_of(item, text)
    label, edit = label_name(item.get("label")), edit_of(item)
    removal = REMOVALS.get(label_name(item.get("removal"))) or REMOVALS.get(label)
    if edit is Edit.REMOVED:
        removal = removal or Removal.NO_CLAIM
    elif edit is not None:
        removal = None
    original = optional_text(item.get("original"))
    return ImportedClaim(
        id=name,
        text=wording,
        original=original.strip() if original is not None and edit in (Edit.REVISED, Edit.REMOVED) else None,
        spans=tuple(span for span in spans if span.start < span.end)[:_MOST_SPANS],
        placed=placed,
        label=label_of(label) if removal is None else None,
        unknown=label[:_SHOWN] if removal is None and label_of(label) is None and label not in NO_LABEL else "",
        edit=edit,
        removal=removal,
        comment=(optional_text(item.get("comment")) or "").strip()[:LONGEST_TEXT],
    )
