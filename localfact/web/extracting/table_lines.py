"""A table, a definition list or a grid of labels and values as lines, each of which can be read alone.

A row of several columns names them: "Year: 1988; City: Seoul"; one with a header of its own begins with it.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from localfact.web.extracting.cleaning import clean

#: An lxml element: the library has no types.
Element = Any

#: A table with a longer cell lays out the page.
MOST_CELL_CHARACTERS = 600
#: A longer text in front of another is no label.
MOST_LABEL_CHARACTERS = 60
#: A longer text behind a label in a grid is a paragraph of its own.
MOST_VALUE_CHARACTERS = 200
#: Fewer pairs make no grid.
LEAST_PAIRS = 3
#: Larger tables, and cells that span more, are cut.
MOST_ROWS = 5_000
MOST_COLUMNS = 60
#: A table with a cell that holds one of these lays out the page.
_LAYOUT = (
    "boolean(.//td[.//h1 or .//h2 or .//h3 or .//article or .//section or .//form or .//table or .//pre or .//*[@data-lines]])"
)
_NOTES = re.compile(r"\s*\[(?:\d{1,3}|[a-z]|note \d+|citation needed|edit)\]")
#: Elements that may hold a label and a value, and those that stand between such.
_HOLDERS = frozenset({"div", "li", "p", "section", "span"})
_APART = frozenset({"h2", "h3", "h4", "figure", "img", "hr", "br"})
_PARTS = frozenset({"br", "li", "p", "div", "dd"})


class Cell(NamedTuple):
    """A cell of a table: its text, and whether it is marked as a header."""

    text: str
    head: bool


def squeeze(text: str) -> str:
    """A text by which lines are compared."""
    return "".join(text.split())


def lines_of_table(table: Element) -> list[str] | None:
    """The lines of a table of data; None for one that lays out the page."""
    rows = list(_rows_of(table))
    longest = max((len(cell.text) for row in rows for cell in row), default=0)
    columns = max(map(len, rows), default=0)
    if columns < 2 or longest > MOST_CELL_CHARACTERS or table.xpath(_LAYOUT):
        return None
    caption = [text for each in table.iterfind("caption") if (text := text_of(each))]
    heads = 0
    while heads < len(rows) - 1 and _names_columns(rows[heads], rows[heads + 1 :]):
        heads += 1
    names = [_join(column) for column in zip(*(_pad(row, columns) for row in rows[:heads]), strict=True)] if heads else []
    return caption + [line for row in rows[heads:] if (line := _line_of(row, names))]


def lines_of_list(element: Element) -> list[str] | None:
    """The lines of a definition list; None where the definitions are more than a paragraph each."""
    if element.xpath(".//table|.//dl|.//pre|.//p/following-sibling::p"):
        return None
    lines: list[str] = []
    labels: list[str] = []
    for part in element.iter("dt", "dd"):
        text = text_of(part)
        if part.tag == "dt":
            labels = [*labels, text] if part.getprevious() is not None and part.getprevious().tag == "dt" else [text]
        elif text and labels and part.getprevious() is not None and part.getprevious().tag == "dd" and lines:
            lines[-1] += f", {text}"
        elif text:
            lines.append(_pair(", ".join(filter(None, labels)), text))
    return lines


def lines_of_grid(element: Element) -> list[str] | None:
    """The lines of an element whose parts are a label and a value each, headings apart; None where it has others."""
    parts = [part for part in element if isinstance(part.tag, str) and part.tag not in _APART]
    if not LEAST_PAIRS <= len(parts) <= MOST_ROWS or squeeze(element.text or ""):
        return None
    lines: list[str] = []
    for part in parts:
        pair = _pair_in(part) if part.tag in _HOLDERS and not squeeze(part.tail or "") else None
        if pair is None:
            return None
        lines.append(_pair(*pair))
    return lines


def _pair_in(part: Element) -> tuple[str, str] | None:
    """The label and the value that a part is made of: two elements, or one with a colon or a line's end and what follows it."""
    inner = [each for each in part if isinstance(each.tag, str)]
    if len(inner) == 1 and not squeeze((part.text or "") + (inner[0].tail or "")) and inner[0].tag in _HOLDERS:
        return _pair_in(inner[0])
    if not inner or squeeze(part.text or "") or inner[0].tag in ("a", "p", "ul", "br") or inner[0].find(".//a") is not None:
        return None
    label, between = text_of(inner[0]), (inner[0].tail or "").strip()
    value = text_of(part)[len(label) :].lstrip(" ,:")
    two = len(inner) == 2 and not between and not squeeze(inner[1].tail or "")
    marked = label.endswith(":") or between.startswith(":") or (len(inner) == 2 and not between and inner[1].tag == "br")
    fits = 0 < len(label) <= MOST_LABEL_CHARACTERS and 0 < len(value) <= MOST_VALUE_CHARACTERS
    return (label, value) if (two or marked) and fits else None


