"""Figures of real runs: which files, what a run lacks, and the command."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from mills import ROWS
from PIL import Image
from run_builders import assessment
from typer.testing import CliRunner

from localfact.api.evaluate import evaluate
from localfact.api.passage_posteriors import MOST_GRAPHS
from localfact.api.plot import (
    FIGURES,
    PlottedRun,
    apart_by_source,
    default_folder,
    graphs_left_out,
    names_of,
    plot,
    read_plotted_runs,
)
from localfact.cli.main import app
from localfact.errors import InputError, MissingError, WriteError
from localfact.methods.options import Options
from localfact.report.plots import COLOURS, MOST_LINES
from localfact.runs.assessments import ASSESSMENTS_FILE
from localfact.runs.record import RunRecord, RunSettings
from localfact.runs.run_folder import RUN_FILE

OPTIONS = Options(relations="lexical", embedder="none")
SETTINGS = RunSettings.read({"method": "builtin-fr2", "extraction": {}, "evidence": {}, "assessment": {}})
RECORD = RunRecord(Path("runs/x"), {}, SETTINGS)
HOSTILE = "<script>$x_1$ -- &amp;\n\x1b[31m"


def unlabelled(row: dict) -> dict:
    claims = [{"id": claim["id"], "text": claim["text"]} for claim in row["claims"]]
    return {**row, "claims": claims}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """With labels by two methods, one of them in a folder of a hostile name; without; and by a method without a graph."""
    folder = tmp_path_factory.mktemp("runs")
    found = {"labelled": folder / "labelled", "hostile": folder / HOSTILE, "bare": folder / "bare"}
    evaluate(ROWS, method="builtin-fr2", options=OPTIONS, out=found["labelled"])
    evaluate(ROWS, method="builtin-fr1", options=OPTIONS, out=found["hostile"])
    evaluate([unlabelled(row) for row in ROWS], method="builtin-fr2", options=OPTIONS, out=found["bare"])
    return found


@pytest.mark.slow
def test_every_figure_is_a_picture_and_a_drawing_and_the_same_again(runs: dict[str, Path], tmp_path: Path) -> None:
    one, again = (plot(list(runs.values()), out=tmp_path / name) for name in ("one", "again"))
    assert [Path(file).name for file in one.figures] == [f"{name}.{suffix}" for name in FIGURES for suffix in ("png", "svg")]
    for first, second in zip(one.figures, again.figures, strict=True):
        assert Path(first).read_bytes() == Path(second).read_bytes()
        if first.endswith(".png"):
            with Image.open(first) as image:
                assert len(image.convert("RGB").getcolors(1_000_000) or ()) > 10
        else:
            tags = {str(element.tag).rpartition("}")[2] for element in ElementTree.parse(first).iter()}
            assert not tags & {"script", "text", "image"}


@pytest.mark.slow
def test_a_run_without_labels_is_in_the_other_figures_and_a_sentence_says_why(runs: dict[str, Path], tmp_path: Path) -> None:
    made = plot([runs["labelled"], runs["bare"]], out=tmp_path, only=("roc", "reliability"))
    assert [Path(file).name for file in made.figures] == ["reliability.png", "reliability.svg", "roc.png", "roc.svg"]
    assert made.notes == (f"{runs['bare']} has no annotated claims: not in reliability, roc.",)
    svg = (tmp_path / "roc.svg").read_text(encoding="utf-8")
    assert "labelled" in svg
    assert "bare" not in svg


@pytest.mark.slow
def test_both_runs_are_drawn_with_their_own_numbers(runs: dict[str, Path], tmp_path: Path) -> None:
    plot([runs["labelled"], runs["hostile"]], out=tmp_path, only=["reliability"])
    svg = (tmp_path / "reliability.svg").read_text(encoding="utf-8")
    assert svg.count("; 10 bins of 1-2  ") == 2
    assert "calibration error; claims in each bin" in svg


@pytest.mark.slow
def test_a_run_looks_the_same_in_a_figure_that_another_run_is_not_in(runs: dict[str, Path], tmp_path: Path) -> None:
    plot([runs["bare"], runs["labelled"]], out=tmp_path, only=["roc", "reliability", "risk-coverage"])
    for name in ("roc", "reliability", "risk-coverage"):
        svg = (tmp_path / f"{name}.svg").read_text(encoding="utf-8").lower()
        assert COLOURS[1].lower() in svg
        assert COLOURS[0].lower() not in svg


@pytest.mark.slow
def test_where_nothing_can_be_drawn_nothing_is_and_the_error_says_what_it_takes(runs: dict[str, Path], tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"Nothing can be drawn. .*has no annotated claims: not in roc.*come with the data"):
        plot([runs["bare"]], out=tmp_path / "none", only=["roc"])
    assert not (tmp_path / "none").exists()


@pytest.mark.slow
def test_a_method_without_a_graph_has_no_posteriors_of_passages(runs: dict[str, Path], tmp_path: Path) -> None:
    settings = (runs["labelled"] / RUN_FILE).read_text(encoding="utf-8").replace("tables: balanced", "judge: safe")
    (tmp_path / RUN_FILE).write_text(settings, encoding="utf-8")
    (tmp_path / ASSESSMENTS_FILE).write_bytes((runs["labelled"] / ASSESSMENTS_FILE).read_bytes())
    made = plot([tmp_path], out=tmp_path / "plots", only=["passage-posterior", "precision-by-length"])
    assert made.notes == (f"{tmp_path} has no factor graphs: not in passage-posterior.",)


def test_a_run_that_has_done_nothing_yet_is_told(runs: dict[str, Path], tmp_path: Path) -> None:
    (tmp_path / RUN_FILE).write_bytes((runs["labelled"] / RUN_FILE).read_bytes())
    (tmp_path / ASSESSMENTS_FILE).touch()
    with pytest.raises(InputError, match="no responses with a score: not in scores"):
        plot([tmp_path], out=tmp_path / "plots")


def test_what_is_no_run_and_what_is_no_figure_are_refused(runs: dict[str, Path], tmp_path: Path) -> None:
    with pytest.raises(MissingError, match="not a run folder"):
        plot([runs["labelled"], tmp_path])
    with pytest.raises(InputError, match=r"no figure 'pie'. There are: reliability, risk-coverage, roc, "):
        plot([runs["labelled"]], only=["roc", "pie"])
    with pytest.raises(InputError, match="from 1 to 28 runs"):
        plot([])
    with pytest.raises(InputError, match="here are 29"):
        plot([tmp_path / str(number) for number in range(MOST_LINES + 1)])


def test_a_folder_that_cannot_be_written_is_told(runs: dict[str, Path], tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(WriteError, match="cannot be written"):
        plot([runs["labelled"]], out=tmp_path / "file", only=["precision-by-length"])


def test_a_run_named_twice_is_drawn_once(runs: dict[str, Path]) -> None:
    again = runs["labelled"].parent / "bare" / ".." / "labelled"
    assert [run.name for run in read_plotted_runs([runs["labelled"], again, runs["bare"]])] == ["labelled", "bare"]


def test_runs_are_named_by_as_many_folders_as_it_takes_to_tell_them_apart() -> None:
    assert names_of([Path("/a/runs/x"), Path("/a/runs/y")]) == ["x", "y"]
    assert names_of([Path("/a/runs/x"), Path("/b/runs/x"), Path("/b/runs/y")]) == ["a/runs/x", "b/runs/x", "b/runs/y"]


def test_the_responses_of_each_source_are_a_line_of_their_own() -> None:
    rows = [assessment("S", source="bio"), assessment("C", index=1, source="qa"), assessment("S", index=2)]
    bio, qa, none = apart_by_source([PlottedRun("x", RECORD, rows)])
    assert [one.name for one in (bio, qa, none)] == ["x, bio", "x, qa", "x, no source"]
    assert [one.index for one in qa.assessments] == [1]
    alike = apart_by_source(
        [PlottedRun(run, RECORD, [assessment("S", source=of)]) for run, of in (("x, a", "b"), ("x", "a, b"))]
    )
    assert [one.name for one in alike] == ["x, a, b", "x, a, b (source)"]
    many = [assessment("S", source=str(at)) for at in range(MOST_LINES + 1)]
    with pytest.raises(InputError, match="name fewer runs"):
        apart_by_source([PlottedRun("x", RECORD, many)])


@pytest.mark.slow
def test_figures_by_source_say_what_each_source_lacks(tmp_path: Path) -> None:
    rows = [{**row, "source": "bio"} for row in ROWS] + [{**unlabelled(ROWS[0]), "source": "qa"}]
    evaluate(rows, method="builtin-fr2", options=OPTIONS, out=tmp_path / "run")
    found = plot([tmp_path / "run"], out=tmp_path / "out", only=["reliability"], by_source=True)
    assert len(found.figures) == 2
    assert found.notes == ("run, qa has no annotated claims: not in reliability.",)


def test_the_default_folder_is_beside_the_runs_and_named_by_them() -> None:
    assert default_folder(["4f1c"]) == Path("runs/plots-4f1c")
    assert default_folder(["a/4f1c", "b/4f1c"]) == Path("runs/plots-a-4f1c-b-4f1c")
    long, other = default_folder(["long"] * 100), default_folder([*["long"] * 99, "other"])
    assert long != other  # a name cut off would be the same
    assert max(len(long.name), len(other.name)) <= 100


def test_a_run_of_which_some_graphs_are_left_out_is_told() -> None:
    run = PlottedRun("x", RECORD, [assessment("S")] * (MOST_GRAPHS + 700))
    assert graphs_left_out([run], ["roc"]) == []
    assert graphs_left_out([run], []) == ["runs/x has 1,200 responses: 500 evenly spread ones are in passage-posterior."]


@pytest.mark.slow
def test_the_command_lists_the_files_and_notes_what_is_lacking(runs: dict[str, Path], tmp_path: Path) -> None:
    words = ["plot", str(runs["labelled"]), str(runs["bare"]), "--out", str(tmp_path), "--only", "roc"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines() == [f"{tmp_path}/roc.png", f"{tmp_path}/roc.svg"]
    assert "has no annotated claims: not in roc." in " ".join(done.stderr.split())
    printed = json.loads(CliRunner().invoke(app, [*words, "--json"]).stdout)
    assert printed["figures"] == [f"{tmp_path}/roc.png", f"{tmp_path}/roc.svg"]
    assert printed["notes"] == [f"{runs['bare']} has no annotated claims: not in roc."]


@pytest.mark.slow
def test_the_command_takes_the_latest_run_where_none_is_named(
    runs: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs/latest").symlink_to(runs["labelled"], target_is_directory=True)
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["plot", "--only", "passage-posterior"])
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines()[0] == "runs/plots-labelled/passage-posterior.png"
    monkeypatch.chdir(tmp_path.parent)
    assert isinstance(CliRunner().invoke(app, ["plot"]).exception, MissingError)


def test_the_help_names_every_figure() -> None:
    shown = CliRunner().invoke(app, ["plot", "--help"]).stdout
    assert all(name in shown for name in FIGURES)
