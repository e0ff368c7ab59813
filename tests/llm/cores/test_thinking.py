"""A model that thinks before it answers, in real vLLM: thoughts are told apart, have a budget of their own, and no grammar."""

from pathlib import Path

import pytest
from engines import NEEDS_VLLM, Engines
from taught_model import teach_turns
from tiny_models import settings_of
from turns import FAMILIES, save_family

from localfact.errors import InputError
from localfact.llm.engine import Engine, Message
from localfact.llm.placing.settings import EngineSettings, engine_settings
from localfact.llm.tokens.chat import ChatLayout
from localfact.models.model_card import ModelCard

pytestmark = [NEEDS_VLLM, pytest.mark.models]

CHAT = (Message("user", "Does ice float?"),)
THOUGHT = "<think>\nIce is light, so it floats.\n</think>\n\n"
ANSWER = "- Ice floats."


def settings(folder: Path, thought_tokens: int) -> EngineSettings:
    made = settings_of(folder, reasoning_parser="deepseek_r1")
    return made.model_copy(update={"thought_tokens": thought_tokens})


@pytest.fixture(scope="module")
def thinker(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Taught one turn, thought and answer, in the manner of Qwen3."""
    folder = tmp_path_factory.mktemp("models") / "thinker"
    save_family(folder, FAMILIES["qwen3"])
    layout = ChatLayout(folder)
    prompt = layout.text(CHAT)
    teach_turns(folder, [(layout.ids(prompt), layout.ids(f"{prompt}{THOUGHT}{ANSWER}<|im_end|>\n"))])
    return folder


@pytest.fixture(scope="module")
def engine(thinker: Path, engines: Engines) -> Engine:
    return engines(settings(thinker, 64))


async def test_what_it_thought_is_no_part_of_the_answer(engine: Engine) -> None:
    said = await engine.generate(CHAT, max_tokens=len(ANSWER), stage="test")
    assert said.thoughts == THOUGHT
    assert said.text.startswith(ANSWER)
    assert said.text[said.tokens[0].start :] == said.text
    assert said.probability(0, len(ANSWER)) > 0.9


async def test_the_answer_goes_on_behind_its_thoughts(engine: Engine) -> None:
    said = await engine.generate(CHAT, max_tokens=len(ANSWER), stage="test")
    choice = await engine.choose(CHAT, ("floats", "sinks"), prefix=f"{said.thoughts}- Ice ", stage="test")
    assert choice.best == "floats"
    assert choice.mass > 0.9


async def test_no_grammar_holds_before_it_has_thought(engine: Engine) -> None:
    said = await engine.generate(CHAT, max_tokens=16, grammar=r"\* Ice (?:sinks|floats)", stage="test")
    assert said.thoughts.strip() == THOUGHT.strip()
    assert said.text == "* Ice floats"
    assert said.masked


async def test_thoughts_have_a_budget_of_their_own_and_an_engine_that_ends_leaves_a_newer_one_alone(
    engine: Engine, thinker: Path, engines: Engines
) -> None:
    newer = engines(settings(thinker, 4))
    engines.end(settings(thinker, 64))
    said = await newer.generate(CHAT, max_tokens=24, stage="test")
    assert said.thoughts.startswith("<think>")
    assert "so it floats" not in said.thoughts
    engines.end(settings(thinker, 4))


def test_a_way_of_thinking_that_vllm_does_not_know_is_told(thinker: Path, engines: Engines) -> None:
    wrong = settings_of(thinker, reasoning_parser="nobodys")
    with pytest.raises(InputError, match="nobodys"):
        engines(wrong)


def test_what_a_card_tells_the_template_and_the_engine_is_part_of_the_identity(thinker: Path) -> None:
    plain = ModelCard(name="thinker", revision="0", roles=("llm",), folder=thinker)
    told = plain.model_copy(update={"template_arguments": {"enable_thinking": False}})
    thinking = plain.model_copy(update={"reasoning_parser": "qwen3", "thought_tokens": 99})
    templates = {engine_settings(card).identity.template for card in (plain, told, thinking)}
    assert len(templates) == 3
    assert engine_settings(thinking).arguments["reasoning_parser"] == "qwen3"
    assert engine_settings(thinking).thought_tokens == 99
