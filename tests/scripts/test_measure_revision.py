"""Revisions by a model are held against people's: which sentences are drawn, and every figure of the table."""

import gzip
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from localfact.claims.reviser import Outcome
from localfact.methods.options import Options
from localfact.records import Extraction, Response
from scripts import measure_revision
from scripts.assessing import half_of
from scripts.labelled_sets import json_lines

#: What people wrote of each sentence, and the model: the same, too little and too much, something else, nothing.
PEOPLE = {
    "She was born in Bern.": "Ada Dale was born in Bern.",
    "It opened in 1911.": "The mill opened in 1911.",
    "Bern is a city.": "Bern is a city.",
    "There are two mills.": "There are two mills.",
}
MODEL = {
    "She was born in Bern.": "Ada Dale was born in Bern.",
    "It opened in 1911.": "The mill of Ada opened in 1911.",
    "Bern is a city.": "Bern is a Swiss city.",
    "There are two mills.": "There are two mills.",
}


def row(prompt: str) -> dict[str, Any]:
    """An answer of Factcheck-GPT: besides, a sentence of two lines, one that nobody wrote again, and one that is too long."""
    told = [*PEOPLE.items(), ("Two\nlines.", "Two lines."), ("Not written again.", ""), ("So on " * 30, "So on " * 30)]
    sentences = {str(place): {"text": old, "decontext": new} for place, (old, new) in enumerate(told)}
    return {"prompt": prompt, "response": f"{prompt} " + " ".join(PEOPLE), "sentences": sentences}


async def revise(options: Options, answers: Sequence[Response]) -> list[Extraction]:
    """A model that writes what MODEL has."""
    return [
        Extraction(
            claims=tuple(
                claim.model_copy(update={"text": MODEL[claim.text], "original": claim.text}) for claim in answer.claims or ()
            ),
            counts={Outcome.UNREADABLE: 2, Outcome.UNFAITHFUL: 1},
        )
        for answer in answers
    ]


def test_edits_are_held_against_peoples(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(measure_revision, "revise", revise)
    file = tmp_path / "factcheck_gpt/factcheck-GPT-benchmark.jsonl.gz"
    file.parent.mkdir()
    prompts = [f"Question {place}?" for place in range(8)]
    file.write_bytes(gzip.compress("\n".join(json.dumps(row(prompt)) for prompt in prompts).encode()))
    work, ours = tmp_path / "work", tmp_path / "ours"
    monkeypatch.setattr(sys, "argv", f"- {tmp_path} --model any --prompts {ours} --half 1 --work {work}".split())
    measure_revision.main()
    told, _, heads, _, *rows = capsys.readouterr().out.splitlines()
    drawn = sum(half_of(prompt) for prompt in prompts)
    assert told == f"{4 * drawn} sentences of {drawn} answers"
    titles, shipped, own = ([cell.strip() for cell in line.split("|")[1:-1]] for line in (heads, *rows))
    assert [shipped[0], own] == ["as-it-ships", ["ours", *shipped[1:]]]
    # Of people's six words in and out (she; Ada, Dale; it; the, mill) all are the model's, which has three more.
    figures = {title: cell.partition(" [")[0] for title, cell in zip(titles, shipped, strict=True)}
    assert figures == {
        "prompt": "as-it-ships",
        "edits: precision": "0.667",
        "recall": "1.000",
        "F1": "0.800",
        "changed as people did": f"{2 * drawn} of {2 * drawn}",
        "left as people did": f"{drawn} of {2 * drawn}",
        "unreadable": str(2 * drawn),
        "unfaithful": str(drawn),
    }
    kept = json_lines(work / "ours.1.jsonl")
    assert [(one["sentence"], one["people"], one["model"]) for one in kept[:4]] == [
        (sentence, people, MODEL[sentence]) for sentence, people in PEOPLE.items()
    ]


def test_a_model_that_edits_nothing_is_worth_nothing() -> None:
    answer = [measure_revision.Wordings(sentence, people, sentence) for sentence, people in PEOPLE.items()]
    found = [cell.partition(" [")[0] for cell in measure_revision.figures([answer])]
    assert found == ["0.000", "0.000", "0.000", "0 of 2", "2 of 2"]
