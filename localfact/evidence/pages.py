"""Reads pages, what a corpus is made of: rows of JSON lines, HTML and text files. The road's evidence begins here.

Pages come from strangers: what cannot be read is told with its place and reason, and never stops the rest.
"""

import json
import logging
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from localfact.errors import InputError, MissingError
from localfact.records import Record
from localfact.text import readable

HTML_SUFFIXES = frozenset({".html", ".htm"})
TEXT_SUFFIXES = frozenset({".txt", ".md"})
ROWS_SUFFIXES = frozenset({".jsonl", ".ndjson"})

#: A larger file is no page; parsing one could take all memory.
MAX_FILE_BYTES = 50_000_000
#: Longer rows are cut to this many characters, some ten novels.
MAX_PAGE_CHARACTERS = 5_000_000
#: A constant, so that the same pages make the same corpus whatever file they come from.
PROVIDER = "local"


class Page(Record):
    """One web page or document.

    Attributes:
        link: its address, or its path inside the folder it was read from.
        date: as the page states it.
        provider: who found it: "local" for pages that a user has.
    """

    link: str
    text: str
    title: str = ""
    date: str | None = None
    provider: str = PROVIDER


@dataclass(frozen=True)
class PagesRead:
    """What reading gave: the pages in the order found, and a sentence for every row or file that gave none."""

    pages: tuple[Page, ...]
    problems: tuple[str, ...]


class NoPageError(Exception):
    """Why one row or file gives no page; becomes a problem of PagesRead."""


def read_pages(source: Path) -> PagesRead:
    """Reads a file, or all files below a folder in the order of their paths; files of other kinds are passed over.

    JSON lines have `url` or `link`, `title`, `text`, `date`; an empty `text` is replaced by `snippet`. HTML gives its main
    text, title and date; text files are taken whole.

    Raises:
        MissingError: there is no such file or folder.
        InputError: it holds no file of a known kind.
    """
    if not source.exists():
        raise MissingError(
            f"There is no file or folder {source}. Name the pages: JSON lines, or a folder of HTML and text files."
        )
    known = ROWS_SUFFIXES | HTML_SUFFIXES | TEXT_SUFFIXES
    candidates = sorted(source.rglob("*")) if source.is_dir() else [source]
    files = [file for file in candidates if file.is_file() and file.suffix.lower() in known]
    if not files:
        raise InputError(f"{source} holds no pages. Known are files that end in {', '.join(sorted(known))}.")
    pages, problems = [], []
    for file in files:
        link = file.relative_to(source).as_posix() if source.is_dir() else file.name
        for where, page in read_file(file, link):
            if isinstance(page, Page):
                pages.append(page)
            else:
                problems.append(f"{where}: {page}")
    return PagesRead(tuple(pages), tuple(problems))


def read_file(file: Path, link: str) -> Iterator[tuple[str, Page | NoPageError]]:
    """Yields where each row of the file stands, or the file as a whole, and its page or why there is none."""
    try:
        if file.stat().st_size > MAX_FILE_BYTES and file.suffix.lower() not in ROWS_SUFFIXES:
            raise NoPageError(f"The file is larger than {MAX_FILE_BYTES:,} bytes.")
        if file.suffix.lower() in ROWS_SUFFIXES:
            yield from read_rows(file, link)
        elif file.suffix.lower() in HTML_SUFFIXES:
            yield link, page_of_html(file.read_bytes(), link)
        else:
            text = file.read_bytes().decode("utf-8-sig", errors="replace")
            yield link, page_of({"link": link, "title": file.stem, "text": text})
    except NoPageError as problem:
        yield link, problem
    except OSError as error:
        yield link, NoPageError(f"The file cannot be read: {error.strerror}.")


def read_rows(file: Path, name: str) -> Iterator[tuple[str, Page | NoPageError]]:
    """Yields the place and the page of every line that is not empty, or why it gives none."""
    with file.open(encoding="utf-8-sig", errors="replace", newline="\n") as lines:
        for number, line in enumerate(lines, start=1):
            if line.strip():
                where = f"{name}, line {number}"
                try:
                    yield where, page_of_row(line, f"{name}#{number}")
                except NoPageError as problem:
                    yield where, problem


def page_of_row(line: str, address: str) -> Page:
    """The page of one line of JSON; `address` stands in where the row has none."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:  # ValueError also for a number of too many digits
        raise NoPageError(f"The line is not JSON: {error}.") from None
    if not isinstance(row, dict):
        raise NoPageError("The line is not a JSON object.")
    return page_of({**row, "link": cleaned(row.get("link")) or cleaned(row.get("url")) or address})


def page_of_html(content: bytes, link: str) -> Page:
    """The main text of an HTML page, with its title and date where it states them."""
    import trafilatura

    # It tells of pages without text through the log, on top of returning None.
    logging.getLogger("trafilatura").setLevel(logging.CRITICAL)
    try:
        document = trafilatura.bare_extraction(content, with_metadata=True, include_comments=False)
    except Exception as error:  # a parser fed with anything the web holds: whatever it raises concerns this page alone
        raise NoPageError(f"The HTML cannot be read ({type(error).__name__}).") from error
    if document is None:
        raise NoPageError("The page has no text.")
    title = document.title or Path(link).stem
    return page_of({"link": link, "title": title, "date": document.date, "text": document.text})


def page_of(row: dict[str, Any]) -> Page:
    """The page of a row, cleaned; a row without any text gives none."""
    text = cleaned(row.get("text")) or cleaned(row.get("snippet"))
    if not text:
        raise NoPageError("The page has no text.")
    return Page(
        link=cleaned(row["link"]),
        title=" ".join(cleaned(row.get("title")).split()),
        text=text[:MAX_PAGE_CHARACTERS],
        date=cleaned(row.get("date")) or None,
        provider=PROVIDER,
    )


def cleaned(value: object) -> str:
    """A text without characters that no file format holds and without outer white space; "" for anything that is no text."""
    return readable(value).strip() if isinstance(value, str) else ""
