"""`calibrate --relations`: a map of relations from the pairs that ship or from a user's own, and what is refused."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from typer.testing import CliRunner

from localfact.api.calibrate_relations import calibrate_relations, view_rows
from localfact.cli.main import app
from localfact.errors import InputError
from localfact.llm.engine import Chat
from localfact.llm.scripted import ScriptedEngine
from localfact.methods import relation_calibration
from localfact.methods.engine import EngineFacts
from localfact.methods.options import Options
from localfact.methods.relation_maps import calibrated_model, read_relation_map
from localfact.methods.relations import FoundRelationModel
from localfact.relations.calibration import BALANCED, FOUND_SHARES, LABELS, OTHER_SHARES
from localfact.relations.llm import LLMRelationModel
from localfact.relations.reference import reference_name, reference_pairs

OPTIONS = Options(model="scripted")
TRUE = {one.pair: one.label.value for one in reference_pairs()}


def choose(chat: Chat, labels: Sequence[str]) -> Mapping[str, float]:
    """Neutral first, whatever it is asked; its odds are those of the true label, which the tests' own hypotheses end with."""
    text = chat[-1].content
    known = next((label for pair, label in TRUE.items() if pair.hypothesis in text and pair.premise in text), None)
    label = known or next(label for label in LABELS if f"({label})" in text.rpartition("Hypothesis:")[2])
    return {"neutral": 0.9, "entailment": 0.02, "contradiction": 0.02} | ({} if label == "neutral" else {label: 0.08})


@pytest.fixture(autouse=True)
def scripted(monkeypatch: pytest.MonkeyPatch) -> EngineFacts:
    engine = ScriptedEngine(choose=choose)
    found = FoundRelationModel("scripted", lambda opened: LLMRelationModel(engine))
    monkeypatch.setattr(relation_calibration, "find_relation_model", lambda options: found)
    monkeypatch.setattr(relation_calibration, "engine_facts", lambda options, **_: EngineFacts(engine.identity))
    return EngineFacts(engine.identity)


def written(file: Path, count: int, **more: str) -> Path:
    rows = [
        {"premise": f"Passage {number}.", "hypothesis": f"Claim {number} ({label}).", "label": said, **more}
        for number in range(count)
        for label, said in zip(LABELS, ("SUPPORTS", "refuted", "Not enough info"), strict=True)
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def test_the_pairs_that_ship_give_a_map_for_claims_beside_what_was_found_for_them(scripted: EngineFacts) -> None:
    found = calibrate_relations("reference", options=OPTIONS)
    assert found.pairs == 120
    assert found.relation_map.pairs == reference_name()
    assert found.relation_map.model == calibrated_model(scripted)
    assert (found.relation_map.shares, found.relation_map.other_shares) == (FOUND_SHARES, OTHER_SHARES)
    assert (found.raw.accuracy, found.calibrated.accuracy) == (pytest.approx(1 / 3), 1.0)
    assert found.calibrated.log_loss < found.raw.log_loss - 0.5
    assert found.raw.called == {"entailment": 0.0, "contradiction": 0.0, "neutral": 1.0}
    assert [row["right"] for row in view_rows(found)] == ["33.3%", "100.0%"]


def test_a_users_own_pairs_are_taken_with_their_own_shares_and_the_usual_words_for_labels(tmp_path: Path) -> None:
    found = calibrate_relations(written(tmp_path / "pairs.jsonl", 12), options=OPTIONS)
    assert (found.pairs, found.relation_map.shares, found.relation_map.other_shares) == (36, BALANCED, None)
    assert found.relation_map.pairs.startswith("file@")


def test_the_command_writes_a_map_that_eval_reads(tmp_path: Path) -> None:
    file = tmp_path / "map.json"
    shown = CliRunner().invoke(
        app, ["calibrate", "--relations", "reference", "--model", "scripted", "--relation-map", str(file), "--json"]
    )
    assert shown.exit_code == 0, shown.output
    assert read_relation_map(file).model_dump(mode="json") == json.loads(shown.stdout)["relation_map"]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"premise": "A.", "hypothesis": "B.", "label": "perhaps"}, "Row 1 of .* needs a 'premise', a 'hypothesis'"),
        ({"premise": "A.", "label": "neutral"}, "Row 1 of"),
        ({"premise": "A.", "hypothesis": "B (neutral).", "label": "neutral"}, "0 pairs of entailment are too few"),
    ],
)
def test_rows_that_tell_nothing_are_refused(tmp_path: Path, row: Mapping[str, str], message: str) -> None:
    (tmp_path / "pairs.jsonl").write_text(json.dumps(row))
    with pytest.raises(InputError, match=message):
        calibrate_relations(tmp_path / "pairs.jsonl", options=OPTIONS)


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ([], "calibrate takes --data, to choose theta, --relations"),
        (["--data", "x.jsonl", "--relations", "reference"], "calibrate takes --data"),
        (["--data", "x.jsonl", "--relation-map", "map.json"], "--relation-map is where the map of --relations is written"),
        (["--relations", "reference", "--limit", "3", "--max-risk", "0.1"], "--limit, --max-risk is about theta"),
    ],
)
def test_theta_and_maps_are_not_mixed_up(typed: Sequence[str], message: str) -> None:
    done = CliRunner().invoke(app, ["calibrate", "--model", "scripted", *typed])
    assert done.exit_code != 0
    assert message in " ".join(str(done.exception or done.output).split())
