"""Opens what asks responses for key facts: a retriever of its own, for topic and prompt, and an embedder."""

from contextlib import AsyncExitStack

from localfact.methods.options import Options
from localfact.methods.relations import DEFAULT_RELATIONS, relation_kind
from localfact.methods.retrieval import OpenedSearch, replaying_retriever, retriever_of
from localfact.methods.settings import RecallSettings, Settings
from localfact.models.embedder import open_embedder
from localfact.pipeline import Observer
from localfact.recall.checking import PASSAGES, RECALL_VERSION, RecallChecker


def recall_settings(options: Options, *, relates: bool) -> RecallSettings | None:
    """The settings of asking for key facts, None where none are; `relates`: whether the method has a relation model."""
    if not options.key_facts:
        return None
    relations = None if relates else relation_kind(DEFAULT_RELATIONS).identity(options)
    return RecallSettings(version=RECALL_VERSION, facts=options.key_facts, relations=relations)


def open_recall(
    settings: Settings, options: Options, search: OpenedSearch | None, opened: AsyncExitStack, observe: Observer
) -> RecallChecker | None:
    """What asks for key facts; None where none are asked for.

    Args:
        search: what the claims' passages are found with; None for a replay, which has them recorded.
    """
    if settings.recall is None:
        return None
    searched = {"k": PASSAGES, "queries": "claim", "queries_per_claim": 1, "steps": 1}
    own = settings.model_copy(update={"evidence": settings.evidence.model_copy(update=searched)})
    if search is None:
        retriever = replaying_retriever(options, own, None, opened, observe)
        embedder = open_embedder(options.embedder)
    else:
        retriever, embedder = retriever_of(search, options, own, None, opened), search.embedder
    return RecallChecker(retriever, embedder, settings.recall.facts)
