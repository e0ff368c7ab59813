"""The passages of each claim, from a corpus or from the response itself."""

import asyncio
from pathlib import Path

import numpy as np
import pytest

from localfact.corpus.build import build_corpus
from localfact.corpus.corpus import Corpus
from localfact.corpus.passages import passages_of
from localfact.errors import MissingError
from localfact.evidence.corpus_retriever import LEXICAL_ALONE, WHOLE_CORPUS, CorpusRetriever, Selection, hits_of
from localfact.evidence.given import RANKED, GivenEvidence
from localfact.evidence.queries import CLAIMS_INSTEAD, WRITTEN_QUERIES, Written
from localfact.models.embedder import Embedder
from localfact.records import Claim, Evidence, Hit, Passage, Response
from localfact.web.pages import Page

CLAIMS = (
    Claim(id="c1", text="The lighthouse on Cape Orm is built of red granite."),
    Claim(id="c2", text="Tilda Brandt dredged the harbour in 1884."),
    Claim(id="c3", text="Zzyzx."),
)
RESPONSE = Response(id="r", text="About Norvik.")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, pages: list[Page], minilm: Embedder) -> Path:
    folder = tmp_path_factory.mktemp("corpora") / "norvik"
    build_corpus(pages, folder, minilm)
    return folder


class Puffins:
    """Writes one query for all claims but those without a word it knows."""

    async def write(self, claim: Claim, response: Response) -> Written:
        return Written((claim.text,), failed=True) if claim.id == "c3" else Written(("Where do puffins nest?",))


def titles(evidence: Evidence, claim: str) -> list[str]:
    by_id = {passage.id: passage.title for passage in evidence.passages}
    return [by_id[hit.passage_id] for hit in evidence.hits[claim]]


async def test_each_claim_gets_its_best_passages_in_order(folder: Path, minilm: Embedder) -> None:
    retriever = CorpusRetriever(Corpus.open(folder, minilm), Selection("chunks", k=3))
    evidence = await retriever.retrieve(RESPONSE, CLAIMS)
    assert titles(evidence, "c1")[0] == "Lighthouse"
    assert titles(evidence, "c2")[0].startswith("Harbour")
    for claim in CLAIMS:
        hits = evidence.hits[claim.id]
        assert [hit.rank for hit in hits] == [1, 2, 3]
        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert len({passage.id for passage in evidence.passages}) == len(evidence.passages)
    assert {hit.passage_id for hits in evidence.hits.values() for hit in hits} == {p.id for p in evidence.passages}
    assert evidence.notes == (WHOLE_CORPUS,)


async def test_written_queries_are_searched_with_and_affinity_stays_that_of_the_claims(folder: Path, minilm: Embedder) -> None:
    corpus = Corpus.open(folder, minilm)
    evidence = await CorpusRetriever(corpus, Selection(k=2), Puffins()).retrieve(RESPONSE, CLAIMS)
    assert titles(evidence, "c1") == titles(evidence, "c2")
    assert titles(evidence, "c1")[0] == "Bird"
    alone = await CorpusRetriever(corpus, Selection(k=2)).retrieve(RESPONSE, CLAIMS)
    assert evidence.hits["c3"] == alone.hits["c3"]
    assert evidence.notes == (WHOLE_CORPUS, WRITTEN_QUERIES, CLAIMS_INSTEAD)
    vectors = minilm.encode([claim.text for claim in CLAIMS]) @ minilm.encode([p.text for p in evidence.passages]).T
    table = [[evidence.affinity[claim.id][passage.id] for passage in evidence.passages] for claim in CLAIMS]
    assert np.allclose(table, vectors, atol=1e-6)


async def test_written_queries_rank_given_passages_for_the_claims_that_have_none_of_their_own(pages: list[Page]) -> None:
    response = given(pages, hits={"c1": ("Wool",)})
    evidence = await GivenEvidence(None, None, k=1, queries=Puffins()).retrieve(response, CLAIMS)
    assert titles(evidence, "c1") == ["Wool"]
    assert titles(evidence, "c2") == ["Bird"]
    assert evidence.notes == ("as given", RANKED, WRITTEN_QUERIES, CLAIMS_INSTEAD, LEXICAL_ALONE)


async def test_nobody_is_asked_for_queries_where_all_passages_are_given(pages: list[Page]) -> None:
    class Nobody:
        async def write(self, claim: Claim, response: Response) -> Written:
            return pytest.fail(f"asked about {claim.id}")

    response = given(pages, hits={"c1": ("Wool",), "c2": ()})
    evidence = await GivenEvidence(None, None, queries=Nobody()).retrieve(response, CLAIMS[:2])
    assert evidence.notes == ("as given", LEXICAL_ALONE)


