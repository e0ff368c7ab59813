"""What commands say to people and to programs: whole sentences for the ones, JSON for the others."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from commands import QuickCommandLine
from report_runs import small_assessment

from localfact.cli import main
from localfact.runs.run_folder import RunFolder

#: Commands that do not end, and so have no answer.
SERVERS = {"annotate serve", "mcp", "serve"}


def commands(one: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    if hasattr(one, "commands"):
        for word, inner in one.commands.items():
            yield from commands(inner, f"{name} {word}".strip())
    else:
        yield name, one


def test_every_command_that_ends_takes_json() -> None:
    root = typer.main.get_command(main.app)
    lacking = {name for name, one in commands(root) if not any("--json" in option.opts for option in one.params)}
    assert lacking <= SERVERS


@pytest.fixture
def run(tmp_path: Path) -> Path:
    settings = {"method": "made", "extraction": {}, "evidence": {}, "assessment": {"relations": "made"}}
    with RunFolder(tmp_path, settings, {"localfact": "1"}) as folder:
        for at in (0, 1):
            folder.append(small_assessment(at, str(at)), {})
    return tmp_path


def test_claims_of_one_verdict_are_an_object_each(run: Path) -> None:
    done = QuickCommandLine(run)("show", ".", "--only", "contradicted", "--json")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(row["response"], row["verdict"]) for row in rows] == [("0", "contradicted"), ("1", "contradicted")]


def test_a_report_is_named_in_words_and_in_json(run: Path) -> None:
    assert QuickCommandLine(run)("report", ".").stdout == "report.html\n"
    assert json.loads(QuickCommandLine(run)("report", ".", "--json").stdout)["report"] == "report.html"


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("answer.txt", "There is no file answer.txt. A text goes in by a file"),
        ("empty.txt", "There is no text to judge"),
        ("Lena Orbe", "There is no file Lena Orbe. A text goes in by a file"),
        ("rows.jsonl", "rows.jsonl holds data, not one text. For the responses in it: localfact eval --data rows.jsonl"),
        ("rows.txt", "rows.txt holds data, not one text"),
        ("rows.csv", "rows.csv holds data, not one text"),
        ("page.pdf", "page.pdf is no text file"),
    ],
)
def test_check_says_how_a_text_goes_in(typed: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "empty.txt").touch()
    for name in ("rows.jsonl", "rows.txt"):
        (tmp_path / name).write_text('{"response": "Lena Orbe was born in Turku."}\n' * 2)
    (tmp_path / "rows.csv").write_text("response\nLena Orbe was born in Turku.\n")
    (tmp_path / "page.pdf").write_bytes(b"%PDF-1.7")
    done = QuickCommandLine(tmp_path)("check", typed)
    assert (done.returncode, said in done.stderr) == (2, True)


def test_a_typed_sentence_is_judged_itself(tmp_path: Path) -> None:
    done = QuickCommandLine(tmp_path)("check", "Lena Orbe was born in Turku.", "--embedder", "none", "--relations", "lexical")
    assert (done.returncode, "what you typed is judged" in done.stderr) == (0, True)
    assert "Lena Orbe was born in Turku" in done.stdout
