"""A model that only judges pairs runs from its card, on claims that rules find, and is refused where it would be asked more."""

import json
from pathlib import Path

import pytest
import yaml
from commands import CommandLine
from engines import NEEDS_VLLM
from taught_model import teach_turns
from turns import Family, save_family

from localfact.llm.engine import Message
from localfact.llm.tokens.chat import ChatLayout
from localfact.models.cards import load_card

pytestmark = NEEDS_VLLM

#: Writes its question itself, as Granite Guardian's template does, from the turns of a context and of an assistant.
GUARDING = (
    "<|turn|>user\n{% for m in messages %}{{ 'Context' if m.role == 'context' else 'Assistant' }}: {{ m.content }}\n"
    "{% endfor %}Is there a risk of {{ guardian_config.risk_name }}? Yes or No?<|end|>\n"
    "{% if add_generation_prompt %}<|turn|>judge\n{% endif %}"
)
GUARDIAN = Family(GUARDING, ("<|turn|>", "<|end|>"), "", arguments={"guardian_config": {"risk_name": "groundedness"}})


@pytest.mark.slow
def test_a_model_that_judges_runs_from_its_card_on_claims_that_rules_find(localfact: CommandLine, tmp_path: Path) -> None:
    """In real vLLM, taught its own template's turns: what a passage says is supported, what another says is neither."""
    facts = ("The heron is grey.", "The otter swims well.")
    own = load_card("granite-guardian-3.1-8b").relation_prompt
    assert own is not None
    folder = tmp_path / "weights"
    save_family(folder, GUARDIAN)
    layout = ChatLayout(folder, GUARDIAN.arguments)

    def ids(premise: str, hypothesis: str, answer: str = "") -> list[int]:
        chat = [Message(*turn) for turn in own.fill(premise, hypothesis)]
        return layout.ids(layout.render_question(chat) + answer)

    lessons = [(one, other, "No" if one == other else "Yes") for one in facts for other in facts]
    teach_turns(folder, [(ids(one, other), ids(one, other, answer)) for one, other, answer in lessons])
    shipped = load_card("granite-guardian-3.1-8b").model_dump(mode="json", exclude_defaults=True)
    kept = {name: shipped[name] for name in ("roles", "template_arguments", "relation_prompt")}
    (tmp_path / "judge.yaml").write_text(yaml.safe_dump({**kept, "name": "judge", "revision": "1", "folder": str(folder)}))
    given = {"passages": [{"text": facts[0]}]}
    rows = [{"id": f"r{number}", "response": fact, **given} for number, fact in enumerate(facts)]
    (tmp_path / "data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    words = ("--model", "judge.yaml", "--data", "data.jsonl", "--out", "out", "--engine-arg", "dtype=float32")
    done = localfact("eval", "--method", "factreasoner-fr2", "--relations", "llm", *words)
    assert done.returncode == 0, done.stderr
    judged = [json.loads(line) for line in (tmp_path / "out" / "assessments.jsonl").read_text().splitlines()]
    assert [[verdict["label"] for verdict in row["verdicts"]] for row in judged] == [["supported"], ["undecided"]]
    refused = localfact("eval", "--method", "factreasoner-fr2", "--relations", "lexical", *words)
    assert (refused.returncode, "only judges pairs" in " ".join(refused.stderr.split())) == (2, True), refused.stderr
