"""The map of relations of a run: fitted once, written down, kept on resume and replay, one for all shards."""

import json
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, cast

import pytest

from localfact.api.evaluate import execute, prepare
from localfact.api.merge import merge_runs
from localfact.errors import EngineError, InputError
from localfact.llm.engine import Chat
from localfact.llm.scripted import ScriptedEngine
from localfact.methods import relation_maps, retrieval, wiring
from localfact.methods.engine import EngineFacts, engine_facts
from localfact.methods.options import Options
from localfact.methods.relation_maps import calibrated_model
from localfact.pipeline import ignore_reports
from localfact.relations.calibrated import CalibratedRelations
from localfact.relations.calibration import OTHER_SHARES, RelationMap
from localfact.relations.reference import reference_name, reference_pairs
from localfact.relations.second_opinion import SecondOpinion
from localfact.runs.assessments import ASSESSMENTS_FILE, read_assessments
from localfact.runs.record import read_record
from localfact.runs.shards import Shard

OPTIONS = Options(model="scripted", relations="llm", embedder="none", claims="given", calibrated=True)
#: The truth of each reference pair, as the model knows it.
TRUE = {one.pair: one.label.value for one in reference_pairs()}


class Model:
    """Knows the reference pairs, and that mills are old; but whatever it is asked, it says neutral first."""

    def __init__(self, data: Path, patch: pytest.MonkeyPatch, stop_after: int = 10**9) -> None:
        self.data, self.patch, self.stop_after, self.asked = data, patch, stop_after, 0

    def choose(self, chat: Chat, labels: Sequence[str]) -> Mapping[str, float]:
        self.asked += 1
        if self.asked > self.stop_after:
            raise EngineError("The language model engine died.")
        text = chat[-1].content
        known = next((label for pair, label in TRUE.items() if pair.hypothesis in text and pair.premise in text), None)
        label = known or ("contradiction" if "new" in text.rpartition("Hypothesis:")[2] else "entailment")
        return {"neutral": 0.9, "entailment": 0.02, "contradiction": 0.02} | ({} if label == "neutral" else {label: 0.08})

    def run(self, out: Path, shard: Shard | None = None, method: str = "factreasoner-fr1", **options: Any) -> list[Any]:
        engine = ScriptedEngine(choose=self.choose)
        settings = cast("Any", engine)  # what it is started from

        def facts(options: Options, **_: object) -> EngineFacts:
            return engine_facts(options) if options.replay else EngineFacts(engine.identity, settings=settings)

        self.patch.setattr(wiring, "engine_facts", facts)
        chosen = OPTIONS.model_copy(update=options)
        job = prepare(self.data, method=method, options=chosen, out=out, shard=shard)
        execute(job, start=lambda engine: cast("Any", engine), concurrency=1)
        return read_assessments(out)


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Model:
    data = tmp_path / "rows.jsonl"
    rows = [
        {
            "id": f"r{number}",
            "response": f"Mill {number} is {age}.",
            "claims": [{"text": f"Mill {number} is {age}.", "passages": ["p"]}],
            "passages": [{"id": "p", "text": f"Mill {number} is old."}],
        }
        for number, age in enumerate(("old", "new", "old", "new"))
    ]
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return Model(data, monkeypatch)


def recorded_map(run: Path) -> RelationMap:
    return RelationMap.model_validate(read_record(run).plain_settings["assessment"]["relation_map"])


def test_a_model_that_says_neutral_to_everything_is_heard_and_its_map_is_written_down(model: Model, tmp_path: Path) -> None:
    labels = [[one.label.value for one in each.verdicts] for each in model.run(tmp_path / "run")]
    assert labels == [["supported"], ["contradicted"]] * 2
    assert model.asked == 120 + 4
    fitted = recorded_map(tmp_path / "run")
    assert fitted.pairs == reference_name()
    assert fitted.biases[2] < 0 < fitted.biases[0]
    (counted,) = read_assessments(tmp_path / "run")[0].verdicts[0].passages
    assert counted.raw is not None
    assert counted.predicted is not None
    assert counted.raw.neutral == pytest.approx(0.9)
    assert counted.predicted.entailment > 0.6
    silent = model.run(tmp_path / "raw", calibrated=False)
    assert {one.verdicts[0].label.value for one in silent} == {"undecided"}


@pytest.mark.parametrize("after", [30, 121, 123])
@pytest.mark.slow
def test_a_run_that_was_killed_goes_on_with_its_map_to_the_same_bytes(model: Model, tmp_path: Path, after: int) -> None:
    model.run(tmp_path / "whole")
    model.asked, model.stop_after = 0, after
    with pytest.raises(EngineError):
        model.run(tmp_path / "broken")
    model.asked, model.stop_after = 0, 10**9
    model.run(tmp_path / "broken")
    assert model.asked == (124 if after < 120 else 124 - after)
    whole, broken = ((tmp_path / name / ASSESSMENTS_FILE).read_bytes() for name in ("whole", "broken"))
    assert whole == broken
    assert recorded_map(tmp_path / "broken") == recorded_map(tmp_path / "whole")


