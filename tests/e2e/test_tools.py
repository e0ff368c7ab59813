"""The other commands, as a new user would try them."""

import csv
import json
import subprocess
from importlib.metadata import version
from pathlib import Path

import pytest
from commands import CommandLine, QuickCommandLine
from tiny_albert import tiny_albert

COMMANDS = (
    *("eval", "check", "show", "score", "runs", "corpus", "infer", "relate", "methods", "doctor"),
    *("models", "extract", "generate", "calibrate", "choose", "roc", "papers"),
)
EXAMPLE = {
    "atoms": {"a": 0.5},
    "contexts": {"c1": 0.99, "c2": 0.99},
    "relations": [
        {"source": "c1", "target": "a", "type": "entailment", "probability": 0.8},
        {"source": "c2", "target": "a", "type": "contradiction", "probability": 0.9},
    ],
}


def test_help_names_every_command(localfact: CommandLine) -> None:
    helped = localfact("--help")
    assert helped.returncode == 0
    assert all(command in helped.stdout for command in COMMANDS)


def test_the_version_is_told_and_short_help_works(localfact: CommandLine) -> None:
    assert localfact("--version").stdout == f"localfact {version('localfact')}\n"
    assert localfact("-h").stdout == localfact("--help").stdout
    assert "Usage" in localfact("show", "-h").stdout
    assert localfact().returncode != 0


@pytest.mark.slow
def test_runs_are_listed_and_the_latest_is_shown(localfact: CommandLine, tmp_path: Path) -> None:
    assert "no run" in localfact("runs").stderr
    missing = localfact("show")
    assert (missing.returncode, "localfact eval" in missing.stderr) == (3, True)
    quick = ("--relations", "lexical", "--embedder", "none")
    for limit in ("1", "2"):
        assert localfact("eval", "--limit", limit, "--out", f"runs/of-{limit}", *quick).returncode == 0
    listed = [json.loads(line) for line in localfact("runs", "--json").stdout.splitlines()]
    assert [(row["run"], row["responses"], row["ended"]) for row in listed] == [("runs/of-2", 2, True), ("runs/of-1", 1, True)]
    assert "runs/of-1" in localfact("runs").stdout
    assert json.loads(localfact("show", "--json").stdout)["responses"] == 2
    assert "marie-curie" in localfact("show", "marie-curie").stdout
    (tmp_path / "runs/of-2/run.yaml").write_text("[", encoding="utf-8")
    assert "run.yaml" in localfact("runs").stdout


@pytest.mark.slow
def test_claims_of_one_verdict_are_shown_alone_and_the_worst_first(localfact: CommandLine) -> None:
    assert localfact("eval", "--limit", "3", "--relations", "lexical", "--embedder", "none").returncode == 0
    whole = [json.loads(line) for line in localfact("show", "--only", "contradicted", "--json").stdout.splitlines()]
    assert whole
    assert {row["verdict"] for row in whole} == {"contradicted"}
    posteriors = [row["posterior"] for row in whole]
    assert posteriors == sorted(posteriors)
    rows = localfact("show", "--only", "contradicted", "--only", "supported", "--format", "csv").stdout.splitlines()
    found = [float(row["posterior"]) for row in csv.DictReader(rows) if row["posterior"]]
    assert found == sorted(found)
    assert "No claim" in localfact("show", "--only", "irrelevant").stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(localfact: CommandLine, command: str) -> None:
    assert "Usage" in localfact(command, "--help").stdout


@pytest.mark.slow
def test_check_judges_a_text_from_standard_input(localfact: CommandLine) -> None:
    said = "\ufeffMarie Curie was born in Warsaw."  # as Windows writes it
    done = localfact("check", "-", "--topic", "Marie Curie", "--embedder", "none", stdin=said)
    assert done.returncode == 0, done.stderr
    assert "supported" in done.stdout
    assert "ufeff" not in done.stdout
    assert "sample" in done.stderr
    assert "it is empty" in localfact("check", "").stderr


