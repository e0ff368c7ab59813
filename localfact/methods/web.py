"""Opens the open web, and the corpus that the pages found on it are added to."""

from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from localfact.corpus.corpus import read_description
from localfact.corpus.indexing.dense_index import PassageEmbedder
from localfact.corpus.passages import PassageKind
from localfact.corpus.writer import CorpusWriter
from localfact.errors import CorpusError, InputError
from localfact.evidence.web_collector import WebCollector
from localfact.methods.machines import THIS_MACHINE, Machines
from localfact.methods.options import Options
from localfact.methods.settings import EvidenceSettings
from localfact.models.embedder import open_embedder
from localfact.pipeline import Observer
from localfact.runtime.interrupts import interruptible
from localfact.web.fetching.fetch import Fetcher
from localfact.web.searching.providers import open_provider

#: The default corpus for pages from the web, in the current folder.
DEFAULT_CORPUS = Path("index") / "web"
#: Returns, at the end of a run, notes about the run as a whole: for example that a search provider refused.
Notes = Callable[[], tuple[str, ...]]


def with_corpus(options: Options) -> Options:
    """The options with the default corpus, if the web is searched and none was named."""
    if options.live and options.corpus is None:
        return options.model_copy(update={"corpus": DEFAULT_CORPUS})
    return options


def privacy_note(options: Options) -> str:
    """The note about what is sent to whom when the web is searched."""
    fetched = "" if options.evidence == "snippet" else ", and the pages found are fetched from their hosts"
    return (
        f"Claims are sent as search queries to {', then '.join(options.providers)}{fetched}; all is kept in {options.corpus}. "
        "An evaluation with --offline sends nothing."
    )


def check_web(options: Options) -> None:
    """Checks the options about the web before anything is loaded, made or sent.

    Raises:
        InputError: an unknown provider, or an invalid address. MissingError: a provider's key.
    """
    open_provider(options.providers, searxng_url=options.searxng_url)
    Fetcher(allow_hosts=options.allow_hosts, host_delay=options.host_delay)


@dataclass(frozen=True)
class OpenWeb:
    """The open web: the collector searches and fetches, the writer adds what it finds to a corpus."""

    collector: WebCollector
    writer: CorpusWriter
    notes: Notes


def open_web(
    options: Options,
    embedder: PassageEmbedder | None,
    settings: EvidenceSettings,
    opened: AsyncExitStack,
    *,
    observe: Observer,
    retry_failed: bool = False,
    machines: Machines = THIS_MACHINE,
) -> OpenWeb:
    """Opens the web and the corpus to which its pages are added; the stack closes both.

    Args:
        observe: as for `open_source`.
        retry_failed: fetches pages again that failed for a transient reason.
        machines: where pages are extracted.

    Raises:
        MissingError, CorpusError, InputError: as CorpusWriter and WebCollector.
    """
    provider = open_provider(options.providers, searxng_url=options.searxng_url)
    writer = open_writer(options, embedder, settings, opened, observe)
    fetched = settings.passages != "snippets"
    collector = WebCollector(
        writer,
        provider,
        Fetcher(allow_hosts=options.allow_hosts, host_delay=options.host_delay) if fetched else None,
        machines.extractors(),
        results=settings.results,
        admission=settings.admission,
        retry_failed=retry_failed,
    )
    opened.push_async_callback(collector.aclose)
    return OpenWeb(collector, writer, notes=lambda: provider.notes)


def open_writer(
    options: Options, embedder: PassageEmbedder | None, settings: EvidenceSettings, opened: AsyncExitStack, observe: Observer
) -> CorpusWriter:
    """Opens the corpus to which pages from the web are added; it is indexed when the stack closes without an error.

    Raises:
        InputError, CorpusError, WriteError: as CorpusWriter.
    """
    if options.corpus is None:
        raise AssertionError("whoever searches the web has a corpus to keep it in: with_corpus")
    writer = CorpusWriter(options.corpus, embedder, identity=settings.corpus)
    done: dict[PassageKind, int] = {}

    def count_indexed(kind: PassageKind, number: int, total: int) -> None:
        observe("passages_indexed", number - done.get(kind, 0))
        done[kind] = number

    def finish(kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            if kind is None:
                with interruptible():
                    writer.finish((settings.passages,), progress=count_indexed)
        finally:
            writer.close()

    opened.push(finish)
    return writer


async def finish_left(options: Options, settings: EvidenceSettings, observe: Observer) -> None:
    """Indexes the corpus of a run that was killed between its last response and the indexing."""
    if options.corpus is None or not read_description(options.corpus).unfinished:
        return
    async with AsyncExitStack() as opened:
        try:
            open_writer(options, open_embedder(options.embedder), settings, opened, observe)
        except CorpusError:
            raise
        except InputError:  # another run adds to it and will finish it
            return
