"""When a file is a paper's data set, and when a difference to the paper's figures means nothing."""

from localfact.papers.comparison import departures
from localfact.papers.printed_tables import printed_table
from localfact.records import Claim, Evidence, Hit, Response
from localfact.vocabulary import GoldLabel

TABLE = printed_table("10")


def biographies(
    responses: int = 157, claims: int = 31, supported: int = 20, passages: int = 3, problem: str | None = None
) -> list[Response]:
    labels = [GoldLabel.SUPPORTED] * supported + [GoldLabel.NOT_SUPPORTED] * (claims - supported)
    given = tuple(Claim(id=f"a{at}", text=f"claim {at}", gold=gold) for at, gold in enumerate(labels))
    hits = tuple(Hit(passage_id=f"p{rank}", rank=rank, score=1.0) for rank in range(1, passages + 1))
    evidence = Evidence(hits={claim.id: hits for claim in given})
    return [Response(id=f"r{at}", text="x", claims=given, evidence=evidence, problem=problem) for at in range(responses)]


def test_as_many_responses_labels_and_passages_as_the_paper_has_are_its_data() -> None:
    assert departures(biographies(), TABLE) == []
    assert departures(biographies(passages=2), TABLE) == []


def test_means_are_held_against_what_is_printed_whole() -> None:
    more = [*biographies(80, claims=31), *biographies(77, claims=30)]  # 30.51, printed as 31
    assert departures(more, TABLE) == []
    assert departures(biographies(claims=30), TABLE) == ["30.0 labelled claims a response, not 31"]
    assert departures(biographies(supported=19), TABLE) == ["19.0 supported claims a response, not 20"]


def test_fewer_responses_are_told_and_those_that_cannot_be_used_do_not_count() -> None:
    assert departures(biographies(156), TABLE) == ["156 responses with labelled claims, not 157"]
    mixed = [*biographies(156), *biographies(1, problem="too long")]
    assert departures(mixed, TABLE) == ["156 responses with labelled claims, not 157"]


def test_responses_without_labels_are_not_the_papers_data() -> None:
    assert departures([Response(id="r", text="x")], TABLE) == ["0 responses with labelled claims, not 157"]


def test_more_passages_a_claim_than_the_paper_retrieved_are_told() -> None:
    assert departures(biographies(passages=5), TABLE) == ["up to 5 passages a claim, not 3"]
