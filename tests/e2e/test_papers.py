"""`localfact papers`: Table 10 on the sample and on a file made from labels, in every format, stopped, refused."""

import csv
import io
import json
import shutil
import signal
import subprocess
from pathlib import Path
from unittest.mock import patch

import pytest
from commands import CommandLine, QuickCommandLine
from engines import NEEDS_VLLM, Engines

from localfact.papers.table10 import COLUMNS

SAMPLE = ("papers", "table10", "--relations", "lexical", "--embedder", "none", "--limit", "2", "--out", "rows")
CORPUS = Path(__file__).parents[2] / "index/sample"
VERSIONS = ["FR1", "FR2", "FR3"]


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> subprocess.CompletedProcess[str]:
    """The command that made the table once, with its folder's path as its only argument."""
    folder = tmp_path_factory.mktemp("table")
    done = QuickCommandLine(folder)(*SAMPLE)
    assert done.returncode == 0, done.stderr
    return subprocess.CompletedProcess([folder], done.returncode, done.stdout, done.stderr)


@pytest.fixture
def tabled(first: subprocess.CompletedProcess[str], localfact: CommandLine) -> CommandLine:
    """The command line beside a copy of its rows."""
    shutil.copytree(first.args[0] / "rows", localfact.folder / "rows")
    return localfact


@pytest.mark.slow
def test_the_sample_gives_three_rows_beside_the_papers_and_again_at_once(
    first: subprocess.CompletedProcess[str], tabled: CommandLine, tmp_path: Path
) -> None:
    done = first
    ours = [line.split()[:2] for line in done.stdout.splitlines() if " measured " in line]
    assert ours == [[version, "measured"] for version in VERSIONS]
    for said in ("K of F1@K: median=", "tables: paper", "solver: auto", "sample-responses.jsonl", "Not comparable"):
        assert said in done.stdout
    assert [line for line in done.stderr.splitlines() if line.startswith("Row ")] == [
        f"Row {number} of 3: FR{version} with lexical" for number, version in ((1, 1), (2, 2), (3, 3))
    ]
    timings = {file: file.read_bytes() for file in tmp_path.rglob("timings.jsonl")}
    assert len(timings) == 3
    assert tabled(*SAMPLE).stdout == done.stdout
    assert {file: file.read_bytes() for file in tmp_path.rglob("timings.jsonl")} == timings


@pytest.mark.slow
def test_every_format_has_the_same_figures_as_the_run_folders(tabled: CommandLine, tmp_path: Path) -> None:
    printed = {how: tabled(*SAMPLE, "--format", how) for how in ("json", "csv", "markdown", "latex")}
    assert [done.returncode for done in printed.values()] == [0] * 4, printed["json"].stderr
    rows = [row for row in json.loads(printed["json"].stdout)["rows"] if row["cells"]["row"] == "measured"]
    read = [row for row in csv.DictReader(io.StringIO(printed["csv"].stdout)) if row["row"] == "measured"]
    for version, row, line in zip(VERSIONS, rows, read, strict=True):
        summary = json.loads((tmp_path / f"rows/lexical/{version.lower()}/summary.json").read_text())
        scores = {
            score["name"].split("(")[0]: score for score in summary["scores"] if not score["name"].startswith("Brier(claim")
        }
        for column in COLUMNS:
            expected = {name: scores[column][name] for name in ("value", "sd")}
            assert row["cells"][column] == expected
            assert (float(line[column]), float(line[f"{column} sd"])) == (expected["value"], expected["sd"])
        value = f"{scores['Pr']['value']:.2f} ±{scores['Pr']['sd']:.2f}"
        assert f"| {version} | measured |" in printed["markdown"].stdout
        assert value in printed["markdown"].stdout
        assert value.replace("±", r"\ensuremath{\pm}") in printed["latex"].stdout
    assert all(line["K of F1@K"].startswith("median=") for line in read)


