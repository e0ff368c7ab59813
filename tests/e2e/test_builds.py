"""A build that `eval` and `check` fail: by exit code, as JUnit XML, as annotations on a pull request."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from commands import CommandLine, QuickCommandLine

PAGE = {"link": "https://pages.example/ada", "text": "Ada Lovelace was born in London in 1815. She wrote notes."}
ROWS = (
    {"id": "right", "response": "Ada Lovelace was born in London.", "passages": [PAGE]},
    {"id": "wrong", "response": "Ada Lovelace was born in Paris.", "passages": [PAGE]},
    {"id": "polite", "response": "Sure, happy to help!", "passages": [PAGE]},
)
EVAL = ("eval", "--data", "answers.jsonl", "--out", "run", "--embedder", "none")


@pytest.fixture
def answers(localfact: CommandLine) -> CommandLine:
    """The command line in a folder with three answers, of which one is wrong and one says nothing."""
    (localfact.folder / "answers.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in ROWS))
    return localfact


@pytest.mark.slow
def test_a_wrong_answer_fails_a_build_and_is_named_in_every_format(answers: CommandLine) -> None:
    below = answers(*EVAL, "--fail-under", "precision=0.8,contradicted=0")
    assert below.returncode == 4, below.stderr
    assert "1 of 3 responses state nothing that was judged" in below.stderr
    assert "precision is 0.5, and should be at least 0.8; contradicted is 1, and should be at most 0." in below.stderr
    reached = answers(*EVAL, "--fail-under", "precision=0.5", "--json")
    assert (reached.returncode, json.loads(reached.stdout)["responses"]) == (0, 3)
    junit = answers(*EVAL, "--format", "junit")
    assert junit.returncode == 0
    failed = ElementTree.fromstring(junit.stdout).findall(".//failure/..")
    assert [case.get("name") for case in failed] == ["wrong"]
    assert "London in 1815" in str(failed[0].findtext("failure"))
    github = answers(*EVAL, "--format", "github", "--fail-under", "contradicted=0").stdout.splitlines()
    assert github[0].startswith(
        "::error file=answers.jsonl,line=2,title=wrong%3A contradicted::Ada Lovelace was born in Paris.%0A"
    )
    assert [line.partition("title=")[2].partition("::")[0] for line in github[1:]] == ["polite%3A not judged", "Below the bar"]


@pytest.mark.slow
def test_a_text_without_a_claim_passes_no_bar(localfact: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "polite.txt").write_text("Sure, happy to help!")
    done = localfact("check", "polite.txt", "--embedder", "none", "--relations", "lexical", "--fail-under", "contradicted=0")
    assert done.returncode == 4
    assert "no response has a claim that was judged" in done.stderr


@pytest.mark.slow
def test_a_typed_text_is_annotated_without_a_file(localfact: CommandLine, tmp_path: Path) -> None:
    quick = ("--embedder", "none", "--relations", "lexical")
    done = QuickCommandLine(tmp_path)("check", "Ada Lovelace was born in Paris.", *quick, "--format", "github")
    assert (done.returncode, done.stdout.startswith("::error title=text%3A contradicted::Ada")) == (0, True), done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--fail-under", "truth=1"), "cannot bound 'truth'. At least"),
        (("--format", "xml"), "There are: terminal, json, junit, github."),
        (("--format", "junit", "--json"), "exclude each other"),
        (("--format", "junit", "--plan"), "--plan runs nothing"),
    ],
)
def test_what_cannot_be_asked_for_is_told_before_anything_runs(answers: CommandLine, words: tuple[str, ...], said: str) -> None:
    done = answers(*EVAL, *words)
    assert done.returncode == 2
    assert said in done.stderr
    assert not (answers.folder / "run").exists()
