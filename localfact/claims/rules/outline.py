"""Reads the outline of a response: its sentences without markup, and what each stands under and in."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from localfact import text
from localfact.claims.rules.checkworthy import DropReason, structural_reason
from localfact.claims.rules.cleaning import clean
from localfact.claims.rules.lists import names_something
from localfact.claims.rules.markdown import PlainText, item_marker, plain_text

# A line in bold is a heading below every other.
_BOLD_LEVEL = 7


@dataclass(frozen=True)
class Line:
    """A sentence or a table's row, as it is read.

    Attributes:
        text: without markup; a row has its bars.
        heading: the nearest above that names something; None if none does.
        first: whether it is the first of its line.
        item: whether an item's marker stands before it.
        row: of a table.
    """

    text: PlainText
    heading: str | None
    first: bool
    item: bool
    row: bool


@dataclass(frozen=True)
class _Heading:
    """A heading: its level, 7 for a line in bold; the place and text of an item's marker; its name, if it names something."""

    level: int
    indent: int
    marker: str
    name: str | None

    def ends_at(self, indent: int, marker: str) -> bool:
        """Whether an item begins beside this heading, not below it: "1. **Louvre**" has bullets below it on its own indent."""
        return bool(self.marker and marker) and indent <= self.indent and marker.isalnum() == self.marker.isalnum()


def read_outline(response_text: str, dropped: Counter[str]) -> Iterator[Line]:
    """Yields sentences and rows in order; counts headings and what is no prose."""
    above: list[_Heading] = []
    whole = clean(response_text, dropped)
    for span in text.sentences(whole.text):
        sentence = whole.text[span.start : span.end]
        plain = plain_text(whole, span)
        before = whole.text[whole.text.rfind("\n", 0, span.start) + 1 : span.start]
        marker = item_marker(sentence) if not before.strip() else ""
        above = [heading for heading in above if not heading.ends_at(len(before), marker)]
        reason = structural_reason(sentence)
        if reason is DropReason.HEADING:
            level = len(sentence) - len(sentence.lstrip("#")) or _BOLD_LEVEL
            name = plain.text.rstrip(" :")
            above = [
                heading for heading in above if heading.level < level or (marker and heading.level == level and heading.marker)
            ]
            above.append(_Heading(level, len(before), marker, name if names_something(name) else None))
        if reason is None or reason is DropReason.TABLE:
            heading = next((one.name for one in reversed(above) if one.name), None)
            yield Line(plain, heading, first=not before.strip(), item=bool(marker), row=reason is DropReason.TABLE)
        else:
            dropped[reason] += 1