def text_of(element: Element) -> str:
    """The text of an element on one line, its blocks apart by commas, without marks of notes."""
    from lxml import etree

    pieces: list[str] = []
    for event, part in etree.iterwalk(element, events=("start", "end")):
        if part.tag in _PARTS:
            pieces.append("\n")
        pieces.append((part.text if event == "start" else part.tail if part is not element else "") or "")
    text = _NOTES.sub("", "".join(pieces))
    return ", ".join(filter(None, (" ".join(clean(line).split()).strip(",; ") for line in text.split("\n"))))


def _rows_of(table: Element) -> Iterator[list[Cell]]:
    """The rows with a text, each cell in every column and row that it spans."""
    below: dict[int, tuple[int, Cell]] = {}
    for row in list(table.iter("tr"))[:MOST_ROWS]:
        cells: list[Cell] = []
        own = [cell for cell in row if cell.tag in ("td", "th")]
        while (own or len(cells) in below) and len(cells) < MOST_COLUMNS:
            if len(cells) in below:
                left, cell = below.pop(len(cells))
                if left > 1:
                    below[len(cells)] = (left - 1, cell)
                cells.append(cell)
                continue
            element = own.pop(0)
            cell = Cell(text_of(element), element.tag == "th" or element.get("scope") is not None)
            spanned = min(_span(element, "colspan"), MOST_COLUMNS - len(cells))
            for _ in range(spanned):
                if (rows := _span(element, "rowspan")) > 1:
                    below[len(cells)] = (rows - 1, cell)
                cells.append(cell)
        if any(cell.text for cell in cells):
            yield cells


def _span(element: Element, name: str) -> int:
    stated = (element.get(name) or "1").strip()
    return max(1, int(stated)) if re.fullmatch(r"[0-9]{1,4}", stated) else 1


def _names_columns(row: Sequence[Cell], rest: Sequence[Sequence[Cell]]) -> bool:
    """Whether a row at the top holds names of columns: headers all, and the cells below them are none."""
    texts = [cell for cell in row if cell.text]
    if all(cell is row[0] for cell in row):
        return False
    if all(cell.head for cell in texts):
        return any(not cell.head for below in rest for cell in below)
    unmarked = not any(cell.head for each in (row, *rest) for cell in each) and len(texts) == len(row)
    return unmarked and not any(_has_digit(cell) for cell in row) and any(map(_holds_numbers, zip(*rest, strict=False)))


def _has_digit(cell: Cell) -> bool:
    return any(map(str.isdigit, cell.text))


def _holds_numbers(column: Sequence[Cell]) -> bool:
    """Whether nearly all cells of a column have digits; one alone tells nothing."""
    return len(column) > 1 and sum(map(_has_digit, column)) >= 0.8 * len(column)


def _pad(row: Sequence[Cell], columns: int) -> list[str]:
    return [cell.text for cell in row] + [""] * (columns - len(row))


def _join(names: Sequence[str]) -> str:
    return " ".join(dict.fromkeys(filter(None, names)))


def _line_of(row: Sequence[Cell], names: Sequence[str]) -> str:
    """One row as a line."""
    distinct = [cell for place, cell in enumerate(row) if place == 0 or cell is not row[place - 1]]
    if len(distinct) == 1:
        return distinct[0].text
    if names:
        values = [_pair(name, cell.text) for name, cell in zip(names, row, strict=False) if cell.text]
        if not names[0] and row[0].text:
            return f"{row[0].text} \N{EN DASH} " + "; ".join(dict.fromkeys(values[1:]))
        return "; ".join(dict.fromkeys(values))
    heads = [cell.head for cell in distinct]
    if len(distinct) % 2 == 0 and heads == [True, False] * (len(distinct) // 2):
        return "; ".join(
            _pair(label.text, value.text) for label, value in zip(distinct[::2], distinct[1::2], strict=True) if value.text
        )
    first, *others = [cell.text for cell in distinct if cell.text]
    return _pair(first, "; ".join(others)) if others and len(first) <= MOST_LABEL_CHARACTERS else "; ".join([first, *others])


def _pair(label: str, value: str) -> str:
    label = label.rstrip(" :")
    return f"{label}: {value}" if label else value
