"""The text of a PDF by pdfium, with title and date."""

import re
from collections.abc import Sequence
from datetime import date
from itertools import pairwise
from typing import Any

from localfact.web.extracting.pdf_margins import without_margins
from localfact.web.fetching.failures import PageError, Reason

# Why pdfium: seconds and memory over the interpreter's, two cores, files of tests/support/pdf_files.py.
#
#     file                             pypdfium2 5.15 (8.7 MB)    pypdf 7.1 (4.2 MB)
#     200 pages, 45 lines each         0.24 s    8 MB             27.6 s   261 MB
#     3,000 pages                      2.4 s     8 MB             more than 60 s
#     one page, 60,000 lines           0.33 s   62 MB             21.8 s   120 MB
#     1 GiB of blanks in 1 MB          ends the process           refused
#
# Both read two columns in order, Cyrillic, Arabic, Japanese, Hindi, and files encrypted without a password; both report one.

#: The rest of a longer document is left out.
MAX_PDF_PAGES = 2_000

_DATE = re.compile(r"(?:D:)?(\d{4})(\d\d)?(\d\d)?")
# What pdfium writes for a hyphen at the end of a line.
_BROKEN_WORD = re.compile("[\x02\ufffe]\\s*\n\\s*|[\x02\ufffe]")
_ENDS_SENTENCE = tuple('.!?:;。！？؟।…"”»)')
#: A line shorter than this share of the page's long lines ends a paragraph.
FULL_LINE_SHARE = 0.7


def text_of_pdf(body: bytes, most: int) -> tuple[str, str, str, str | None]:
    """The text of a PDF, all lines of its pages, title ("" for none) and date of creation (ISO 8601; None where none is given).

    Headers and footers of its pages are left out (`pdf_margins.py`). The hidden text layer of a scanned page is included: its
    words are those of the picture.

    Args:
        most: the most characters; the rest is left out.

    Raises:
        PageError: UNREADABLE: it needs a password, or the file is damaged.
    """
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(body)
    except pypdfium2.PdfiumError as error:
        wanting = "password" in str(error).lower()
        raise PageError(Reason.UNREADABLE, "the PDF asks for a password" if wanting else "the PDF is damaged") from error
    try:
        pages, length = [], 0
        for number in range(min(len(document), MAX_PDF_PAGES)):
            pages.append(lines_of_page(document, number))
            length += sum(map(len, pages[-1]))
            if length > most:
                break
        described = document.get_metadata_dict()
    finally:
        document.close()
    title = " ".join(described["Title"].split())
    text = "\n".join(filter(None, map(paragraphs, without_margins(pages, title))))[:most]
    return text, "\n".join(line for lines in pages for line in lines), title, date_of(described["CreationDate"])


def lines_of_page(document: Any, number: int) -> list[str]:
    """The lines of one page, white space collapsed; none for a page that cannot be read."""
    import pypdfium2

    try:
        page = document[number]
    except pypdfium2.PdfiumError:
        return []
    try:
        text = page.get_textpage()
        try:
            return lines_of(text.get_text_range())
        finally:
            text.close()
    except pypdfium2.PdfiumError:
        return []
    finally:
        page.close()


def lines_of(text: str) -> list[str]:
    """The lines of a page's text; words that a line's end breaks are joined."""
    return [" ".join(line.split()) for line in _BROKEN_WORD.sub("", text.replace("\r\n", "\n")).split("\n")]


def paragraphs(lines: Sequence[str]) -> str:
    """Joins the lines of a page where a sentence runs on, so that sentences can be found."""
    lengths = sorted(len(line) for line in lines if line)
    full = FULL_LINE_SHARE * lengths[int(0.9 * len(lengths))] if lengths else 0
    joined: list[str] = []
    for before, line in pairwise(["", *lines]):
        runs_on = line and len(before) >= full and before and not before.endswith(_ENDS_SENTENCE)
        joined += [" " if runs_on else "\n", line]
    return "".join(joined).strip()


def date_of(stated: str) -> str | None:
    """The day of a PDF's date (ISO 32000-1, section 7.9.4); None for what is no date."""
    found = _DATE.match(stated)
    if not found:
        return None
    try:
        return date(int(found[1]), int(found[2] or 1), int(found[3] or 1)).isoformat()
    except ValueError:
        return None
