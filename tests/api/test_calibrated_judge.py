"""FActScore's judge with a model that calls nearly all false: calibrated, it is right, and its map stays with the run."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from localfact.api.evaluate import execute, prepare
from localfact.assess.judges.calibration import TruthMap, fit_truth_map
from localfact.errors import EngineError, InputError
from localfact.llm.engine import Chat
from localfact.llm.scripted import ScriptedEngine
from localfact.methods import wiring
from localfact.methods.engine import EngineFacts
from localfact.methods.options import Options
from localfact.records import Assessment
from localfact.relations.reference import reference_pairs
from localfact.runs.assessments import read_assessments
from localfact.runs.record import read_record
from localfact.runs.run_folder import ASSESSMENTS_FILE
from localfact.runs.shards import Shard
from localfact.vocabulary import RelationLabel

OPTIONS = Options(model="scripted", embedder="none")
ENTAILED = {one.pair for one in reference_pairs() if one.label is RelationLabel.ENTAILMENT}


class Doubter:
    """A run of two responses whose model gives True at most 0.3; it dies after so many answers."""

    def __init__(self, data: Path, patch: pytest.MonkeyPatch) -> None:
        self.data, self.patch, self.asked, self.stop_after = data, patch, 0, 10**9

    def choose(self, chat: Chat, labels: Sequence[str]) -> Mapping[str, float]:
        self.asked += 1
        if self.asked > self.stop_after:
            raise EngineError("The language model engine died.")
        text = chat[-1].content
        entailed = any(pair.hypothesis in text and pair.premise in text for pair in ENTAILED)
        true = 0.3 if entailed or "is old" in text.rpartition("Mill")[2] else 0.02
        return {"True": true, "False": 1 - true}

    def run(self, out: Path, shard: Shard | None = None, method: str = "factscore", **options: Any) -> list[Assessment]:
        engine = ScriptedEngine(choose=self.choose)
        facts = EngineFacts(engine.identity, settings=cast("Any", engine))
        self.patch.setattr(wiring, "engine_facts", lambda *_, **__: facts)
        job = prepare(self.data, method=method, options=OPTIONS.model_copy(update=options), out=out, shard=shard)
        execute(job, start=lambda engine: cast("Any", engine), concurrency=1)
        return read_assessments(out)


@pytest.fixture
def doubter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Doubter:
    data = tmp_path / "rows.jsonl"
    rows = [
        {
            "id": age,
            "response": f"Mill {age} is {age}.",
            "claims": [{"text": f"Mill {age} is {age}.", "passages": ["p"]}],
            "passages": [{"id": "p", "text": "It was built in 1702."}],
        }
        for age in ("old", "new")
    ]
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return Doubter(data, monkeypatch)


def test_the_bias_is_taken_out_and_the_reader_sees_both_figures(doubter: Doubter, tmp_path: Path) -> None:
    raw = [one.verdicts[0] for one in doubter.run(tmp_path / "raw")]
    calibrated = [one.verdicts[0] for one in doubter.run(tmp_path / "run", calibrated=True)]
    assert [one.label.value for one in raw] == ["contradicted", "contradicted"]
    assert [one.label.value for one in calibrated] == ["supported", "contradicted"]
    assert "True has 0.300 as the model says it" in (calibrated[0].rationale or "")
    assert doubter.asked == 2 + 120 + 2
    fitted = TruthMap.model_validate(read_record(tmp_path / "run").plain_settings["assessment"]["truth_map"])
    assert fitted.bias > 0


def test_a_run_that_was_killed_goes_on_with_its_map(doubter: Doubter, tmp_path: Path) -> None:
    doubter.run(tmp_path / "whole", calibrated=True)
    doubter.asked, doubter.stop_after = 0, 121
    with pytest.raises(EngineError):
        doubter.run(tmp_path / "broken", calibrated=True)
    doubter.asked, doubter.stop_after = 0, 10**9
    doubter.run(tmp_path / "broken", calibrated=True)
    assert doubter.asked == 1, "neither the pairs nor the first claim are asked again"
    whole, broken = ((tmp_path / name / ASSESSMENTS_FILE).read_bytes() for name in ("whole", "broken"))
    assert whole == broken


def test_where_it_would_change_nothing_or_differ_it_is_refused(doubter: Doubter, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"--calibrated would change nothing in the method deepseek.*factscore, expertqa"):
        doubter.run(tmp_path / "other", method="deepseek", calibrated=True)
    with pytest.raises(InputError, match="calibrate the judge by themselves"):
        doubter.run(tmp_path / "shard", Shard(1, 2), calibrated=True)


def test_a_biased_model_gets_its_truth_back_and_a_right_one_keeps_its_labels() -> None:
    truth = np.array([True] * 40 + [False] * 80)
    odds = np.where(truth, 1.0, -1.0) + np.random.default_rng(5).normal(0, 0.7, len(truth))
    biased = 1 / (1 + np.exp(-(2 * odds - 6)))
    calibrate = fit_truth_map(biased, truth)
    right = np.array([calibrate(one) > 0.5 for one in biased]) == truth
    assert (biased > 0.5).mean() < 0.05
    assert right.mean() > 0.85
    sure = np.where(truth, 0.98, 0.02)
    assert all((fit_truth_map(sure, truth)(one) > 0.5) == (one > 0.5) for one in sure)
