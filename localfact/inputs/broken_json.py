"""Saves what is whole of a document of JSON that is cut off, has a bad element in its list, or is several objects in a row."""

import json
import re
from collections.abc import Iterator
from typing import Any

from localfact.inputs.json_rows import NAMES, UNPARSABLE, RowError, plain_name

#: How many bad elements are passed over before reading ends.
MOST_BAD = 100
#: How many places are tried after one whose brackets are never closed, and the longest space before a row.
MOST_TRIED, LONGEST_SPACE = 1_000, 100
#: A list, or the first in an object; what stands between elements, also of a JSON text sequence; an element's first name.
_LIST = re.compile(r'\s*(?:\{\s*"[^"\\]{1,100}"\s*:\s*)?\[(?=\s*[\[{"])')
_BETWEEN = re.compile(r"[\s,\x1e]*")
_FIRST_NAME = re.compile(r'\{\s*["\']?[^"\'\s:]{1,100}["\']?\s*:')
#: Texts, and the brackets outside them.
_TOKEN = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)|[\[\]{}]', re.DOTALL)
_NEXT = re.compile(r"[,{\[\]\n]")
_END = re.compile(r"\s*(?:[,\]\x1e{]|\Z)")
_SPACE = re.compile(r"\s*\Z")
_DECODER = json.JSONDecoder(strict=False)


def whole_elements(text: str) -> Iterator[Any]:
    """Yields the elements of a list that is no JSON as a whole, or the values that stand one after the other.

    A bad one is a RowError. It ends where its brackets are closed; where they never are, the next element begins where the text
    looks as the bad one's beginning does.
    """
    opening = _LIST.match(text)
    place = _begin_of_next(text, opening.end() if opening else 0)
    bad = 0
    while place < len(text) and not (opening and text[place] == "]"):
        try:
            value, end = _DECODER.raw_decode(text, place)
        except UNPARSABLE as error:
            bad += 1
            following = _after_bad(text, place) if bad < MOST_BAD else None
            rest = "" if following is not None else " Nothing after it could be read."
            yield RowError(f"The element at character {place:,} is not JSON, or is cut off: {_reason(error)}.{rest}")
            end = len(text) if following is None else following
        else:
            yield value
        place = _begin_of_next(text, end)


def _begin_of_next(text: str, end: int) -> int:
    """Where an element can begin behind this place."""
    between = _BETWEEN.match(text, end)
    return end if between is None else between.end()


def _reason(error: Exception) -> str:
    return error.msg if isinstance(error, json.JSONDecodeError) else str(error)


def _after_bad(text: str, place: int) -> int | None:
    """Where reading goes on after the bad element at a place; None where nothing seems to follow."""
    if text[place] not in '{["':
        following = _NEXT.search(text, place + 1)
        return following.start() if following else None
    depth = 0
    for token in _TOKEN.finditer(text, place):
        depth += {"{": 1, "[": 1, "}": -1, "]": -1}.get(token[0], 0)
        if token[0] in "}]" and depth <= 0:
            end = token.end() if depth == 0 else token.start()
            if _END.match(text, end):
                return end
            break
    return _next_alike(text, place)


def _next_alike(text: str, place: int) -> int | None:
    """The next object that begins as the bad one does, with the same space before it and the same first name, and is a row."""
    name = _FIRST_NAME.match(text, place)
    if name is None:
        return None
    before = _SPACE.search(text[max(0, place - LONGEST_SPACE) : place])
    beginning = (before[0] if before else "") + name[0]
    found = name.end()
    for _ in range(MOST_TRIED):
        found = text.find(beginning, found)
        if found < 0:
            return None
        try:
            value, _ = _DECODER.raw_decode(text, found + len(beginning) - len(name[0]))
        except UNPARSABLE:
            value = None
        if isinstance(value, dict) and not NAMES.isdisjoint(map(plain_name, value)):
            return found
        found += 1
    return None
