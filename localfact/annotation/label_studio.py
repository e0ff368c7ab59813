"""Label Studio's JSON export, as rows like those of other files (`labelled.py`): each task is one claim or one response."""

from typing import Any

from localfact.annotation.labels import REMOVALS, label_of
from localfact.inputs.claims import label_name
from localfact.inputs.json_rows import Row, RowError, first
from localfact.text import readable

#: The annotator of a claim that nobody has labelled yet.
NOBODY: Any = object()
#: Characters of an annotator's name.
LONGEST_NAME = 60


def claims_in(row: Row, data: Row) -> list[Row] | None:
    """The rows of a task that is one claim, a row for each annotator; None for a task that is a response."""
    claim = data.get("claim") or (data.get("text") if data.get("response") else None)
    annotations = _annotations(row)
    if claim is None or any(one.get("type") == "labels" for _, results in annotations for one in results):
        return None
    of = {**{key: value for key, value in data.items() if key != "text"}, "claim": claim, "annotator": NOBODY}
    rows: list[Row] = []
    for name, results in annotations:
        label, comment, _ = _read_results(results)
        rows.append({**of, "annotator": name, "label": label, "comment": comment})
    return rows or [of]


def response_in(row: Row, data: Row) -> tuple[Row, list[Row], dict[str, list[Row]]]:
    """A task that is one response, on which claims are marked: itself, the claims that all marked, and each annotator's.

    Raises:
        RowError: it has no text, or nobody annotated it.
    """
    text = data.get("response") or data.get("text")
    if not isinstance(text, str):
        raise RowError("its data have no 'response' and no 'text'.")
    text = readable(text)
    of = {**{key: value for key, value in data.items() if key != "text"}, "response": text}
    annotations = _annotations(row)
    if not annotations:
        raise RowError("nobody labelled its claims.")
    by: dict[str, list[Row]] = {}
    for name, results in annotations:
        regions: dict[str, list[Row]] = {}
        for place, one in enumerate(results):
            regions.setdefault(str(one.get("id") or f"#{place}"), []).append(one)
        items = by[name] = []
        for about in regions.values():
            label, comment, marked = _read_results(about)
            wording, spans = _place_in(text, marked) if marked else ("", [])
            if wording.strip():
                items.append({"text": wording, "spans": spans, "label": label, "comment": comment})
    marks = [{_mark_of(item) for item in items} for items in by.values()]
    return of, [item for item in next(iter(by.values())) if all(_mark_of(item) in theirs for theirs in marks)], by


def _mark_of(item: Row) -> tuple[str, str]:
    return str(item["text"]), str(item["spans"])


def _annotations(row: Row) -> list[tuple[str, list[Row]]]:
    """Each annotator of a task with their results, without annotations that were skipped."""
    given = row.get("annotations")
    found: dict[str, list[Row]] = {}
    for one in given if isinstance(given, list) else ():
        if isinstance(one, dict) and not one.get("was_cancelled"):
            who, results = one.get("completed_by"), one.get("result")
            if isinstance(who, dict):
                who = first(who, ("email", "username", "first_name", "id"))
            kept: list[Row] = [result for result in (results if isinstance(results, list) else ()) if isinstance(result, dict)]
            found[escape_name("" if who is None else who)] = kept
    return list(found.items())


def _read_results(results: list[Row]) -> tuple[str | None, str, Row | None]:
    """What results say of one claim: its label, or why it is removed, or what was said instead; comments; what is marked."""
    words: list[str] = []
    comments: list[str] = []
    marked: Row | None = None
    for one in results:
        kind, value = one.get("type"), one.get("value")
        if not isinstance(value, dict):
            continue
        if kind in ("choices", "labels"):
            words += _texts(value.get(str(kind)))
        if kind == "textarea":
            comments += _texts(value.get("text"))
        elif kind == "labels":
            marked = value
    known = (word for word in words if label_of(word) is not None or label_name(word) in REMOVALS)
    return next(known, words[0] if words else None), "\n".join(comments), marked


def _place_in(text: str, marked: Row) -> tuple[str, list[list[int]]]:
    """The words that are marked, and where the response has them."""
    start, end, wording = marked.get("start"), marked.get("end"), marked.get("text")
    if type(start) is int and type(end) is int and 0 <= start < end <= len(text) and wording in (None, text[start:end]):
        return text[start:end], [[start, end]]
    # JavaScript counts some characters twice, so places behind them are too far on.
    wording = readable(wording).strip() if isinstance(wording, str) else ""
    found = text.rfind(wording, 0, start + len(wording)) if wording and type(start) is int and start >= 0 else -1
    found = text.find(wording) if found < 0 else found
    return wording, [[found, found + len(wording)]] if wording and found >= 0 else []


def _texts(value: object) -> list[str]:
    given = value if isinstance(value, list) else [value]
    return [one for one in given if isinstance(one, str) and one.strip()]


def escape_name(said: object) -> str:
    """An annotator's name, without characters that would be invisible, cut at LONGEST_NAME."""
    return " ".join(readable(str(said)).split())[:LONGEST_NAME].strip()
