"""What extractors write about other people's answers: which answers are drawn, and every figure of the table by rule."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from localfact.api import align
from scripts import measure_extraction
from scripts.labelled_sets import json_lines

FILLER = " It is a quiet place with narrow lanes and low houses where people sell bread in the morning." * 3
ANSWER = f"Ada Dale was born in 1903. She painted 40 bridges.{FILLER}"


def write_sources(folder: Path) -> None:
    """Two answers that are drawn, of five: the other topic is one that small-lm learned from."""
    first, second, third = (folder / name for name in measure_extraction.SOURCES)
    facts = [{"text": "Ada Dale was born in 1903."}, {"text": "Ada Dale painted 40 bridges."}]
    rows: list[tuple[Path, dict[str, Any]]] = [
        (first, {"output": ANSWER, "topic": "Ada Dale", "annotations": [{"human-atomic-facts": facts}, None]}),
        (first, {"output": ANSWER.replace("Dale", "Stone"), "topic": "Ada Stone", "annotations": []}),
        (first, {"output": "Too short."}),
        (second, {"response": float("nan")}),
        (second, {"response": f"<think>She sang.</think>The mill opened in 1911.{FILLER}", "prompt": "The mill?"}),
        (third, {"response": "So on. " * measure_extraction.LONGEST}),
    ]
    for file, row in rows:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("a", encoding="utf-8") as out:
            out.write(json.dumps(row) + "\n")


@pytest.mark.slow
def test_claims_are_counted_matched_and_left_to_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_sources(tmp_path / "data")
    monkeypatch.setattr(measure_extraction, "similarity", lambda *_: align.similarity("none", None))
    monkeypatch.setattr(measure_extraction, "new_words", lambda claim, _: {"bridges"} if "bridges" in claim.text else set())
    work = tmp_path / "work"
    monkeypatch.setattr(sys, "argv", ["-", str(tmp_path / "data"), "--extractor", "rules", "--work", str(work)])
    measure_extraction.main()
    heads, _, row = ([cell.strip() for cell in line.split("|")[1:-1]] for line in capsys.readouterr().out.splitlines())
    figures = dict(zip(heads, row, strict=True))
    drawn = json_lines(work / "answers.jsonl")
    assert [one["response"].split(" ")[0] for one in drawn] == ["Ada", "The"]
    told = [one["response"] for one in json_lines(work / "drawn.rules.jsonl")]
    assert int(figures["claims"]) == len(told) > 3
    assert figures["failed"] == figures["calls"] == "0"
    assert [one["new"] for one in json_lines(work / "new_words.rules.jsonl")] == [["bridges"]]
    assert figures["new words"] == "1"
    # of her claims one is the annotators', who have two; the other is that once it has her name
    assert figures["recall"].startswith("0.500")
    assert figures["precision"].startswith(f"{1 / told.count(ANSWER):.3f}")
    assert figures["F1"].startswith(f"{2 / (told.count(ANSWER) + 2):.3f}")
    assert figures["F1, names for pronouns"].startswith(f"{4 / (told.count(ANSWER) + 2):.3f}")
