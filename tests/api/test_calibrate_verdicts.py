"""`calibrate --verdicts`: thresholds of verdicts from a labelled run, what they change in another, where they are refused."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from localfact.api.calibrate_verdicts import calibrate_verdicts, view_rows
from localfact.api.evaluate import evaluate
from localfact.api.report import write_report
from localfact.assess.thresholds import VerdictThresholds
from localfact.cli.main import app
from localfact.errors import InputError
from localfact.methods.options import Options
from localfact.records import Verdict
from localfact.runs.assessments import read_assessments
from localfact.vocabulary import VerdictLabel

#: Each response has a claim that its passage says and one that it denies; one label in forty disagrees.
ROWS = [
    {
        "id": str(place),
        "prompt": "What of the towns?",
        "response": f"Town {place} lies on the river Amber. Town {place} was founded in 1850.",
        "claims": [
            {"text": f"Town {place} lies on the river Amber.", "label": "NS" if place == 7 else "S"},
            {"text": f"Town {place} was founded in 1850.", "label": "NS"},
        ],
        "passages": [
            {"title": f"Town {place}", "text": f"Town {place} lies on the river Amber. Town {place} was founded in 1731."}
        ],
    }
    for place in range(40)
]
OPTIONS = Options(relations="lexical", embedder="none", claims="given")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("labelled")
    data = folder / "labelled.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    evaluate(data, out=folder / "run", method="builtin-fr1", options=OPTIONS)
    return folder / "run"


def verdicts_of(run: Path) -> list[str]:
    return [verdict.label.value for one in read_assessments(run) for verdict in one.verdicts]


@pytest.mark.slow
def test_thresholds_are_chosen_written_and_applied(run: Path, tmp_path: Path) -> None:
    file = tmp_path / "thresholds.json"
    typed = ["calibrate", "--verdicts", str(run), "--max-risk", "0.2", "--delta", "0.1", "--verdict-thresholds", str(file)]
    told = CliRunner().invoke(app, typed)
    assert told.exit_code == 0, told.output
    assert "with probability 0.9" in " ".join(told.output.split())
    thresholds = VerdictThresholds.model_validate_json(file.read_bytes())
    before = read_assessments(run)
    posteriors = [verdict.posterior or 0.0 for one in before for verdict in one.verdicts]
    assert thresholds.supported is not None
    assert thresholds.supported <= max(posteriors)

    stricter = thresholds.model_copy(update={"contradicted": None})
    file.write_text(stricter.model_dump_json(), encoding="utf-8")
    options = Options(**{**dict(OPTIONS), "verdict_thresholds": file})
    evaluate(run.parent / "labelled.jsonl", out=tmp_path / "run", method="builtin-fr1", options=options)
    assert verdicts_of(run).count("contradicted") == 40
    assert verdicts_of(tmp_path / "run") == ["undecided" if label == "contradicted" else label for label in verdicts_of(run)]
    after = [verdict.posterior for one in read_assessments(tmp_path / "run") for verdict in one.verdicts]
    assert after == posteriors
    page = write_report(tmp_path / "run").read_text(encoding="utf-8")
    assert "never contradicted" in page
    with pytest.raises(InputError, match="made with --verdict-thresholds"):
        calibrate_verdicts(tmp_path / "run")


def test_a_verdict_stands_by_its_own_limit_and_never_without_a_posterior(run: Path) -> None:
    found = calibrate_verdicts(run, max_risk=0.2, delta=0.1).thresholds
    limits = found.model_copy(update={"supported": 0.9, "contradicted": 0.1})
    for label, standing in ((VerdictLabel.SUPPORTED, {0.95, 0.9}), (VerdictLabel.CONTRADICTED, {0.05, 0.1})):
        verdicts = [Verdict(claim_id="a", label=label, posterior=one) for one in (None, 0.05, 0.1, 0.5, 0.9, 0.95)]
        assert {verdict.posterior for verdict in verdicts if limits.allows(verdict)} == standing
        assert not any(map(limits.model_copy(update={"supported": None, "contradicted": None}).allows, verdicts))
    assert limits.allows(Verdict(claim_id="a", label=VerdictLabel.NOT_ENOUGH_EVIDENCE))


def test_too_few_responses_show_nothing_and_that_is_said(run: Path) -> None:
    found = calibrate_verdicts(run, max_risk=0.05, delta=0.05)
    assert (found.thresholds.supported, found.thresholds.contradicted) == (None, None)
    assert found.enough_responses > 40
    assert "never supported" in found.meaning
    assert [row["stands"] for row in view_rows(found)] == ["never", "never"]


def test_thresholds_of_other_settings_are_refused(run: Path, tmp_path: Path) -> None:
    file = tmp_path / "thresholds.json"
    file.write_text(calibrate_verdicts(run, max_risk=0.2, delta=0.1).thresholds.model_dump_json(), encoding="utf-8")
    for method, more, why in (
        ("builtin-fr2", {}, "the method is builtin-fr2"),
        ("builtin-fr1", {"passage_prior": 0.7}, "passage_prior 0.99 there, 0.7 here"),
        ("builtin-fr1", {"k": 1}, "k 5 there, 1 here"),
    ):
        options = Options(**{**dict(OPTIONS), "verdict_thresholds": file, **more})
        with pytest.raises(InputError, match=why):
            evaluate(run.parent / "labelled.jsonl", out=tmp_path / "run", method=method, options=options)
    file.write_text("[]", encoding="utf-8")
    with pytest.raises(InputError, match="is no file of verdict thresholds"):
        evaluate(run.parent / "labelled.jsonl", out=tmp_path / "run", options=Options(verdict_thresholds=file))


@pytest.mark.parametrize(
    ("typed", "why"),
    [
        (["--verdicts", "RUN", "--data", "x.jsonl"], "name one"),
        (["--verdicts", "RUN", "--limit", "3"], "--limit would change nothing"),
        (["--verdicts", "RUN", "--model", "m"], "--model would change nothing in calibrate --verdicts"),
        (["--data", "x.jsonl", "--verdict-thresholds", "t.json"], "name a run with --verdicts"),
        (["--verdicts", "RUN", "--max-risk", "0"], "risk must be above 0"),
    ],
)
def test_options_that_would_change_nothing_are_refused(run: Path, typed: list[str], why: str) -> None:
    told = CliRunner().invoke(app, ["calibrate", *(str(run) if word == "RUN" else word for word in typed)])
    assert told.exit_code != 0
    assert why in " ".join(str(told.exception or told.output).split())
