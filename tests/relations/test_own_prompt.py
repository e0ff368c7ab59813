"""Models that were trained to judge pairs are asked in their own turns, for their own words, and nothing else."""

from collections.abc import Mapping, Sequence

import pytest

from localfact.errors import InputError
from localfact.llm.engine import Message
from localfact.llm.layers.policy import AskingPolicy, PolicyLayer
from localfact.llm.scripted import ScriptedEngine
from localfact.models.cards import load_card
from localfact.models.relation_prompt import RelationPrompt
from localfact.records import Distribution, Failure, Pair
from localfact.relations.llm import LLMRelationModel, llm_identity

SHIPPED = ("granite-guardian-3.1-8b", "minicheck-7b")
PAIR = Pair("Ice floats on water.", "Ice is lighter than water.")


def prompt(name: str) -> RelationPrompt:
    found = load_card(name).relation_prompt
    assert found is not None
    return found


def judge(name: str, says: Mapping[str, float]) -> tuple[LLMRelationModel, ScriptedEngine]:
    engine = ScriptedEngine(choose=lambda chat, labels: {label: says[label] for label in labels})
    policy = AskingPolicy(relation_prompt=prompt(name))
    return LLMRelationModel(PolicyLayer(engine, policy), policy=policy), engine


@pytest.mark.parametrize(
    ("name", "supporting", "turns"),
    [
        ("granite-guardian-3.1-8b", "No", [("context", PAIR.premise), ("assistant", PAIR.hypothesis)]),
        ("minicheck-7b", "Yes", [("user", f"Document: {PAIR.premise}\nClaim: {PAIR.hypothesis}")]),
    ],
)
async def test_each_model_is_asked_in_its_own_turns_and_its_words_are_relations(
    name: str, supporting: str, turns: list[tuple[str, str]]
) -> None:
    model, engine = judge(name, {"Yes": 0.1, "No": 0.1} | {supporting: 0.7})
    (said,) = await model.relate([PAIR])
    assert isinstance(said, Distribution)
    assert (said.entailment, said.contradiction, said.neutral) == pytest.approx((7 / 8, 0, 1 / 8))
    (asked,) = engine.calls
    assert [(message.role, message.content) for message in asked if message.role != "system"] == turns


async def test_a_text_with_the_name_of_the_other_is_not_replaced_by_it() -> None:
    model, engine = judge("minicheck-7b", {"Yes": 0.5, "No": 0.5})
    await model.relate([Pair("It says {hypothesis} here.", "And {premise} there.")])
    assert engine.calls[0][-1].content == "Document: It says {hypothesis} here.\nClaim: And {premise} there."


async def test_a_long_premise_is_read_in_windows() -> None:
    own = prompt("minicheck-7b")
    engine = ScriptedEngine(choose=lambda chat, labels: dict.fromkeys(labels, 0.4), window=120)
    (said,) = await LLMRelationModel(engine, policy=AskingPolicy(relation_prompt=own)).relate(
        [Pair("It is cold. " * 90, "Ice.")]
    )
    assert isinstance(said, Distribution)
    assert said.windows > 1


async def test_words_that_the_model_would_not_write_fail_their_pair() -> None:
    model, engine = judge("minicheck-7b", {"Yes": 0.01, "No": 0.01})
    (said,) = await model.relate([PAIR])
    assert isinstance(said, Failure)
    assert "--min-mass" in said.reason
    assert len(engine.calls) == 1  # there is no second place to ask in


async def test_such_a_model_is_asked_for_nothing_else() -> None:
    policy = AskingPolicy(relation_prompt=prompt("minicheck-7b"))
    engine = PolicyLayer(ScriptedEngine(), policy)
    chat = (Message("user", "Name the claims."),)
    assert await engine.count(chat) > 0
    with pytest.raises(InputError, match="only judges pairs"):
        await engine.generate(chat, max_tokens=9, stage="extract")
    with pytest.raises(InputError, match="only judges pairs"):
        await engine.choose(chat, ("SUPPORTED", "UNSURE"), stage="preverify")


def test_the_prompt_is_part_of_the_identity() -> None:
    engine = ScriptedEngine().identity
    known = {llm_identity(engine, policy=AskingPolicy(relation_prompt=prompt(name))) for name in SHIPPED}
    assert len(known | {llm_identity(engine)}) == 3


@pytest.mark.parametrize("texts", [["{premise}"], ["{premise} {hypothesis}", "{premise}"], ["nothing"]])
def test_a_prompt_holds_each_text_once(texts: Sequence[str]) -> None:
    turns = [{"role": "user", "text": text} for text in texts]
    with pytest.raises(ValueError, match="must each stand in the turns once"):
        RelationPrompt.model_validate({"turns": turns, "answers": {"Yes": "entailment", "No": "neutral"}})
