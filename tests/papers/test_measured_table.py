"""Runs beside a printed table: our row, its interval, the paper's row of the same assessor, and what cannot be compared."""

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from run_builders import assessment
from typer.testing import CliRunner

from localfact.api.evaluate import evaluate
from localfact.cli.main import app
from localfact.errors import InputError
from localfact.methods.options import Options
from localfact.papers.comparison import is_model, recall_of, record_run
from localfact.papers.measured_table import MeasuredRun, measure_table
from localfact.papers.printed_tables import printed_table, printed_tables
from localfact.records import Assessment
from localfact.report.run_figures import RunFacts
from localfact.report.summary import summarise
from localfact.report.table_data import Group, Number


def measured(assessments: Sequence[Assessment], method: str = "factreasoner-fr2", model: str = "llama-3.1-70b") -> MeasuredRun:
    summary = summarise(assessments, RunFacts(method=method), run="runs/x")
    settings = {"method": method, "model": {"model": model}}
    return MeasuredRun("ours", method, model, summary, assessments, record_run(settings, assessments))


def rows_of(group: Group, columns: Sequence[str]) -> list[dict[str, object]]:
    """Each row by its columns, numbers as they are."""
    return [
        {name: cell.value if isinstance(cell, Number) else cell for name, cell in zip(columns, row, strict=True)}
        for row in group.rows
    ]


def test_the_row_of_the_same_assessor_and_model_stands_below_ours_with_the_difference() -> None:
    run = [assessment("SSSC", index=at, gold="ssnn", posteriors=[0.9, 0.8, 0.7, 0.2]) for at in range(3)]
    table = measure_table(printed_table("12"), [measured(run)])
    ours, interval, paper, apart = rows_of(table.groups[0], [column.name for column in table.columns])
    assert (ours["Pr"], ours["#S"], ours["MAE"]) == (0.75, 3.0, 0.25)
    assert interval["Pr"] == "0.75 to 0.75"
    assert (paper["row"], paper["Pr"], paper["#S"]) == ("FR2, llama-3.1-70b-instruct", 0.60, 19)
    assert apart["Pr"] == pytest.approx(0.15)
    assert apart["#S"] == pytest.approx(-16.0)
    assert apart["row"] == "(not comparable: data)"  # the model is the paper's, the data are not
    assert "3 responses with labelled claims, not 157; 4.0 labelled claims a response, not 31;" in table.notes[0]
    assert [group.heading for group in table.groups[1:]] == [
        "granite-3.0-8b-instruct, as printed",
        "llama-3.1-70b-instruct, as printed",
        "mixtral-8x22b-instruct, as printed",
    ]


def test_k_of_f1_is_the_tables_own_and_said() -> None:
    assert [recall_of(printed_table(name)) for name in ("6", "2", "fastfact-3")] == ["22", "median", "median"]
    table = measure_table(printed_table("12"), [measured([assessment("SC")])])
    assert table.facts["F1@K as measured"].startswith("F1@K(")


def test_another_model_stands_beside_every_model_of_the_paper_and_is_not_comparable() -> None:
    table = measure_table(printed_table("12"), [measured([assessment("SC")], model="")])
    kinds = [row[:2] for row in table.groups[0].rows]
    assert kinds.count(("(not comparable: data, model)", "difference")) == 3
    assert "judged by no language model" in table.notes[0]


def test_a_table_with_a_column_a_model_has_one_more_for_ours() -> None:
    table = measure_table(
        printed_table("5"), [measured([assessment("S"), assessment("C", index=1)], method="factreasoner-fr1")]
    )
    columns = [column.name for column in table.columns]
    ours, _, paper, apart = rows_of(table.groups[0], columns)
    assert ours["measured"] == 0.5
    assert paper["llama-3.1-70b-instruct"] == 0.88
    assert apart["llama-3.1-70b-instruct"] == pytest.approx(-0.38)
    assert apart["granite-3.0-8b-instruct"] == ""


def test_claims_that_are_false_by_their_labels_make_accuracy_another_thing() -> None:
    table = measure_table(printed_table("5"), [measured([assessment("SC", gold="sn")])])
    assert "1 of its 2 claims are not true by their labels" in table.notes[0]


