"""FactReasoner and localfact from the command line, with a random language model in real vLLM as relation model."""

import json
from pathlib import Path
from typing import Any

import pytest
from commands import CommandLine
from engines import NEEDS_VLLM
from taught_model import EXTRACTION_TOKENS, Taught

CLAIMS = ("Ice floats on water.", "Iron floats on water.")
PASSAGES = (
    "Ice is less dense than water, and so it floats.",
    "A piece of iron sinks in water; a hollow ship of iron floats.",
    "Water boils at 100 degrees Celsius at sea level.",
)


def data(folder: Path) -> Path:
    """One response with its claims and their passages: two of the passages are found for both."""
    row = {
        "id": "floats",
        "response": " ".join(CLAIMS),
        "claims": [
            {"id": "a", "text": CLAIMS[0], "label": "S", "passages": ["p0", "p2"]},
            {"id": "b", "text": CLAIMS[1], "label": "NS", "passages": ["p1", "p2"]},
        ],
        "passages": [{"id": f"p{number}", "title": f"Page {number}", "text": text} for number, text in enumerate(PASSAGES)],
    }
    file = folder / "data.jsonl"
    file.write_text(json.dumps(row) + "\n", encoding="utf-8")
    return file


def assessed(folder: Path, run: str) -> Any:
    (line,) = (folder / run / "assessments.jsonl").read_text(encoding="utf-8").splitlines()
    return json.loads(line)


@pytest.mark.slow
def test_lexical_relations_need_no_model(localfact: CommandLine, tmp_path: Path) -> None:
    lexical = ("--data", data(tmp_path), "--relations", "lexical", "--embedder", "none")
    for version, pairs in ((1, 4), (2, 6), (3, 6 + 6)):
        done = localfact("eval", "--method", f"factreasoner-fr{version}", *lexical, "--out", f"fr{version}")
        assert done.returncode == 0, done.stderr
        row = assessed(tmp_path, f"fr{version}")
        assert row["counts"]["relate"]["pairs"] == pairs
        assert all(verdict["posterior"] is not None for verdict in row["verdicts"])
    assert "--relations lexical" in localfact("eval", "--method", "factreasoner-fr2", "--data", data(tmp_path)).stderr


@NEEDS_VLLM
def test_one_set_of_pairs_of_a_language_model_serves_all_versions_and_a_replay_is_the_same(
    localfact: CommandLine, random_llama: Path, tmp_path: Path
) -> None:
    shared = ("--data", data(tmp_path), "--embedder", "none", "--kept-relations", "pairs.sqlite")
    record = ("--model", random_llama, "--transcript", "calls.sqlite", "--min-mass", "0")
    asked = localfact("eval", "--method", "factreasoner-fr3", *shared, *record, "--out", "fr3")
    assert asked.returncode == 0, asked.stderr
    first = assessed(tmp_path, "fr3")
    assert first["usage"]["relate"]["calls"] == 6 + 6
    assert first["usage"]["relate"]["output_tokens"] == 0
    assert first["usage"].keys() == {"relate"}, "claims that come with the data are not extracted"
    replay = ("--replay", "calls.sqlite", "--model", "random-llama", "--min-mass", "0")
    for version in (1, 2):
        done = localfact("eval", "--method", f"factreasoner-fr{version}", *shared, *replay, "--out", f"fr{version}")
        assert done.returncode == 0, done.stderr
        assert "relate" not in assessed(tmp_path, f"fr{version}")["usage"], "every pair was kept"
    again = ("--data", data(tmp_path), "--embedder", "none", *replay, "--out", "again")
    done = localfact("eval", "--method", "factreasoner-fr3", *again)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "again/assessments.jsonl").read_bytes() == (tmp_path / "fr3/assessments.jsonl").read_bytes()
    assert (tmp_path / "again/relations.sqlite").is_file()


@NEEDS_VLLM
def test_localfact_whole_the_gate_settles_and_the_rest_meets_evidence_with_the_models_own_prior(
    localfact: CommandLine, school: Taught, tmp_path: Path
) -> None:
    words = ("eval", "--data", school.data, "--corpus", school.corpus, "--embedder", "none", "--extraction-tokens")
    words = (*words, str(EXTRACTION_TOKENS), "--out", "out", "--min-mass", "0")  # it was taught none of these pairs
    done = localfact(*words, "--model", school.model, "--transcript", "calls.sqlite")
    assert done.returncode == 0, done.stderr
    lines = (tmp_path / "out/assessments.jsonl").read_text(encoding="utf-8").splitlines()
    rows = {row["response_id"]: row for row in map(json.loads, lines)}
    assert rows["walk"]["status"] == "abstained"
    for name in ("moon", "loch-ness"):
        row = rows[name]
        assert set(row["usage"]) == {"extract", "preverify", "relate"}
        assert row["usage"]["relate"]["output_tokens"] == 0
        judged = list(zip(row["claims"], row["verdicts"], strict=True))
        settled = [(claim, verdict) for claim, verdict in judged if "Settled without evidence" in (verdict["rationale"] or "")]
        assert len(settled) == row["counts"]["assess"]["settled"] >= 2
        assert len(judged) - len(settled) == row["counts"]["retrieve"]["claims"]
        for claim, verdict in judged:
            assert sum(claim["preverification"]["distribution"].values()) == pytest.approx(1)
            if (claim, verdict) not in settled:
                assert 0 < verdict["posterior"] < 1
    (tmp_path / "out").rename(tmp_path / "recorded")
    replayed = localfact(*words, "--replay", "calls.sqlite")
    assert replayed.returncode == 0, replayed.stderr
    for name in ("assessments.jsonl", "summary.json"):
        assert (tmp_path / "out" / name).read_bytes() == (tmp_path / "recorded" / name).read_bytes()
