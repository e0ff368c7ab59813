"""From the bytes of a fetched page to clean text, with title, date and language: HTML, PDF and plain text.

The bytes are untrusted. Time and memory are limited by extractors.py, which runs this in worker processes.
"""

import logging
import re
from collections import Counter
from importlib import import_module
from pathlib import PurePosixPath
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

from localfact.records import Record
from localfact.text import language, words
from localfact.web.extracting.charsets import decode
from localfact.web.extracting.cleaning import clean, clean_line
from localfact.web.extracting.hidden import remove_data, remove_hidden
from localfact.web.extracting.linked_data import shown_or_stated, stated_article
from localfact.web.extracting.pdf import text_of_pdf
from localfact.web.extracting.tables import add_missing, write_tables
from localfact.web.extracting.walls import asks_for_password, wall
from localfact.web.fetching.failures import PageError, Reason
from localfact.web.pages import MAX_PAGE_CHARACTERS, Extent, language_code

HTML_TYPES = frozenset({"text/html", "application/xhtml+xml"})
PDF_TYPES = frozenset({"application/pdf", "application/x-pdf"})
#: Media types that do not identify the content: the bytes decide.
VAGUE_TYPES = frozenset({"", "application/octet-stream", "binary/octet-stream", "application/xml", "text/xml"})
#: Text types that hold no prose.
NO_PROSE = frozenset({"text/css", "text/javascript", "text/ecmascript", "text/vbscript", "text/calendar", "text/vcard"})

MAX_TITLE_CHARACTERS = 500
#: Longer HTML, scripts not counted, is refused: its tree and the copies of it take up to a hundred times its size.
MAX_HTML_CHARACTERS = 2_000_000

