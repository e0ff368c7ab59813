"""What states nothing is no evidence, and is counted."""

import random

import pytest

from localfact.evidence.worthless import DROPPED, WithoutWorthless, worthless
from localfact.records import Claim, Evidence, Hit, Passage, Response

CLAIMS = (Claim(id="a", text="The tower is in Paris."),)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("Missing: Scarola | Show results with: Scarola", "of_search_engines"),
        ("Missing: Dr. | Show results with:Dr.", "of_search_engines"),
        ("Missing: Dr. degree", "of_search_engines"),
        ("Translate this page", "of_search_engines"),
        ("Liskov earned her doctorate in 1968. Missing: Dr. | Show results with:Dr.", None),
        ("Missing: Amelia Earhart, whose aircraft was never found.\nShe set out from Lae in 1937.", None),
        ("We and our partners use cookies to store information. Accept all cookies.", "walls"),
        ("Please log in to continue reading this article.", "walls"),
        ("[Home](https://a.example/) [News](https://a.example/news) [About us](https://a.example/about)", "links_only"),
        ("https://a.example/one\nhttps://a.example/two\nhttps://a.example/three", "links_only"),
        ("The tower [stands in Paris](https://a.example/p), where it was finished in March 1889 for the fair.", None),
        (random.Random(1).randbytes(900).hex(), "no_text"),
        ("Born: 1867\nDied: 1934\nField: physics", None),
        ("The tower stands in Paris.", None),
    ],
)
def test_what_a_passage_can_be_no_evidence_for(text: str, why: str | None) -> None:
    assert worthless(text) == why


class Found:
    def __init__(self, evidence: Evidence) -> None:
        self.evidence = evidence

    async def retrieve(self, response: Response, claims: object) -> Evidence:
        return self.evidence


def evidence(*texts: str) -> Evidence:
    passages = tuple(Passage(id=f"p{number}", text=text) for number, text in enumerate(texts))
    hits = {"a": tuple(Hit(passage_id=one.id, rank=rank, score=1 / rank) for rank, one in enumerate(passages, start=1))}
    affinity = {"a": {one.id: 0.5 for one in passages}}
    return Evidence(passages=passages, hits=hits, affinity=affinity, counts={"searches": 1}, notes=("Found.",))


async def test_it_is_left_out_with_its_hits_and_counted() -> None:
    whole = evidence("The tower stands in Paris.", "Missing: tower", "Show results with: tower", "Please log in to continue.")
    found = await WithoutWorthless(Found(whole)).retrieve(Response(id="r", text=""), CLAIMS)
    assert [passage.id for passage in found.passages] == [hit.passage_id for hit in found.hits["a"]] == ["p0"]
    assert found.affinity == {"a": {"p0": 0.5}}
    assert found.counts == {"searches": 1, "passages_of_search_engines": 2, "passages_walls": 1}
    assert found.notes == ("Found.", DROPPED)


async def test_evidence_that_states_something_stays_as_it_is() -> None:
    whole = evidence("The tower stands in Paris.", "It is 324 metres high.")
    assert await WithoutWorthless(Found(whole)).retrieve(Response(id="r", text=""), CLAIMS) is whole
