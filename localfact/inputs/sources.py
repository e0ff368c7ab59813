"""Reads the sources that a response may cite: those of its row, else the passages that came with it, in their order.

    "sources": ["a text", "https://...", {"title": "...", "url": "...", "text": "..."}]      cited as [1], [2], [3]
    "sources": {"1": {...}, "Smith, 2019": "a text"}                                         cited by those marks

Sources in a form that cannot be used make a row unusable only where citations are asked for: else the column may be another.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path

from localfact.errors import InputError
from localfact.inputs.claims import optional_text
from localfact.inputs.json_rows import Row, RowError, first
from localfact.inputs.passages import TEXT_KEYS, passages_given
from localfact.records import GivenSource, GivenSources
from localfact.runtime.addresses import address_without_secrets
from localfact.text import readable

#: Names of the list: ours, ALCE's, and those of answers with a search.
SOURCES_KEYS = ("sources", "docs", "citations", "search_results")
LINK_KEYS = ("url", "link")
#: The most sources of a row, and characters of a mark.
MOST_SOURCES = 1_000
LONGEST_MARK = 200
FORMS = 'a text, an address, or an object with "title", "url" or "text"'

_ADDRESS = re.compile(r"(?:https?://|www\.)\S+\Z")
#: A text without any such sign cites no passage by its number.
_MAY_CITE = re.compile(r"[\[【¹²³⁴-⁹]|<sup|https?://")


def sources_of(row: Row, text: str) -> GivenSources | None:
    """The sources of a row; None where it gives none. Its passages are sources only of a text that may cite something."""
    given = first({key: row.get(key) for key in SOURCES_KEYS if row.get(key) not in ([], {})}, SOURCES_KEYS)
    try:
        own = given is not None
        if not own:
            given = passages_given(row) if _MAY_CITE.search(text) else None
        if given is None:
            return None
        return GivenSources(sources=tuple(_sources(given, may_be_empty=not own)), of_passages=not own)
    except RowError as error:
        return GivenSources(problem=readable(str(error)))


def read_sources_file(path: Path) -> object:
    """The list or mapping of sources in a file of JSON.

    Raises:
        InputError: it cannot be read, or is no such thing.
    """
    try:
        found = json.loads(path.read_bytes())
    except OSError as error:
        raise InputError(f"The sources {path} cannot be read: {error.strerror}.") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"The sources {path} are not JSON: {error}.") from None
    if not isinstance(found, list | dict):
        raise InputError(f"The sources {path} must be a list, or an object of marks and sources; each is {FORMS}.")
    return found


def _sources(given: object, *, may_be_empty: bool) -> Iterator[GivenSource]:
    if isinstance(given, dict):
        items = [(str(mark), item) for mark, item in given.items()]
    elif isinstance(given, list):
        items = [(str(place), item) for place, item in enumerate(given, start=1)]
    else:
        raise RowError(f"'sources' must be a list, or an object of marks and sources; each is {FORMS}.")
    if len(items) > MOST_SOURCES:
        raise RowError(f"The row has {len(items):,} sources, more than {MOST_SOURCES:,}.")
    for mark, item in items:
        yield _source(readable(mark)[:LONGEST_MARK], item, may_be_empty=may_be_empty)


def _source(mark: str, item: object, *, may_be_empty: bool) -> GivenSource:
    if item is None or isinstance(item, str):
        text = optional_text(item)
        if text is not None and _ADDRESS.match(text.strip()):
            return GivenSource(mark=mark, link=address_without_secrets(text.strip()))
        return GivenSource(mark=mark, text=text)
    if not isinstance(item, dict):
        raise RowError(f"Source {mark[:40]} is {str(item)[:40]!r}: it must be {FORMS}.")
    wrong = [key for key in ("title", *LINK_KEYS, *TEXT_KEYS) if not isinstance(item.get(key), str | None)]
    if wrong:
        raise RowError(f"The {wrong[0]} of source {mark[:40]} is no text.")
    link = optional_text(first(item, LINK_KEYS))
    title, text = optional_text(item.get("title")), optional_text(first(item, (*TEXT_KEYS, "snippet")))
    if title is None and text is None and link is None and not may_be_empty:
        raise RowError(f"Source {mark[:40]} has neither text nor title nor url.")
    return GivenSource(
        mark=mark, title=title or "", link=None if link is None else address_without_secrets(link.strip()), text=text
    )
