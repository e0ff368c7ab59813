"""Strides and thetas (FastFact, Figure 2 and footnote 2), counted by hand, and through a scripted engine."""

import csv
import io
import json
from contextlib import nullcontext
from pathlib import Path
from unittest.mock import patch
from xml.etree import ElementTree

import pytest
from docs_reader import engine as scripted
from typer.testing import CliRunner

from localfact.cli.main import app
from localfact.errors import InputError
from localfact.llm.placing.settings import EngineSettings
from localfact.methods.options import Options
from localfact.papers.figure2 import figure2_tables, measure_stride, measure_strides, share_settled, stride_of
from localfact.records import Claim, Extraction, PreVerification, Response
from localfact.runs.progress import SILENT
from localfact.vocabulary import GoldLabel, PreVerificationLabel


def claim(name: str, label: PreVerificationLabel, confidence: float) -> Claim:
    return Claim(id=name, text=name, preverification=PreVerification(label=label, confidence=confidence))


def test_only_definite_labels_settle_and_above_theta_alone() -> None:
    claims = [
        claim("a", PreVerificationLabel.SUPPORTED, 0.995),
        claim("b", PreVerificationLabel.NON_SUPPORTED, 0.9),
        claim("c", PreVerificationLabel.LIKELY_SUPPORTED, 1.0),
        Claim(id="d", text="d"),
    ]
    assert [share_settled(claims, theta) for theta in (0.5, 0.9, 0.95, 0.995, 0.999)] == [0.5, 0.25, 0.25, 0.0, 0.0]
    assert share_settled([], 0.5) == 0.0


def test_a_file_of_claims_is_counted_against_its_annotation() -> None:
    gold = tuple(Claim(id=str(at), text=str(at), gold=label) for at, label in enumerate(GoldLabel))
    costs = Extraction(counts={"earlier_calls": 2, "earlier_prompt_tokens": 100, "earlier_output_tokens": 11})
    three = tuple(claim(name, PreVerificationLabel.SUPPORTED, 1.0) for name in "abc")
    responses = [
        Response(id="x", text="X.", claims=three, annotation=gold, extraction=costs),
        Response(id="y", text="Y.", claims=(), extraction=costs),
        Response(id="z", text="Z.", problem="failed"),
    ]
    found = measure_stride("4", responses)
    assert (found.responses, found.failed, found.claims) == (2, 1, 1.5)
    assert (found.annotated, found.apart) == (2.0, 1.0)  # supported and not supported; the irrelevant one does not count
    assert (found.calls, found.tokens) == (2.0, 111.0)
    assert found.settled["0.995"] == 1.0
    first, second = figure2_tables([found], {})
    assert len(first.groups[0].rows) == len(second.groups[0].rows) == 1


@pytest.mark.parametrize("typed", ["0", "-1", "all", "1.5", ""])
def test_a_stride_is_a_number_of_sentences_or_max(typed: str) -> None:
    with pytest.raises(InputError, match="A stride is"):
        stride_of(typed)
    assert (stride_of("16"), stride_of("max")) == (16, "max")


def test_without_a_model_it_says_which_to_name(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="smollm2-135m"):
        measure_strides(None, options=Options(), strides=["max"], watch=lambda _: nullcontext(SILENT), out=tmp_path)


@pytest.mark.slow
def test_smaller_strides_ask_more_often_and_a_replay_gives_the_same_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tiny_models import tiny_llama

    monkeypatch.chdir(tmp_path)
    sentences = " ".join(f"Mill {at} opened in 19{at}." for at in range(10, 18))
    (tmp_path / "rows.jsonl").write_text(json.dumps({"response": sentences}) + "\n")
    started: list[EngineSettings] = []

    def start(settings: EngineSettings) -> object:
        started.append(settings)
        return scripted(settings)

    words = ["papers", "figure2", "--data", "rows.jsonl", "--strides", "2,max", "--format", "csv"]
    with patch("localfact.llm.cores.vllm.VLLMEngine", start):
        done = CliRunner().invoke(app, [*words, "--model", str(tiny_llama(tmp_path / "model", window=8192)), "--out", "out"])
    assert done.exit_code == 0, done.output
    assert strides(done.stdout) == {"2": "4.0", "max": "1.0"}
    assert len(started) == 1
    drawing = ElementTree.fromstring((tmp_path / "out/figure2.svg").read_text())
    assert drawing.tag.endswith("svg")
    assert "out/figure2.png" in done.stderr
    again = CliRunner().invoke(app, [*words, "--replay", "out/calls.sqlite", "--out", "again"])
    assert strides(again.stdout) == strides(done.stdout)


def strides(printed: str) -> dict[str, str]:
    """Stride -> calls of the first table."""
    table = printed.split("group,stride,theta")[0]
    return {row["stride"]: row["calls"] for row in csv.DictReader(io.StringIO(table))}
