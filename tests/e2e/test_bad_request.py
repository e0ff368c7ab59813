"""One request that the engine cannot answer fails its own claim; the run ends, and so does every other response.

The engine is real: a random model whose weights for one character, POISON, are not numbers, as overflow in 16 bits leaves them.
"""

import json
from pathlib import Path

import pytest
from commands import CommandLine
from engines import NEEDS_VLLM
from tiny_models import POISON

from localfact.llm.layers.retrying import MOST_IN_A_ROW

pytestmark = NEEDS_VLLM

RESPONSES = 20
#: The response with one bad claim, and the one whose passage is bad: each of its many claims is asked about it.
BAD, WHOLLY_BAD = 6, 12
CLAIMS_OF_IT = MOST_IN_A_ROW + 5


def rows(file: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


@pytest.mark.slow
def test_a_request_that_always_fails_leaves_twenty_of_twenty(
    localfact: CommandLine, random_llama: Path, tmp_path: Path
) -> None:
    data = []
    for number in range(RESPONSES):
        poison = POISON if number == BAD else ""
        claims = [{"text": f"Stone {number} is grey{poison}."}, {"text": f"Stone {number} is heavy."}]
        passages = [{"text": f"Stone {number} weighs as much as a man."}]
        if number == WHOLLY_BAD:
            claims = [{"text": f"Stone {number} has {corner} corners."} for corner in range(CLAIMS_OF_IT)]
            passages = [{"text": f"Stone {number} was {POISON} broken."}]
        data.append({"id": f"r{number}", "response": "Stones.", "claims": claims, "passages": passages})
    (tmp_path / "data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in data), encoding="utf-8")
    words = ("eval", "--method", "factreasoner-fr2", "--relations", "llm")
    record = ("--model", random_llama, "--transcript", "calls.sqlite")
    given = ("--data", "data.jsonl", "--embedder", "none", "--min-mass", "0")
    for _ in range(2):  # the same command tries the failed ones again, and keeps the others
        done = localfact(*words, *record, *given, "--out", "out")
        assert done.returncode == 1, done.stderr
        assert "(NaN)" in " ".join(done.stderr.split())
        judged = rows(tmp_path / "out" / "assessments.jsonl")
        assert [row["response_id"] for row in judged] == [f"r{number}" for number in range(RESPONSES)]
        assert {row["status"] for row in judged} <= {"scored", "unscored"}
        labels = {row["response_id"]: [verdict["label"] for verdict in row["verdicts"]] for row in judged}  # type: ignore[attr-defined, index]
        failed = {name: [label == "failed" for label in found] for name, found in labels.items() if "failed" in found}
        assert failed == {f"r{BAD}": [True, False], f"r{WHOLLY_BAD}": [True] * CLAIMS_OF_IT}
    replayed = localfact(*words, "--replay", "calls.sqlite", *given, "--out", "replayed")
    assert replayed.returncode == 1, replayed.stderr
    again = rows(tmp_path / "replayed" / "assessments.jsonl")
    assert [row["verdicts"] for row in again] == [row["verdicts"] for row in judged]
