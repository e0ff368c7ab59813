"""What `make bench` says of the language model is counted, not assumed: the counting itself, without an engine."""

from localfact.prompts import Boundary
from scripts.bench import llm


def test_grouping_changes_the_order_of_the_same_prompts_alone() -> None:
    passages, claims = ["One passage.", "Another."], ["A claim.", "A second.", "A third."]
    by_passage, by_claim = (group(passages, claims, Boundary()) for group in (llm.by_passage, llm.by_claim))
    assert set(by_passage) == set(by_claim)
    assert by_passage != by_claim
    assert all(passages[0] in chat[0].content for chat in by_passage[:3])
    assert all(claims[0] in chat[0].content for chat in by_claim[:2])