@pytest.mark.slow
def test_tables_solver_and_k_are_printed_and_another_setting_in_the_folder_is_refused(localfact: CommandLine) -> None:
    options = ("--limit", "1", "--tables", "balanced", "--solver", "bp", "--recall-k", "22", "--k", "2")
    done = localfact(*SAMPLE, *options)
    assert done.returncode == 0, done.stderr
    for said in ("tables: balanced", "solver: bp", "K of F1@K: 22", "2 a claim"):
        assert said in done.stdout
    refused = localfact(*SAMPLE, *options, "--solver", "wmb")
    assert refused.returncode == 2
    assert "solver: bp -> wmb" in refused.stderr
    assert localfact(*SAMPLE, *options, "--solver", "wmb", "--force").returncode == 0


@pytest.mark.slow
@pytest.mark.parametrize("killer", [signal.SIGKILL, signal.SIGINT])
def test_a_table_that_is_stopped_in_its_second_row_goes_on_from_there(
    tabled: CommandLine, tmp_path: Path, killer: signal.Signals
) -> None:
    localfact = tabled
    whole = localfact(*SAMPLE, "--format", "json")
    (tmp_path / "rows").rename(tmp_path / "whole")
    process = localfact.start(*SAMPLE, "--format", "json")
    assert process.stderr is not None
    while not (line := process.stderr.readline()).startswith("Row 2"):
        assert line
    process.send_signal(killer)
    rest = process.stderr.read()
    assert process.wait() == (130 if killer is signal.SIGINT else -killer)
    assert ("Interrupted. 1 of 3 rows are done. What is done is in rows" in rest) == (killer is signal.SIGINT)
    first = (tmp_path / "rows/lexical/fr1/timings.jsonl").read_bytes()
    again = localfact(*SAMPLE, "--format", "json")
    assert again.returncode == 0, again.stderr
    assert again.stdout == whole.stdout
    assert (tmp_path / "rows/lexical/fr1/timings.jsonl").read_bytes() == first


@pytest.mark.slow
def test_a_row_that_stops_takes_no_finished_row_along(localfact: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "rows/lexical/fr2").mkdir(parents=True)
    (tmp_path / "rows/lexical/fr2/notes.txt").write_text("not a run")
    done = localfact(*SAMPLE, "--format", "json")
    assert done.returncode == 2
    ours = [row["cells"]["version"] for row in json.loads(done.stdout)["rows"] if row["cells"]["row"] == "measured"]
    assert ours == ["FR1"]
    assert "1 of 3 rows are done. What is done is in rows; the same command goes on from there." in done.stderr
    assert "fr2 holds other files and is not a run folder" in done.stderr
    (tmp_path / "rows/lexical/fr2/notes.txt").unlink()
    again = localfact(*SAMPLE, "--format", "json")
    assert [row["cells"]["version"] for row in json.loads(again.stdout)["rows"][:3]] == VERSIONS


