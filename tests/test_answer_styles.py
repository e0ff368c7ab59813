"""Answers as models write them, real ones and styles that are known: what is read of them is right, or is asked for again.

`pytest -s` prints the table. The answers are not part of the project.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from localfact.assess.verification import VERDICT_OF
from localfact.assess.verification import read_answer as read_verification
from localfact.claims.answers import read_answer
from localfact.claims.revision_answers import read_revision
from localfact.claims.units import read_units
from localfact.llm.engine import Generation
from localfact.vocabulary import PreVerificationLabel, VerdictLabel


class Outcome(NamedTuple):
    """What became of one answer: read, asked (for its label, or labels of its claims), or wrong."""

    source: str
    outcome: str
    shown: str


def of_styles(shared: Path) -> Iterator[Outcome]:
    for line in (shared / "answer_styles/answers.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        yield Outcome(f"styles, {row['task']}", JUDGES[row["task"]](row), f"{row['style']}: {row['answer'][:80]!r}")


def extraction(row: dict[str, Any]) -> str:
    found = read_answer(row["answer"])
    if not row["claims"]:
        return "read" if found.nothing and not found.claims else "wrong"
    wanted = [(text, PreVerificationLabel(label.lower()) if label else None) for text, label in row["claims"]]
    got = [(claim.text, claim.label) for claim in found.claims]
    if [text for text, _ in got] != [text for text, _ in wanted]:
        return "wrong"
    if any(label not in (None, right) for (_, label), (_, right) in zip(got, wanted, strict=True)):
        return "wrong"
    return "asked" if any(label is None for _, label in got) else "read"


def atomization(row: dict[str, Any]) -> str:
    found = read_units(row["answer"])
    there = [claim for claim in row["claims"] if claim in row["answer"]]  # one answer lacks a claim that its row lists
    right = [unit.text for unit in found.claims] == there and found.nothing == (not there)
    return "read" if right else "wrong"


def revision(row: dict[str, Any]) -> str:
    wording = read_revision(Generation(text=row["answer"]), row["claim"])
    return "read" if row["revised"] in (None, wording) else "wrong"


def verification(row: dict[str, Any]) -> str:
    return judged(row["answer"], {VERDICT_OF[row["label"]]})


def judged(answer: str, right: set[VerdictLabel]) -> str:
    label = read_verification(answer).label
    return "asked" if label is None else "read" if label in right else "wrong"


JUDGES = {"extraction": extraction, "atomization": atomization, "revision": revision, "verification": verification}
SUPPORTED = {VerdictLabel.SUPPORTED}
NOT_SUPPORTED = set(VerdictLabel) - SUPPORTED
#: The predictions of published assessors -> verdicts that agree with them.
PREDICTED = {
    "S": SUPPORTED,
    "NS": NOT_SUPPORTED,
    "C": {VerdictLabel.CONTRADICTED, VerdictLabel.CONFLICTING},
    "U": {VerdictLabel.NOT_ENOUGH_EVIDENCE, VerdictLabel.UNVERIFIABLE, VerdictLabel.CONFLICTING},
}


def of_real_models(shared: Path) -> Iterator[Outcome]:
    """Verifiers' answers to other prompts than ours, in formats that ours does not ask for."""
    for line in (shared / "data/openfactcheck/systems.jsonl").read_text(encoding="utf-8").splitlines():
        answer = json.loads(line)["llama3_verifier_raw"] or ""
        said = re.search(r'"factuality":\s*(true|false)', answer, re.IGNORECASE)
        right = set(VerdictLabel) if said is None else SUPPORTED if said[1].lower() == "true" else NOT_SUPPORTED
        yield Outcome("Llama 3 as a verifier", judged(answer, right), repr(answer[:80]))
    for name in ("factscore", "factverify", "veriscore"):
        results = json.loads((shared / f"data/flaherty/{name}_output.json").read_text(encoding="utf-8"))["results"]
        for claim, answer in results["raw_outputs"].items():
            yield Outcome(name, judged(answer, PREDICTED[results["predictions"][claim]]), repr(answer[:80]))


@pytest.mark.parametrize("source", [of_styles, of_real_models])
def test_no_answer_is_read_wrongly(source: Any, shared: Path) -> None:
    outcomes = list(source(shared))
    table = Counter((outcome.source, outcome.outcome) for outcome in outcomes)
    for name in dict.fromkeys(outcome.source for outcome in outcomes):
        print(f"{name:24}", *(f"{kind} {table[name, kind]:4}" for kind in ("read", "asked", "wrong")))
    assert [outcome for outcome in outcomes if outcome.outcome == "wrong"] == []
    assert len(outcomes) >= 100
