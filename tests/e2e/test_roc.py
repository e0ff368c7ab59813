"""ROC curves of relation models, as a new user would draw them."""

import csv
import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from commands import CommandLine

ROWS = (
    (
        "The bridge stands in Oslo. ",
        "It was opened in 1932.",
        "It was opened in 1954.",
        "It was closed in 1932.",
        "It never opened.",
    ),
    (
        "Ada wrote programs. ",
        "She was born in London.",
        "She was born in Paris.",
        "He was born in London.",
        "She died in Rome.",
    ),
    (
        "Iron melts late. ",
        "Lead melts at 327 degrees.",
        "Lead melts at 900 degrees.",
        "Lead never melts.",
        "Tin melts at 327 degrees.",
    ),
)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    file = tmp_path / "factor.csv"
    with file.open("w", newline="") as handle:
        csv.writer(handle).writerows(
            [("full_prefix", "completion", "contradiction_0", "contradiction_1", "contradiction_2"), *ROWS]
        )
    return file


@pytest.mark.slow
def test_roc_prints_areas_and_leaves_numbers_and_figures(localfact: CommandLine, data: Path, tmp_path: Path) -> None:
    done = localfact("roc", "--data", data, "--relations", "lexical", "--embedder", "none")
    assert done.returncode == 0, done.stderr
    assert "contradiction" in done.stdout
    assert "bootstrap" in done.stderr
    folder = tmp_path / "runs" / "roc-factor"
    for label in ("contradiction", "entailment"):
        assert (folder / f"{label}.png").read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
        assert ElementTree.parse(folder / f"{label}.svg").getroot().tag.endswith("svg")
    told = json.loads(localfact("roc", "--data", data, "--out", "with-embedder", "--json").stdout)
    assert told == json.loads((tmp_path / "with-embedder" / "roc.json").read_text())
    (model,) = told["models"]
    assert (model["contradiction"]["positives"], model["contradiction"]["negatives"], model["failed"]) == (9, 3, 0)
    assert model["entailment"]["points"][0] == {"threshold": None, "false_positive_rate": 0.0, "true_positive_rate": 0.0}


@pytest.mark.slow
def test_roc_ends_with_one_and_a_sentence_for_each_row_it_cannot_use(localfact: CommandLine, data: Path) -> None:
    with data.open("a") as handle:
        handle.write("a prefix and nothing else\r\n")
    done = localfact("roc", "--data", data, "--out", "here")
    assert done.returncode == 1
    assert "Row 4 has no text in completion" in done.stderr
    assert (data.parent / "here" / "contradiction.svg").exists()


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (("--data", "missing.csv"), 2, "There is no file missing.csv"),
        (("--data", "factor.csv", "--relations", "no-such-model"), 2, "no-such-model"),
        (("--data", "factor.csv", "--relations", "llm"), 2, "--model"),
    ],
)
def test_roc_says_what_is_missing_without_a_traceback(
    localfact: CommandLine, data: Path, words: tuple[str, ...], code: int, sentence: str
) -> None:
    done = localfact("roc", *words)
    assert done.returncode == code, done.stderr
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr
