"""What the user's options say about evidence becomes settings, a source, and a corpus that is finished or left to be."""

import contextlib
import shutil
from contextlib import AsyncExitStack
from pathlib import Path
from types import SimpleNamespace

import pytest

from localfact.api.sample import sample_corpus
from localfact.corpus.build import build_corpus
from localfact.corpus.corpus import corpus_identity, read_description, read_recorded_id
from localfact.corpus.writer import CorpusWriter
from localfact.errors import InputError, MissingError
from localfact.evidence.admission import EVERYTHING, admission_of
from localfact.evidence.corpus_retriever import CorpusRetriever
from localfact.evidence.query_retriever import SearchRetriever
from localfact.methods import evidence, web
from localfact.methods.evidence import Source, open_source, retriever
from localfact.methods.option_group import check_options
from localfact.methods.options import Options
from localfact.methods.registry import METHODS
from localfact.methods.settings import EvidenceSettings
from localfact.methods.web import DEFAULT_CORPUS, finish_left, with_corpus
from localfact.methods.wiring import Configuration, run_settings, wire
from localfact.pipeline import ignore_reports
from localfact.records import Claim, Evidence, Hit, Passage, Response
from localfact.web.pages import Page
from localfact.web.searching.results import Search

BUILTIN = METHODS["builtin-fr2"]
LIVE = {"providers": ("searxng",), "searxng_url": "http://127.0.0.1:9", "embedder": "none"}


@pytest.fixture
def searched(tmp_path: Path) -> Path:
    """A corpus in which one query was searched."""
    with CorpusWriter(tmp_path / "web", None) as writer:
        writer.add_pages([Page(link="https://a.example/", text="Puffins nest.")])
        writer.add_search(Search(query="puffins", count=5, provider="searxng", time="now"))
        writer.finish(("pages",))
    return tmp_path / "web"


def settled(options: Options, method: str = "builtin-fr2") -> EvidenceSettings:
    return run_settings(METHODS[method], options).evidence


def settings_of(**chosen: object) -> dict[str, object]:
    """What stands in run.yaml of the evidence."""
    return run_settings(BUILTIN, Options(**{"embedder": "none", **chosen})).plain()["evidence"]  # type: ignore[arg-type, no-any-return]


def opened_source(options: Options, settings: EvidenceSettings, opened: AsyncExitStack) -> Source:
    return open_source(options, None, settings, opened, observe=ignore_reports)


def test_a_built_corpus_is_searched_whole_and_its_content_is_part_of_the_settings() -> None:
    settings = settings_of(corpus=sample_corpus())
    assert (settings["scope"], settings["corpus"]) == ("corpus", corpus_identity(sample_corpus()))
    assert "results" not in settings


def test_a_corpus_with_searches_is_asked_for_each_claims_own_and_known_by_its_id(searched: Path) -> None:
    settings = settings_of(corpus=searched)
    assert (settings["scope"], settings["corpus"], settings["results"]) == ("query", read_recorded_id(searched), 5)
    assert read_recorded_id(searched) is not None
    whole = settings_of(corpus=searched, scope="corpus")
    assert (whole["scope"], whole["corpus"]) == ("corpus", corpus_identity(searched))


def test_a_live_run_an_offline_one_and_a_run_on_a_carried_copy_have_the_same_settings(searched: Path, tmp_path: Path) -> None:
    live = settings_of(corpus=searched, **LIVE)
    offline = settings_of(corpus=searched)
    assert offline == {**live, "content": corpus_identity(searched)}, "offline, the whole may stand in for a search"
    searched.rename(tmp_path / "carried")
    assert settings_of(corpus=tmp_path / "carried") == offline
    another = settings_of(corpus=tmp_path / "new", **LIVE)
    assert another["corpus"] != live["corpus"], "a corpus that is not there yet is another one"
    assert not (tmp_path / "new").exists()


def test_a_search_gives_as_many_pages_as_are_read_or_five_to_cut_chunks_from() -> None:
    live = {**LIVE, "corpus": Path("nowhere")}
    assert settled(Options(**live, k=3)).results == 3  # type: ignore[arg-type]
    assert settings_of(**live, results=8)["results"] == 8
    assert settings_of(**live, evidence="snippet")["passages"] == "snippets"


def test_factreasoner_as_published_has_three_passages_a_claim_of_wikipedia_and_five_of_the_web(searched: Path) -> None:
    published = "factreasoner-fr2"
    options = {"embedder": "none", "relations": "lexical", "corpus": searched}
    assert settled(Options(**options, scope="corpus"), published).k == 3  # type: ignore[arg-type]
    of_searches = settled(Options(**options, scope="query"), published)  # type: ignore[arg-type]
    assert (of_searches.k, of_searches.results) == (5, 5)
    assert settled(Options(**options, scope="query", k=2), published).k == 2  # type: ignore[arg-type]


