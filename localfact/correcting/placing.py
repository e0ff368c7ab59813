"""Finds the words of a claim in the text that it was taken from, and makes the edits there."""

import re
from collections.abc import Mapping, Sequence

from localfact.correcting.wording import Change
from localfact.records import Claim, Span

NO_PLACE = "It is not known where the claim stands in the text."
REWORDED = "The text has not the claim's own words there: it was reworded when it was extracted."
SEVERAL = "Its words stand more than once in its place in the text."
#: How many words before and after tell one place from another.
AROUND = 3


def find_place(text: str, claim: Claim, change: Change) -> Span | str:
    """Where the words that are changed stand in the text, or why that is not known."""
    old = claim.text[change.start : change.end]
    if not claim.spans:
        return NO_PLACE
    found = {hit for span in claim.spans for hit in _occurrences(text, span, old)}
    if not found:
        return REWORDED
    before, after = _words(claim.text[: change.start])[-AROUND:], _words(claim.text[change.end :])[:AROUND]
    alike = {hit: _alike(text, hit, len(old), before, after) for hit in found}
    best = [hit for hit in sorted(found) if alike[hit] == max(alike.values())]
    return Span(start=best[0], end=best[0] + len(old)) if len(best) == 1 else SEVERAL


def _occurrences(text: str, span: Span, words: str) -> list[int]:
    form = re.compile(rf"(?<!\w){re.escape(words)}(?!\w)") if words[:1].isalnum() else re.compile(re.escape(words))
    hits = [hit.start() for hit in form.finditer(text, span.start, span.end)]
    if not hits and words[:1].isupper():  # the claim begins with what the text has in its middle
        return _occurrences(text, span, words[0].lower() + words[1:])
    return hits


def _alike(text: str, start: int, length: int, before: Sequence[str], after: Sequence[str]) -> int:
    """How many words right before and after a place are those of the claim."""
    left, right = _words(text[:start][-80:])[-AROUND:], _words(text[start + length :][:80])[:AROUND]
    count = 0
    for ours, theirs in ((reversed(before), reversed(left)), (iter(after), iter(right))):
        for one, other in zip(ours, theirs, strict=False):
            if one != other:
                break
            count += 1
    return count


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def says(claim: Claim, place: Span, old: str) -> bool:
    """Whether a claim stands at a place of the text and has the words there."""
    inside = any(span.start <= place.start and place.end <= span.end for span in claim.spans)
    return inside and re.search(rf"(?<!\w){re.escape(old)}(?!\w)", claim.text) is not None


def edit_text(text: str, edits: Mapping[Span, str]) -> str:
    """The text with the words at these places replaced; no two overlap."""
    for place in sorted(edits, key=lambda span: -span.start):
        text = text[: place.start] + edits[place] + text[place.end :]
    return text


def move_spans(spans: Sequence[Span], edits: Mapping[Span, str]) -> tuple[Span, ...]:
    """Places of a text as places of the edited one: each edit is inside of one, or beside it."""

    def move(at: int, *, end: bool) -> int:
        shift = 0
        for place, new in edits.items():
            if place.end <= at:
                shift += len(new) - (place.end - place.start)
            elif place.start < at:
                return move(place.end if end else place.start, end=end)
        return at + shift

    return tuple(Span(start=move(span.start, end=False), end=move(span.end, end=True)) for span in spans)
