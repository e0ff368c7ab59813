"""How a model is asked: grammars are handed on or left out, and choices among labels that it would not write are refused."""

from typing import Any

import pytest

from localfact.errors import InputError, UnlikelyLabelsError
from localfact.llm.engine import Message
from localfact.llm.layers.policy import AskingPolicy, PolicyLayer
from localfact.llm.scripted import ScriptedEngine

CHAT = [Message("user", "Is water wet?")]
GRAMMAR = "(?:yes|no)"


def asked(policy: AskingPolicy, **script: Any) -> PolicyLayer:
    return PolicyLayer(ScriptedEngine(**script), policy)


async def test_under_guidance_an_answer_keeps_to_the_grammar_and_says_that_its_probabilities_are_masked() -> None:
    guided = asked(AskingPolicy(guided=True), answer=lambda chat: "yes", guided=True)
    assert (await guided.generate(CHAT, max_tokens=9, grammar=GRAMMAR, stage="s")).masked
    breaking = asked(AskingPolicy(guided=True), answer=lambda chat: "perhaps", guided=True)
    with pytest.raises(InputError, match="grammar"):
        await breaking.generate(CHAT, max_tokens=9, grammar=GRAMMAR, stage="s")


async def test_without_guidance_the_grammar_is_left_out() -> None:
    free = asked(AskingPolicy(), answer=lambda chat: "perhaps", guided=True)
    answer = await free.generate(CHAT, max_tokens=9, grammar=GRAMMAR, stage="s")
    assert (answer.text, answer.masked) == ("perhaps", False)


async def test_the_answers_of_a_model_that_runs_on_are_cut_earlier_than_a_stage_would() -> None:
    policy = AskingPolicy(guided=True, answer_tokens=2)
    for allowed, grammar, kept in ((9, "[a-z ]+", "yes yes"), (1, "[a-z ]+", "yes"), (9, None, "yes yes yes")):
        engine = asked(policy, answer=lambda chat: "yes yes yes", guided=True)
        assert (await engine.generate(CHAT, max_tokens=allowed, grammar=grammar, stage="s")).text == kept


async def test_labels_that_the_model_would_not_write_are_no_opinion() -> None:
    script = {"choose": lambda chat, labels: {"yes": 0.03, "no": 0.001}}
    with pytest.raises(UnlikelyLabelsError, match=r"yes, no.*0\.031.*--min-mass 0\.05"):
        await asked(AskingPolicy(), **script).choose(CHAT, ("yes", "no"), stage="s")
    choice = await asked(AskingPolicy(min_mass=0.03), **script).choose(CHAT, ("yes", "no"), stage="s")
    assert choice.mass == pytest.approx(0.031)


async def test_a_single_label_may_be_as_improbable_as_it_is() -> None:
    choice = await asked(AskingPolicy(), choose=lambda chat, labels: {"yes": 0.001}).choose(CHAT, ("yes",), stage="s")
    assert choice.mass == pytest.approx(0.001)