def test_a_search_of_wikipedia_alone_is_no_search_of_the_web_live_and_offline(tmp_path: Path) -> None:
    with CorpusWriter(tmp_path / "web", None) as writer:
        writer.add_pages([Page(link="https://a.example/", text="Puffins nest.")])
        writer.add_search(Search(query="puffins", count=3, provider="wikipedia", time="now"))
        writer.finish(("pages",))
    options = {"embedder": "none", "relations": "lexical", "corpus": tmp_path / "web"}
    for live in ({}, {"providers": ("wikipedia",)}):
        found = settled(Options(**options, **live), "factreasoner-fr2")  # type: ignore[arg-type]
        assert (found.k, found.results) == (3, 3)
    assert settled(Options(**options, providers=("wikipedia", "duckduckgo")), "factreasoner-fr2").k == 5  # type: ignore[arg-type]


def test_queries_a_claim_are_part_of_the_settings_where_there_are_several(searched: Path) -> None:
    assert "queries_per_claim" not in settings_of(corpus=searched)
    assert settings_of(corpus=searched, queries_per_claim=2)["queries_per_claim"] == 2
    with pytest.raises(InputError, match="--queries llm"):
        settings_of(corpus=searched, queries_per_claim=3)


def test_what_is_admitted_and_who_reranks_decide_results_and_everything_else_of_the_web_does_not(searched: Path) -> None:
    plain = settings_of(corpus=searched)
    assert settings_of(corpus=searched, before="2023")["admission"] == {"block": [], "allow": [], "before": "2023"}
    assert settings_of(corpus=searched, block_hosts=("b.example",))["admission"]["block"] == ["b.example"]  # type: ignore[index]
    assert str(settings_of(corpus=searched, reranker="ms-marco-minilm")["reranker"]).startswith("ms-marco-minilm@")
    assert settings_of(corpus=searched, host_delay=0.0, allow_hosts=("10.0.0.0/8",)) == plain


def test_the_whole_of_a_corpus_that_is_added_to_is_refused_and_so_is_an_unknown_scope(searched: Path) -> None:
    with pytest.raises(InputError, match="fetch it first"):
        settings_of(corpus=searched, scope="corpus", **LIVE)
    with pytest.raises(InputError, match="--scope cannot be 'everything'"):
        check_options(Options, {"scope": "everything"})
    assert Options(reranker="none").reranker is None
    with pytest.raises(InputError, match="--before takes a date"):
        settings_of(corpus=searched, before="soon")
    with pytest.raises(MissingError):
        settings_of(corpus=searched, reranker="nobodys-model")


def test_what_the_web_gives_is_kept_somewhere_also_where_no_corpus_is_named(tmp_path: Path) -> None:
    assert with_corpus(Options(providers=("duckduckgo",))).corpus == DEFAULT_CORPUS
    assert with_corpus(Options(providers=("duckduckgo",), corpus=tmp_path)).corpus == tmp_path
    assert with_corpus(Options()).corpus is None


async def test_the_scope_decides_who_retrieves(searched: Path) -> None:
    for scope, kind in (("query", SearchRetriever), ("corpus", CorpusRetriever)):
        options = Options(corpus=searched, scope=scope, embedder="none")  # type: ignore[arg-type]
        settings = settled(options)
        async with AsyncExitStack() as opened:
            given = retriever(opened_source(options, settings, opened), None, None, settings, score_affinity=True)
        assert isinstance(given.retriever.fallback, kind)  # type: ignore[attr-defined]


async def test_passages_that_come_with_a_response_are_cut_as_the_method_reads_them(searched: Path) -> None:
    long = " ".join(f"In the year {year} stone {year * 7} was carried to the pier of the island." for year in range(1200, 1500))
    given = Evidence(passages=(Passage(id="p", text=long),), hits={"a": (Hit(passage_id="p", rank=1, score=1.0),)})
    response = Response(id="r", text="It is cold.", claims=(Claim(id="a", text="It is cold."),), evidence=given)
    for kind, most in (("pages", 4_000), ("chunks", 250 * 8)):
        settings = settled(Options(embedder="none", relations="lexical")).model_copy(update={"passages": kind})
        found = await retriever(Source(), None, None, settings, score_affinity=True).retrieve(response, response.claims or ())
        assert max(len(one.text) for one in found.passages) <= most
        assert (len(found.passages) > 1) == (kind == "chunks")


async def test_a_provider_that_cannot_be_opened_lets_the_corpus_go(tmp_path: Path) -> None:
    options = Options(corpus=tmp_path / "web", embedder="none", providers=("searxng",))
    with pytest.raises(InputError, match="searxng"):
        async with AsyncExitStack() as opened:
            opened_source(options, settled(options), opened)
    CorpusWriter(tmp_path / "web", None).close()


async def test_a_live_source_is_indexed_at_its_end_if_all_is_through_and_left_unfinished_if_not(tmp_path: Path) -> None:
    options = Options(corpus=tmp_path / "web", **LIVE)  # type: ignore[arg-type]
    settings = settled(options)
    for whole in (False, True):
        with contextlib.suppress(KeyboardInterrupt):
            async with AsyncExitStack() as opened:
                source = opened_source(options, settings, opened)
                assert source.web is not None
                source.web.writer.add_pages([Page(link="https://a.example/", text="Puffins nest.")])
                if not whole:
                    raise KeyboardInterrupt
        assert read_description(tmp_path / "web").unfinished is not whole


