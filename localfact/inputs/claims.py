"""Converts one claim from and to a JSON row: `responses.py` reads rows of any schema, `api/extract.py` writes ours.

A claim that is written and read again is equal to the original: id, text, original wording, spans, labels, pre-verification.
"""

from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError

from localfact.inputs.json_rows import Row, RowError
from localfact.records import Claim, PreVerification, Span
from localfact.text import readable
from localfact.vocabulary import GoldLabel

#: Annotators' labels, as FActScore (S, NS, IR) and FaStfact's benchmark (the longer ones) write them -> what scores count.
GOLD_LABELS = {
    **dict.fromkeys(("s", "supported"), GoldLabel.SUPPORTED),
    **dict.fromkeys(("ns", "not supported", "unsupported", "non-supported"), GoldLabel.NOT_SUPPORTED),
    **dict.fromkeys(("refuted", "contradicted", "conflicting evidence", "conflicting"), GoldLabel.NOT_SUPPORTED),
    **dict.fromkeys(("not enough evidence", "inconclusive"), GoldLabel.NOT_SUPPORTED),
    **dict.fromkeys(("ir", "irrelevant", "unverifiable", "not a claim", "redundant"), GoldLabel.IRRELEVANT),
}
#: Those of them that a message names.
LONGER = ("supported", "refuted", "conflicting evidence", "not enough evidence", "irrelevant")
#: What stands where an annotator gave no label.
NO_LABEL = frozenset({"", "n/a", "invalid label", "unsure"})


def claim_row(claim: Claim) -> dict[str, Any]:
    """The claim in our own schema; empty fields are left out."""
    row: dict[str, Any] = {"id": claim.id, "text": claim.text, "spans": [[span.start, span.end] for span in claim.spans]}
    if claim.original is not None:
        row["original"] = claim.original
    if claim.preverification is not None:
        row["preverification"] = claim.preverification.model_dump(mode="json", exclude_none=True)
    if claim.gold is not None:
        row["label"] = claim.gold.value
    if claim.in_corpus is not None:
        row["in_corpus"] = claim.in_corpus
    return row


def claim_of(item: Row, position: int, text: str) -> Claim:
    """A given claim, located by its quote, its original wording or its text where one of them occurs in the response."""
    in_corpus = item.get("in_corpus")
    wording, original = readable(item["text"]), optional_text(item.get("original"))
    return Claim(
        id=readable(str(item.get("id") or f"c{position}")),
        text=wording,
        original=original if original != wording else None,
        spans=spans_of(item, text) if item.get("spans") is None else read_spans(item["spans"], position, text),
        gold=gold_of(item.get("label"), position),
        in_corpus=in_corpus if isinstance(in_corpus, bool) else None,
        preverification=preverification_of(item.get("preverification"), position),
    )


def read_spans(spans: object, position: int, text: str) -> tuple[Span, ...]:
    """The spans as an extractor wrote them.

    Raises:
        RowError: one does not lie in the response.
    """
    for span in read_list(spans, f"The spans of claim {position}"):
        whole = isinstance(span, list) and len(span) == 2 and all(type(place) is int for place in span)
        if not (whole and 0 <= span[0] <= span[1] <= len(text)):
            shown = str(span)[:40]
            raise RowError(f"Claim {position} has the span {shown}; a span is [start, end] in the response, 0 to {len(text)}.")
    return tuple(Span(start=start, end=end) for start, end in read_list(spans, "spans"))


def preverification_of(given: object, position: int) -> PreVerification | None:
    """The extractor's pre-verification of the claim; None where there is none."""
    if given is None:
        return None
    try:
        return PreVerification.model_validate(given)
    except ValidationError as error:
        first_error = error.errors()[0]
        where = ".".join(map(str, first_error["loc"])) or "it"
        raise RowError(f"The preverification of claim {position} cannot be used: {where}: {first_error['msg']}.") from None


def spans_of(item: Row, text: str) -> tuple[Span, ...]:
    """Where the claim stands in the response: the first of its quote, sentence, original or text that occurs there."""
    for key in ("quote", "sentence", "original", "text"):
        wording = item.get(key)
        if isinstance(wording, str) and wording.strip():
            start = text.find(readable(wording).strip())
            if start >= 0:
                return (Span(start=start, end=start + len(readable(wording).strip())),)
    return ()


def gold_of(label: object, position: int) -> GoldLabel | None:
    """The annotator's label; None when there is none.

    Raises:
        RowError: the label is unknown.
    """
    named = label_name(label)
    if named in NO_LABEL:
        return None
    if named not in GOLD_LABELS:
        raise RowError(f"Claim {position} has the label {str(label)[:40]!r}; known are S, NS and IR, or {', '.join(LONGER)}.")
    return GOLD_LABELS[named]


def label_name(label: object) -> str:
    """A label as GOLD_LABELS spells it; "" for none."""
    return "" if label is None else " ".join(str(label).lower().replace("_", " ").split())


def read_list(value: object, name: str) -> Sequence[Any]:
    """The list, or () where there is none.

    Raises:
        RowError: it is something else.
    """
    if value is None:
        return ()
    if not isinstance(value, list):
        raise RowError(f"{name} must be a list.")
    return value


def optional_text(value: object) -> str | None:
    """The text, with unprintable characters replaced; None for a value that is not a text, or is blank."""
    return readable(value) if isinstance(value, str) and value.strip() else None
