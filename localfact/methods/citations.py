"""Opens what checks citations: a relation model where the method has none, and where the pages behind addresses are found."""

import asyncio
from contextlib import AsyncExitStack

from localfact.citations.checking import CITATIONS_VERSION, CitationChecker, count_citations
from localfact.citations.sources import FoundPage, LookUp, forms_of, look_nowhere
from localfact.corpus.files import STORE_FILE
from localfact.corpus.store import PageStore
from localfact.evidence.admission import Admission
from localfact.methods.evidence import Source
from localfact.methods.options import Options
from localfact.methods.relations import DEFAULT_RELATIONS, relation_kind
from localfact.methods.settings import CitationSettings, Settings
from localfact.relations.reasons import Reasons
from localfact.runtime.addresses import host_of
from localfact.stages import RelationModel

__all__ = ["citation_settings", "count_citations", "open_checker", "open_citing_model", "page_look_up"]


def citation_settings(options: Options, *, relates: bool) -> CitationSettings | None:
    """The settings of checking citations, None where that is not asked; `relates`: whether the method has a relation model."""
    if not options.citations:
        return None
    return CitationSettings(
        version=CITATIONS_VERSION, relations=None if relates else relation_kind(DEFAULT_RELATIONS).identity(options)
    )


def open_checker(settings: Settings, options: Options, source: Source | None, *, asks_model: bool) -> CitationChecker | None:
    """What checks citations; None where that is not asked.

    Args:
        source: of pages; None for a replay, which opens none.
        asks_model: whether relations are a language model's, which is too dear to find every deciding sentence by.
    """
    if settings.citations is None:
        return None
    return CitationChecker(
        Reasons(by_loss=not asks_model, shown_only=True), page_look_up(options, source, settings.evidence.admission)
    )


def open_citing_model(settings: Settings, options: Options, opened: AsyncExitStack) -> RelationModel | None:
    """The relation model of a method that has none, where citations are checked, or key facts asked for."""
    if all(one is None or one.relations is None for one in (settings.citations, settings.recall)):
        return None
    return relation_kind(DEFAULT_RELATIONS).open(options, None, opened)


def page_look_up(options: Options, source: Source | None, admission: Admission) -> LookUp:
    """Looks for cited pages: on the web where it is searched, as that allows, and in the corpus."""
    web = source.web if source is not None else None
    if options.corpus is None:
        return look_nowhere
    store = source.store() if source is not None else PageStore(options.corpus / STORE_FILE)

    async def look_up(link: str) -> FoundPage:
        forms = forms_of(link)
        if not admission.admits_host(host_of(forms[0])):
            return FoundPage(failure="its host is left out by --block-host or --only-host")
        if web is not None and await asyncio.to_thread(find_stored, store, forms, "web") == FoundPage(origin="web"):
            await web.collector.fetch(forms[0])
        return await asyncio.to_thread(find_stored, store, forms, "web" if web is not None else "corpus")

    return look_up


def find_stored(store: PageStore, forms: list[str], origin: str) -> FoundPage:
    """The page of a corpus under one of these addresses; else why it gave none; else nothing."""
    failure = None
    for form in forms:
        fetched = store.fetch(form)
        page = (fetched.page if fetched is not None else None) or store.page_at(form)
        if page is not None:
            return FoundPage(page.text, page.title, origin=origin)
        if fetched is not None and fetched.failure is not None:
            failure = failure or str(fetched.failure)
    return FoundPage(failure=failure, origin=origin)
