"""Run folders: listed with their sizes; deleted as far as localfact wrote them, and only when nobody is at work there."""

import json
from pathlib import Path

import pytest
from commands import QuickCommandLine

from localfact.api.evaluate import evaluate
from localfact.errors import InputError, MissingError, RunFolderError
from localfact.methods.options import Options
from localfact.runs.journal import lock
from localfact.runs.run_folder import LOCK_FILE, OWN_FILES, remove

PASSAGE = {"text": "Ice floats on water, as it is less dense.", "link": "https://ice.example"}
ROW = {"response": "Ice floats on water.", "passages": [PASSAGE]}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder in which a run lies."""
    evaluate([ROW], options=Options(relations="lexical", embedder="none"), out=tmp_path / "runs/one")
    return tmp_path


@pytest.mark.slow
def test_sizes_are_of_what_the_folders_hold(folder: Path) -> None:
    done = QuickCommandLine(folder)("runs", "--json")
    size = sum(file.stat().st_size for file in (folder / "runs/one").iterdir())
    assert [(row["run"], row["bytes"]) for row in map(json.loads, done.stdout.splitlines())] == [("runs/one", size)]
    assert "deletes one" in QuickCommandLine(folder)("runs").stderr


@pytest.mark.slow
def test_what_is_made_of_a_run_that_has_not_ended_is_told_to_be_of_a_part(folder: Path) -> None:
    gold = {**ROW, "claims": [{"text": "Ice floats on water.", "label": "S"}]}
    (folder / "gold.jsonl").write_text(json.dumps(gold))
    localfact = QuickCommandLine(folder)
    commands = (
        *("score", "leaderboard", "trust", "report", "plot", "show", "compare runs/one"),
        *("align --gold gold.jsonl --embedder none", "export --inspect --out e.jsonl"),
    )
    for whole in (True, False):
        for command in commands:
            name, *more = command.split()
            said = localfact(name, "runs/one", *more)
            assert ("runs/one has not ended" in said.stderr) != whole, (command, said.stderr)
        (folder / "runs/one/summary.json").unlink(missing_ok=True)


def test_a_run_is_deleted_when_that_is_confirmed(folder: Path) -> None:
    localfact = QuickCommandLine(folder)
    unasked = localfact("runs", "remove", "runs/one")
    assert (unasked.returncode, "say --yes" in unasked.stderr) == (2, True)
    done = localfact("runs", "remove", "runs/one", "--yes", "--json")
    assert json.loads(done.stdout)["left"] == []
    assert not (folder / "runs/one").exists()
    assert (folder / "runs").is_dir()


def test_files_of_others_stay(folder: Path) -> None:
    (folder / "runs/one/mine.txt").write_text("notes")
    (folder / "elsewhere.txt").write_text("kept")
    (folder / "runs/one/report.html").unlink()
    (folder / "runs/one/report.html").symlink_to(folder / "elsewhere.txt")
    assert remove(folder / "runs/one") == ["mine.txt"]
    assert [file.name for file in (folder / "runs/one").iterdir()] == ["mine.txt"]
    assert (folder / "elsewhere.txt").read_text() == "kept"


def test_what_is_no_run_or_is_being_run_is_not_touched(folder: Path) -> None:
    (folder / "runs/two").mkdir()
    for name in OWN_FILES - {"run.yaml"}:
        (folder / "runs/two" / name).write_text("something")
    with pytest.raises(MissingError, match="is not a run folder"):
        remove(folder / "runs/two")
    assert len(list((folder / "runs/two").iterdir())) == len(OWN_FILES) - 1
    with lock(folder / "runs/one" / LOCK_FILE, folder / "runs/one"), pytest.raises(RunFolderError, match="at work"):
        remove(folder / "runs/one")
    assert (folder / "runs/one/assessments.jsonl").is_file()


def test_one_that_is_no_run_is_told_and_left_and_a_run_named_twice_is_deleted_once(folder: Path) -> None:
    (folder / "runs/mine").mkdir()
    done = QuickCommandLine(folder)("runs", "remove", "runs/one", "runs/mine", "runs/../runs/one", "--yes")
    assert (done.returncode, done.stderr.count("Deleted: ")) == (0, 1)
    assert "runs/mine is not a run folder: it is left as it is." in done.stderr
    assert ((folder / "runs/one").exists(), (folder / "runs/mine").is_dir()) == (False, True)
    assert QuickCommandLine(folder)("runs", "remove", "runs/mine", "--yes").returncode == 3


def test_a_link_to_a_run_is_not_followed(folder: Path) -> None:
    (folder / "link").symlink_to(folder / "runs/one")
    with pytest.raises(InputError, match="is a symbolic link"):
        remove(folder / "link")
    assert (folder / "runs/one/assessments.jsonl").is_file()