async def test_a_run_that_was_killed_before_its_corpus_was_indexed_indexes_it_when_given_again(tmp_path: Path) -> None:
    options = Options(corpus=tmp_path / "web", **LIVE)  # type: ignore[arg-type]
    with CorpusWriter(tmp_path / "web", None) as writer:
        writer.add_pages([Page(link="https://a.example/", text="Puffins nest.")])
    await finish_left(options, settled(options), ignore_reports)
    assert not read_description(tmp_path / "web").unfinished


async def test_a_corpus_that_is_built_can_be_searched_live(tmp_path: Path) -> None:
    build_corpus([Page(link="https://a.example/", text="Puffins nest.")], tmp_path / "web", None)
    options = Options(corpus=tmp_path / "web", **LIVE)  # type: ignore[arg-type]
    with contextlib.suppress(KeyboardInterrupt):
        async with AsyncExitStack() as opened:
            opened_source(options, settled(options), opened)
            raise KeyboardInterrupt
    assert not read_description(tmp_path / "web").unfinished, "nothing was added"


async def test_a_new_corpus_gets_the_id_that_the_run_knows_it_by_and_another_at_the_same_place_another(tmp_path: Path) -> None:
    options = Options(corpus=tmp_path / "web", **LIVE)  # type: ignore[arg-type]
    ids = set()
    for _ in range(2):
        settings = settled(options)
        async with AsyncExitStack() as opened:
            source = opened_source(options, settings, opened)
            assert source.web is not None
            source.web.writer.add_search(Search(query="puffins", count=5, provider="searxng", time="now"))
        assert read_recorded_id(tmp_path / "web") == settings.corpus == settled(options).corpus
        ids.add(settings.corpus)
        shutil.rmtree(tmp_path / "web")
    assert len(ids) == 2


async def test_a_finished_run_is_shown_while_another_adds_to_its_corpus(tmp_path: Path) -> None:
    options = Options(corpus=tmp_path / "web", **LIVE)  # type: ignore[arg-type]
    with CorpusWriter(tmp_path / "web", None) as writer:
        writer.add_pages([Page(link="https://a.example/", text="Puffins nest.")])
        await finish_left(options, settled(options), ignore_reports)
    assert read_description(tmp_path / "web").unfinished


async def test_what_is_admitted_and_who_reranks_reach_whoever_chooses(searched: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reranker = SimpleNamespace(close=lambda: None)
    monkeypatch.setattr(evidence, "open_reranker", {"ms-marco-minilm": reranker}.get)
    for scope in ("query", "corpus"):
        chosen = {"corpus": searched, "scope": scope, "before": "2023", "reranker": "ms-marco-minilm", "embedder": "none"}
        options = Options(**chosen)  # type: ignore[arg-type]
        settings = settled(options)
        async with AsyncExitStack() as opened:
            given = retriever(opened_source(options, settings, opened), None, None, settings, score_affinity=True)
        selection = given.retriever.fallback.selection  # type: ignore[attr-defined]
        assert selection.reranker is reranker
        assert selection.admission == admission_of([], [], "2023")


class Watched:
    """A collector that says whether it was closed, and what it was made with."""

    closed = False

    def __init__(self, writer: CorpusWriter, provider: object, fetcher: object, extractors: object, **chosen: object) -> None:
        self.fetcher, self.chosen = fetcher, chosen

    async def aclose(self) -> None:
        self.closed = True


async def test_a_live_road_is_closed_with_its_collector_and_tells_what_its_providers_noted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: dict[str, object] = {}
    collectors: list[Watched] = []

    def watched(*given: object, **chosen: object) -> Watched:
        collectors.append(Watched(*given, **chosen))  # type: ignore[arg-type]
        return collectors[0]

    monkeypatch.setattr(web, "WebCollector", watched)
    monkeypatch.setattr(web, "Fetcher", lambda **chosen: made.update(chosen))
    monkeypatch.setattr(web, "open_provider", lambda names, **_: SimpleNamespace(notes=(f"{names[0]} refused.",)))
    options = Options(corpus=tmp_path / "web", host_delay=0.25, allow_hosts=("10.0.0.0/8",), **LIVE)  # type: ignore[arg-type]
    async with AsyncExitStack() as opened:
        _, notes = wire(Configuration(BUILTIN, options, run_settings(BUILTIN, options)), opened, observe=ignore_reports)
        assert notes() == ("searxng refused.",)
        assert made == {"allow_hosts": ("10.0.0.0/8",), "host_delay": 0.25}
        assert collectors[0].chosen == {"results": 5, "admission": EVERYTHING, "retry_failed": False}
    assert collectors[0].closed
    CorpusWriter(tmp_path / "web", None).close()
