"""Run folders: what they are called, and that settings which are not today's are refused."""

from pathlib import Path

import pytest
import yaml

from localfact.api.evaluate import execute, prepare, run_name
from localfact.api.rescore import rescore
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
