"""A request that fails is made again; only a broken engine stops a run."""

import pytest

from localfact.errors import EngineError, PromptTooLongError, RequestError
from localfact.llm.calls import ChooseCall, GenerateCall
from localfact.llm.engine import Choice, Generation, Message
from localfact.llm.layers.retrying import MOST_IN_A_ROW, TRIES, RetryingLayer
from localfact.llm.scripted import ScriptedEngine

CHAT = [Message("user", "Is water wet?")]


class FailingEngine(ScriptedEngine):
    """Fails so often at what it is asked: at every choice, and where it is broken at everything."""

    def __init__(self, times: int, error: Exception, *, broken: bool = False) -> None:
        super().__init__()
        self.left, self.error, self.broken = times, error, broken

    async def answer_choose(self, call: ChooseCall) -> Choice:
        if self.left:
            self.left -= 1
            self.calls.append(call.chat)
            raise self.error
        return await super().answer_choose(call)

    async def answer_generate(self, call: GenerateCall) -> Generation:
        if self.broken:
            raise self.error
        return await super().answer_generate(call)


async def test_a_request_that_fails_twice_is_answered_at_the_third_try() -> None:
    engine = FailingEngine(TRIES - 1, RequestError("not a number"))
    assert (await RetryingLayer(engine).choose(CHAT, ("yes", "no"), stage="s")).log_probs
    assert len(engine.calls) == TRIES


async def test_a_request_that_always_fails_fails_alone_and_the_next_is_made() -> None:
    retrying = RetryingLayer(FailingEngine(TRIES, RequestError("not a number")))
    with pytest.raises(RequestError, match="not a number"):
        await retrying.choose(CHAT, ("yes", "no"), stage="s")
    assert (await retrying.choose(CHAT, ("yes", "no"), stage="s")).log_probs


async def test_an_engine_that_answers_nothing_any_more_stops_the_run() -> None:
    retrying = RetryingLayer(FailingEngine(10**9, RequestError("not a number"), broken=True))
    for _ in range(MOST_IN_A_ROW - 1):
        with pytest.raises(RequestError):
            await retrying.choose(CHAT, ("yes", "no"), stage="s")
    with pytest.raises(EngineError, match=f"last {MOST_IN_A_ROW} requests.*not a number"):
        await retrying.choose(CHAT, ("yes", "no"), stage="s")


async def test_an_answer_in_between_shows_that_the_engine_works() -> None:
    engine = FailingEngine(0, RequestError("not a number"), broken=True)
    retrying = RetryingLayer(engine)
    for _ in range(3):
        engine.left = (MOST_IN_A_ROW - 1) * TRIES
        for _ in range(MOST_IN_A_ROW - 1):
            with pytest.raises(RequestError):
                await retrying.choose(CHAT, ("yes", "no"), stage="s")
        assert (await retrying.choose(CHAT, ("yes", "no"), stage="s")).log_probs


async def test_one_bad_text_that_many_requests_share_does_not_stop_the_run() -> None:
    retrying = RetryingLayer(FailingEngine(10**9, RequestError("not a number")))
    for _ in range(4 * MOST_IN_A_ROW):
        with pytest.raises(RequestError, match="not a number"):
            await retrying.choose(CHAT, ("yes", "no"), stage="s")


@pytest.mark.parametrize("error", [PromptTooLongError("too long"), EngineError("died")])
async def test_what_another_try_cannot_mend_is_not_tried_again(error: Exception) -> None:
    engine = FailingEngine(TRIES, error)
    with pytest.raises(type(error)):
        await RetryingLayer(engine).choose(CHAT, ("yes", "no"), stage="s")
    assert len(engine.calls) == 1
