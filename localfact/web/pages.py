"""Pages, of which a corpus is made, and how a row of a user's collection becomes one.

Rows are untrusted: one that cannot be read is reported with its reason and does not stop the others.
"""

import json
import re
from contextlib import suppress
from time import strptime
from typing import Annotated, Any

from pydantic import AfterValidator

from localfact.records import Record
from localfact.runtime.addresses import address_without_secrets
from localfact.text import readable
from localfact.web.extracting.cleaning import clean
from localfact.web.fetching.failures import PageFailure, Reason

HTML_SUFFIXES = frozenset({".html", ".htm"})
TEXT_SUFFIXES = frozenset({".txt", ".md"})
ROWS_SUFFIXES = frozenset({".jsonl", ".ndjson"})

#: Larger files are refused: parsing one could take all memory.
MAX_FILE_BYTES = 50_000_000
#: Longer pages are cut to this many characters, some ten novels.
MAX_PAGE_CHARACTERS = 5_000_000
LANGUAGE_TAG = re.compile(r"([a-z]{2})(?:[-_].*)?")
#: Dates that begin with the year: 20180605, 2018/6/5, 2018.06, 2018.
YEAR_FIRST = re.compile(r"(\d{4})(?:[-/.]?(\d{2})(?:[-/.]?(\d{2}))?|[-/.](\d{1,2})[-/.](\d{1,2}))?")
#: Days whose month has a name: June 5, 2018; 5 Jun 2018.
DAYS = ("%B %d, %Y", "%b %d, %Y", "%d %B %Y", "%d %b %Y")
#: What the commonest failures are called where pages are read from files.
SENTENCES = {PageFailure(reason=Reason.NO_TEXT): "The page has no text."}
#: A constant, so that the same pages make the same corpus whatever file they come from.
PROVIDER = "local"
#: Of a page that was fetched; whose search found it is in the corpus's results.
WEB = "web"


class Extent(Record):
    """How much of what a document shows became the text of its page.

    Attributes:
        kept: words of the text.
        dropped: words that the document shows and the text lacks: menus, notices, headers, and what extraction lost.
        table_lines: lines of the text that were made of tables.
    """

    kept: int
    dropped: int
    table_lines: int = 0


class Page(Record):
    """One web page or document.

    Attributes:
        link: its address without secrets, or its path inside the folder it was read from.
        date: as the page states it.
        provider: who found it: "local" for pages that a user has.
        language: two letters (ISO 639-1), where it is known.
        extent: of a page that was extracted from a document, as far as that is known; no part of what the page is.
    """

    link: Annotated[str, AfterValidator(address_without_secrets)]
    text: str
    title: str = ""
    date: str | None = None
    provider: str = PROVIDER
    language: str | None = None
    extent: Extent | None = None


class NoPageError(Exception):
    """Why one row or file gives no page; reported as a problem of the import."""


def page_of_row(line: str, address: str) -> Page:
    """The page of one line of JSON; `address` is its link where the row has none."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:  # ValueError also for a number of too many digits
        raise NoPageError(f"The line is not JSON: {error}.") from None
    if not isinstance(row, dict):
        raise NoPageError("The line is not a JSON object.")
    return page_of({**row, "link": clean_text(row.get("link")) or clean_text(row.get("url")) or address})


def page_of(row: dict[str, Any]) -> Page:
    """The page of a row, cleaned. Raises NoPageError where the row has no text."""
    text = text_of(row.get("text")) or text_of(row.get("snippet"))
    if not text:
        raise NoPageError("The page has no text.")
    return Page(
        link=clean_text(row["link"]),
        title=" ".join(text_of(row.get("title")).split()),
        text=text[:MAX_PAGE_CHARACTERS],
        date=date_of(row.get("date")) or None,
        provider=PROVIDER,
        language=language_code(row.get("language")),
    )


def date_of(value: object) -> str:
    """A date as it is stated, or as YYYY-MM-DD, YYYY-MM or YYYY where it begins with the year or names the month of a day."""
    stated = clean_text(str(value) if isinstance(value, int) and not isinstance(value, bool) else value)
    if found := YEAR_FIRST.fullmatch(stated):
        return "-".join(part.zfill(2) for part in found.groups() if part)
    for form in DAYS if stated[-4:].isdecimal() else ():
        with suppress(ValueError):
            year, month, day, *_ = strptime(stated, form)
            return f"{year:04}-{month:02}-{day:02}"
    return stated


def language_code(value: object) -> str | None:
    """The two letters of a language tag ("en", "pt-BR"); None for anything else."""
    found = LANGUAGE_TAG.fullmatch(value.strip().lower()) if isinstance(value, str) else None
    return found[1] if found else None


def text_of(value: object) -> str:
    """A text as its reader sees it; "" for a value that is no text."""
    return clean(value) if isinstance(value, str) else ""


def clean_text(value: object) -> str:
    """A text without characters that files cannot hold and without outer white space; "" for a value that is no text."""
    return readable(value).strip() if isinstance(value, str) else ""