@pytest.mark.slow
def test_a_language_model_without_weights_is_refused_in_one_sentence_before_anything_is_run(
    localfact: CommandLine, tmp_path: Path
) -> None:
    localfact.environment |= {"HF_HUB_CACHE": str(tmp_path / "hub"), "LOCALFACT_WEIGHTS": ""}
    done = localfact("papers", "table10", "--model", "llama-3.1-70b")
    assert (done.returncode, done.stdout) == (3, "")
    (said,) = done.stderr.strip().splitlines()
    assert said.startswith("Error: The weights of 'llama-3.1-70b' are not on this machine (looked in ")
    assert said.split("looked in ")[1].split(";")[0].endswith("models/weights/llama-3.1-70b")
    assert said.endswith("get them with: localfact models pull llama-3.1-70b")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("words", "said"), [(("--format", "html"), "no format 'html'"), (("--tables", "ours"), "--tables cannot be")]
)
def test_an_option_that_cannot_be_is_refused(localfact: CommandLine, tmp_path: Path, words: tuple[str, str], said: str) -> None:
    done = localfact(*SAMPLE, *words)
    assert done.returncode == 2
    assert said in done.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_a_file_made_from_labels_and_a_corpus_is_what_the_table_reads(localfact: CommandLine, tmp_path: Path) -> None:
    facts = [
        {"text": "Marie Curie was a physicist.", "label": "S"},
        {"text": "Marie Curie was born in Kraków.", "label": "NS"},
        {"text": "That is so.", "label": "IR"},
    ]
    rows = [
        {"input": "Who?", "output": "Marie Curie ...", "topic": "Marie Curie", "annotations": [{"human-atomic-facts": facts}]},
        {"input": "Who?", "output": "I do not know.", "topic": "Nobody", "annotations": None},
    ]
    (tmp_path / "labels.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    options = ("--labels", "labels.jsonl", "--corpus", CORPUS, "--k", "3", "--embedder", "none", "--out", "bios.jsonl")
    made = localfact("papers", "build", "biographies", *options, "--json")
    assert made.returncode == 0, made.stderr
    counts = json.loads(made.stdout)
    assert (counts["rows"], counts["written"], counts["irrelevant"], counts["contexts"]) == (2, 1, 1, 6)
    assert counts["left_out"] == {"no annotation: the model abstained": 1}
    done = localfact(
        *("papers", "table10", "--data", "bios.jsonl", "--relations", "lexical", "--embedder", "none", "--format", "json")
    )
    assert done.returncode == 0, done.stderr
    table = json.loads(done.stdout)
    assert table["facts"]["claims"] == "given for 1 responses (2)"
    assert table["facts"]["passages"] == "given for 1 responses"
    ours = [row["cells"] for row in table["rows"] if row["cells"]["row"] == "measured"]
    assert [row["#S"]["value"] + row["#C"]["value"] + row["#U"]["value"] for row in ours] == [2, 2, 2]


@pytest.mark.slow
def test_a_response_that_cannot_be_used_is_told_and_the_exit_code_says_so(localfact: CommandLine, tmp_path: Path) -> None:
    rows = [{"id": "good", "response": "Marie Curie was born in Warsaw."}, {"id": "empty"}]
    (tmp_path / "data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    done = localfact(
        *("papers", "table10", "--data", "data.jsonl", "--corpus", CORPUS, "--relations", "lexical", "--embedder", "none")
    )
    assert done.returncode == 1, done.stderr
    assert "1 responses: failed" in done.stdout
    assert "extracted (rules) for 1" in done.stdout


@NEEDS_VLLM
def test_each_version_asks_a_language_model_for_what_is_new_and_kept_pairs_start_no_engine(
    localfact: CommandLine, random_llama: Path, tmp_path: Path
) -> None:
    words = ("papers", "table10", "--model", random_llama, "--relations", "llm", "--min-mass", "0", "--embedder", "none")
    words = (*words, "--limit", "1", "--out", "rows")
    done = localfact(*words, "--format", "json")
    assert done.returncode == 0, done.stderr
    calls = {}
    for version in VERSIONS:
        row = json.loads((tmp_path / f"rows/llm/{version.lower()}/assessments.jsonl").read_text())
        calls[version] = row["usage"].get("relate", {}).get("calls", 0)
    # Its claims find the same three pages: FR2 has no pair that FR1 has not, FR3 those of the pages.
    assert calls == {"FR1": calls["FR1"], "FR2": 0, "FR3": 3 * 2}
    assert calls["FR1"] > 0
    rows = json.loads(done.stdout)["rows"]
    assert rows[0]["group"].startswith("random-llama@")
    assert [row["cells"]["row"] for row in rows[:3]] == [
        "measured",
        "paper",
        "difference (not comparable: data, model, precision, solver, prompts, p*)",
    ]
    for version in ("fr2", "fr1"):
        shutil.rmtree(tmp_path / "rows/llm" / version)
    with patch.object(Engines, "lent", side_effect=AssertionError("no engine can be started")):
        assert localfact(*words, "--format", "json").stdout == done.stdout
    hidden = random_llama.rename(tmp_path / "hidden")
    try:
        gone = localfact(*words, "--format", "json")
    finally:
        hidden.rename(random_llama)
    assert gone.returncode == 3, gone.stdout
