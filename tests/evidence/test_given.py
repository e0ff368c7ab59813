"""Passages that come with a response are cut as those of a corpus are."""

import asyncio
from collections.abc import Sequence
from typing import get_args

from localfact.corpus.passages import CHUNK_WORDS, PASSAGE_CHARACTERS, PassageKind
from localfact.evidence.given import GivenEvidence
from localfact.records import Claim, Evidence, Hit, Passage, Response, passage_id

CLAIM = Claim(id="a", text="The lighthouse of Inverbeg was built in 1862.")
FILLER = "Granite was cut in the quarries of the island and shipped to the town. "
TOLD = "The lighthouse of Inverbeg was built in 1862 by two brothers. "
LONG = FILLER * 300 + TOLD + FILLER * 300
SHORT = "It stands on a rock."


def passage(text: str) -> Passage:
    return Passage(id=passage_id(text), text=text, title="Inverbeg", links=("https://a.example/",), host="a.example")


def found(texts: Sequence[str], kind: PassageKind, *, linked: Sequence[str], k: int = 3) -> Evidence:
    given = Evidence(
        passages=tuple(passage(text) for text in dict.fromkeys(texts)),
        hits={"a": tuple(Hit(passage_id=passage_id(text), rank=rank, score=1 / rank) for rank, text in enumerate(linked, 1))},
    )
    response = Response(id="r", text=CLAIM.text, claims=(CLAIM,), evidence=given)
    return asyncio.run(GivenEvidence(None, None, k=k, kind=kind).retrieve(response, [CLAIM]))


def test_a_page_of_any_length_becomes_one_passage_of_the_usual_length() -> None:
    evidence = found([LONG, SHORT], "pages", linked=[LONG, SHORT])
    capped, short = evidence.passages
    assert len(LONG) > 35_000
    assert len(capped.text) <= PASSAGE_CHARACTERS
    assert LONG.startswith(capped.text)
    assert (capped.id, capped.title, capped.host) == (passage_id(capped.text), "Inverbeg", "a.example")
    assert short == passage(SHORT)
    assert [hit.passage_id for hit in evidence.hits["a"]] == [capped.id, short.id]


def test_for_a_verifier_it_becomes_chunks_and_the_claim_gets_those_that_match_it_best() -> None:
    evidence = found([LONG, SHORT], "chunks", linked=[LONG, SHORT])
    assert all(len(one.text.split()) <= CHUNK_WORDS for one in evidence.passages)
    texts = {one.id: one.text for one in evidence.passages}
    best, *others = (texts[hit.passage_id] for hit in evidence.hits["a"])
    assert TOLD.strip() in best
    assert len(others) == 2
    assert [hit.rank for hit in evidence.hits["a"]] == [1, 2, 3]


def test_short_passages_and_their_repetitions_stay_as_they_came() -> None:
    for kind in get_args(PassageKind):
        evidence = found([SHORT, TOLD.strip()], kind, linked=[SHORT, TOLD.strip(), SHORT])
        assert [one.text for one in evidence.passages] == [SHORT, TOLD.strip()]
        assert [hit.passage_id for hit in evidence.hits["a"]] == [passage_id(text) for text in (SHORT, TOLD.strip(), SHORT)]


def test_repetitions_stay_beside_a_page_that_was_cut() -> None:
    evidence = found([LONG, SHORT], "pages", linked=[SHORT, LONG, SHORT])
    assert [hit.passage_id for hit in evidence.hits["a"]][::2] == [passage_id(SHORT)] * 2
