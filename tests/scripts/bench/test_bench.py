"""What `make bench` says of the language model is counted, not assumed: the counting itself, without an engine."""

import pytest

from localfact.llm.engine import Chat, Message
from localfact.prompts import Boundary
from scripts.bench import llm


class LettersAsTokens:
    """A layout with one token a letter."""

    def text(self, chat: Chat) -> str:
        return chat[0].content

    def ids(self, text: str) -> list[int]:
        return [ord(letter) for letter in text]


@pytest.mark.parametrize(("length", "expected"), [(128, 0), (129, 128), (256, 128), (257, 256), (300, 256)])
def test_an_endless_cache_has_whole_blocks_of_a_repeated_prompt_and_never_its_last_token(length: int, expected: int) -> None:
    chat = (Message("user", "a" * length),)
    asking = llm.Asking(None, llm.choose, lambda boundary: [chat, chat])  # type: ignore[arg-type]
    asking.earlier = []
    assert llm.reusable(LettersAsTokens(), asking) == expected  # type: ignore[arg-type]


def test_grouping_changes_the_order_of_the_same_prompts_alone() -> None:
    passages, claims = ["One passage.", "Another."], ["A claim.", "A second.", "A third."]
    by_passage, by_claim = (group(passages, claims, Boundary()) for group in (llm.by_passage, llm.by_claim))
    assert set(by_passage) == set(by_claim)
    assert by_passage != by_claim
    assert all(passages[0] in chat[0].content for chat in by_passage[:3])
    assert all(claims[0] in chat[0].content for chat in by_claim[:2])
