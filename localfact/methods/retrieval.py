"""Opens what finds passages, and beside a transcript what keeps them there or gives them back."""

from contextlib import AsyncExitStack
from dataclasses import dataclass

from localfact.evidence.queries import QueryWriter
from localfact.evidence.recorded import RecordingRetriever, ReplayingRetriever
from localfact.methods.evidence import Source, open_source, retriever
from localfact.methods.options import Options
from localfact.methods.relations import LLM
from localfact.methods.settings import EvidenceSettings, Settings
from localfact.models.embedder import Embedder, open_embedder
from localfact.pipeline import Observer
from localfact.stages import Retriever


@dataclass(frozen=True)
class OpenedSearch:
    """What passages are found with: an embedder, and the source that they come from."""

    embedder: Embedder | None
    source: Source


def open_search(
    options: Options, settings: EvidenceSettings, opened: AsyncExitStack, observe: Observer, device: str | None = None
) -> OpenedSearch:
    """Loads the embedder, onto `device`, and opens the source; the stack closes it.

    Raises:
        MissingError, CorpusError, InputError: as `open_embedder` and `open_source`.
    """
    embedder = open_embedder(options.embedder, device)
    return OpenedSearch(embedder, open_source(options, embedder, settings, opened, observe=observe))


def is_replayed(options: Options, settings: EvidenceSettings) -> bool:
    """Whether evidence comes from a transcript. Where a language model writes the queries, only its calls do."""
    return options.replay is not None and not options.live and not _asks_model(settings)


def retriever_of(
    search: OpenedSearch, options: Options, settings: Settings, queries: QueryWriter | None, opened: AsyncExitStack
) -> Retriever:
    """The retriever of an opened search; what it finds is kept in the transcript that the options name.

    Raises:
        WriteError, InputError: as the `RecordingRetriever`.
    """
    affinity = settings.assessment.reads_affinity
    found = retriever(search.source, search.embedder, queries, settings.evidence, score_affinity=affinity)
    if options.transcript is None or _asks_model(settings.evidence):
        return found
    recording = RecordingRetriever(found, options.transcript, _as_key(settings))
    opened.callback(recording.close)
    return recording


def replaying_retriever(
    options: Options, settings: Settings, queries: QueryWriter | None, opened: AsyncExitStack, observe: Observer
) -> Retriever:
    """The retriever of a replay, which opens a search only for what the transcript does not keep.

    Raises:
        MissingError, InputError: as the `ReplayingRetriever`.
    """
    if options.replay is None:
        raise AssertionError("only a replay gives recorded evidence")

    def search_anew() -> Retriever:
        return retriever_of(open_search(options, settings.evidence, opened, observe), options, settings, queries, opened)

    replaying = ReplayingRetriever(options.replay, _as_key(settings), search_anew)
    opened.callback(replaying.close)
    return replaying


def _asks_model(settings: EvidenceSettings) -> bool:
    """Whether a language model writes queries: then recorded evidence would leave out its calls, and what they cost."""
    return settings.queries == LLM or settings.steps > 1


def _as_key(settings: Settings) -> str:
    """All settings that decide what is found for given claims."""
    return f"{settings.evidence.model_dump_json()} {settings.assessment.reads_affinity}"
