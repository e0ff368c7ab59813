"""Reads claims that people labelled elsewhere, whatever the file: what each of them said of each response."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from localfact.annotation.label_studio import NOBODY, claims_in, response_in, shown_name
from localfact.annotation.labels import Label, Removal, label_of
from localfact.annotation.tasks import AnnotationTask, of_responses
from localfact.annotation.work import LONGEST_TEXT
from localfact.inputs.annotations import Edit
from localfact.inputs.claims import NO_LABEL, given_spans, label_name, optional_text, spans_of
from localfact.inputs.json_rows import Row, RowError, first, read_rows
from localfact.inputs.passages import PASSAGE_KEYS
from localfact.inputs.responses import (
    CLAIM_KEYS,
    FASTFACT_CLAIMS,
    HUMAN_LABELS,
    ID_KEYS,
    TEXT_KEYS,
    factscore_facts,
    fastfact_claims,
    responses_of,
)
from localfact.records import Record, Response, Span
from localfact.text import normalise, readable

#: What a file should hold, for messages.
LABELLED = "labelled claims: gold data, FActScore's or FastFact's files, a table with a row a claim, or Label Studio's JSON"
_REMOVALS = {removal.value: removal for removal in Removal}
_EDITS = {edit.value: edit for edit in Edit}
#: Keys of rows under which claims stand; `extraction` is about an extractor's claims too.
_OF_CLAIMS = (*CLAIM_KEYS, FASTFACT_CLAIMS, "annotation", "annotations", "extraction")
#: What of a claim its machine's claim has too.
_OF_MACHINES = ("id", "spans", "quote", "sentence", *PASSAGE_KEYS)
#: Columns of a table about the claim; the others are about its response.
_OF_ROWS = ("spans", "quote", "sentence", "original", "edit", "removal", "comment")
#: Most spans of a claim, and characters of its id.
_MOST_SPANS, _LONGEST_ID = 50, 200
#: Characters of an unknown label that are told.
_SHOWN = 40


class ImportedClaim(Record):
    """A claim as a file has it.

    Attributes:
        id: "" where the file gives none. original: the machine's wording, where the annotator's is another.
        spans, placed: where it stands, and whether the file says so itself. label: None for none, or one that is not known;
            unknown: that one's name. edit: None where the file does not say. removal: why it is removed; None where it stands.
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
        annotator: "" where the file names nobody. whole: whether a claim of the machine that is not here was left out by
            the annotator; else nobody looked at it. problem: why it cannot be used; None for one that can.
    """

    task: AnnotationTask
    claims: tuple[ImportedClaim, ...] = ()
    annotator: str = ""
    whole: bool = True
    problem: str | None = None


@dataclass
class _Gathered:
    """What a file says of one response. `row`: without its claims; `machine`: theirs, in our schema."""

    row: Row | RowError
    machine: list[Row] = field(default_factory=list)
    by: dict[str, list[Row]] = field(default_factory=dict)
    whole: bool = True


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

    Labels are FastFact's five and FActScore's S, NS, IR. NS, "not supported" and "unsupported" become "refuted". "redundant"
    and "not a claim" remove a claim, unless its row says what became of it. A claim whose label nobody knows has none.

    Raises:
        InputError: the file is missing, unreadable, empty, or neither JSON nor a table.
    """
    gathered = _group_rows(read_rows(file, LABELLED))
    rows = [one.row if isinstance(one.row, RowError) else {**one.row, "claims": one.machine} for one in gathered]
    found: list[Labelled] = []
    for one, response in zip(gathered, responses_of(rows), strict=True):
        found += _read_labels(one, response)
    return found


def _group_rows(rows: Iterator[Row | RowError]) -> list[_Gathered]:
    """The rows by response, each where it was first met."""
    found: list[_Gathered] = []
    of_claims: dict[str, _Gathered] = {}
    for number, row in enumerate(rows, start=1):
        try:
            if isinstance(row, RowError):
                raise row
            if isinstance(row.get("data"), dict):
                claims = claims_in(row, row["data"])
                if claims is None:
                    of, shared, by = response_in(row, row["data"])
                    of = {key: value for key, value in of.items() if key not in _OF_CLAIMS}
                    found.append(_Gathered(of, [_of_machine(item) for item in shared], by))
                    continue
            else:
                claims = [row] if _is_claim(row) else None
                if claims is None:
                    found.append(_response(row))
                    continue
            for claim in claims:
                one = _add_claim(of_claims, claim)
                if one is not None:
                    found.append(one)
        except RowError as error:
            found.append(_Gathered(RowError(f"Row {number}: {error}")))
    return found


def _is_claim(row: Row) -> bool:
    return first(_small(row), ("claim",)) is not None and all(row.get(key) is None for key in _OF_CLAIMS)


def _small(row: Row) -> Row:
    """The row with its keys in small letters, as tables that people type have them in any."""
    return {str(key).strip().lower(): value for key, value in row.items()}


