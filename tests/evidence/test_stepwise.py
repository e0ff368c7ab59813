"""Searches one after the other: each query sees what was found, and what all found is put together once."""

from collections.abc import Sequence

import pytest

from localfact.errors import MissingError
from localfact.evidence.stepwise import STEPWISE, StepwiseRetriever
from localfact.llm.engine import Chat
from localfact.llm.scripted import ScriptedEngine
from localfact.records import Claim, Evidence, Hit, Passage, Response, passage_id

CLAIM = Claim(id="c1", text="Ada Morel was born in Lyon.")
RESPONSE = Response(id="r", text="Ada Morel was born in Lyon.")


class Searched:
    """Finds a passage that names the query, and one that every query finds."""

    def __init__(self) -> None:
        self.queries: list[str] = []

    async def retrieve(self, response: Response, claims: Sequence[Claim]) -> Evidence:
        (claim,) = claims
        self.queries.append(claim.text)
        texts = (f"About {claim.text}.", "Lyon is in France.")
        return Evidence(
            passages=tuple(Passage(id=passage_id(text), text=text) for text in texts),
            hits={
                claim.id: tuple(Hit(passage_id=passage_id(text), rank=rank, score=1.0) for rank, text in enumerate(texts, 1))
            },
            counts={"searches": 1},
            notes=("A note.",),
        )


def numbered(chat: Chat) -> str:
    """Another query each time, by how many went before."""
    return f"Ada Morel birth {chat[0].content.count('Query ')}"


async def test_each_query_is_written_after_what_was_found_and_passages_come_once() -> None:
    engine, searched = ScriptedEngine(numbered), Searched()
    evidence = await StepwiseRetriever(engine, searched, steps=3).retrieve(RESPONSE, [CLAIM])
    assert searched.queries == ["Ada Morel birth 0", "Ada Morel birth 1", "Ada Morel birth 2"]
    assert "Nothing was searched for yet." in engine.calls[0][0].content
    assert "About Ada Morel birth 1." in engine.calls[2][0].content
    texts = [passage.text for passage in evidence.passages]
    assert texts == ["About Ada Morel birth 0.", "Lyon is in France.", "About Ada Morel birth 1.", "About Ada Morel birth 2."]
    assert [hit.rank for hit in evidence.hits["c1"]] == [1, 2, 3, 4]
    assert evidence.counts == {"searches": 3, "steps": 3}
    assert evidence.notes == ("A note.", STEPWISE)


@pytest.mark.parametrize("answer", ["Ada Morel birth", "I am sorry,\nI cannot\nsearch.", ""])
async def test_a_repeated_query_or_none_ends_the_searches_but_there_is_always_one(answer: str) -> None:
    searched = Searched()
    await StepwiseRetriever(ScriptedEngine(lambda chat: answer), searched, steps=5).retrieve(RESPONSE, [CLAIM])
    assert searched.queries in (["Ada Morel birth"], [CLAIM.text])


async def test_a_response_with_passages_of_its_own_is_not_searched_for() -> None:
    engine, searched = ScriptedEngine(numbered), Searched()
    given = RESPONSE.model_copy(update={"evidence": Evidence()})
    await StepwiseRetriever(engine, searched, steps=5).retrieve(given, [CLAIM])
    assert (searched.queries, engine.calls) == ([CLAIM.text], [])


async def test_a_claim_that_nobody_could_search_for_is_a_failure_and_errors_of_all_are_raised() -> None:
    class Failing(Searched):
        async def retrieve(self, response: Response, claims: Sequence[Claim]) -> Evidence:
            return Evidence(failures={claims[0].id: "nobody answers"})

    evidence = await StepwiseRetriever(ScriptedEngine(numbered), Failing(), steps=1).retrieve(RESPONSE, [CLAIM])
    assert evidence.failures == {"c1": "nobody answers"}

    class Missing(Searched):
        async def retrieve(self, response: Response, claims: Sequence[Claim]) -> Evidence:
            raise MissingError("no corpus")

    with pytest.raises(MissingError):
        await StepwiseRetriever(ScriptedEngine(numbered), Missing(), steps=1).retrieve(RESPONSE, [CLAIM])
