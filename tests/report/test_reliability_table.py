"""Calibration by run and source, as numbers."""

from pathlib import Path

import pytest
from run_builders import assessment
from typer.testing import CliRunner

from localfact.api.evaluate import evaluate
from localfact.cli.main import app
from localfact.methods.options import Options
from localfact.report.reliability_table import reliability_table
from localfact.report.table_data import Number


def test_a_run_of_several_sources_has_a_row_for_each_and_what_is_not_annotated_is_said() -> None:
    run = [
        assessment("SC", index=0, gold="sn", posteriors=[0.9, 0.2], source="bio"),
        assessment("SS", index=1, gold="sn", posteriors=[0.8, 0.7], source="qa"),
        assessment("SS", index=2, posteriors=[0.8, 0.7], source="bare"),
    ]
    table = reliability_table({"ours": run, "other": [assessment("S")]})
    assert [group.heading for group in table.groups] == ["ours"]
    rows = {str(row[0]): row for row in table.groups[0].rows}
    assert set(rows) == {"all", "bio", "qa"}
    brier = rows["qa"][4]
    assert isinstance(brier, Number)
    assert brier.value == pytest.approx((0.2**2 + 0.7**2) / 2)
    assert any(note.startswith("ours, bare: no annotated claims") for note in table.notes)
    assert any(note.startswith("other, all: ") for note in table.notes)


def test_sources_that_are_called_as_our_own_rows_have_rows_of_their_own() -> None:
    sources = ["all", None, "no source"]
    run = [assessment("SC", index=at, gold="sn", posteriors=[0.9, 0.2], source=source) for at, source in enumerate(sources)]
    (group,) = reliability_table({"ours": run}).groups
    assert [str(row[0]) for row in group.rows] == ["all", "all (source)", "no source", "no source (source)"]


@pytest.mark.slow
def test_the_command_prints_it_and_refuses_runs_without_labels(tmp_path: Path) -> None:
    labelled = {
        "response": "Ice floats on water.",
        "claims": [{"text": "Ice floats on water.", "label": "S"}],
        "passages": [{"text": "Ice floats on water."}],
    }
    options = Options(relations="lexical", embedder="none")
    evaluate([labelled], options=options, out=tmp_path / "run")
    evaluate([{"response": "Ice floats on water.", "passages": [{"text": "Ice."}]}], options=options, out=tmp_path / "bare")
    done = CliRunner().invoke(app, ["reliability", str(tmp_path / "run"), "--format", "csv"])
    assert done.exit_code == 0
    assert done.stdout.splitlines()[1].startswith("run,all,1,")
    assert "No run has posteriors" in str(CliRunner().invoke(app, ["reliability", str(tmp_path / "bare")]).exception)