@pytest.mark.slow
def test_check_takes_the_relation_model_that_is_named(localfact: CommandLine, tmp_path: Path) -> None:
    words = ("check", "-", "--topic", "Marie Curie", "--embedder", "none", "--json")
    said = [
        localfact(*words, *named, stdin="Marie Curie was born in Paris.").stdout
        for named in ((), ("--relations", "lexical"), ("--relations", str(tiny_albert(tmp_path / "encoder", window=512))))
    ]
    posteriors = [json.loads(one)["verdicts"][0]["posterior"] for one in said]
    assert posteriors[0] == posteriors[1] != posteriors[2]


def test_check_of_a_text_without_claims_says_so(localfact: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("Is it?")
    assert "No checkable claim" in localfact("check", "text.txt", "--embedder", "none").stdout


def test_infer_prints_a_line_a_graph_and_tells_of_bad_ones(localfact: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "good.json").write_text(json.dumps(EXAMPLE))
    (tmp_path / "bad.json").write_text(json.dumps({**EXAMPLE, "atoms": {"a": 1.5}}))
    (tmp_path / "hopeless.json").write_text(
        json.dumps(
            {
                "atoms": {"a": 0.0},
                "contexts": {"c": 1.0},
                "relations": [EXAMPLE["relations"][0] | {"source": "c", "probability": 1}],
            }
        )
    )
    done = localfact("infer", "good.json", "bad.json", "hopeless.json", "--json")
    good, bad, hopeless = map(json.loads, done.stdout.splitlines())
    assert good["marginals"]["a"] == pytest.approx(0.3178807947, abs=1e-9)
    assert good.keys() == {
        "file",
        "marginals",
        "solver",
        "exact",
        "error",
        "log_z",
        "consistent",
        "seconds",
        "variables",
        "factors",
        "width",
    }
    assert "1.5" in bad["error_message"]
    assert (hopeless["consistent"], hopeless["marginals"]) == (False, None)
    assert done.returncode == 1
    assert localfact("infer", "bad.json").returncode == 2
    assert "0.3179" in localfact("infer", "good.json").stdout
    assert "pgmpy" in localfact("infer", "good.json", "--solver", "guess").stderr


def test_a_graph_goes_to_other_solvers_and_comes_back_as_uai(localfact: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "good.json").write_text(json.dumps(EXAMPLE))
    assert localfact("infer", "good.json", "--write-uai", "uai").returncode == 0
    done = localfact("infer", "uai/good.uai", "--json")
    back = json.loads(done.stdout)
    assert back["marginals"]["x0"] == pytest.approx(0.3178807947, abs=1e-9)
    (tmp_path / "bad.uai").write_text("MARKOV\n2\n2 2\nsome")
    assert "line 4" in localfact("infer", "bad.uai").stdout
    (tmp_path / "good.uai").write_text("\ufeff" + (tmp_path / "uai/good.uai").read_text())
    assert json.loads(localfact("infer", "good.uai", "--json").stdout)["marginals"] == back["marginals"]
    twice = localfact("infer", "good.json", "uai/good.uai", "--write-uai", "both")
    assert "good.json and uai/good.uai would both be written as good.uai" in " ".join(twice.stderr.split())
    assert not (tmp_path / "both").exists()


def test_several_graphs_are_a_table_with_errors_against_their_references(localfact: CommandLine, tmp_path: Path) -> None:
    reference = {"marginals": {"a": 0.3178807947}, "tolerance": 1e-9, "log_z": None, "consistent": True}
    (tmp_path / "right.json").write_text(json.dumps({**EXAMPLE, "reference": reference}))
    (tmp_path / "wrong.json").write_text(json.dumps({**EXAMPLE, "reference": {**reference, "marginals": {"a": 0.6}}}))
    localfact.environment["COLUMNS"] = "80"
    shown = localfact("infer", "right.json", "wrong.json").stdout.splitlines()
    right = next(line.split() for line in shown if line.strip().startswith("right"))
    wrong = next(line.split() for line in shown if line.strip().startswith("wrong"))
    assert (right[1], right[3], right[6]) == ("3/2", "exact", "0")
    assert float(right[4]) < 1e-9
    assert (float(wrong[4]), wrong[6]) == (pytest.approx(0.3), "1")


def test_a_faulty_reference_is_told_and_other_graphs_are_solved(localfact: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "marked.json").write_text("\ufeff" + json.dumps({**EXAMPLE, "reference": {"marginals": {"a": 0.3}}}))
    (tmp_path / "odd.json").write_text(json.dumps({**EXAMPLE, "reference": {"marginals": {"a": 0.3}, "log_z": "x"}}))
    odd, marked = map(json.loads, localfact("infer", "odd.json", "marked.json", "--json").stdout.splitlines())
    assert "odd.json: log_z of its reference is no number" in odd["error_message"]
    assert marked["reference"]["largest"] == pytest.approx(0.0179, abs=1e-4)


def test_relate_adds_three_probabilities_to_each_row(localfact: CommandLine, tmp_path: Path) -> None:
    lines = [
        {"id": 1, "premise": "The bridge opened in 1932.", "hypothesis": "The bridge opened in 1932."},
        {"id": 2, "premise": "No hypothesis here.", "note": "\ud800"},
    ]
    (tmp_path / "pairs.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines) + "not json\n")
    done = localfact("relate", "pairs.jsonl", "--relations", "lexical", "--embedder", "none", "--json")
    first, second, third = map(json.loads, done.stdout.splitlines())
    assert (third["row"], third["error_message"][:20]) == (3, "The line is not JSON")
    assert first["id"] == 1
    assert first["entailment"] + first["contradiction"] + first["neutral"] == pytest.approx(1)
    assert first["entailment"] > first["contradiction"]
    assert "hypothesis" in second["error_message"]
    assert done.returncode == 1


@pytest.mark.slow
def test_the_model_that_ships_relates_where_none_is_named(localfact: CommandLine, tmp_path: Path) -> None:
    premise = "The bridge was designed by Ada Brown and opened to traffic in 1932, after eight years of work."
    hypotheses = {
        "entailment": "The bridge opened to traffic in 1932.",
        "contradiction": "The bridge opened to traffic in 1956.",
        "neutral": "The bakery on the corner sells rye bread.",
    }
    lines = [{"premise": premise, "hypothesis": hypothesis} for hypothesis in hypotheses.values()]
    (tmp_path / "pairs.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    done = localfact("relate", "pairs.jsonl", "--json")
    assert done.returncode == 0, done.stderr
    related = [json.loads(line) for line in done.stdout.splitlines()]
    assert [max(hypotheses, key=row.__getitem__) for row in related] == list(hypotheses)
    assert localfact("relate", "pairs.jsonl", "--relations", "lexical", "--json").stdout == done.stdout


@pytest.mark.slow
def test_a_corpus_is_built_looked_into_and_verified(localfact: CommandLine, tmp_path: Path) -> None:
    pages = [
        {"url": f"https://x.example/{n}", "title": f"Page {n}", "text": f"The {w} tower is old."} for n, w in enumerate("abc")
    ]
    (tmp_path / "pages.jsonl").write_text("".join(json.dumps(page) + "\n" for page in pages) + "broken\n")
    built = localfact("corpus", "build", "pages.jsonl", "--out", "mine", "--embedder", "none", "--json")
    assert built.returncode == 0, built.stderr
    assert json.loads(built.stdout)["passed_over"] == 1
    assert "line 4" in built.stderr
    assert json.loads(localfact("corpus", "info", "mine", "--json").stdout)["pages"] == 3
    found = ("corpus", "search", "mine", "the b tower", "--embedder", "none")
    assert "The b tower is old." in localfact(*found).stdout
    assert json.loads(localfact(*found, "--json").stdout)[0]["sentence"] == "The b tower is old."
    assert localfact("corpus", "verify", "mine").returncode == 0
    other = localfact("corpus", "build", "pages.jsonl", "--out", "mine", "--embedder", "none")
    assert (other.returncode, "was built of these pages before" in other.stderr) == (0, True)
    with (tmp_path / "mine/corpus.sqlite").open("r+b") as file:
        file.seek(5000)
        file.write(b"\xff" * 16)
    damaged = localfact("corpus", "verify", "mine")
    assert damaged.returncode == 2
    assert "corpus.sqlite" in damaged.stdout


def test_methods_and_doctor_report_as_json_too(localfact: CommandLine) -> None:
    methods = {row["method"]: row["relations"] for row in json.loads(localfact("methods", "--json").stdout)}
    versions = {f"{kind}-fr{version}" for kind in ("builtin", "factreasoner") for version in (1, 2, 3)}
    compared = {"factscore", "factverify", "veriscore", "deepseek", "safe", "factool", "expertqa"}
    assert set(methods) == {*versions, "fastfact", "localfact", *compared}
    assert [methods[name] for name in ("builtin-fr2", "factreasoner-fr2", "fastfact")] == ["lexical", "llm", None]
    findings = {row["name"]: row for row in json.loads(localfact("doctor", "--json").stdout)}
    assert findings["model minilm"]["found"]
    assert all(findings[name]["found"] and findings[name]["needed"] for name in ("model small-lm", "faiss-cpu"))
    assert "builtin-fr2" in localfact("methods").stdout


@pytest.mark.slow
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_output_that_cannot_be_written_is_one_sentence(tmp_path: Path, unbuffered: str) -> None:
    command = CommandLine(tmp_path)
    environment = {**command.environment, "PYTHONUNBUFFERED": unbuffered}
    words = command.arguments(["methods", "--json"])
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True, env=environment)
    assert done.returncode == 2
    assert "cannot be written" in done.stderr
    assert "Traceback" not in done.stderr


def test_want_of_memory_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def greedy(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr("localfact.cli.about.show", greedy)
    done = QuickCommandLine(tmp_path)("methods")
    assert (done.returncode, done.stdout) == (2, "")
    assert "not enough memory" in " ".join(done.stderr.split())


def test_rules_extract_to_a_file_without_a_language_model(localfact: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "one.jsonl").write_text('{"response": "Ada Morel was born in Lyon. She won a prize."}\n')
    done = localfact("extract", "--data", "one.jsonl", "--extractor", "rules", "--out", "claims.jsonl")
    assert done.returncode == 0, done.stderr
    row = json.loads((tmp_path / "claims.jsonl").read_text())
    assert [claim["text"] for claim in row["claims"]] == ["Ada Morel was born in Lyon.", "Ada Morel won a prize."]
    assert row["extractor"] == {"extractor": "rules", "claims": "extract"}
    refused = localfact("extract", "--data", "one.jsonl", "--out", "other.jsonl")
    assert refused.returncode == 2
    assert "--model" in refused.stderr


@pytest.mark.slow
def test_a_text_too_long_to_check_is_refused_with_the_option_that_raises_the_limit(localfact: CommandLine) -> None:
    text = "Marie Curie was born in Warsaw. " * 20
    refused = localfact("check", "-", "--max-words", "100", "--embedder", "none", stdin=text)
    assert refused.returncode == 2
    assert "--max-words 120" in refused.stderr
    assert localfact("check", "-", "--max-words", "120", "--embedder", "none", stdin=text).returncode == 0


@pytest.mark.slow
def test_control_characters_of_a_text_do_not_reach_the_terminal(localfact: CommandLine) -> None:
    done = localfact("check", "-", "--embedder", "none", stdin="Marie Curie was \x1b[31mborn\x1b]0;title\x07 in Warsaw.")
    assert "Marie Curie" in done.stdout
    assert "\x1b" not in done.stdout


@pytest.mark.parametrize(("driver", "found"), [("535.104.05", False), ("580.65.06", True), ("no devices were found", False)])
def test_doctor_tells_a_driver_that_is_too_old_for_the_engine(
    localfact: CommandLine, tmp_path: Path, driver: str, found: bool
) -> None:
    told = tmp_path / "bin" / "nvidia-smi"
    told.parent.mkdir()
    told.write_text(f"#!/bin/sh\necho {driver}\n", encoding="utf-8")
    told.chmod(0o755)
    localfact.environment["PATH"] = f"{told.parent}:{localfact.environment['PATH']}"
    lines = {line["name"]: line for line in json.loads(localfact("doctor", "--json").stdout)}
    assert lines["NVIDIA driver"]["found"] is found
    assert "580" in lines["NVIDIA driver"]["cure"]
    assert {"C compiler", "Python headers"} <= set(lines)
