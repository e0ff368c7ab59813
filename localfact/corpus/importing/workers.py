"""Extracts the documents of a stream in worker processes: several at once, with the results in the order of the stream."""

from collections import deque
from collections.abc import Generator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass

from localfact.corpus.importing.imported import Imported, Problem, RawPage
from localfact.web.extracting.cleaning import clean_line
from localfact.web.extracting.extraction import MAX_TITLE_CHARACTERS, Document
from localfact.web.extracting.extractors import Extractors, PageExtractors
from localfact.web.fetching.failures import PageError
from localfact.web.pages import SENTENCES, Page

#: The most entries that wait for the one before them, for each page that is extracted at once.
MAX_WAITING = 16
#: The most bytes of documents that the workers have.
MAX_WAITING_BYTES = 100_000_000


@dataclass(frozen=True)
class Pending:
    """A document that was given to a worker."""

    raw: RawPage
    document: Future[Document]


def extract_in_order(
    found: Generator[RawPage | Imported, None, None], extractors: PageExtractors | None = None
) -> Generator[Imported, None, None]:
    """Yields the entries in their order, each document as the page extracted from it, or the reason why there is none.

    `extractors` are closed by the caller; None for processes of this machine, started by the first document.
    """
    waiting: deque[Imported | Pending] = deque()
    workers = extractors if extractors is not None else Extractors()
    threads = ThreadPoolExecutor(workers.at_once, thread_name_prefix="importing")
    with closing(found):
        try:
            for entry in found:
                waiting.append(start_extraction(entry, workers, threads) if isinstance(entry, RawPage) else entry)
                while waiting and is_due(waiting, workers.at_once):
                    yield finish_entry(waiting.popleft())
            while waiting:
                yield finish_entry(waiting.popleft())
        finally:
            if extractors is None:
                workers.close()
            # Those that are given end what they have at work when they are closed, which is not ours to do.
            threads.shutdown(wait=extractors is None, cancel_futures=True)


def start_extraction(raw: RawPage, workers: PageExtractors, threads: ThreadPoolExecutor) -> Pending:
    """Gives the document to a worker as soon as one is free."""
    return Pending(raw, threads.submit(workers.extract_now, raw.body, raw.media_type, raw.charset, raw.link))


def is_due(waiting: deque[Imported | Pending], at_once: int) -> bool:
    """Whether the first entry is ready, or has to be awaited before another is read."""
    first = waiting[0]
    if not isinstance(first, Pending) or first.document.done():
        return True
    held = sum(len(entry.raw.body) for entry in waiting if isinstance(entry, Pending))
    return len(waiting) >= MAX_WAITING * at_once or held >= MAX_WAITING_BYTES


def finish_entry(entry: Imported | Pending) -> Imported:
    """The page or the problem; waits for the worker if need be."""
    if not isinstance(entry, Pending):
        return entry
    raw = entry.raw
    try:
        document = entry.document.result()
    except PageError as error:
        return Problem(raw.where, SENTENCES.get(error.failure, f"The page cannot be taken: {error.failure}."))
    title = clean_line(raw.title, MAX_TITLE_CHARACTERS) or document.title
    return Page(link=raw.link, **{**document.model_dump(), "title": title})
