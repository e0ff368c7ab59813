"""Run folders: what they are called, and that settings which are not today's are refused."""

import json
import os
from pathlib import Path

import pytest
import yaml

from localfact.api.compare import compare_runs
from localfact.api.evaluate import execute, prepare, run_name
from localfact.api.report import write_comparison, write_report
from localfact.api.rescore import read_finished_summary, rescore
from localfact.api.runs import claim_rows, list_runs
from localfact.errors import InputError, RunFolderError
from localfact.llm.engine import EngineIdentity
from localfact.methods.options import Options
from localfact.runs import assessments

LEXICAL = Options(relations="lexical", embedder="none")


def test_the_name_of_a_run_does_not_depend_on_the_models_name() -> None:
    settings = prepare(method="factreasoner-fr2", options=LEXICAL, limit=4).chosen.settings
    named = [
        EngineIdentity(model=name, revision=f"sha256:{'0' * 64}", dtype="float32", window=8) for name in ("one", "another")
    ]
    assert len({run_name(settings.model_copy(update={"model": identity}).plain()) for identity in named}) == 1


@pytest.mark.slow
def test_a_run_that_was_begun_under_other_rules_is_refused(tmp_path: Path) -> None:
    ours = {"options": LEXICAL, "limit": 1, "out": tmp_path / "run"}
    execute(prepare(method="builtin-fr2", **ours))
    file = tmp_path / "run/run.yaml"
    run = yaml.safe_load(file.read_text())
    assert run["settings"]["assessment"].pop("rules") == "own"
    file.write_text(yaml.safe_dump(run, sort_keys=False))
    with pytest.raises(RunFolderError, match="rules"):
        execute(prepare(method="builtin-fr2", **ours))


def test_settings_without_a_stage_are_refused(tmp_path: Path) -> None:
    execute(prepare(method="builtin-fr2", options=LEXICAL, limit=1, out=tmp_path / "run"))
    file = tmp_path / "run/run.yaml"
    run = yaml.safe_load(file.read_text())
    del run["settings"]["extraction"]
    file.write_text(yaml.safe_dump(run, sort_keys=False))
    with pytest.raises(InputError, match=r"settings in run.yaml are damaged"):
        rescore(tmp_path / "run")


@pytest.mark.slow
def test_a_run_that_ends_parses_each_assessment_once_and_so_does_one_that_is_opened_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed = []
    parse = assessments.parse_assessment
    monkeypatch.setattr(assessments, "parse_assessment", lambda *line: parsed.append(line[1]) or parse(*line))
    for _ in range(2):
        execute(prepare(method="factreasoner-fr2", options=LEXICAL, limit=3, out=tmp_path / "run"))
        assert sorted(parsed) == [1, 2, 3]
        parsed.clear()


def test_data_run_and_page_may_lie_at_paths_that_are_not_utf8(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/here-\xff"))
    folder.mkdir()
    monkeypatch.chdir(folder)
    data, run = Path(os.fsdecode(b"d\xe9.jsonl")), Path(os.fsdecode(b"run-\xff"))
    row = b'{"response": "Paris is in France, m\xe9.", "passages": [{"text": "Paris is in France."}]}\n'
    data.write_bytes(row)
    summary = execute(prepare(data, method="builtin-fr2", options=LEXICAL, out=run))
    assert claim_rows(summary.run)
    kept = json.loads((run / "summary.json").read_bytes())
    assert kept["run"] == "run-\\xff"
    assert any("d\\xe9.jsonl is not UTF-8" in warning for warning in kept["warnings"])
    assert yaml.safe_load((run / "run.yaml").read_bytes())["sources"]["data"] == "d\\xe9.jsonl"
    assert read_finished_summary(run) is not None
    assert b"run-\\xff" in write_report(run).read_bytes()
    assert [one.run for one in list_runs(Path())] == [str(run)]
    compared = compare_runs([run, run], names=["one", "other"])
    assert write_comparison(compared, os.fsdecode(b"page-\xff.html")).is_file()