@pytest.mark.slow
def test_a_replay_fits_the_same_map_from_the_transcript_and_searches_for_nothing(
    model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model.run(tmp_path / "run", transcript=tmp_path / "calls.sqlite")
    model.stop_after = 0

    def open_nothing(*_: object) -> None:
        raise AssertionError("a replay has its passages from the transcript, too")

    monkeypatch.setattr(wiring, "open_search", open_nothing)
    monkeypatch.setattr(retrieval, "open_search", open_nothing)
    model.run(tmp_path / "replayed", model=None, replay=tmp_path / "calls.sqlite")
    assert "replayed from: " in (tmp_path / "replayed" / "run.yaml").read_text(encoding="utf-8")
    assert recorded_map(tmp_path / "replayed") == recorded_map(tmp_path / "run")
    assert (tmp_path / "replayed" / ASSESSMENTS_FILE).read_bytes() == (tmp_path / "run" / ASSESSMENTS_FILE).read_bytes()


def test_shards_need_one_map_and_with_it_are_the_whole(model: Model, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="Shards need one map of the model's relations for all machines: name it with"):
        model.run(tmp_path / "one", Shard(1, 2))
    model.run(tmp_path / "whole")
    named = recorded_map(tmp_path / "whole").model_copy(
        update={"model": calibrated_model(EngineFacts(ScriptedEngine().identity))}
    )
    file = tmp_path / "map.json"
    file.write_text(named.model_dump_json())
    parts = [tmp_path / f"part{number}" for number in (1, 2)]
    for number, part in enumerate(parts, start=1):
        model.run(part, Shard(number, 2), relation_map=file)
    merge_runs(parts, out=tmp_path / "merged")
    assert (tmp_path / "merged" / ASSESSMENTS_FILE).read_bytes() == (tmp_path / "whole" / ASSESSMENTS_FILE).read_bytes()


def test_a_map_that_ships_is_used_and_nothing_is_fitted(model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = RelationMap(biases=(3.0, 3.0, -6.0), pairs="x", model=calibrated_model(EngineFacts(ScriptedEngine().identity)))
    other = own.model_copy(update={"model": "another"})
    monkeypatch.setattr(relation_maps, "shipped_maps", lambda: [other, own])
    model.run(tmp_path / "run")
    assert model.asked == 4
    assert recorded_map(tmp_path / "run") == own


def test_a_passage_of_another_claim_says_less_than_the_same_words_of_its_own(model: Model, tmp_path: Path) -> None:
    rows = [json.loads(line) for line in model.data.read_text().splitlines()[:1]]
    rows[0]["claims"].append({"text": "Mill 0 is still old.", "passages": []})
    model.data.write_text(json.dumps(rows[0]))
    (found,) = model.run(tmp_path / "run", method="factreasoner-fr2")
    own, other = (verdict.passages[0] for verdict in found.verdicts)
    assert own.raw == other.raw
    assert own.predicted.entailment > other.predicted.entailment
    assert recorded_map(tmp_path / "run").other_shares == OTHER_SHARES  # so that a resumed run weighs them alike
    assert other.predicted.neutral > own.predicted.neutral


async def test_only_the_language_models_relations_are_calibrated(model: Model, tmp_path: Path) -> None:
    engine = ScriptedEngine(choose=model.choose)
    model.patch.setattr(wiring, "engine_facts", lambda options, **_: EngineFacts(engine.identity, settings=cast("Any", engine)))
    chosen = OPTIONS.model_copy(update={"relations": "lexical", "second_opinion": "llm"})
    job = prepare(model.data, method="factreasoner-fr1", options=chosen, out=tmp_path / "run")
    async with AsyncExitStack() as opened:
        pipeline, _ = wiring.wire(job.chosen, opened, observe=ignore_reports, start=lambda engine: cast("Any", engine))
    assert not isinstance(pipeline.relation_model, CalibratedRelations)
    assert isinstance(pipeline.reviewer, SecondOpinion)
    assert isinstance(pipeline.reviewer.model, CalibratedRelations)


@pytest.mark.parametrize(
    ("written", "options", "message"),
    [
        ("{}", {}, r"is of another model, or of another prompt: "),
        ("[", {}, "is no map of relations"),
        ('{"slopes": [0, 1, 1]}', {}, "is no map of relations"),
        (None, {}, "cannot be read: No such file"),
        ("{}", {"calibrated": False}, "--uncalibrated takes relations as they come, so --relation-map would change nothing"),
        ("{}", {"relations": "lexical"}, "--calibrated would change nothing in the method"),
    ],
)
def test_maps_that_cannot_be_used_are_refused(
    model: Model, tmp_path: Path, written: str | None, options: Mapping[str, Any], message: str
) -> None:
    file = tmp_path / "map.json"
    if written is not None:
        file.write_text(written)
    with pytest.raises(InputError, match=message):
        model.run(tmp_path / "run", relation_map=file, **options)
