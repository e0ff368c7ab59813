"""The evidence of a claim is what its own recorded search found, whatever else the corpus holds."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from localfact.corpus.corpus import Corpus
from localfact.corpus.store import Fetch
from localfact.corpus.writer import CorpusWriter
from localfact.errors import SearchError
from localfact.evidence.admission import admission_of
from localfact.evidence.corpus_retriever import LEXICAL_ALONE, RERANKED, CorpusRetriever, Selection
from localfact.evidence.queries import Written
from localfact.evidence.query_retriever import (
    FEWER,
    NEVER_ASKED,
    NO_SEARCH,
    NOTHING_LEFT,
    SOME_UNRECORDED,
    UNANSWERED,
    SearchRetriever,
)
from localfact.evidence.query_retriever import OWN_SEARCH as OWN_SEARCH_OF
from localfact.models.embedder import Embedder
from localfact.records import Claim, Evidence, Response, passage_id
from localfact.web.fetching.failures import PageFailure, Reason
from localfact.web.pages import Page
from localfact.web.searching.results import Search, SearchResult

CLAIMS = (
    Claim(id="c1", text="The lighthouse on Cape Orm is built of red granite."),
    Claim(id="c2", text="Tilda Brandt dredged the harbour in 1884."),
)
RESPONSE = Response(id="r", text="About Norvik.")
OWN_SEARCH = OWN_SEARCH_OF.format(what="pages")


def found(query: str, pages: Sequence[Page], provider: str = "searxng", count: int = 5) -> Search:
    results = tuple(
        SearchResult(title=page.title, link=page.link, snippet=f"About {page.title}.", rank=rank, provider=provider)
        for rank, page in enumerate(pages, start=1)
    )
    return Search(query=query, count=count, provider=provider, time="2026-01-01T00:00:00+00:00", results=results)


@pytest.fixture
def folder(tmp_path: Path, pages: list[Page]) -> Path:
    """Both claims were searched for; the page about wool could not be had, and those about storm and bridge nobody found."""
    by_name = {page.title: page for page in pages}
    with CorpusWriter(tmp_path / "web", None) as writer:
        writer.add_search(found(CLAIMS[0].text, [by_name["Bird"], by_name["Lighthouse"], by_name["Wool"]]))
        writer.add_search(found(CLAIMS[1].text, [by_name["Harbour"], by_name["Harbour-Copy"], by_name["Bird"]], "serper"))
        for name in ("Bird", "Lighthouse", "Harbour", "Harbour-Copy"):
            page = by_name[name]
            writer.add_fetch(Fetch(link=page.link, final_link=page.link, time="now", page=page))
        failure = PageFailure(reason=Reason.ROBOTS_DISALLOWED)
        wool = by_name["Wool"].link
        writer.add_fetch(Fetch(link=wool, final_link=wool, time="now", failure=failure))
        writer.add_pages([by_name["Storm"], by_name["Bridge"]])
        writer.finish(("pages", "chunks"))
    return tmp_path / "web"


async def evidence(folder: Path, *claims: Claim, embedder: Embedder | None = None, **chosen: object) -> Evidence:
    with Corpus.open(folder, None) as corpus:  # nobody adds to a corpus that is open
        retriever = SearchRetriever(lambda: corpus.store, embedder, **chosen)  # type: ignore[arg-type]
        return await retriever.retrieve(RESPONSE, claims)


def titles(evidence: Evidence, claim: str) -> list[str]:
    by_id = {passage.id: passage.title for passage in evidence.passages}
    return [by_id[hit.passage_id] for hit in evidence.hits[claim]]


async def test_a_claim_gets_the_pages_of_its_own_search_by_bm25_and_a_snippet_for_the_page_that_is_missing(
    folder: Path,
) -> None:
    got = await evidence(folder, *CLAIMS, selection=Selection(merge_near_duplicates=False))
    assert titles(got, "c1") == ["Lighthouse", "Bird", "Wool"], "what shares no word with the claim was found all the same"
    assert set(titles(got, "c2")) == {"Harbour", "Harbour-Copy", "Bird"}
    texts = {passage.title: passage.text for passage in got.passages}
    assert texts["Wool"] == "About Wool."
    providers = {passage.title: passage.provider for passage in got.passages}
    assert (providers["Lighthouse"], providers["Harbour"]) == ("searxng", "serper")
    assert got.notes == (OWN_SEARCH, LEXICAL_ALONE)
    assert got.counts == {"searches": 2, "pages": 5, "pages_failed": 1}


async def test_passages_of_equal_score_come_by_id(folder: Path) -> None:
    query = "granite"
    texts = [f"{name} is of granite." for name in ("Orm", "Halla", "Norvik", "Suderoy")]
    ones = [Page(link=f"https://{number}.example/", title=str(number), text=text) for number, text in enumerate(texts)]
    with CorpusWriter(folder, None) as writer:
        writer.add_search(found(query, ones))
        for page in ones:
            writer.add_fetch(Fetch(link=page.link, final_link=page.link, time="now", page=page))
        writer.finish(("pages",))
    got = await evidence(folder, Claim(id="c9", text=query))
    ids = [hit.passage_id for hit in got.hits["c9"]]
    assert len({hit.score for hit in got.hits["c9"]}) == 1
    assert ids == sorted(passage_id(text) for text in texts)
    assert [passage_id(text) for text in texts] != ids, "another order than they were found in"


async def test_what_else_the_corpus_holds_decides_nothing(folder: Path, pages: list[Page]) -> None:
    before = await evidence(folder, *CLAIMS)
    with CorpusWriter(folder, None) as writer:
        writer.add_pages([Page(link="https://new.example/", text="The lighthouse on Cape Orm is built of red granite.")])
        writer.add_search(found(CLAIMS[0].text, pages, count=9))
        writer.finish(())
    assert await evidence(folder, *CLAIMS) == before


async def test_of_a_longer_search_only_the_first_results_are_used(folder: Path) -> None:
    got = await evidence(folder, CLAIMS[0], results=1)
    assert titles(got, "c1") == ["Bird"]


async def test_a_claim_without_a_search_gets_the_whole_corpus_and_a_note(folder: Path) -> None:
    other = Claim(id="c3", text="The great storm of 1901 tore the roof from the church.")
    whole = CorpusRetriever(Corpus.open(folder, None))
    got = await evidence(folder, CLAIMS[0], other, whole=whole)
    assert titles(got, "c3")[0] == "Storm"
    assert got.notes[:2] == (OWN_SEARCH, NO_SEARCH)
    assert got.counts["claims_without_search"] == 1


async def test_a_claim_that_can_be_searched_for_nowhere_is_a_failure_and_no_claim_without_evidence(folder: Path) -> None:
    other = Claim(id="c3", text="The great storm of 1901 tore the roof from the church.")
    got = await evidence(folder, CLAIMS[0], other)
    assert set(got.failures) == {"c3"}
    assert "localfact corpus fetch" in got.failures["c3"]
    assert NO_SEARCH not in got.notes
    assert got.hits["c1"]


async def test_pages_that_nobody_asked_for_yet_are_counted_and_told(folder: Path, pages: list[Page]) -> None:
    query = "Of what is the bridge?"
    with CorpusWriter(folder, None) as writer:
        writer.add_search(found(query, [page for page in pages if page.title in ("Storm", "Zürich")]))
        writer.finish(())
    got = await evidence(folder, Claim(id="c9", text=query))
    assert got.counts == {"searches": 1, "pages": 2, "pages_never_asked_for": 2}
    assert NEVER_ASKED in got.notes
    assert {passage.text for passage in got.passages} == {"About Storm.", "About Zürich."}
    assert "pages_never_asked_for" not in (await evidence(folder, *CLAIMS)).counts


async def test_a_page_counts_as_said_by_the_host_that_gave_it_and_not_by_the_one_that_was_asked(folder: Path) -> None:
    query, link = "Who said it?", "https://short.example/x"
    page = Page(link="https://evil.example/x", text="Tilda Brandt said it.", provider="web")
    with CorpusWriter(folder, None) as writer:
        writer.add_search(found(query, [Page(link=link, title="Short", text="-")]))
        writer.add_fetch(Fetch(link=link, final_link=page.link, time="now", page=page))
        writer.finish(("pages",))
    claim = Claim(id="c9", text=query)
    (passage,) = (await evidence(folder, claim)).passages
    assert (passage.host, passage.links, passage.provider) == ("evil.example", ("https://evil.example/x",), "searxng")
    for blocked in ("evil.example", "short.example"):
        admission = admission_of([blocked], [], None)
        assert (await evidence(folder, claim, selection=Selection(admission=admission))).passages == ()
        whole = CorpusRetriever(Corpus.open(folder, None), Selection(admission=admission))
        texts = {passage.text for passage in (await whole.retrieve(RESPONSE, [claim])).passages}
        assert (page.text in texts) is (blocked == "short.example"), "as a whole, the corpus knows who said it"


async def test_a_text_on_two_pages_has_the_links_of_both_whichever_claim_found_which(folder: Path) -> None:
    text = "The lighthouse on Cape Orm is built of red granite."
    ones = [Page(link=f"https://{name}.example/", title=name, text=text, provider="web") for name in ("spam", "trusted")]
    claims = [Claim(id=f"c{number}", text=f"Query {number}") for number in (1, 2)]
    with CorpusWriter(folder, None) as writer:
        for claim, page in zip(claims, ones, strict=True):
            writer.add_search(found(claim.text, [page]))
            writer.add_fetch(Fetch(link=page.link, final_link=page.link, time="now", page=page))
        writer.finish(("pages",))
    for order in (claims, claims[::-1]):
        (passage,) = (await evidence(folder, *order)).passages
        assert (passage.links, passage.host) == (("https://spam.example/", "https://trusted.example/"), "spam.example")
    admission = admission_of(["spam.example"], [], None)
    whole = CorpusRetriever(Corpus.open(folder, None), Selection(admission=admission))
    evidence_of_all = await whole.retrieve(RESPONSE, CLAIMS[:1])
    (passage,) = [passage for passage in evidence_of_all.passages if passage.text == text]
    assert passage.links == ("https://trusted.example/",), "who republishes a text does not take it away"


async def test_a_search_for_fewer_results_does_where_nobody_can_search_again_and_the_output_says_so(folder: Path) -> None:
    got = await evidence(folder, CLAIMS[0], results=9)
    assert titles(got, "c1") == ["Lighthouse", "Bird", "Wool"]
    assert FEWER in got.notes
    assert got.counts["searches_for_fewer"] == 1


async def test_a_claim_that_nothing_is_left_for_is_told(folder: Path) -> None:
    got = await evidence(folder, *CLAIMS, selection=Selection(admission=admission_of([], ["nowhere.example"], None)))
    assert got.hits == {"c1": (), "c2": ()}
    assert got.counts["claims_without_passages"] == 2
    assert NOTHING_LEFT in got.notes
    assert NOTHING_LEFT not in (await evidence(folder, *CLAIMS)).notes


async def test_near_duplicates_of_one_search_are_one_passage_with_both_links(folder: Path) -> None:
    got = await evidence(folder, CLAIMS[1])
    (harbour,) = [passage for passage in got.passages if passage.title.startswith("Harbour")]
    assert len(harbour.links) == 2


async def test_blocked_hosts_and_the_future_are_left_out(folder: Path) -> None:
    blocked = await evidence(folder, CLAIMS[0], selection=Selection(admission=admission_of(["lighthouse.example"], [], None)))
    assert "Lighthouse" not in titles(blocked, "c1")
    before = await evidence(folder, CLAIMS[0], selection=Selection(admission=admission_of([], [], "2020-01-01")))
    assert titles(before, "c1") == ["Wool"], "the snippet has no date"


async def test_chunks_and_snippets_are_cut_from_the_same_pages(folder: Path) -> None:
    chunks = await evidence(folder, CLAIMS[0], selection=Selection("chunks", k=10))
    assert titles(chunks, "c1")[0] == "Lighthouse"
    snippets = await evidence(folder, CLAIMS[0], selection=Selection("snippets"))
    assert {passage.text for passage in snippets.passages} == {"About Bird.", "About Lighthouse.", "About Wool."}
    assert snippets.notes[0] == OWN_SEARCH_OF.format(what="snippets of search results")


async def test_affinity_is_that_of_vectors_and_left_out_where_nobody_asks(folder: Path, minilm: Embedder) -> None:
    got = await evidence(folder, *CLAIMS, embedder=minilm)
    by_title = {passage.title: passage.id for passage in got.passages}
    assert got.affinity["c1"][by_title["Lighthouse"]] > got.affinity["c1"][by_title["Bird"]]
    assert got.notes == (OWN_SEARCH,)
    assert (await evidence(folder, *CLAIMS, embedder=minilm, score_affinity=False)).affinity == {}


class Always:
    """Writes these queries for every claim."""

    def __init__(self, *queries: str) -> None:
        self.queries = queries

    async def write(self, claim: Claim, response: Response) -> Written:
        return Written(self.queries)


async def test_a_written_query_is_what_is_looked_up(folder: Path) -> None:
    got = await evidence(folder, CLAIMS[0], queries=Always(CLAIMS[1].text))
    assert set(titles(got, "c1")) >= {"Harbour"}


async def test_a_claim_gets_the_pages_of_all_its_searches_as_one_ranking(folder: Path) -> None:
    both = Always(CLAIMS[0].text, CLAIMS[1].text)
    got = await evidence(folder, CLAIMS[0], queries=both, selection=Selection(k=10))
    assert set(titles(got, "c1")) == {"Bird", "Lighthouse", "Wool", "Harbour"}  # the copy of the harbour's page is merged
    assert (got.counts["searches"], got.counts["pages"]) == (2, 5)
    scores = [hit.score for hit in got.hits["c1"]]
    assert scores == sorted(scores, reverse=True)


async def test_what_the_recorded_ones_of_several_queries_found_is_used_and_told(folder: Path) -> None:
    got = await evidence(folder, CLAIMS[0], queries=Always(CLAIMS[0].text, "nobody asked this"))
    assert got.counts["queries_without_search"] == 1
    assert SOME_UNRECORDED in got.notes
    assert set(titles(got, "c1")) == {"Bird", "Lighthouse", "Wool"}


class Backwards:
    """A reranker that likes short passages."""

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        return [-float(len(text)) for text in texts]


async def test_a_reranker_puts_the_candidates_in_its_own_order(folder: Path) -> None:
    selection = Selection(k=2, reranker=Backwards())  # type: ignore[arg-type]
    got = await evidence(folder, CLAIMS[0], selection=selection)
    assert titles(got, "c1") == ["Wool", "Bird"]
    assert RERANKED in got.notes
    whole = await CorpusRetriever(Corpus.open(folder, None), selection).retrieve(RESPONSE, CLAIMS[:1])
    lengths = [len(passage.text) for passage in whole.passages]
    assert lengths == sorted(lengths)


class Unanswered:
    """A collector whose provider does not answer one query."""

    def __init__(self, query: str) -> None:
        self.query = query
        self.asked: list[str] = []

    async def collect(self, query: str) -> None:
        self.asked.append(query)
        if query == self.query:
            raise SearchError("searxng: 500")


async def test_a_claim_whose_search_failed_is_a_failure_and_the_others_have_their_evidence(folder: Path) -> None:
    collector = Unanswered(CLAIMS[0].text)
    got = await evidence(folder, *CLAIMS, collector=collector)
    assert collector.asked == [claim.text for claim in CLAIMS]
    assert got.failures == {"c1": "searxng: 500"}
    assert got.hits["c1"] == ()
    assert got.hits["c2"]
    assert UNANSWERED in got.notes


async def test_every_query_of_a_claim_is_searched_for_and_one_without_an_answer_fails_the_claim(folder: Path) -> None:
    collector = Unanswered("second")
    got = await evidence(folder, CLAIMS[0], collector=collector, queries=Always(CLAIMS[0].text, "second"))
    assert collector.asked == [CLAIMS[0].text, "second"]
    assert got.failures == {"c1": "searxng: 500"}
