"""The report of a run folder: made when the run ends, again on demand, of an unfinished run too."""

import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from localfact.api import report as module
from localfact.api.evaluate import evaluate
from localfact.api.report import decide_by, how_decided, limits_of, read_corrections, write_report
from localfact.assess.posteriors import Rules
from localfact.cli.main import app
from localfact.errors import InputError, MissingError
from localfact.methods.options import Options
from localfact.records import Claim
from localfact.runs.assessments import ASSESSMENTS_FILE
from localfact.runs.record import AssessmentRead
from localfact.runs.row_file import RUN
from localfact.runs.run_folder import CORRECTIONS_FILE, OWN_FILES, SUMMARY_FILE, TIMINGS_FILE
from localfact.runtime.files import file_digest
from localfact.vocabulary import VerdictLabel

ROWS = [
    {
        "id": f"mill-{number}",
        "response": f"Mill {number} opened in 19{number}. Mill {number} has {number} wheels.",
        "passages": [
            {"text": f"Mill {number} opened in 19{number}. Mill {number} has two wheels.", "link": "https://a.example"}
        ],
    }
    for number in range(11, 14)
]
OPTIONS = Options(relations="lexical", embedder="none")


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run, as it ended."""
    folder = tmp_path_factory.mktemp("finished") / "run"
    evaluate(ROWS, options=OPTIONS, out=folder)
    return folder


@pytest.fixture
def run(finished: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return shutil.copytree(finished, tmp_path / "run")


def block(page: str, name: str) -> dict:
    """A data block of a page."""
    return json.loads(page.split(f'id="{name}">')[1].split("</script>")[0])


def test_a_finished_run_has_its_report_and_only_files_of_its_own(run: Path) -> None:
    assert "report.html" in {file.name for file in run.iterdir()} <= OWN_FILES
    page = (run / "report.html").read_text(encoding="utf-8")
    assert [one["id"] for one in block(page, "index")["responses"]] == ["mill-11", "mill-12", "mill-13"]
    assert block(page, "response-0")["seconds"]


@pytest.mark.slow
def test_the_report_of_the_same_run_is_the_same_again(run: Path) -> None:
    before = (run / "report.html").read_bytes()
    assert write_report(run).read_bytes() == before


def test_a_run_that_has_not_ended_has_a_report_of_what_is_done(run: Path) -> None:
    lines = (run / ASSESSMENTS_FILE).read_bytes().splitlines(keepends=True)
    (run / ASSESSMENTS_FILE).write_bytes(lines[0])
    (run / SUMMARY_FILE).unlink()
    page = write_report(run).read_text(encoding="utf-8")
    assert len(block(page, "index")["responses"]) == 1


@pytest.mark.parametrize(
    "line", ["", "{}", "[]", '{"index": "x", "seconds": {}}', '{"index": 0, "seconds": {"a": "b"}}', "[" * 10_000]
)
def test_times_that_cannot_be_read_are_left_out(run: Path, line: str) -> None:
    (run / TIMINGS_FILE).write_text(f"{line}\n", encoding="utf-8")
    assert block(write_report(run).read_text(encoding="utf-8"), "response-0")["seconds"] == {}


def test_a_damaged_cache_of_relations_costs_the_report_no_more_than_their_distributions(run: Path) -> None:
    (run / "relations.sqlite").write_bytes(b"no database at all, but long enough to be looked at" * 20)
    page = write_report(run).read_text(encoding="utf-8")
    assert block(page, "response-0")["claims"][0]["passages"][0]["distribution"] is None


def corrected(run: Path, made: str, row: str) -> None:
    """A file of corrections of the run, of one row, and what stands beside it; DIGEST is that of the run."""
    (run / CORRECTIONS_FILE).write_text(f"{row}\n")
    beside = made.replace("DIGEST", file_digest(run / ASSESSMENTS_FILE))
    (run / f"{CORRECTIONS_FILE}{RUN}").write_text(beside)


MADE = "{settings: {run: DIGEST}, versions: {}}"
LEFT = '{"id": "mill-11", "edits": [], "left": [{"claim": "c1", "text": "It has wheels.", "reason": "Nothing is known."}]}'


def test_what_corrections_left_is_in_the_report(run: Path) -> None:
    corrected(run, MADE, LEFT)
    assert read_corrections(run, {"mill-11", "mill-12"})["mill-11"]["left"][0]["reason"] == "Nothing is known."
    assert "Nothing is known." in write_report(run).read_text(encoding="utf-8")
    assert not read_corrections(run, {"mill-12"})
    corrected(run, MADE.replace("DIGEST", "another run"), LEFT)
    assert "Nothing is known." not in write_report(run).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("made", "row"),
    [
        ("null", LEFT),
        ("{}", LEFT),
        ("{settings: {}, versions: {}}", LEFT),
        ("{settings: [", LEFT),
        (MADE, "[]"),
        (MADE, '{"id": "mill-11"'),
        (MADE, '{"id": "mill-11", "left": []}'),
        (MADE, '{"id": "mill-11", "edits": [{"old": "1911"}], "left": []}'),
    ],
)
def test_damaged_corrections_cost_the_report_no_more_than_themselves(run: Path, made: str, row: str) -> None:
    corrected(run, made, row)
    assert not read_corrections(run, {"mill-11"})
    assert [one["id"] for one in block(write_report(run).read_text(encoding="utf-8"), "index")["responses"]]


def test_the_command_names_the_file_and_takes_another(run: Path, tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["report", str(run), "--out", str(tmp_path / "mills.html"), "--json"])
    assert done.exit_code == 0
    said = json.loads(done.stdout)
    assert said == {"report": str(tmp_path / "mills.html"), "bytes": (tmp_path / "mills.html").stat().st_size}


def test_what_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MissingError, match="is not a run folder"):
        write_report(tmp_path)


@pytest.mark.parametrize(
    ("rules", "without_it"), [("own", VerdictLabel.NOT_ENOUGH_EVIDENCE), ("published", VerdictLabel.UNDECIDED)]
)
def test_what_a_verdict_would_be_goes_by_the_rules_of_the_run(rules: Rules, without_it: VerdictLabel) -> None:
    assert decide_by(rules, lambda claim: 0.5)(Claim(id="c1", text="It is."), 0.5, []) is without_it


def test_a_large_run_is_shown_in_parts_with_the_sums_of_all(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SHOWN", 2)
    first = write_report(run).read_text(encoding="utf-8")
    assert [one["id"] for one in block(first, "index")["responses"]] == ["mill-11", "mill-12"]
    assert "This file has 2 of 3 texts, from number 1 on" in first
    assert "--start 3 --out FILE" in first
    assert "3 responses = 3 scored" in first
    last = write_report(run, start=3, out=tmp_path / "last.html").read_text(encoding="utf-8")
    assert [one["id"] for one in block(last, "index")["responses"]] == ["mill-13"]
    assert "--start" not in last
    with pytest.raises(InputError, match="cannot start with number 4"):
        write_report(run, start=4)


def test_readers_are_told_how_verdicts_are_reached_and_what_the_models_that_ship_are(run: Path) -> None:
    page = " ".join(write_report(run).read_text(encoding="utf-8").split())
    assert "From 0.55 on a claim is supported, up to 0.45 contradicted" in page
    assert "comes with localfact and is a demonstration" in page
    assert "Above one half a claim is supported" in how_decided(AssessmentRead(tables="paper"))
    assert "names the verdict" in how_decided(AssessmentRead())
    assert limits_of(AssessmentRead(relations="albert-vitaminc@1")) == ""


@pytest.mark.slow
def test_the_annotators_precision_stands_beside_ours_where_all_responses_are_shown(tmp_path: Path) -> None:
    rows = [{**row, "claims": [{"text": row["response"].split(". ")[0] + ".", "label": "S"}]} for row in ROWS]
    evaluate(rows, options=OPTIONS, out=tmp_path / "labelled")
    assert "precision of these responses is 1.000" in (tmp_path / "labelled/report.html").read_text(encoding="utf-8")
