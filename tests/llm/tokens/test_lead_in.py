"""Labels are asked where the model itself would write them: the tokens asked are the tokens of a turn that it was taught."""

from pathlib import Path

import pytest
from engines import NEEDS_VLLM, Engines
from taught_model import teach_turns
from tiny_models import settings_of
from turns import FAMILIES, save_family

from localfact.llm.engine import Message
from localfact.llm.tokens.chat import ChatLayout
from localfact.prompts import Boundary, extraction_chat, relation_chat

LABELS = ("entailment", "contradiction", "neutral")
CHATS = {
    "a relation": relation_chat("Ice floats on water.", "Ice is lighter than water.", boundary=Boundary()),
    "a claim": extraction_chat(None, None, "", "Ice floats on water. It is cold.", "", boundary=Boundary()),
    "a question": (Message("user", "Is the café in Zürich open?"),),
}
#: Families whose turns begin with a space, a thought, a channel: real engines are asked about these, and about all with --all.
ASKED_IN_CI = {"mistral", "qwen3", "gpt-oss"}
PREFIXES = ("", "Relation: ", "- Ice floats on water. ###SUPPORTED###\n- Ice is cold. ###")


@pytest.fixture(params=FAMILIES)
def family(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def layout(family: str, tmp_path: Path) -> ChatLayout:
    save_family(tmp_path, FAMILIES[family])
    return ChatLayout(tmp_path, FAMILIES[family].arguments)


def taught(layout: ChatLayout, family: str, chat: tuple[Message, ...], answer: str) -> list[int]:
    """The tokens of a whole turn, as training writes it, up to the end of the answer."""
    messages = [{"role": "user", "content": chat[0].content}, {"role": "assistant", "content": answer}]
    written = layout.tokenizer.apply_chat_template(messages, tokenize=False, **FAMILIES[family].arguments)
    if family == "r1":  # trained on turns with their thought, which the template leaves out
        written = written.replace("<|Assistant|>", "<|Assistant|><think>\n\n</think>\n\n")
    return layout.ids(written[: written.rindex(answer) + len(answer)])


def test_what_turns_begin_with_is_found_in_the_template(layout: ChatLayout, family: str) -> None:
    assert layout.lead_in == FAMILIES[family].lead_in


@pytest.mark.parametrize("chat", CHATS.values(), ids=CHATS)
@pytest.mark.parametrize("prefix", PREFIXES)
def test_the_tokens_asked_are_the_tokens_taught(
    layout: ChatLayout, family: str, chat: tuple[Message, ...], prefix: str
) -> None:
    _, written = layout.continue_tokens(layout.render_question(chat, prefix), LABELS)
    assert written == [taught(layout, family, chat, prefix + label) for label in LABELS]


@pytest.mark.parametrize("chat", CHATS.values(), ids=CHATS)
@pytest.mark.parametrize("prefix", PREFIXES)
def test_the_last_piece_alone_gives_the_tokens_of_the_whole(layout: ChatLayout, chat: tuple[Message, ...], prefix: str) -> None:
    text = layout.render_question(chat, prefix)
    whole, written = layout.continue_tokens(text, LABELS)
    assert whole == layout.ids(text)
    assert written == [layout.ids(text + label) for label in LABELS]


def test_an_answer_that_the_model_began_goes_on_as_it_is(layout: ChatLayout) -> None:
    """What a model wrote itself has its thought, or its space, already."""
    chat = CHATS["a question"]
    thought = "<think>\nIt may be.\n</think>\n\nRelation: "
    assert layout.render_question(chat, thought).endswith(layout.text(chat)[-5:] + thought)
    assert layout.render_question(chat, " Relation: ").endswith(
        (layout.lead_in if layout.lead_in.strip() else "") + " Relation: "
    )


@NEEDS_VLLM
@pytest.mark.models
@pytest.mark.parametrize(
    "name", [name if name in ASKED_IN_CI else pytest.param(name, marks=pytest.mark.exhaustive) for name in FAMILIES]
)
async def test_a_model_taught_its_familys_turns_gives_the_labels_their_whole_mass(
    name: str, tmp_path: Path, engines: Engines
) -> None:
    """Taught on turns as the template writes them, it is asked by the engine, which only knows the template."""
    family = FAMILIES[name]
    save_family(tmp_path, family)
    layout = ChatLayout(tmp_path, family.arguments)
    chats = {label: (Message("user", f"Say {label}: what is it?"),) for label in LABELS}
    turns = [taught(layout, name, chat, label) for label, chat in chats.items()]
    teach_turns(tmp_path, [(layout.ids(layout.text(chat)), turn) for chat, turn in zip(chats.values(), turns, strict=True)])
    settings = settings_of(tmp_path).model_copy(update={"template_arguments": family.arguments})
    engine = engines(settings)
    for label, chat in chats.items():
        choice = await engine.choose(chat, LABELS, stage="relate")
        assert choice.mass > 0.99
        assert choice.best == label
        assert choice.distribution[label] > 0.99
    engines.end(settings)
