"""Takes off the pages of a PDF what a browser's print dialogue, or a journal, writes above and below the text of each."""

import re
from collections import Counter
from collections.abc import Sequence

#: So many lines at each end of a page may be a browser's header or footer, and so many run through the document.
EDGE_LINES = 3
RUNNING_LINES = 2
#: A line, its numbers aside, at the ends of so many pages and of this share of them runs through the document.
LEAST_PAGES = 3
PAGE_SHARE = 0.4

_TIME = r"\d{1,4}[./-]\d{1,2}[./-]\d{2,4},? (?:at )?\d{1,2}[:.]\d\d(?:[:.]\d\d)?(?:\s?[AP]\.?M\.?)?"
_ADDRESS = r"(?:https?|file)://\S+"
_COUNT = r"(?:page |seite )?\d{1,4} ?(?:/|of|von|de|sur) ?\d{1,4}"
_MARKS = tuple(
    re.compile(mark, re.IGNORECASE)
    for mark in (rf"^{_TIME}\b|\b{_TIME}$", rf"^{_ADDRESS}|{_ADDRESS}$", rf"^{_COUNT}$|\s{_COUNT}$")
)
_NUMBER = re.compile(r"\d+")


def without_margins(pages: Sequence[Sequence[str]], title: str) -> list[list[str]]:
    """The lines of each page without the headers and footers; a page that had nothing else keeps what it has.

    A browser's are known by two of three marks on a page: the time, the address, and which page of how many. Other lines that
    run through the document stay where they come first.

    Args:
        pages: the lines of each, white space collapsed.
        title: as the file states it.
    """
    running = _running_lines(pages)
    kept_pages, seen = [], set[str]()
    for lines in pages:
        edges, outermost = _edges(lines, EDGE_LINES), _edges(lines, RUNNING_LINES)
        printed = sum(any(mark.search(lines[place]) for place in edges) for mark in _MARKS) > 1
        dropped = set[int]()
        for place in edges:
            line, shape = lines[place], _NUMBER.sub("#", lines[place])
            if printed and (_is_margin(line, title) or shape in running):
                dropped.add(place)
            elif shape in running and place in outermost:
                if shape in seen or not any(map(str.isalpha, shape)):
                    dropped.add(place)
                seen.add(shape)
        kept = [line for place, line in enumerate(lines) if place not in dropped]
        kept_pages.append(kept if any(kept) else list(lines))
    return kept_pages


def _is_margin(line: str, title: str) -> bool:
    """Whether a line at an end of a printed page begins with the time, or is nothing but marks and the title."""
    rest = line
    for mark in _MARKS:
        rest = mark.sub("", rest).strip()
    return rest in ("", title) or _MARKS[0].match(line) is not None


def _edges(lines: Sequence[str], count: int) -> list[int]:
    """The places of the first and last so many lines that are not empty."""
    filled = [place for place, line in enumerate(lines) if line]
    return sorted({*filled[:count], *filled[-count:]})


def _running_lines(pages: Sequence[Sequence[str]]) -> set[str]:
    """The lines, with # for numbers, that stand at the ends of many pages."""
    counts = Counter(
        shape for lines in pages for shape in {_NUMBER.sub("#", lines[place]) for place in _edges(lines, RUNNING_LINES)}
    )
    return {shape for shape, count in counts.items() if count >= max(LEAST_PAGES, PAGE_SHARE * len(pages))}
