"""Runs side by side: two real runs of one claim set, and what is refused."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from mills import ROWS
from typer.testing import CliRunner

from localfact.api.compare import compare_runs
from localfact.api.evaluate import evaluate
from localfact.api.report import write_comparison
from localfact.cli.main import app
from localfact.errors import InputError, MissingError
from localfact.methods.options import Options
from localfact.report.comparison import RunsCompared, claims_table, differences_table, policies, scores_table, short
from localfact.report.formats import csv_text, markdown

OPTIONS = Options(relations="lexical", embedder="none")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """FR2, and FR1 with passages that are silent of half of the claims."""
    folder = tmp_path_factory.mktemp("runs")
    evaluate(ROWS, method="builtin-fr2", options=OPTIONS, out=folder / "one")
    silent = [{**row, "passages": [{"text": "The baker of Torsk sells bread."}]} for row in ROWS[:3]]
    evaluate([*silent, *ROWS[3:]], method="builtin-fr1", options=OPTIONS, out=folder / "other")
    return [folder / "one", folder / "other"]


@pytest.fixture(scope="module")
def compared(runs: list[Path]) -> RunsCompared:
    return compare_runs(runs)


@pytest.mark.slow
def test_every_score_is_tested_and_adjusted_together(compared: RunsCompared) -> None:
    names = [one.comparison.score.partition("(")[0] for one in compared.comparisons]
    assert names == ["Pr", "F1@K", "F1@K'", "F1", "MAE", "Brier", "claims right"]
    for one in compared.comparisons:
        assert one.comparison.found is not None
        assert one.p_adjusted is not None
        assert one.p_adjusted >= (one.comparison.found.p_permutation or 0)
    assert [run.name for run in compared.runs] == ["builtin-fr2", "builtin-fr1"]


@pytest.mark.slow
def test_the_claims_that_differ_have_both_verdicts(compared: RunsCompared) -> None:
    assert compared.claims_shared == 12
    assert len(compared.claims) == 6
    for claim in compared.claims:
        first, second = claim.verdicts.values()
        assert (first == "supported") != (second == "supported")
    spreads = [claim.spread for claim in compared.claims]
    assert spreads == sorted(spreads, reverse=True)


@pytest.mark.slow
def test_a_run_does_not_differ_from_itself(runs: list[Path]) -> None:
    same = compare_runs([runs[0], runs[0]], names=["a", "b"])
    assert same.claims == ()
    assert {one.comparison.found.difference for one in same.comparisons if one.comparison.found} == {0.0}
    assert {one.p_adjusted for one in same.comparisons} == {1.0}


@pytest.mark.slow
def test_two_runs_of_one_method_are_told_apart_by_their_folders(runs: list[Path]) -> None:
    assert [one.name for one in compare_runs([runs[0], runs[0]]).runs] == ["1. builtin-fr2 (one)", "2. builtin-fr2 (one)"]
    assert compare_runs(runs, names=["a", "b"]).comparisons[0].run == "b"
    ours = scores_table(compare_runs(runs, names=["score", "b"]))  # a run.yaml may name any method
    assert [column.name for column in ours.columns] == ["score", "score (run)", "b"]


@pytest.mark.slow
def test_the_tables_hold_what_was_found(compared: RunsCompared) -> None:
    assert "| Pr |" in markdown(scores_table(compared))
    assert "median=2" in markdown(differences_table(compared))
    rows = csv_text(differences_table(compared)).splitlines()
    assert rows[0].split(",")[:3] == ["runs", "score", "n"]
    assert len(rows) == 1 + len(compared.comparisons)
    claims = csv_text(claims_table(compared)).splitlines()
    assert len(claims) == 1 + 2 * len(compared.claims)
    assert csv_text(claims_table(compared, 0)).splitlines()[1:] == []


def test_names_lose_their_parameters_which_are_told_once() -> None:
    assert [short(name) for name in ("F1@K(median=17)", "F1(gold)", "MAE(Pr)")] == ["F1@K", "F1(gold)", "MAE(Pr)"]
    assert policies(["F1@K(median=17)", "Pr"]) == {"F1@K": "median=17"}


@pytest.mark.slow
def test_what_cannot_be_compared_is_refused(runs: list[Path], tmp_path: Path) -> None:
    with pytest.raises(InputError, match="two runs or more"):
        compare_runs(runs[:1])
    with pytest.raises(MissingError, match="not a run folder"):
        compare_runs([runs[0], tmp_path])
    evaluate(ROWS[:3], method="builtin-fr2", options=OPTIONS, out=tmp_path / "fewer")
    with pytest.raises(InputError, match="not over the same responses"):
        compare_runs([runs[0], tmp_path / "fewer"])


@pytest.mark.slow
def test_all_runs_are_measured_by_one_k(runs: list[Path], tmp_path: Path) -> None:
    fewer = [{**row, "claims": [{"text": row["claims"][0]["text"]}]} for row in ROWS]
    evaluate(fewer, method="builtin-fr3", options=OPTIONS, out=tmp_path / "fewer")
    three = compare_runs([*runs, tmp_path / "fewer"])
    names = [{score.name for score in run.summary.scores if score.name.startswith("F1@K(")} for run in three.runs]
    assert names == [{"F1@K(median=2)"}] * 3
    assert len({score.name for run in three.runs for score in run.summary.scores if score.name.startswith("F1@K'")}) == 1
    assert markdown(scores_table(three)).count("| F1@K |") == 1


@pytest.mark.parametrize(
    "words", [["--limit", "1"], ["--k", "3"], ["--relations", "nope"], ["--force"], ["--data", "nope.jsonl"]]
)
def test_what_is_for_methods_is_refused_beside_runs(words: list[str], runs: list[Path]) -> None:
    done = CliRunner().invoke(app, ["compare", *map(str, runs), *words])
    assert isinstance(done.exception, InputError)


@pytest.mark.slow
def test_the_command_prints_tables_or_json(runs: list[Path]) -> None:
    folders = [str(run) for run in runs]
    shown = CliRunner().invoke(app, ["compare", *folders, "--one-sided"])
    assert "whether the first is better" in shown.stdout
    printed = CliRunner().invoke(app, ["compare", *folders, "--json"])
    assert RunsCompared.model_validate(json.loads(printed.stdout)).claims_shared == 12
    claims = CliRunner().invoke(app, ["compare", *folders, "--json", "--table", "claims"])
    assert json.loads(claims.stdout)["title"].startswith("Claims on which")
    table = CliRunner().invoke(app, ["compare", *folders, "--format", "csv"])
    assert table.stdout.startswith("runs,score,n,difference,")


def test_the_page_has_every_differing_claim_with_all_verdicts_and_the_evidence(
    runs: list[Path], compared: RunsCompared, tmp_path: Path
) -> None:
    page = write_comparison(compared, tmp_path / "compared.html").read_text(encoding="utf-8")
    assert page.count('<article class="differs">') == len(compared.claims) > 0
    for claim in compared.claims:
        assert claim.text in page
    assert '<mark class="decides">Mill 11 has two wheels.</mark>' in page
    assert 'href="https://a.example"' in page
    # A passage has the colour of what it says, whatever the verdict is.
    assert set(re.findall(r'class="passage r-(\w+)">\n.*: (speaks .+) it with', page)) == {("entailment", "speaks for")}
    assert "p Holm" in page
    assert '<th scope="row">method</th><td class="value">builtin-fr2</td><td class="value">builtin-fr1</td>' in page


@pytest.mark.slow
def test_the_command_writes_the_page_and_says_where(runs: list[Path], tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["compare", *map(str, runs), "--html", str(tmp_path / "c.html")])
    assert done.exit_code == 0
    assert "c.html" in done.stderr
    assert (tmp_path / "c.html").read_text(encoding="utf-8").startswith("<!doctype html>")


@pytest.mark.slow
@pytest.mark.parametrize("with_ids", [True, False])
def test_runs_over_the_same_texts_in_another_order_are_compared_text_by_text(tmp_path: Path, with_ids: bool) -> None:
    rows = [{name: value for name, value in row.items() if with_ids or name not in ("id", "prompt")} for row in ROWS]
    evaluate(rows, method="builtin-fr2", options=OPTIONS, out=tmp_path / "one")
    silent = [{**row, "passages": [{"text": "The baker of Torsk sells bread."}]} for row in rows[:3]]
    evaluate([*rows[3:], *silent], method="builtin-fr1", options=OPTIONS, out=tmp_path / "other")
    compared = compare_runs([tmp_path / "other", tmp_path / "one"])
    assert compared.runs[1].paired_by == ({"id": 6} if with_ids else {"prompt and text": 6})
    assert f"responses paired by: {'id' if with_ids else 'prompt and text'} (6)" in markdown(differences_table(compared))
    assert {claim.text.split()[1] for claim in compared.claims} == {"11", "12", "13"}
    page = write_comparison(compared, tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Mill 11 has two wheels." in page  # evidence of the second run, under the first one's id


@pytest.mark.slow
def test_counted_rows_with_other_texts_are_refused_and_two_answers_to_one_prompt_are_a_pair(tmp_path: Path) -> None:
    def run(name: str, *rows: dict[str, Any]) -> Path:
        rows = tuple({**row, "passages": [{"text": "A mill opened."}]} for row in rows)
        evaluate(list(rows), method="builtin-fr2", options=OPTIONS, out=tmp_path / name)
        return tmp_path / name

    bare = [run("a", {"response": "A mill opened."}), run("b", {"response": "A pond froze."})]
    with pytest.raises(InputError, match="of 1 and 1, 0 belong together for certain"):
        compare_runs(bare)
    prompted = [
        run("c", {"prompt": "A mill?", "response": "A mill opened."}),
        run("d", {"prompt": "A mill?", "response": "No."}),
    ]
    assert compare_runs(prompted).runs[1].paired_by == {"prompt": 1}
