"""Reads the documents of other tools' web archives (WARC), not yet extracted: HTML, PDF and plain text."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from localfact.corpus.importing.imported import Problem, Progress, RawPage
from localfact.corpus.importing.kinds import MARKUP, PDF_MAGIC
from localfact.runtime.addresses import address_without_secrets
from localfact.web.archiving.stored_bodies import decode_stored
from localfact.web.archiving.warc_reading import WarcProblem, read_warc
from localfact.web.fetching.exchange import Exchange
from localfact.web.fetching.failures import PageError
from localfact.web.pages import MAX_FILE_BYTES

#: Media types of documents; "" where the answer states none. Style sheets and scripts are text, but no documents.
DOCUMENT_TYPES = frozenset({"text/html", "application/xhtml+xml", "application/pdf", "text/plain", "text/markdown", ""})
#: The path of robots.txt, which is no page.
ROBOTS = "/robots.txt"
#: Answers between two calls of progress.
ANSWERS_PER_STEP = 20


def read_archived(file: Path, name: str, progress: Progress) -> Iterator[RawPage | Problem]:
    """Yields the documents of a .warc or .warc.gz in its order; other kinds of answers are counted and reported at the end.

    A body that the archive marks as truncated is taken as far as it goes.

    Args:
        file: the archive.
        name: its name in messages.
        progress: counts answers; their total is not known.
    """
    others, done = 0, 0
    for entry in read_warc(file, max_payload=MAX_FILE_BYTES):
        if isinstance(entry, WarcProblem):
            yield problem_of(entry, file, name)
            continue
        done += 1
        try:
            wanted = is_document(entry)
        except ValueError:
            yield Problem(f"{name}, {address_without_secrets(entry.url)}", "Its address cannot be read.")
            continue
        if wanted:
            yield document(entry, name)
        else:
            others += 1
        if done % ANSWERS_PER_STEP == 0:
            progress(name, done, None)
    progress(name, done, done)
    if others:
        yield Problem(name, f"Not HTML, PDF or plain text ({others:,} answers).")


def problem_of(entry: WarcProblem, file: Path, name: str) -> Problem:
    """The problem, with its place below the folder that the user named."""
    times = f" ({entry.count:,} records)" if entry.count > 1 else ""
    return Problem(name + entry.where.removeprefix(file.name), entry.why + times)


def is_document(exchange: Exchange) -> bool:
    """Whether the answer may be a page. Raises ValueError where its address is none ("http://[oops/")."""
    return exchange.media_type in DOCUMENT_TYPES and urlsplit(exchange.url).path != ROBOTS


def document(exchange: Exchange, name: str) -> RawPage | Problem:
    """The document with its content coding decoded, or why that is impossible."""
    link = address_without_secrets(exchange.url)
    where = f"{name}, {link}"
    try:
        body = decode_stored(exchange.payload, exchange.headers, MAX_FILE_BYTES, whole=exchange.truncated is None)
    except PageError as error:
        return Problem(where, f"{error}.")
    media_type = exchange.media_type or sniff_media_type(body)
    if media_type is None:
        return Problem(where, "The answer does not say what it is, and begins neither as HTML nor as PDF.")
    return RawPage(where, link, body, media_type, exchange.charset)


def sniff_media_type(body: bytes) -> str | None:
    """The media type by the first bytes of the body; None for neither HTML nor PDF."""
    if MARKUP.match(body):
        return "text/html"
    return "application/pdf" if body.startswith(PDF_MAGIC) else None
