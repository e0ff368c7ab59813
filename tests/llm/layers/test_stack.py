"""A call is made once, by what the stage asks, and handed on as it is through all layers to the model."""

from pathlib import Path
from typing import Any

import pytest

from localfact.llm.calls import ChooseCall, CountCall, GenerateCall
from localfact.llm.engine import Message
from localfact.llm.layers.policy import AskingPolicy
from localfact.llm.layers.recording import ReplayEngine
from localfact.llm.layers.stack import put_before_answers, put_before_model
from localfact.llm.scripted import ScriptedEngine
from localfact.prompts.boundary import Boundary
from localfact.runtime.usage import Ledger, usage_counted_in


@pytest.mark.parametrize(("text", "objects"), [("Is water wet?", 1), (Boundary().enclose("claim", "Water is wet."), 2)])
async def test_a_call_is_one_object_and_a_second_where_it_is_sealed(
    text: str, objects: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[type] = []
    for kind in (CountCall, GenerateCall, ChooseCall):

        def make(self: Any, *fields: Any, _init: Any = kind.__init__, **named: Any) -> None:
            made.append(type(self))
            _init(self, *fields, **named)

        monkeypatch.setattr(kind, "__init__", make)
    model = ScriptedEngine(lambda chat: "Yes.")
    engine = put_before_answers(put_before_model(model, secret=b"s", transcript=tmp_path / "calls.sqlite"), AskingPolicy())
    chat = [Message("user", text)]
    await engine.count(chat)
    await engine.generate(chat, max_tokens=9, stage="extract")
    await engine.choose(chat, ("yes", "no"), stage="relate")
    await engine.aclose()
    assert made == [kind for kind in (CountCall, GenerateCall, ChooseCall) for _ in range(objects)]


async def test_a_replay_answers_and_costs_what_was_recorded_on_a_machine_with_another_secret(tmp_path: Path) -> None:
    chat = [Message("user", Boundary().enclose("claim", "Water is wet."))]
    recorded = put_before_model(ScriptedEngine(lambda chat: "Yes."), secret=b"s", transcript=tmp_path / "calls.sqlite")
    costs = []
    for number in range(2):
        answers = ReplayEngine(tmp_path / "calls.sqlite") if number else recorded
        engine = put_before_answers(answers, AskingPolicy())
        with usage_counted_in(ledger := Ledger()):
            assert (await engine.generate(chat, max_tokens=9, stage="extract")).text == "Yes."
        await engine.aclose()
        costs.append(ledger.repeatable())
    assert costs[0] == costs[1]
    assert costs[0]["extract"]["output_tokens"] == 2