_PDF_MARK = b"%PDF-"
#: Readers of PDF look for the mark this far.
PDF_MARK_BYTES = 1024
_HTML_MARK = re.compile(rb"<(?:!doctype\s+html|html|head|body|title|meta|div|p|h1|article|table)\b", re.IGNORECASE)
_LATIN_LANGUAGES = frozenset({"en", "es", "de", "fr", "it", "pt"})
#: The language of texts with fewer words is not guessed.
GUESSED_FROM_WORDS = 20
# Pictures written into the page are often larger than all of its text.
_DATA_LINK = re.compile("data:[a-z]+/[^\"'()<>\\s]{500,}", re.IGNORECASE)
# Entity definitions are not expanded, so a harmful one has no effect, but the parser would take them for text.
_DEFINITIONS = re.compile(r"(<!DOCTYPE[^\[>]{0,1000})\[.{0,100000}?\]\s*>", re.IGNORECASE | re.DOTALL)
DOCTYPE_CHARACTERS = 110_000
_SCRIPT = re.compile(r"<script\b", re.IGNORECASE)
_SCRIPT_END = re.compile(r"</script\b", re.IGNORECASE)
_WORD = re.compile(r"\w+")
# Characters that XML trees refuse; white space stays.
_NO_MARKUP = re.compile("[\x00-\x08\x0b\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


class Document(Record):
    """The text of a page.

    Attributes:
        title: on one line; "" where the page has none.
        text: cleaned (`cleaning.clean`), never empty.
        date: ISO 8601, as the page states it.
        language: two letters (ISO 639-1).
        extent: what was kept and dropped of what the page shows.
    """

    title: str
    text: str
    date: str | None = None
    language: str | None = None
    extent: Extent | None = None


class Extracted(NamedTuple):
    """What one kind of document gives.

    Attributes:
        shown: all that its reader sees.
        table_lines: how many lines were made of its tables.
    """

    text: str
    shown: str
    title: str = ""
    date: str | None = None
    language: str | None = None
    table_lines: int = 0


def extract(body: bytes, media_type: str, charset: str | None, link: str) -> Document:
    """Extracts the text of a page.

    Args:
        body: decompressed.
        media_type: as the answer states it, in lower case and without parameters; "" where it states none.
        charset: as the answer states it.
        link: the page's address or path; its last part is the title of a page that has none.

    Raises:
        PageError: NO_TEXT: there is none, or only a question for consent. LOGIN_REQUIRED: a sign-in form and hardly any text.
            UNREADABLE: damaged, encrypted or no text at all. MEDIA_TYPE_REFUSED: neither HTML nor PDF nor plain text.
    """
    kind = kind_of(body, media_type)
    if kind == "html":
        found = text_of_html(decode(body, charset), link)
    elif kind == "pdf":
        found = Extracted(*text_of_pdf(body, MAX_PAGE_CHARACTERS))
    else:
        shown = decode(body, charset)
        found = Extracted(shown, shown)
    text = clean(found.text[:MAX_PAGE_CHARACTERS])
    if not text:
        raise PageError(Reason.NO_TEXT)
    return Document(
        title=clean_line(found.title, MAX_TITLE_CHARACTERS) or clean_line(name_of(link), MAX_TITLE_CHARACTERS),
        text=text,
        date=found.date,
        language=language_of(found.language, text),
        extent=extent_of(found.shown, text, found.table_lines),
    )


def extent_of(shown: str, text: str, table_lines: int) -> Extent:
    """How many words of what is shown a text has and lacks; those that it repeats, as names of columns, are not set off."""
    kept = Counter(_WORD.findall(text))
    return Extent(kept=kept.total(), dropped=(Counter(_WORD.findall(shown)) - kept).total(), table_lines=table_lines)


def load_libraries() -> None:
    """Imports what extraction needs, so that no page's time or memory is spent on it."""
    for module in ("charset_normalizer", "lxml.html", "pypdfium2", "tinycss2.color4", "trafilatura.metadata", "w3lib.encoding"):
        import_module(module)
        logging.getLogger(module.partition(".")[0]).setLevel(logging.CRITICAL)
    extract(b"<p>The first page takes longer than others.</p>", "text/html", None, "")


def kind_of(body: bytes, media_type: str) -> str:
    """How the bytes are read: "html", "pdf" or "text". What the bytes begin with overrules the stated type.

    Raises:
        PageError: MEDIA_TYPE_REFUSED.
    """
    if _PDF_MARK in body[:PDF_MARK_BYTES] and media_type not in {"text/plain", *HTML_TYPES}:
        return "pdf"
    if body.startswith(_PDF_MARK):
        return "pdf"
    if media_type in HTML_TYPES:
        return "html"
    if media_type in PDF_TYPES | VAGUE_TYPES:
        if _HTML_MARK.search(body, 0, PDF_MARK_BYTES):
            return "html"
        if media_type in PDF_TYPES:
            raise PageError(Reason.UNREADABLE, "the PDF is damaged")
        if media_type == "":
            return "text"
    elif media_type.startswith("text/") and media_type not in NO_PROSE:
        return "text"
    raise PageError(Reason.MEDIA_TYPE_REFUSED, media_type)


def text_of_html(page: str, link: str) -> Extracted:
    """Title, main text, date and stated language of an HTML page; its hidden text is left out.

    Raises:
        PageError: NO_TEXT, LOGIN_REQUIRED, UNREADABLE.
    """
    import trafilatura
    from trafilatura.metadata import extract_metadata

    # It logs pages without text, besides returning None.
    logging.getLogger("trafilatura").setLevel(logging.CRITICAL)
    logging.getLogger("htmldate").setLevel(logging.CRITICAL)
    try:
        root = parse(page)
        with_password = asks_for_password(root)
        remove_hidden(root)
        described = extract_metadata(root, default_url=link, extensive=False)
        stated = stated_article(root)
        remove_data(root)
        shown = " ".join(root.find("body").itertext()) if root.find("body") is not None else ""
        tables = write_tables(root)
        document = trafilatura.bare_extraction(root, favor_recall=True, include_comments=False)
        title = described.title or ""
        text = add_missing((document.text if document is not None else "") or "", tables)
        stated_language = root.get("lang") or root.get("{http://www.w3.org/XML/1998/namespace}lang") or root.get("xml:lang")
    except (PageError, MemoryError):
        raise
    except Exception as error:  # parsers raise anything on untrusted input; it concerns this page alone
        raise PageError(Reason.UNREADABLE, f"the HTML cannot be read ({type(error).__name__})") from error
    text = shown_or_stated(clean(text), stated)
    if failure := wall(text, title, with_password):
        raise PageError(failure.reason, failure.detail)
    if not text:
        raise PageError(Reason.NO_TEXT)
    known = set(text.split("\n"))
    table_lines = sum(line in known for table in tables for line in table.lines)
    return Extracted(text, shown, title, described.date, stated_language, table_lines)


def parse(page: str) -> Any:
    """The tree of an HTML page; a fragment is put into a body.

    Raises:
        PageError: NO_TEXT: there is no element and no word.
    """
    from lxml import etree
    from lxml.html import HTMLParser, document_fromstring

    parser = HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True, collect_ids=False, huge_tree=True)
    page = _DEFINITIONS.sub(r"\1>", page[:DOCTYPE_CHARACTERS], count=1) + page[DOCTYPE_CHARACTERS:]
    page = _DATA_LINK.sub("", page)
    if len(page) > MAX_HTML_CHARACTERS:
        page = without_scripts(page)[:MAX_HTML_CHARACTERS]
    markup = _NO_MARKUP.sub("", page)
    try:
        return document_fromstring(markup.encode(), parser=parser)
    except etree.ParserError as error:
        raise PageError(Reason.NO_TEXT) from error


def without_scripts(page: str) -> str:
    """The page without its scripts, linked data included, up to a script that does not end."""
    kept, start = [], 0
    for opened in _SCRIPT.finditer(page):
        if opened.start() >= start:
            kept.append(page[start : opened.start()])
            closed = _SCRIPT_END.search(page, opened.end())
            start = closed.end() if closed else len(page)
    return "".join([*kept, page[start:]])


def language_of(stated: str | None, text: str) -> str | None:
    """Two letters: as the page states it, unless its script contradicts that; else a guess, given enough text; else None."""
    guess = language(text) if len(words(text[:MAX_TITLE_CHARACTERS])) >= GUESSED_FROM_WORDS else None
    code = language_code(stated)
    # Templates say "en" for pages in any language.
    contradicted = code in _LATIN_LANGUAGES and guess is not None and guess not in _LATIN_LANGUAGES
    return guess if code is None or contradicted else code


def name_of(link: str) -> str:
    """The last part of an address or a path, without its suffix."""
    try:
        path = urlsplit(link).path if "://" in link else link
    except ValueError:
        path = link
    return PurePosixPath(unquote(path, errors="replace") if "://" in link else path).stem