@pytest.mark.slow
def test_data_and_model_of_the_paper_are_said_to_be() -> None:
    run = [assessment("S", index=at, gold="s") for at in range(1000)]
    table = measure_table(printed_table("5"), [measured(run)])
    assert table.notes[0].startswith("ours: all that was recorded is as in the paper")
    assert not any("not comparable" in str(row[0]) for row in table.groups[0].rows)


def test_a_table_of_models_takes_no_runs_and_names_the_command_that_does() -> None:
    table = measure_table(printed_table("fastfact-8"), [measured([assessment("SC")])])
    assert "leaderboard" in table.notes[0]
    assert not any("measured" in group.heading for group in table.groups)


@pytest.mark.parametrize("key", printed_tables(), ids=lambda key: f"{key[0]} {key[1]}")
def test_every_table_can_be_shown_alone_and_with_a_run(key: tuple[str, str]) -> None:
    printed = printed_tables()[key]
    assert measure_table(printed).columns[2].name == printed.columns[0]
    table = measure_table(printed, [measured([assessment("SC")])])
    assert sum(len(group.rows) for group in table.groups) >= len(printed.rows)


def test_a_models_card_is_the_papers_name_without_its_ending() -> None:
    assert is_model("llama-3.1-70b", "llama-3.1-70b-instruct")
    assert not is_model("llama-3.1-7", "llama-3.1-70b-instruct")
    assert not is_model("", "llama-3.1-70b-instruct")


@pytest.mark.parametrize("name", ["99", "table", "fastfact-4", "factscore 3", ""])
def test_a_table_that_is_not_there_is_an_error(name: str) -> None:
    with pytest.raises(InputError, match="papers tables"):
        printed_table(name)


@pytest.mark.parametrize("name", ["12", "Table 12", "factreasoner-12", "FactReasoner 12"])
def test_a_table_has_several_names(name: str) -> None:
    assert (printed_table(name).paper, printed_table(name).number) == ("FactReasoner", "12")


ROWS = [
    {
        "id": f"c{at}",
        "response": f"Mill {at} opened in 1911.",
        "claims": [{"text": f"Mill {at} opened in 1911.", "label": "S"}],
        "passages": [{"text": f"Mill {at} opened in {year}."} for year in (1911, 1935)],
    }
    for at in range(3)
]


@pytest.mark.slow
def test_the_commands_list_tables_and_set_runs_beside_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    listed = json.loads(CliRunner().invoke(app, ["papers", "tables", "--json"]).stdout)
    assert {"factreasoner-5", "fastfact-7.1"} <= {row["table"] for row in listed}
    evaluate(tmp_path / "rows.jsonl", options=Options(relations="lexical", embedder="none"), out=tmp_path / "run")
    beside = CliRunner().invoke(app, ["papers", "table", "5", "run", "--format", "json"])
    words = ["papers", "table", "5", "--data", "rows.jsonl", "--relations", "lexical", "--embedder", "none", "--format", "csv"]
    made = CliRunner().invoke(app, [*words, "--methods", "builtin-fr2,builtin-fr1"])
    again = CliRunner().invoke(app, [*words, "--methods", "builtin-fr2,builtin-fr1"])
    alone = CliRunner().invoke(app, [*words, "--methods", "builtin-fr2"])
    assert (beside.exit_code, made.exit_code, alone.exit_code) == (0, 0, 0)
    assert "not comparable" in beside.stdout
    assert made.stdout == again.stdout
    kinds = [row["kind"] for row in csv.DictReader(io.StringIO(made.stdout))]
    assert kinds.count("measured") == 2
    assert CliRunner().invoke(app, ["papers", "table", "5", "run", "--methods", "builtin-fr2"]).exit_code == 1
    for unused in (["--data", "rows.jsonl"], ["--relations", "lexical"], ["--limit", "1"]):
        assert "are for --methods" in str(CliRunner().invoke(app, ["papers", "table", "5", "run", *unused]).exception)
