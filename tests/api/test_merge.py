"""A run in shards, merged: what one run would have written, and nothing else."""

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from localfact.api.evaluate import evaluate, execute, prepare
from localfact.api.merge import merge_runs
from localfact.api.plan import plan
from localfact.cli.main import app
from localfact.errors import InputError, MissingError
from localfact.methods.options import Options
from localfact.runs.assessments import ASSESSMENTS_FILE, read_assessment
from localfact.runs.run_folder import RUN_FILE, SUMMARY_FILE
from localfact.runs.shards import Shard

OPTIONS = Options(relations="lexical", embedder="none")
ROWS = [
    {
        "id": f"mill-{number}",
        "response": f"Mill {number} opened in 1911. It has {number} doors.",
        "passages": [{"text": f"Mill {number} opened in {1911 + number % 2}."}],
        "claims": [{"text": f"Mill {number} opened in 1911.", "label": "S", "passages": ["1"]}],
    }
    for number in range(7)
]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    file = tmp_path / "rows.jsonl"
    rows = [*map(json.dumps, ROWS[:5]), "no JSON", *map(json.dumps, ROWS[5:])]
    file.write_bytes("\n".join(rows).encode() + b"\n\xff\n")  # not UTF-8 throughout: a warning about the file
    return file


def shards_of(data: Path, of: int, options: Options = OPTIONS) -> list[Path]:
    folders = [data.parent / f"shard-{number}" for number in range(1, of + 1)]
    for number, folder in enumerate(folders, start=1):
        execute(prepare(data, options=options, out=folder, shard=Shard(number, of)))
    return folders


@pytest.mark.slow
def test_the_merged_run_is_byte_by_byte_that_of_one_run(data: Path) -> None:
    one, merged = data.parent / "one", data.parent / "merged"
    evaluate(data, options=OPTIONS, out=one)
    folders = shards_of(data, 3)
    merge_runs(folders[::-1], out=merged)
    assert (merged / ASSESSMENTS_FILE).read_bytes() == (one / ASSESSMENTS_FILE).read_bytes()
    assert (merged / RUN_FILE).read_bytes() == (one / RUN_FILE).read_bytes()
    told = [json.loads((folder / SUMMARY_FILE).read_bytes()) | {"run": ""} for folder in (one, merged)]
    assert told[0] == told[1]
    assert "not UTF-8" in str(told[0]["warnings"])
    assert (merged / "report.html").is_file()


@pytest.mark.slow
def test_more_shards_than_responses_and_one_shard_alone_merge_too(data: Path) -> None:
    evaluate(data, options=OPTIONS, out=data.parent / "one")
    whole = (data.parent / "one" / ASSESSMENTS_FILE).read_bytes()
    for of in (1, 12):
        merge_runs(shards_of(data, of), out=data.parent / f"of-{of}")
        assert (data.parent / f"of-{of}" / ASSESSMENTS_FILE).read_bytes() == whole
        for number in range(1, of + 1):
            for file in (data.parent / f"shard-{number}").iterdir():
                file.unlink()


@pytest.mark.slow
def test_a_shard_without_responses_says_so(data: Path) -> None:
    with pytest.raises(InputError, match="has none at all"):
        read_assessment(shards_of(data, 12)[11], "mill-1")


@pytest.mark.slow
def test_a_merge_that_is_made_again_changes_nothing(data: Path) -> None:
    folders = shards_of(data, 2)
    first, again = (merge_runs(folders, out=data.parent / "merged") for _ in range(2))
    assert first == again


