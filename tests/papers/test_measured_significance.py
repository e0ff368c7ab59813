"""P-values of runs beside a printed table of p-values."""

import pytest
from run_builders import run_of

from localfact.errors import InputError
from localfact.papers.comparison import record_run
from localfact.papers.measured_significance import significance_table
from localfact.papers.measured_table import MeasuredRun
from localfact.papers.printed_tables import PrintedTable, printed_table
from localfact.report.run_figures import RunFacts
from localfact.report.summary import summarise
from localfact.report.table_data import Number, Table
from localfact.scoring import KPolicy

BETTER = ("SSSC", "SSSS", "SSCS", "SSSS", "SCSS")
WORSE = ("SCCC", "CCSC", "SSCC", "CCCC", "SCSC")


def measured(*verdicts: str, method: str, model: str = "llama-3.1-70b", gold: str = "") -> MeasuredRun:
    run = run_of(*verdicts, gold=gold)
    summary = summarise(run, RunFacts(method=method), run=f"runs/{method}")
    return MeasuredRun(method, method, model, summary, run, record_run({"method": method, "model": {"model": model}}, run))


def made(printed: PrintedTable, *runs: MeasuredRun) -> Table:
    return significance_table(printed, runs, KPolicy())


def cells(table: Table, group: int, row: int) -> dict[str, object]:
    names = [column.name for column in table.columns]
    return {
        name: cell.value if isinstance(cell, Number) else cell
        for name, cell in zip(names, table.groups[group].rows[row], strict=True)
    }


@pytest.mark.slow
def test_the_first_run_is_tested_against_each_other_with_the_papers_row_of_the_same_assessors_below() -> None:
    from scipy.stats import ttest_ind

    first = measured(*BETTER, method="factreasoner-fr2")
    table = made(printed_table("22"), first, measured(*WORSE, method="factscore"), measured(*WORSE, method="veriscore"))
    assert [group.heading for group in table.groups[:2]] == [
        "factreasoner-fr2 against factscore, measured",
        "factreasoner-fr2 against veriscore, measured",
    ]
    unpaired, paired, paper = (cells(table, 0, row) for row in range(3))
    shares = [[verdicts.count("S") / 4 for verdicts in run] for run in (BETTER, WORSE)]
    welch = ttest_ind(*shares, equal_var=False, alternative="greater").pvalue
    assert (unpaired["kind"], unpaired["Pr"]) == ("measured", pytest.approx(welch))
    assert (paired["kind"], paired["Pr"]) == ("paired", pytest.approx(1 / 32))  # all five differ one way, of 2^5 signs
    assert (paper["row"], paper["llama-3.1-70b-instruct Pr"], paper["Pr"]) == ("FR2 vs FS", 1.0, "")
    assert cells(table, 1, 2)["row"] == "FR2 vs VS"
    assert unpaired["F1@K"] < 0.05
    assert {unpaired["kind"], paired["kind"]} <= set(table.facts), "which test a row is of is said above the table"


@pytest.mark.slow
def test_a_smaller_error_is_better() -> None:
    gold = "ssss"
    first, second = (
        measured(*run, method=method, gold=gold) for run, method in ((BETTER, "factreasoner-fr2"), (WORSE, "factverify"))
    )
    ours, turned = (cells(made(printed_table("4"), *runs), 0, 1) for runs in ((first, second), (second, first)))
    for score in ("Pr", "F1", "MAE"):
        assert ours[score] < 0.05 < turned[score]


@pytest.mark.slow
def test_a_comparison_that_the_paper_does_not_have_stands_alone_and_its_fr_is_of_any_version() -> None:
    runs = [measured(*BETTER, method="factreasoner-fr3"), measured(*WORSE, method="factscore"), measured(*WORSE, method="safe")]
    table = made(printed_table("23"), *runs)
    assert [len(group.rows) for group in table.groups[:2]] == [3, 2]
    assert cells(table, 0, 2)["row"] == "FR vs FS"


def test_scores_that_the_runs_lack_are_empty() -> None:
    table = made(printed_table("4"), measured(*BETTER, method="factreasoner-fr2"), measured(*WORSE, method="factscore"))
    assert cells(table, 0, 0)["MAE"] == ""


def test_a_run_alone_or_runs_over_others_responses_are_errors() -> None:
    first = measured(*BETTER, method="factreasoner-fr2")
    with pytest.raises(InputError, match="compares two runs"):
        made(printed_table("4"), first)
    with pytest.raises(InputError, match="not over the same responses"):
        made(printed_table("4"), first, measured(*WORSE[:2], method="factscore"))


def test_without_runs_the_table_is_as_printed() -> None:
    table = made(printed_table("4"))
    assert [column.name for column in table.columns][2] == "llama-3.1-70b-instruct Pr"
    assert [group.heading for group in table.groups] == ["as printed"]


def test_a_model_under_its_full_name_is_the_papers() -> None:
    runs = [measured(*BETTER, method=method, model="llama-3.1-70b-instruct") for method in ("factreasoner-fr2", "factscore")]
    assert not any("judged by" in note for note in made(printed_table("22"), *runs).notes)
