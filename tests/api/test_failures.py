"""Failures of a run's claims: redundancy by mutual entailment, and with a judge all kinds, model by model."""

import csv
import io
import json
from pathlib import Path
from typing import NoReturn
from unittest.mock import patch

import pytest
from typer.testing import CliRunner

from localfact.api.evaluate import evaluate
from localfact.api.failures import claim_failures
from localfact.cli.main import app
from localfact.errors import InputError, RequestError
from localfact.llm.placing.settings import EngineSettings
from localfact.llm.scripted import ScriptedEngine
from localfact.methods.options import Options
from localfact.records import Failure, Pair

TEXT = "The mill opened in 1911. The mill opened in the year 1911. The mill has two wheels."
ROW = {
    "response": TEXT,
    "claims": ["The mill opened in 1911.", "The mill opened in the year 1911.", "The mill has two wheels."],
    "passages": [{"text": "The mill opened in 1911."}],
}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("failures") / "run"
    rows = [{**ROW, "id": name, "model": name} for name in ("one", "other")]
    evaluate(rows, options=Options(relations="lexical", embedder="none"), out=folder)
    return folder


def test_of_two_claims_that_entail_one_another_the_later_is_redundant(run: Path) -> None:
    first, second = claim_failures(run, options=Options(relations="lexical", embedder="none"))
    assert (first.model, first.responses, first.claims) == ("one", 1, 3)
    assert first.entailed == {"intra-sentence redundancy": 0, "inter-sentence redundancy": 1}
    assert (second.model, first.failures, first.missing) == ("other", {}, {})


@pytest.mark.slow
def test_a_judge_names_all_kinds_and_what_is_missing(run: Path, tmp_path: Path) -> None:
    from tiny_models import tiny_llama

    def engine(settings: EngineSettings) -> ScriptedEngine:
        made = ScriptedEngine(lambda chat: "- A roof is there. ###removed###", lambda chat, labels: {labels[1]: 0.9})
        made.identity = settings.identity
        return made

    words = ["papers", "failures", str(run), "--relations", "lexical", "--embedder", "none", "--format", "csv"]
    with patch("localfact.llm.cores.vllm.VLLMEngine", engine):
        done = CliRunner().invoke(app, [*words, "--model", str(tiny_llama(tmp_path / "model", window=8192))])
    assert done.exit_code == 0, done.output
    kept = run / "calls.sqlite"  # what was answered is not asked again
    replayed = CliRunner().invoke(app, [*words, "--replay", str(kept)])
    assert replayed.stdout.replace(f"replayed from {kept}", str(tmp_path / "model")) == done.stdout
    shares = {row[""]: row for row in csv.DictReader(io.StringIO(done.stdout))}
    assert (shares["subjective"]["one"], shares["acceptable"]["one"]) == ("100.0", "0.0")
    assert float(shares["removed"]["other"]) == pytest.approx(100 / 3)


@pytest.mark.slow
def test_calls_without_an_answer_are_counted_and_the_shares_are_of_those_that_answered(run: Path, tmp_path: Path) -> None:
    from tiny_models import tiny_llama

    def refused(*asked: object) -> NoReturn:
        raise RequestError("no such prompt")

    def engine(settings: EngineSettings) -> ScriptedEngine:
        made = ScriptedEngine(refused, refused)
        made.identity = settings.identity
        return made

    words = ["papers", "failures", str(run), "--relations", "lexical", "--embedder", "none", "--format", "json"]
    with patch("localfact.llm.cores.vllm.VLLMEngine", engine):
        done = CliRunner().invoke(
            app, [*words, "--model", str(tiny_llama(tmp_path / "model", window=8192)), "--transcript", str(tmp_path / "calls")]
        )
    assert done.exit_code == 1, done.output
    table = json.loads(done.stdout)
    assert table["facts"]["judged"] == "0 of 6 claims"
    assert table["facts"]["no answer"] == "8 calls: refused by the engine"
    assert "8 questions got no answer" in done.stderr


def test_pairs_that_the_relation_model_failed_on_are_counted_and_are_no_repetition(run: Path) -> None:
    options = Options(relations="lexical", embedder="none")

    async def failing(model: object, pairs: list[Pair]) -> list[Failure]:
        return [Failure(reason="out of memory")] * len(pairs)

    with patch("localfact.api.failures.relate_all", failing):
        first, _ = claim_failures(run, options=options)
    assert (first.unrelated, sum(first.entailed.values())) == (3, 0)


def test_a_run_without_claims_is_refused(tmp_path: Path) -> None:
    evaluate(
        [{"response": "Who knows?", "passages": []}], options=Options(relations="lexical", embedder="none"), out=tmp_path / "r"
    )
    with pytest.raises(InputError, match="no claims"):
        claim_failures(tmp_path / "r", options=Options())