async def test_a_given_claim_keeps_its_passages_when_it_was_revised(pages: list[Page]) -> None:
    response = given(pages, hits={"c1": ("Wool",), "c2": ("Bird",)})
    revised = CLAIMS[0].model_copy(update={"text": "The lighthouse of Norvik is red.", "original": CLAIMS[0].text})
    evidence = await GivenEvidence(None, None, k=1).retrieve(response, [revised, CLAIMS[1]])
    assert titles(evidence, "c1") == ["Wool"]
    assert RANKED not in evidence.notes


async def test_affinity_is_the_cosine_of_every_claim_with_every_passage(folder: Path, minilm: Embedder) -> None:
    evidence = await CorpusRetriever(Corpus.open(folder, minilm), Selection(k=2)).retrieve(RESPONSE, CLAIMS)
    claims = minilm.encode([claim.text for claim in CLAIMS])
    passages = minilm.encode([passage.text for passage in evidence.passages])
    table = [[evidence.affinity[claim.id][passage.id] for passage in evidence.passages] for claim in CLAIMS]
    assert np.allclose(table, claims @ passages.T, atol=1e-6)


async def test_near_duplicates_are_one_passage_with_all_links_and_leave_room_for_others(folder: Path, minilm: Embedder) -> None:
    corpus = Corpus.open(folder, minilm)
    apart = await CorpusRetriever(corpus, Selection(k=2, merge_near_duplicates=False)).retrieve(RESPONSE, CLAIMS[1:2])
    assert set(titles(apart, "c2")) == {"Harbour", "Harbour-Copy"}
    merged = await CorpusRetriever(corpus, Selection(k=2)).retrieve(RESPONSE, CLAIMS[1:2])
    (survivor,) = [passage for passage in merged.passages if passage.title.startswith("Harbour")]
    assert set(survivor.links) == {"https://harbour.example/page", "https://harbour-copy.example/page"}
    assert len(titles(merged, "c2")) == 2


def test_of_two_merged_hits_the_better_score_stands_and_ranks_have_no_gap() -> None:
    hits = hits_of([("a", 0.9), ("b", 0.8), ("a", 0.7), ("c", 0.6), ("d", 0.5)], 3)
    assert [(hit.passage_id, hit.rank, hit.score) for hit in hits] == [("a", 1, 0.9), ("b", 2, 0.8), ("c", 3, 0.6)]


async def test_without_an_embedder_words_alone_decide_and_a_note_says_so(folder: Path) -> None:
    evidence = await CorpusRetriever(Corpus.open(folder, None), Selection(k=2)).retrieve(RESPONSE, CLAIMS)
    assert titles(evidence, "c1")[0] == "Lighthouse"
    assert evidence.hits["c3"] == ()
    assert max(evidence.affinity["c1"].values()) == 1.0
    assert set(evidence.affinity["c3"].values()) == {0.0}
    assert LEXICAL_ALONE in evidence.notes


async def test_a_claims_evidence_does_not_depend_on_other_responses_at_the_same_time(folder: Path, minilm: Embedder) -> None:
    retriever = CorpusRetriever(Corpus.open(folder, minilm))
    alone = await retriever.retrieve(RESPONSE, CLAIMS)
    many = await asyncio.gather(*(retriever.retrieve(RESPONSE, CLAIMS[: 1 + i % 3]) for i in range(12)))
    assert all(evidence == alone for evidence in many[2::3])
    assert all(evidence.hits["c1"] == alone.hits["c1"] for evidence in many)


