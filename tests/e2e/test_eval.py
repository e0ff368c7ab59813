"""`localfact eval`: the sample, the run folder, resuming, kills, bad input. With word overlap where models do not matter."""

import json
import shutil
import signal
from pathlib import Path

import pytest
from commands import CommandLine, QuickCommandLine

RUN_FILES = {"run.yaml", "assessments.jsonl", "timings.jsonl", "summary.json"}
#: Nothing is loaded.
QUICK = ("--relations", "lexical", "--embedder", "none")
EVALUATED = ("eval", "--limit", "3", "--concurrency", "2", *QUICK, "--out", "out")


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which three responses were evaluated."""
    folder = tmp_path_factory.mktemp("evaluated")
    assert QuickCommandLine(folder)(*EVALUATED).returncode == 0
    return folder


@pytest.fixture
def evaluated(once: Path, localfact: CommandLine) -> CommandLine:
    """The command line beside a run of its own of that."""
    shutil.copytree(once / "out", localfact.folder / "out")
    return localfact


def rows(file: Path, *items: object) -> Path:
    file.write_text("".join((item if isinstance(item, str) else json.dumps(item)) + "\n" for item in items), encoding="utf-8")
    return file


@pytest.mark.slow
def test_the_sample_is_scored_and_its_run_folder_stands(localfact: CommandLine, tmp_path: Path) -> None:
    done = localfact("eval", "--limit", "1")
    assert done.returncode == 0, done.stderr
    assert "F1@K(median" in done.stdout
    assert "MAE" in done.stdout
    (run,) = (tmp_path / "runs").iterdir()
    assert {file.name for file in run.iterdir()} >= RUN_FILES
    assert len((run / "assessments.jsonl").read_text().splitlines()) == 1


@pytest.mark.slow
def test_json_is_the_summary_alone_and_its_counts_add_up(evaluated: CommandLine, tmp_path: Path) -> None:
    done = evaluated(*EVALUATED, "--json")
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    assert summary == json.loads((tmp_path / "out/summary.json").read_text())
    assert summary.keys() >= {
        "method",
        "responses",
        "responses_abstained",
        "responses_failed",
        "claims",
        "verdicts",
        "scores",
        "usage",
        "warnings",
    }
    assert sum(summary["verdicts"].values()) == summary["claims"] > 10
    assert any("BM25 alone" in warning for warning in summary["warnings"])


@pytest.mark.slow
def test_a_finished_run_is_shown_not_redone_and_another_setting_is_refused(evaluated: CommandLine, tmp_path: Path) -> None:
    timings = (tmp_path / "out/timings.jsonl").read_bytes()
    first, second = evaluated(*EVALUATED), evaluated(*EVALUATED)
    assert "builtin-fr2: 3 responses" in first.stdout
    assert second.stdout == first.stdout
    assert (tmp_path / "out/timings.jsonl").read_bytes() == timings
    refused = evaluated(*EVALUATED, "--tables", "paper")
    assert refused.returncode == 2
    assert "assessment.tables: balanced -> paper" in refused.stderr
    assert evaluated(*EVALUATED, "--tables", "paper", "--force").returncode == 0


def test_a_plan_runs_nothing(localfact: CommandLine, tmp_path: Path) -> None:
    done = localfact("eval", "--plan", "--json")
    plan = json.loads(done.stdout)
    assert (plan["responses"], plan["language_model_calls"]) == (20, 0)
    assert not (tmp_path / "runs").exists()


@pytest.mark.slow
@pytest.mark.parametrize("killer", [signal.SIGKILL, signal.SIGINT])
def test_a_run_that_is_stopped_in_the_middle_ends_with_the_same_bytes(
    localfact: CommandLine, once: Path, tmp_path: Path, killer: signal.Signals
) -> None:
    whole = (once / "out/assessments.jsonl").read_bytes()
    process = localfact.start(*EVALUATED)
    assert process.stderr is not None
    assert "responses" in process.stderr.readline()  # the first of them is on the disk
    process.send_signal(killer)
    rest = process.stderr.read()
    assert process.wait() == (130 if killer is signal.SIGINT else -killer)
    assert ("goes on from there" in rest) == (killer is signal.SIGINT)
    left = (tmp_path / "out/assessments.jsonl").read_bytes()
    assert 0 < len(left) < len(whole)
    assert localfact(*EVALUATED).returncode == 0
    assert (tmp_path / "out/assessments.jsonl").read_bytes() == whole


@pytest.mark.slow
def test_a_full_disk_is_one_sentence_and_the_run_goes_on_when_there_is_room(
    localfact: CommandLine, once: Path, tmp_path: Path
) -> None:
    # Of a slower relation model the answers are kept in a file of their own, which would be full first: the next test.
    whole = (once / "out/assessments.jsonl").read_bytes()
    full = localfact(*EVALUATED, largest_file=len(whole) // 2)
    assert full.returncode == 2
    assert "cannot be written" in full.stderr
    assert "Traceback" not in full.stderr
    kept = (tmp_path / "out/assessments.jsonl").read_bytes()
    assert kept.endswith(b"\n")
    assert 0 < len(kept) < len(whole)
    assert localfact(*EVALUATED).returncode == 0
    assert (tmp_path / "out/assessments.jsonl").read_bytes() == whole


@pytest.mark.slow
def test_a_disk_too_full_for_the_relations_is_one_sentence_too_and_the_run_goes_on(
    localfact: CommandLine, tmp_path: Path
) -> None:
    words = ("eval", "--limit", "1", "--embedder", "none")
    assert localfact(*words, "--relations-cache", "kept.sqlite", "--out", "whole").returncode == 0
    words = (*words, "--relations-cache", "relations.sqlite", "--out", "full")
    full = localfact(*words, largest_file=(tmp_path / "kept.sqlite").stat().st_size // 2)
    assert full.returncode == 2
    assert "relations.sqlite cannot be written" in full.stderr
    assert "Traceback" not in full.stderr
    assert localfact(*words).returncode == 0
    assert (tmp_path / "full/assessments.jsonl").read_bytes() == (tmp_path / "whole/assessments.jsonl").read_bytes()


@pytest.mark.slow
def test_bad_rows_are_counted_and_the_good_ones_scored(localfact: CommandLine, tmp_path: Path) -> None:
    data = rows(
        tmp_path / "data.jsonl",
        {"id": "good", "topic": "Marie Curie", "response": "Marie Curie was born in Warsaw. She was a chemist."},
        "not json",
        {"id": "none", "prompt": "no response"},
        {"id": "empty", "response": ""},
        {"id": "word", "response": "Perhaps."},
        {"id": "long", "response": "word " * 20_001},
        {"id": "script", "response": "玛丽·居里出生于华沙。她是一位化学家。"},
        {"id": "odd", "response": "Marie Curie was\u0000 born in Warsaw \ud800."},
    )
    done = localfact("eval", "--data", data, "--corpus", corpus(), *QUICK, "--json")
    assert done.returncode == 1, done.stderr
    summary = json.loads(done.stdout)
    assert summary["responses"] == 8
    assert summary["responses_failed"] == 3
    assert summary["responses_abstained"] == 1  # the Chinese one was not read
    assert summary["verdicts"]["supported"] >= 1
    assert any("--max-words" in warning for warning in summary["warnings"])


def corpus() -> Path:
    return Path(__file__).resolve().parents[2] / "index/sample"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("eval", "--data", "none.jsonl"), 2, "no file"),
        (("eval", "--method", "builtin-fr4"), 2, "Did you mean"),
        (("eval", "--recall-k", "mean"), 2, "median"),
        (("eval", "--tables", "round"), 2, "--tables"),
        (("eval", "--relations", "oracle"), 2, "lexical"),
        (("eval", "--embedder", "maxilm"), 3, "minilm"),
        (("eval", "--corpus", "nowhere"), 3, "corpus build"),
        (("eval", "--limit", "zero"), 2, "--limit"),
        (("show", "nowhere"), 3, "localfact eval"),
        (("score", "nowhere"), 3, "run folder"),
        (("check", "nowhere.txt"), 2, "There is no file nowhere.txt"),
        (("corpus", "info", "nowhere"), 3, "corpus build"),
        (("corpus", "build", "nowhere", "--out", "x"), 3, "no file or folder"),
        (("frobnicate",), 2, "frobnicate"),
    ],
)
def test_wrong_usage_is_one_sentence_and_the_designed_exit_code(
    localfact: CommandLine, words: tuple[str, ...], code: int, said: str
) -> None:
    done = localfact(*words)
    assert done.returncode == code
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_responses_without_evidence_need_a_corpus(localfact: CommandLine, tmp_path: Path) -> None:
    done = localfact("eval", "--data", rows(tmp_path / "data.jsonl", {"response": "Bach was born in Eisenach."}))
    assert done.returncode == 3
    assert "--corpus" in done.stderr


@pytest.mark.slow
def test_given_claims_and_passages_are_used_and_extract_ignores_the_claims(localfact: CommandLine, tmp_path: Path) -> None:
    row = {
        "input": "Who was she?",
        "output": "Ada Lark was a sailor. Ada Lark was born in 1822.",
        "topic": "Ada Lark",
        "atoms": [{"id": "a0", "text": "Ada Lark was a sailor.", "label": "S", "contexts": ["p"]}],
        "contexts": [{"id": "p", "title": "Ada Lark", "text": "Ada Lark was a sailor. Ada Lark was born in 1822."}],
    }
    data = rows(tmp_path / "data.jsonl", row)
    given = json.loads(localfact("eval", "--data", data, *QUICK, "--json").stdout)
    extracted = json.loads(localfact("eval", "--data", data, *QUICK, "--claims", "extract", "--json").stdout)
    assert (given["claims"], given["verdicts"]["supported"]) == (1, 1)
    assert extracted["claims"] == 2


@pytest.mark.slow
def test_show_and_score_read_a_run_again(evaluated: CommandLine) -> None:
    localfact = evaluated
    assert "F1@K(7)" in localfact(*EVALUATED, "--recall-k", "7").stdout
    shown = localfact("show", "out")
    assert "marie-curie" in shown.stdout
    assert "F1@K(7)" in shown.stdout
    one = localfact("show", "out", "marie-curie")
    assert "supported" in one.stdout
    assert "F1@K(22)" in localfact("score", "out", "--recall-k", "22").stdout
    plain, explained = (localfact("score", "out", *words).stdout for words in ((), ("--explain",)))
    assert explained.startswith(plain)
    names = [score["name"] for score in json.loads(localfact("score", "out", "--json").stdout)["scores"]]
    assert [line.partition(": ")[0] for line in explained[len(plain) :].splitlines() if ": " in line][: len(names)] == names
    missing = localfact("show", "out", "nobody")
    assert missing.returncode == 2
    assert "marie-curie" in missing.stderr


@pytest.mark.slow
def test_the_claims_of_a_run_are_a_table_and_the_graph_of_a_response_is_solved_again(
    evaluated: CommandLine, tmp_path: Path
) -> None:
    localfact = evaluated
    table = localfact("show", "out", "--format", "csv").stdout.splitlines()
    assert table[0].startswith("response,claim,text,verdict,posterior")
    assert len(table) == 1 + sum(json.loads((tmp_path / "out/summary.json").read_text())["verdicts"].values())
    graph = localfact("show", "out", "marie-curie", "--graph")
    (tmp_path / "graph.json").write_text(graph.stdout)
    claims = json.loads(localfact("show", "out", "marie-curie", "--json").stdout)["verdicts"]
    found = json.loads(localfact("infer", "graph.json", "--json").stdout)["marginals"]
    assert [found[f"claim {verdict['claim_id']}"] for verdict in claims] == pytest.approx(
        [verdict["posterior"] for verdict in claims], abs=1e-9
    )
    assert localfact("show", "out", "--graph").returncode == 2


@pytest.mark.slow
def test_the_labelled_example_gets_the_scores_that_its_relations_allow(localfact: CommandLine, shared: Path) -> None:
    data = shared / "data/flaherty/flaherty_wikipedia.json"
    done = localfact("eval", "--data", data, "--method", "builtin-fr2", *QUICK, "--json")
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    verdicts = {label: count for label, count in summary["verdicts"].items() if count}
    scores = {score["name"]: score["value"] for score in summary["scores"]}
    assert verdicts == {"supported": 15, "contradicted": 3, "undecided": 2, "not_enough_evidence": 6}
    assert scores["Pr"] == pytest.approx(15 / 26)
    assert scores["F1(gold)"] == pytest.approx(7 / 11)
    assert scores["MAE(Pr)"] == pytest.approx(8 / 26)
    assert scores["Brier(response)"] == pytest.approx(0.2662, abs=1e-4)
