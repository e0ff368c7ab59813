"""Tables, definition lists and grids of labels and values as lines that can be read alone: "Launch vehicle: Ariane 5".

They are rewritten in the page's tree before text is taken from it, since extractors drop many and leave the others as cells
between bars. A row of several columns names them: "Year: 1988; City: Seoul".
"""

import re
from collections import defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from localfact.web.extracting.table_lines import LEAST_PAIRS, Element, lines_of_grid, lines_of_list, lines_of_table, squeeze

#: A larger share of link text makes a table, or a cell, navigation.
LINK_SHARE = 0.7
#: A paragraph is found again in the text by so many characters; so many are tried.
BEGINNING_CHARACTERS = 40
PARAGRAPHS_TRIED = 5
#: Around these no facts are looked for.
_ELSEWHERE = frozenset({"nav", "footer", "form", "select", "button", "pre", "code"})
_CHROME = re.compile(
    r"(?<![a-z])(?:nav(?:box|bar|igation)?|cookies?|consent|breadcrumbs?|toc|comments?|related|share|social|sitemap|newsletter"
    r"|ads?|adverts?|footer|ambox|login|signup)(?![a-z])",
    re.IGNORECASE,
)
#: What elements are that scripts make tables of (WAI-ARIA 1.2).
_ROLES = {
    "table": "table",
    "grid": "table",
    "row": "tr",
    "cell": "td",
    "gridcell": "td",
    "columnheader": "th",
    "rowheader": "th",
}


class Block(NamedTuple):
    """Lines made of one table.

    Attributes:
        lines: each can be read alone.
        following: how the next paragraphs of the page begin, without white space.
    """

    lines: list[str]
    following: list[str]


def write_tables(root: Element) -> list[Block]:
    """Puts paragraphs in the place of the tables, definition lists and grids in a tree that hold facts, and returns those.

    What lays out the page, or is navigation, stays what it is; tables that lay out become plain blocks.
    """
    for element in root.xpath(".//*[@role='table' or @role='grid' or ancestor::*[@role='table' or @role='grid']][@role]"):
        element.tag = _ROLES.get(element.get("role"), element.tag)
    written: dict[Element, list[str]] = {}
    for element in reversed(list(root.iter("table", "dl", "div", "ul", "aside", "section", "tbody"))):
        if element.tag == "table":
            lines = lines_of_table(element)
            if is_navigation(element):
                element.tag, lines = "nav", None
            elif lines is None:
                lay_out(element)
        else:
            lines = lines_of_list(element) if element.tag == "dl" else lines_of_grid(element)
        if lines and element.getparent() is not None and not is_chrome(element):
            write_lines(element, lines)
            written[element] = lines
    return _with_following(root, written)


def _with_following(root: Element, written: Mapping[Element, list[str]]) -> list[Block]:
    blocks: list[Block] = []
    following: deque[str] = deque(maxlen=PARAGRAPHS_TRIED)
    for element in reversed(list(root.iter("p", "div"))):
        if element in written:
            blocks.append(Block(written[element], list(following)))
            continue
        begin = squeeze(element.text_content())[:BEGINNING_CHARACTERS] if element.tag == "p" else ""
        if len(begin) == BEGINNING_CHARACTERS and element.getparent() not in written:
            following.appendleft(begin)
    return blocks[::-1]


def write_lines(element: Element, lines: Sequence[str]) -> None:
    """Puts the lines in place of what an element holds."""
    tail = element.tail
    element.clear()
    element.tag, element.tail = "div", tail
    element.set("data-lines", str(len(lines)))
    for line in lines:
        paragraph = element.makeelement("p")
        paragraph.text = line
        element.append(paragraph)


def add_missing(text: str, blocks: Iterable[Block]) -> str:
    """The text of a page with the lines that extraction lost: before the paragraph that follows them, else at the end."""
    written = text.split("\n")
    known = {squeeze(line) for line in written}
    places = {squeeze(line)[:BEGINNING_CHARACTERS]: number for number, line in reversed(list(enumerate(written)))}
    before: dict[int, list[str]] = defaultdict(list)
    for block in blocks:
        missing = [line for line in block.lines if squeeze(line) not in known]
        known.update(map(squeeze, missing))
        place = next((places[begin] for begin in block.following if begin in places), len(written))
        before[place] += missing
    lines = [line for number in range(len(written) + 1) for line in (*before[number], *written[number : number + 1])]
    return "\n".join(lines)


def is_chrome(element: Element) -> bool:
    """Whether an element, or one around it, is about the site and not the page's subject."""
    for each in (element, *element.iterancestors()):
        if each.tag in ("body", "html", "main", "article"):
            return False
        if each.tag in _ELSEWHERE or each.get("role") in ("navigation", "search", "contentinfo"):
            return True
        if _CHROME.search(f"{each.get('class', '')} {each.get('id', '')}"):
            return True
    return False


def is_navigation(table: Element) -> bool:
    """Whether a table is mostly links, several of them in one cell."""
    whole = len(squeeze(table.text_content()))
    linked = sum(len(squeeze(link.text_content())) for link in table.iter("a"))
    return linked > LINK_SHARE * whole and any(sum(1 for _ in cell.iter("a")) >= LEAST_PAIRS for cell in table.iter("td"))


def lay_out(table: Element) -> None:
    """Makes blocks of a table that lays out the page, and navigation of its columns of links."""
    for part in (table, *table.iter("tr", "td", "th", "tbody", "thead", "tfoot")):
        part.tag = "nav" if part.tag == "td" and is_menu(part) else "div"


def is_menu(cell: Element) -> bool:
    """Whether a cell of a table that lays out is a column of links."""
    links = list(cell.iter("a"))
    linked = sum(len(squeeze(link.text_content())) for link in links)
    return len(links) >= LEAST_PAIRS and linked > LINK_SHARE * len(squeeze(cell.text_content()))
