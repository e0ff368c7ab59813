"""Recognises what kind of collection a file is: by its first bytes, or by its name where they do not tell."""

import gzip
import json
import re
import zlib
from enum import StrEnum
from pathlib import Path

from localfact.corpus.importing.factscore_database import MAGIC as SQLITE_MAGIC
from localfact.corpus.importing.zim import MAGIC as ZIM_MAGIC
from localfact.web.archiving.warc_records import GZIP_MAGIC
from localfact.web.pages import HTML_SUFFIXES, ROWS_SUFFIXES, TEXT_SUFFIXES


class CollectionKind(StrEnum):
    """The kinds of collections; the value names it in messages."""

    ROWS = "JSON lines (url, title, text, date)"
    HTML = "HTML"
    PDF = "PDF"
    TEXT = "plain text"
    WARC = "WARC (.warc, .warc.gz)"
    FACTSCORE = "FActScore's Wikipedia (SQLite)"
    ZIM = "Kiwix ZIM"


SUFFIXES = {
    **dict.fromkeys(ROWS_SUFFIXES, CollectionKind.ROWS),
    **dict.fromkeys(HTML_SUFFIXES | {".xhtml"}, CollectionKind.HTML),
    **dict.fromkeys(TEXT_SUFFIXES, CollectionKind.TEXT),
    ".pdf": CollectionKind.PDF,
}
#: Files with these endings are always read as WARC, whose reader reports what is wrong with them.
ARCHIVE_ENDINGS = (".warc", ".warc.gz", ".warc.zst")
#: How many bytes of a file are looked at.
HEAD_BYTES = 65_536
WARC_MAGIC = b"WARC/"
PDF_MAGIC = b"%PDF-"
MAGICS = {
    SQLITE_MAGIC: CollectionKind.FACTSCORE,
    ZIM_MAGIC: CollectionKind.ZIM,
    WARC_MAGIC: CollectionKind.WARC,
    PDF_MAGIC: CollectionKind.PDF,
}
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
MARKUP = re.compile(rb"\s*(?:<\?xml[^>]{0,200}>\s*)?<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE)
#: A JSON object must have one of these keys to be a page.
TEXT_KEYS = ("text", "snippet")


def kind_of(file: Path) -> CollectionKind | None:
    """The kind of the file; None for no known kind. Raises OSError where it cannot be read."""
    with file.open("rb") as stream:
        head = stream.read(HEAD_BYTES)
    archive = file.name.lower().endswith(ARCHIVE_ENDINGS)
    if head.startswith(GZIP_MAGIC):
        begin = unpack_beginning(file)
        return CollectionKind.WARC if begin.startswith(WARC_MAGIC) or (archive and not begin) else None
    for magic, kind in MAGICS.items():
        if head.startswith(magic):
            return kind
    content = head.removeprefix(BYTE_ORDER_MARK)
    if MARKUP.match(content):
        return CollectionKind.HTML
    if is_row(content):
        return CollectionKind.ROWS
    return CollectionKind.WARC if archive else SUFFIXES.get(file.suffix.lower())


def unpack_beginning(file: Path) -> bytes:
    """The first bytes of a gzip file, decompressed; empty where it is damaged."""
    try:
        with gzip.open(file) as stream:
            return stream.read(len(WARC_MAGIC))
    except (gzip.BadGzipFile, EOFError, zlib.error):
        return b""


def is_row(content: bytes) -> bool:
    """Whether the first line, if it is complete, is a page in JSON."""
    line, newline, _ = content.lstrip().partition(b"\n")
    if not line.startswith(b"{") or (not newline and len(content) >= HEAD_BYTES - len(BYTE_ORDER_MARK)):
        return False
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return isinstance(row, dict) and any(isinstance(row.get(key), str) for key in TEXT_KEYS)