def _add_claim(known: dict[str, _Gathered], given: Row) -> _Gathered | None:
    """Adds a row that is one claim to its response; that, where it is new."""
    row = _small(given)
    text, name = first(row, TEXT_KEYS), first(row, ID_KEYS)
    if optional_text(row.get("claim")) is None:
        raise RowError("there is no text in 'claim'.")
    key = f"id {name}" if name is not None else f"text {normalise(str(text))}"
    if name is None and optional_text(text) is None:
        raise RowError("there is no 'response' that the claim is of, and no 'id' of one.")
    about_claim = ("claim", "label", "annotator", "claim_id", *HUMAN_LABELS, *_OF_ROWS, *_OF_CLAIMS)
    of = {column: value for column, value in row.items() if column not in about_claim}
    one = known.get(key)
    new = one is None
    if one is None:
        one = known[key] = _Gathered(of, whole=False)
    assert not isinstance(one.row, RowError)
    earlier, later = optional_text(first(one.row, TEXT_KEYS)), optional_text(text)
    if earlier is not None and later is not None and normalise(later) != normalise(earlier):
        raise RowError(f"the id '{name}' is that of another response.")
    one.row = {**of, **one.row}
    item = {"text": row["claim"], **{column: row[column] for column in _OF_ROWS if column in row}}
    item |= {"id": row.get("claim_id"), "label": first(row, ("label", *HUMAN_LABELS))}
    words = {normalise(str(_wording(other))) for other in one.machine}
    if _edit(item) is not Edit.ADDED and normalise(str(_wording(item))) not in words:
        one.machine.append(_of_machine(item))
    if row.get("annotator") is not NOBODY:
        one.by.setdefault(shown_name(row.get("annotator") or ""), []).append(item)
    return one if new else None


def _response(row: Row) -> _Gathered:
    """A row that is one response with its claims."""
    of = {key: value for key, value in row.items() if key not in _OF_CLAIMS}
    theirs: object = None
    if isinstance(row.get(FASTFACT_CLAIMS), list):
        items: object = list(_fastfact(row[FASTFACT_CLAIMS]))
    elif isinstance(row.get("annotation"), list):
        # Ids of an extractor's claims and of an annotator's are counted alike, and mean nothing to one another.
        items = [{**item, "id": None} for item in map(_item, row["annotation"])]
        theirs = first(row, CLAIM_KEYS)
    elif first(row, CLAIM_KEYS) is not None:
        items = first(row, CLAIM_KEYS)
    elif isinstance(row.get("annotations"), list):
        items = list(factscore_facts(row["annotations"]))
    else:
        raise RowError("it has no claims with labels.")
    if not isinstance(items, list) or not (theirs is None or isinstance(theirs, list)):
        raise RowError("'claims' must be a list.")
    items = [_item(item) for item in items]
    machine = items if theirs is None else [_item(item) for item in theirs]
    return _Gathered(of, [_of_machine(item) for item in machine if _edit(item) is not Edit.ADDED], {"": items})


def _item(given: object) -> Row:
    """A claim as a mapping, which a text alone may stand for."""
    if isinstance(given, str):
        return {"text": given}
    if not isinstance(given, dict):
        raise RowError("a claim is neither a text nor an object.")
    return given


def _fastfact(claims: Sequence[object]) -> Iterator[Row]:
    """FastFact's claims in our names, the annotator's wording and the machine's."""
    given = [claim for claim in claims if isinstance(claim, dict)]
    for claim, read in zip(given, fastfact_claims(given), strict=True):
        revised, before = optional_text(claim.get("revised_claim")), optional_text(claim.get("claim"))
        other = before if revised is not None and before is not None and revised != before else None
        edit = read["edit"] or (Edit.REVISED.value if other is not None else "")
        # A verifier's label, or the extractor's own, is no annotator's.
        label = first(claim, HUMAN_LABELS)
        said = {"label": label, "original": other, "edit": edit, "comment": claim.get("comment")}
        yield {**read, **said, "text": revised or before}


# From rows to records.


def _read_labels(gathered: _Gathered, response: Response) -> Iterator[Labelled]:
    """What each annotator said of a response."""
    bare = AnnotationTask(id=response.id, text=response.text)
    if isinstance(gathered.row, RowError):
        yield Labelled(task=bare, problem=response.problem)
        return
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
            yield Labelled(task=task, claims=claims, annotator=name, whole=gathered.whole)


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
    spans = given_spans(item["spans"], place, text) if placed else spans_of(item, text)
    label, edit = label_name(item.get("label")), _edit(item)
    removal = _REMOVALS.get(label_name(item.get("removal"))) or _REMOVALS.get(label)
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


def _edit(item: Row) -> Edit | None:
    return _EDITS.get(str(item.get("edit") or "").strip().lower())


def _wording(item: Row) -> object:
    """The machine's wording. `original` of a claim that no annotator touched is the response's, before the machine's own."""
    touched = _edit(item) in (Edit.REVISED, Edit.REMOVED)
    return (item.get("original") if touched else None) or item.get("text")


def _of_machine(item: Row) -> Row:
    """The claim as the annotator found it, in our own schema, without a label."""
    kept = {key: item[key] for key in _OF_MACHINES if item.get(key) is not None}
    wording = _wording(item)
    return {
        **kept,
        "text": wording,
        **({"original": item["original"]} if wording == item.get("text") and item.get("original") else {}),
    }
