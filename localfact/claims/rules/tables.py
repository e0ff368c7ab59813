"""Makes sentences of the rows of a table in Markdown: "The diameter of Mars is 6,779 km." """

import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest

from localfact.claims.rules.lists import LONGEST_LABEL, at_a_time, is_event, of_subject, value_of
from localfact.claims.rules.markdown import PlainText

# Heads of columns that name what the response is about, not things of their own.
_PROPERTIES = re.compile(
    r"(?i:aspect|attribute|category|characteristic|detail|fact|feature|field|item|parameter|property|specification)s?"
)
_TIMES = re.compile(r"(?i:date|period|year)s?")
_LINE = re.compile(r"(?=.*-)[\s|:+-]+")


def row_sentences(rows: Sequence[PlainText], subject: str | None) -> Iterator[list[PlainText]]:
    """Yields the sentences of each row of tables; none for a head and the line under it, and where no rule is sure.

    Args:
        rows: with their bars; the head is the one above a line of dashes.
        subject: what a table of properties, or of years, is about; None if unknown.
    """
    heads: list[str] = []
    for row, below in zip_longest(rows, rows[1:]):
        cells = _cells(row)
        if below and _LINE.fullmatch(below.text):
            heads = [cell.text for cell in cells]
            yield []
        elif _LINE.fullmatch(row.text) or not heads:
            yield []
        else:
            yield [found for found in _sentences(heads, cells, subject) if found]


def _cells(row: PlainText) -> list[PlainText]:
    """Returns the cells of a row, with no space around them."""
    cells, start = [], 0
    for piece in row.text.split("|"):
        begin = start + len(piece) - len(piece.lstrip())
        cells.append(row.part(begin, begin + len(piece.strip())))
        start += len(piece) + 1
    return cells[1:-1] if row.text.rstrip().endswith("|") else cells[1:]


def _sentences(heads: list[str], cells: list[PlainText], subject: str | None) -> Iterator[PlainText | None]:
    first = cells[0].text if cells else ""
    if not first or len(first.split()) > LONGEST_LABEL:
        return
    about = len(heads) == 2 and _PROPERTIES.fullmatch(heads[0])
    for head, cell in zip(heads[1:], cells[1:], strict=False):
        if not cell.text:
            continue
        if _TIMES.fullmatch(heads[0]):
            if subject:
                yield at_a_time(first, subject, cell) if is_event(head) else of_subject(subject, f"{head}, {first}", cell)
        elif about:
            if subject:
                yield value_of(first, subject, cell) or of_subject(subject, first, cell)
        elif first[0].isupper() and head:
            named = None if any(character.isdigit() for character in head) else value_of(head, first, cell)
            yield named or of_subject(first, head, cell)