@pytest.mark.slow
def test_the_default_folder_is_that_of_the_whole_run(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(data.parent)
    merged = merge_runs(shards_of(data, 2))
    assert merged.run == str(prepare(data, options=OPTIONS).out)


@pytest.mark.slow
def test_a_shard_goes_on_as_that_shard_alone(data: Path) -> None:
    folder = shards_of(data, 3)[0]
    with pytest.raises(Exception, match="begun with other settings"):
        execute(prepare(data, options=OPTIONS, out=folder, shard=Shard(2, 3)))


@pytest.mark.slow
def test_what_are_not_all_the_shards_of_one_run_is_told(data: Path) -> None:
    folders = shards_of(data, 3)
    evaluate(data, options=OPTIONS, out=data.parent / "one")
    other = data.parent / "other"
    execute(prepare(data, options=OPTIONS.model_copy(update={"seed": 5}), out=other, shard=Shard(3, 3)))
    fourth = data.parent / "fourth"
    execute(prepare(data, options=OPTIONS, out=fourth, shard=Shard(3, 4)))
    for named, said in (
        (folders[:2], "missing: 3/3"),
        ([*folders, folders[0]], "the same shard"),
        ([*folders[:2], other], "seed: 0 -> 5"),
        ([*folders[:2], fourth], "not all the shards"),
        ([*folders[:2], data.parent / "one"], "no shard"),
    ):
        with pytest.raises(InputError, match=said):
            merge_runs(named, out=data.parent / "never")
    with pytest.raises(MissingError):
        merge_runs([data.parent / "nothing"], out=data.parent / "never")
    assert not (data.parent / "never").exists()


@pytest.mark.slow
def test_a_shard_that_has_not_ended_is_told(data: Path) -> None:
    folders = shards_of(data, 2)
    (folders[1] / SUMMARY_FILE).unlink()
    with pytest.raises(InputError, match="has not ended"):
        merge_runs(folders, out=data.parent / "never")


@pytest.mark.slow
def test_a_response_of_another_shard_or_none_is_told(data: Path) -> None:
    folders = shards_of(data, 2)
    files = [folder / ASSESSMENTS_FILE for folder in folders]
    ours, theirs = (file.read_bytes().splitlines(keepends=True) for file in files)
    files[0].write_bytes(b"".join(ours[1:]))
    with pytest.raises(InputError, match="has not ended"):
        merge_runs(folders, out=data.parent / "never")
    files[0].write_bytes(b"".join(ours))
    files[1].write_bytes(b"".join([ours[0], *theirs[1:]]))
    with pytest.raises(InputError, match="which is another's"):
        merge_runs(folders, out=data.parent / "never")
    files[1].write_bytes(b"".join([theirs[1], *theirs[1:]]))
    with pytest.raises(InputError, match="1 responses are in no shard, number 2 first"):
        merge_runs(folders, out=data.parent / "never")


@pytest.mark.parametrize(("number", "of"), [(0, 3), (4, 3), (1, 0)])
def test_a_shard_that_there_is_not_is_told(number: int, of: int) -> None:
    with pytest.raises(InputError):
        Shard(number, of)


@pytest.mark.parametrize("text", ["", "3", "/8", "3/", "3/8/9", "-3/8", "three/8"])
def test_what_a_run_names_as_its_shard_may_be_none(text: str) -> None:
    assert str(Shard.parse("3/8")) == "3/8"
    with pytest.raises(InputError, match="is no shard such as 3/8"):
        Shard.parse(text)


@pytest.mark.slow
def test_the_commands_run_shards_and_merge_them(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(data.parent)
    words = ["eval", "--data", "rows.jsonl", "--relations", "lexical", "--embedder", "none"]
    for number in (1, 2):
        done = CliRunner().invoke(app, [*words, "--shards", "2", "--shard", str(number), "--out", f"s{number}"])
        assert done.exit_code in (0, 1), done.output
    merged = CliRunner().invoke(app, ["merge", "s1", "s2", "--out", "whole", "--json"])
    assert json.loads(merged.stdout)["responses"] == 9
    assert merged.exit_code == 1  # the row that is no JSON, and the last one
    assert "name both" in str(CliRunner().invoke(app, [*words, "--shards", "2"]).exception)


@pytest.mark.slow
def test_a_shard_whose_failed_rows_are_tried_again_just_now_has_not_ended(data: Path) -> None:
    folders = shards_of(data, 3)
    for folder in folders:
        lines = (folder / ASSESSMENTS_FILE).read_bytes().splitlines(keepends=True)
        (folder / ASSESSMENTS_FILE).write_bytes(b"".join(lines[:-1]))  # as opening it for that leaves it
        with pytest.raises(InputError, match="has not ended"):
            merge_runs(folders, out=data.parent / "never")
        (folder / ASSESSMENTS_FILE).write_bytes(b"".join(lines))


@pytest.mark.slow
def test_the_merged_run_is_none_of_the_shards(data: Path) -> None:
    folders = shards_of(data, 2)
    with pytest.raises(InputError, match="one of the shards"):
        merge_runs(folders, out=folders[1], force=True)


@pytest.mark.slow
def test_other_versions_are_warned_of(data: Path) -> None:
    folders = shards_of(data, 2)
    file = folders[1] / RUN_FILE
    file.write_text(re.sub(r"localfact: .*", "localfact: 0.0.1", file.read_text()))
    assert any("another version" in warning for warning in merge_runs(folders, out=data.parent / "merged").warnings)


def test_the_plan_of_a_shard_is_its_own(data: Path) -> None:
    assert [plan(prepare(data, options=OPTIONS, shard=Shard(number, 4)))["responses"] for number in (1, 4)] == [3, 2]