async def test_vectors_of_retrieved_passages_are_remembered(
    folder: Path, minilm: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedder = Embedder(minilm.identity, minilm._model)
    evidence = await CorpusRetriever(Corpus.open(folder, embedder)).retrieve(RESPONSE, CLAIMS)
    monkeypatch.setattr(embedder, "_embed", lambda texts: pytest.fail(f"embedded again: {texts}"))
    for passage in evidence.passages:
        embedder.encode(embedder.parts(passage.text))


def given(pages: list[Page], *, hits: dict[str, tuple[str, ...]] | None = None) -> Response:
    """A response that brings the pages as passages, some named for its claims by title."""
    passages = tuple(passage for page in pages for passage in passages_of(page, "pages"))
    ids = {passage.title: passage.id for passage in passages}
    own = {
        claim: tuple(Hit(passage_id=ids[title], rank=rank, score=1 / rank) for rank, title in enumerate(found, start=1))
        for claim, found in (hits or {}).items()
    }
    evidence = Evidence(passages=passages, hits=own, notes=("as given",))
    return Response(id="r", text="About Norvik.", claims=CLAIMS if hits is not None else None, evidence=evidence)


async def test_given_claims_keep_the_passages_given_for_them(pages: list[Page], minilm: Embedder) -> None:
    response = given(pages, hits={"c1": ("Bird", "Wool", "Bird"), "c2": ()})
    evidence = await GivenEvidence(None, minilm).retrieve(response, CLAIMS[:2])
    assert titles(evidence, "c1") == ["Bird", "Wool", "Bird"]
    assert titles(evidence, "c2") == []
    assert len(evidence.passages) == len(pages)
    assert set(evidence.affinity["c2"]) == {passage.id for passage in evidence.passages}
    assert evidence.notes == ("as given",)


async def test_claims_of_our_own_are_ranked_against_the_given_passages_even_under_a_given_id(
    pages: list[Page], minilm: Embedder
) -> None:
    response = given(pages, hits={"c1": ("Bird",), "c2": ()})
    extracted = (Claim(id="c1", text="A bridge joins Norvik with Suderoy."), CLAIMS[1])
    evidence = await GivenEvidence(None, minilm, k=2).retrieve(response, extracted)
    assert titles(evidence, "c1")[0] == "Bridge"
    assert len(evidence.hits["c1"]) == 2
    assert titles(evidence, "c2") == []
    assert RANKED in evidence.notes


@pytest.mark.parametrize("hits", [None, {"c1": (), "c2": (), "c3": ()}])
async def test_passages_that_are_named_for_no_claim_are_ranked(
    pages: list[Page], minilm: Embedder, hits: dict[str, tuple[str, ...]] | None
) -> None:
    evidence = await GivenEvidence(None, minilm, k=1).retrieve(given(pages, hits=hits), CLAIMS[:2])
    assert titles(evidence, "c1") == ["Lighthouse"]
    assert titles(evidence, "c2")[0].startswith("Harbour")
    assert len(evidence.passages) == 2


async def test_given_near_duplicates_become_one_passage_with_all_links_that_a_claim_hits_once(
    pages: list[Page], minilm: Embedder
) -> None:
    response = given(pages, hits={"c1": ("Harbour-Copy", "Bird", "Harbour", "Wool"), "c2": ("Harbour-Copy",)})
    evidence = await GivenEvidence(None, minilm, merge_near_duplicates=True).retrieve(response, CLAIMS[:2])
    assert titles(evidence, "c1") == ["Harbour", "Bird", "Wool"]
    assert [(hit.rank, hit.score) for hit in evidence.hits["c1"]] == [(1, 1.0), (2, 0.5), (3, 0.25)]
    assert titles(evidence, "c2") == ["Harbour"]
    (survivor,) = [passage for passage in evidence.passages if passage.title.startswith("Harbour")]
    assert set(survivor.links) == {"https://harbour.example/page", "https://harbour-copy.example/page"}
    assert len(evidence.passages) == len(pages) - 1
    assert set(evidence.affinity["c1"]) == {passage.id for passage in evidence.passages}


async def test_merged_near_duplicates_leave_room_where_given_passages_are_ranked(pages: list[Page], minilm: Embedder) -> None:
    apart = await GivenEvidence(None, minilm, k=2).retrieve(given(pages), CLAIMS[1:2])
    assert set(titles(apart, "c2")) == {"Harbour", "Harbour-Copy"}
    merged = await GivenEvidence(None, minilm, k=2, merge_near_duplicates=True).retrieve(given(pages), CLAIMS[1:2])
    assert titles(merged, "c2")[0] == "Harbour"
    assert "Harbour-Copy" not in titles(merged, "c2")
    assert len(merged.hits["c2"]) == 2


async def test_given_passages_are_ranked_by_words_without_an_embedder(pages: list[Page]) -> None:
    evidence = await GivenEvidence(None, None, k=1).retrieve(given(pages), CLAIMS)
    assert titles(evidence, "c1") == ["Lighthouse"]
    assert evidence.hits["c3"] == ()
    assert evidence.notes == ("as given", RANKED, LEXICAL_ALONE)


async def test_given_evidence_without_a_passage_leaves_every_claim_without(minilm: Embedder) -> None:
    response = Response(id="r", text="T.", evidence=Evidence(notes=("two were empty",)))
    evidence = await GivenEvidence(None, minilm).retrieve(response, CLAIMS)
    assert evidence == Evidence(hits={claim.id: () for claim in CLAIMS}, notes=("two were empty",))


async def test_a_response_without_passages_goes_to_the_fallback_or_is_missed(folder: Path, minilm: Embedder) -> None:
    fallback = CorpusRetriever(Corpus.open(folder, minilm))
    assert await GivenEvidence(fallback, minilm).retrieve(RESPONSE, CLAIMS) == await fallback.retrieve(RESPONSE, CLAIMS)
    with pytest.raises(MissingError, match="--corpus"):
        await GivenEvidence(None, minilm).retrieve(RESPONSE, CLAIMS)


async def test_one_given_passage_is_enough(minilm: Embedder) -> None:
    passage = Passage(id="p", text="Cape Orm has a lighthouse.")
    response = Response(id="r", text="T.", evidence=Evidence(passages=(passage,)))
    evidence = await GivenEvidence(None, minilm, k=5).retrieve(response, CLAIMS[:1])
    assert [hit.passage_id for hit in evidence.hits["c1"]] == ["p"]
