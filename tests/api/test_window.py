"""Machines whose memory gives a model other windows go on with one another's runs, unless a window decided something."""

import json
from pathlib import Path
from typing import Any, cast

import pytest

from localfact.api.evaluate import Job, execute, prepare
from localfact.api.merge import merge_runs
from localfact.errors import InputError, RunFolderError
from localfact.llm.scripted import ScriptedEngine
from localfact.methods import wiring
from localfact.methods.engine import EngineFacts
from localfact.methods.options import Options
from localfact.report.summary import Summary
from localfact.runs.assessments import ASSESSMENTS_FILE, read_assessments
from localfact.runs.run_folder import RELATIONS_FILE
from localfact.runs.shards import Shard

#: Tokens: instructions, examples and a short pair fit into each; a passage of 4,000 characters into the last alone.
SMALL, NEARLY, LARGE = 1_500, 1_600, 20_000
OPTIONS = Options(model="scripted", relations="llm", embedder="none", claims="given", min_mass=0)


class Machine:
    """A machine on which the model has a window of its own."""

    def __init__(self, data: Path, patch: pytest.MonkeyPatch) -> None:
        self.data, self.patch = data, patch

    def job(self, window: int, **how: Any) -> Job:
        engine = ScriptedEngine(choose=lambda chat, labels: {"entailment": 0.9}, window=window)
        settings = cast("Any", engine)  # what it is started from
        self.patch.setattr(wiring, "engine_facts", lambda options, **_: EngineFacts(engine.identity, settings=settings))
        return prepare(self.data, method="factreasoner-fr1", options=OPTIONS, **how)

    def run(self, window: int, out: Path, **how: Any) -> Summary:
        return execute(self.job(window, out=out, **how), start=lambda engine: cast("Any", engine))


def row(number: int, words: int) -> dict[str, Any]:
    return {
        "id": f"r{number}",
        "response": f"Mill {number} is old.",
        "claims": [{"text": f"Mill {number} is old.", "passages": ["p"]}],
        "passages": [{"id": "p", "text": f"Mill {number}. " + "It is old. " * (words // 3)}],
    }


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(written(tmp_path, 30, 30, 30, 30), monkeypatch)


def written(folder: Path, *words: int) -> Path:
    data = folder / "rows.jsonl"
    data.write_text("".join(json.dumps(row(number, count)) + "\n" for number, count in enumerate(words)))
    return data


def forget(out: Path, index: int) -> None:
    (out / RELATIONS_FILE).unlink()
    lines = (out / ASSESSMENTS_FILE).read_bytes().splitlines(keepends=True)
    (out / ASSESSMENTS_FILE).write_bytes(b"".join(line for line in lines if json.loads(line)["index"] != index))


def about_windows(summary: Summary) -> list[str]:
    return [warning for warning in summary.warnings if "window" in warning]


@pytest.mark.slow
def test_a_window_that_decided_nothing_is_no_reason_to_refuse_a_run(machine: Machine, tmp_path: Path) -> None:
    assert machine.job(SMALL).out == machine.job(NEARLY).out
    out = tmp_path / "run"
    machine.run(SMALL, out)
    whole = (out / ASSESSMENTS_FILE).read_bytes()
    forget(out, 2)
    assert about_windows(machine.run(NEARLY, out)) == []
    assert (out / ASSESSMENTS_FILE).read_bytes() == whole
    assert {one.decided_by_window for one in read_assessments(out)} == {None}


@pytest.mark.slow
def test_a_window_that_split_a_passage_must_be_the_same(machine: Machine, tmp_path: Path) -> None:
    written(tmp_path, 30, 3_000, 30)
    out = tmp_path / "run"
    machine.run(SMALL, out)
    assert [one.decided_by_window for one in read_assessments(out)] == [None, SMALL, None]
    forget(out, 2)
    with pytest.raises(RunFolderError, match=r"window of 1,500 tokens split or cut, and the model's is 1,600"):
        machine.run(NEARLY, out)
    assert machine.run(SMALL, out).responses == 3


@pytest.mark.slow
def test_a_window_that_splits_what_is_left_of_a_run_begun_with_another_is_told(machine: Machine, tmp_path: Path) -> None:
    written(tmp_path, 30, 3_000)
    out = tmp_path / "run"
    machine.run(LARGE, out)
    assert [one.decided_by_window for one in read_assessments(out)] == [None, None]
    forget(out, 1)
    (warning,) = about_windows(machine.run(SMALL, out))
    assert warning.startswith(
        "1 responses were split or cut by the model's window of 1,500 tokens; the run was begun with one of 20,000"
    )
    assert about_windows(machine.run(SMALL, out)) == [warning]
    with pytest.raises(RunFolderError):
        machine.run(LARGE, out)


def test_a_split_pair_that_is_cached_is_told_too_and_is_that_window_s_alone(machine: Machine, tmp_path: Path) -> None:
    written(tmp_path, 3_000)
    out = tmp_path / "run"
    machine.run(SMALL, out)
    for window in (SMALL, NEARLY):
        (out / ASSESSMENTS_FILE).write_bytes(b"")
        machine.run(window, out)
        (found,) = read_assessments(out)
        assert found.decided_by_window == window
        # What the file has of this window is not asked again, what it has of another one is no answer.
        assert bool(found.usage) == (window == NEARLY)


@pytest.mark.slow
def test_shards_of_other_windows_are_merged_where_those_decided_nothing(machine: Machine, tmp_path: Path) -> None:
    shards = [tmp_path / "one", tmp_path / "two"]
    for number, (window, out) in enumerate(zip((SMALL, NEARLY), shards, strict=True), start=1):
        machine.run(window, out, shard=Shard(number, 2))
    merge_runs(shards, out=tmp_path / "merged")
    machine.run(SMALL, tmp_path / "whole")
    assert (tmp_path / "merged" / ASSESSMENTS_FILE).read_bytes() == (tmp_path / "whole" / ASSESSMENTS_FILE).read_bytes()


def test_shards_of_other_windows_that_split_are_refused(machine: Machine, tmp_path: Path) -> None:
    written(tmp_path, 30, 3_000)
    shards = [tmp_path / "one", tmp_path / "two"]
    for number, (window, out) in enumerate(zip((NEARLY, SMALL), shards, strict=True), start=1):
        machine.run(window, out, shard=Shard(number, 2))
    with pytest.raises(InputError, match="windows of 1500, 1600 tokens, and those split or cut 1 responses"):
        merge_runs(shards, out=tmp_path / "merged")
