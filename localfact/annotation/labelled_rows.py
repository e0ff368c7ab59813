"""Brings the rows of a file of labelled claims together by response, whichever of the known schemas they have."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from localfact.annotation.label_studio import NOBODY, claims_in, escape_name, response_in
from localfact.inputs.annotations import Edit
from localfact.inputs.answers import TEXT_KEYS
from localfact.inputs.claims import optional_text
from localfact.inputs.json_rows import Row, RowError, first
from localfact.inputs.passages import PASSAGE_KEYS
from localfact.inputs.responses import (
    CLAIM_KEYS,
    FASTFACT_CLAIMS,
    HUMAN_LABELS,
    ID_KEYS,
    factscore_facts,
    fastfact_claims,
)
from localfact.text import normalise

_EDITS = {edit.value: edit for edit in Edit}
#: Keys of rows under which claims stand; `extraction` is about an extractor's claims too.
_OF_CLAIMS = (*CLAIM_KEYS, FASTFACT_CLAIMS, "annotation", "annotations", "extraction")
#: What of a claim its machine's claim has too.
_OF_MACHINES = ("id", "spans", "quote", "sentence", *PASSAGE_KEYS)
#: Columns of a table about the claim; the others are about its response.
_OF_ROWS = ("spans", "quote", "sentence", "original", "edit", "removal", "comment")


@dataclass
class GatheredRows:
    """What a file says of one response.

    Attributes:
        row: the response without its claims.
        machine: the claims that annotators found, in our schema.
        by: annotator -> the claims as they left them.
        whole: as in `Labelled`.
        words: of the machine's claims, where each claim is a row.
    """

    row: Row | RowError
    machine: list[Row] = field(default_factory=list)
    by: dict[str, list[Row]] = field(default_factory=dict)
    whole: bool = True
    words: set[str] = field(default_factory=set)


def group_rows(rows: Iterator[Row | RowError]) -> list[GatheredRows]:
    """The rows by response, each where it was first met."""
    found: list[GatheredRows] = []
    of_claims: dict[str, GatheredRows] = {}
    for number, row in enumerate(rows, start=1):
        try:
            read = _read_row(row)
            if isinstance(read, GatheredRows):
                found.append(read)
                continue
            for claim in read:
                one = _add_claim(of_claims, claim)
                if one is not None:
                    found.append(one)
        except RowError as error:
            found.append(GatheredRows(RowError(f"Row {number}: {error}")))
    return found


def _read_row(row: Row | RowError) -> GatheredRows | list[Row]:
    """A row that is a response with its claims; or the claims of one that is a single claim, as each annotator has it."""
    if isinstance(row, RowError):
        raise row
    if not isinstance(row.get("data"), dict):
        is_claim = first(_small(row), ("claim",)) is not None and all(row.get(key) is None for key in _OF_CLAIMS)
        return [row] if is_claim else _response(row)
    claims = claims_in(row, row["data"])
    if claims is not None:
        return claims
    of, shared, by = response_in(row, row["data"])
    of = {key: value for key, value in of.items() if key not in _OF_CLAIMS}
    return GatheredRows(of, [_of_machine(item) for item in shared], by)


def _small(row: Row) -> Row:
    """The row with its keys in lower case: in tables that people typed they are in any."""
    return {str(key).strip().lower(): value for key, value in row.items()}


def _add_claim(known: dict[str, GatheredRows], given: Row) -> GatheredRows | None:
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
        one = known[key] = GatheredRows(of, whole=False)
    assert not isinstance(one.row, RowError)
    earlier, later = optional_text(first(one.row, TEXT_KEYS)), optional_text(text)
    if earlier is not None and later is not None and normalise(later) != normalise(earlier):
        raise RowError(f"the id '{name}' is that of another response.")
    one.row = {**of, **one.row}
    item = {"text": row["claim"], **{column: row[column] for column in _OF_ROWS if column in row}}
    item |= {"id": row.get("claim_id"), "label": first(row, ("label", *HUMAN_LABELS))}
    words = normalise(str(_machine_wording(item)))
    if edit_of(item) is not Edit.ADDED and words not in one.words:
        one.machine.append(_of_machine(item))
        one.words.add(words)
    if row.get("annotator") is not NOBODY:
        one.by.setdefault(escape_name(row.get("annotator") or ""), []).append(item)
    return one if new else None


def _response(row: Row) -> GatheredRows:
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
    return GatheredRows(of, [_of_machine(item) for item in machine if edit_of(item) is not Edit.ADDED], {"": items})


def _item(given: object) -> Row:
    """A claim as a mapping; the file may give its text alone."""
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


def edit_of(item: Row) -> Edit | None:
    """What a row says became of its claim; None where it says nothing that is known."""
    return _EDITS.get(str(item.get("edit") or "").strip().lower())


def _machine_wording(item: Row) -> object:
    """The machine's wording. `original` of a claim that no annotator touched is the response's, before the machine's own."""
    touched = edit_of(item) in (Edit.REVISED, Edit.REMOVED)
    return (item.get("original") if touched else None) or item.get("text")


def _of_machine(item: Row) -> Row:
    """The claim as the annotator found it, in our own schema, without a label."""
    kept = {key: item[key] for key in _OF_MACHINES if item.get(key) is not None}
    wording = _machine_wording(item)
    return {
        **kept,
        "text": wording,
        **({"original": item["original"]} if wording == item.get("text") and item.get("original") else {}),
    }
