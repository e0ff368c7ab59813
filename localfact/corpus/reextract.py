"""Extracts the pages of a corpus again from its archive, after an improvement of extraction; nothing is fetched."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from localfact.corpus.store import Fetch
from localfact.corpus.tables import page_digest
from localfact.corpus.writer import CorpusWriter
from localfact.errors import CorpusError
from localfact.runtime.tasks import for_each
from localfact.web.extracting.extractors import PageExtractors
from localfact.web.fetching.decoding import Decoder, coding_of
from localfact.web.fetching.exchange import Exchange
from localfact.web.fetching.failures import PageError, Reason
from localfact.web.fetching.fetch import MAX_BODY_BYTES
from localfact.web.pages import WEB, Page
from localfact.web.searching.results import address

#: Failures of extraction, which may succeed now; failures of fetching stay.
OF_EXTRACTION = frozenset({Reason.NO_TEXT, Reason.UNREADABLE, Reason.LOGIN_REQUIRED, Reason.TIMED_OUT, Reason.TOO_LARGE})
#: Pages extracted at once for each worker process, so that none is idle.
PAGES_PER_WORKER = 4


@dataclass
class Reextracted:
    """The counts of a re-extraction.

    Attributes:
        answers: archived answers that were read.
        changed: pages whose text, title, date or language has changed.
        gained: addresses that gave no page before.
        failed: answers that gave no text now; their earlier page stays.
    """

    answers: int = 0
    changed: int = 0
    gained: int = 0
    failed: int = 0


async def reextract(writer: CorpusWriter, extractors: PageExtractors, progress: Callable[[int, int], None]) -> Reextracted:
    """Extracts every archived answer again; the corpus must then be finished.

    Args:
        writer: of the corpus.
        extractors: closed by the caller.
        progress: called with how many answers are done, of how many.

    Raises:
        WriteError: the disk is full, for example. Changes made before stay; a repetition extracts all answers again.
    """
    done = Reextracted()
    links = [fetch.link for fetch in writer.store.fetches() if is_extractable(fetch)]

    async def one(link: str) -> None:
        await again(link, writer, extractors, done)
        done.answers += 1
        progress(done.answers, len(links))

    await for_each(links, one, extractors.at_once * PAGES_PER_WORKER)
    return done


def is_extractable(fetch: Fetch) -> bool:
    """Whether the archive has an answer from which text was extracted, or was to be."""
    return fetch.location is not None and (fetch.failure is None or fetch.failure.reason in OF_EXTRACTION)


async def again(link: str, writer: CorpusWriter, extractors: PageExtractors, done: Reextracted) -> None:
    """Extracts the archived answer of one address again."""
    fetch = await asyncio.to_thread(writer.store.fetch, link)
    if fetch is None or fetch.location is None:
        raise AssertionError("an answer that is not archived cannot be extracted again")
    try:
        exchange = await asyncio.to_thread(writer.archive.read, fetch.location)
        body = await asyncio.to_thread(body_of, exchange)
        document = await extractors.extract(body, exchange.media_type, exchange.charset, fetch.final_link)
    except (PageError, CorpusError):  # a damaged record only concerns its own page
        done.failed += 1
        return
    page = Page(link=address(fetch.final_link), provider=WEB, **document.model_dump())
    if fetch.page is None:
        done.gained += 1
    elif page_digest(page) == page_digest(fetch.page):
        return
    else:
        done.changed += 1
    await asyncio.to_thread(writer.replace_page, link, page)


def body_of(exchange: Exchange) -> bytes:
    """The decoded body of an archived answer.

    Raises:
        PageError: it is no page (its status is not 2xx), truncated, too large, or does not match its coding.
    """
    if not 200 <= exchange.status < 300:
        raise PageError(Reason.HTTP_STATUS, str(exchange.status))
    if exchange.truncated is not None:
        raise PageError(Reason.TOO_LARGE, f"archived only in part ({exchange.truncated})")
    decoder = Decoder(coding_of(exchange.headers), MAX_BODY_BYTES)
    decoder.feed(exchange.payload)
    decoder.finish()
    return bytes(decoder.body)
