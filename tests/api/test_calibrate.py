"""Theta from labelled claims: pre-verified by a model, held against the labels, with a bound."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from localfact.api.calibrate import calibrate
from localfact.errors import EngineError, InputError
from localfact.llm.engine import Chat, Engine
from localfact.llm.layers.recording import RecordingLayer
from localfact.llm.scripted import ScriptedEngine
from localfact.methods.engine import EngineFacts
from localfact.methods.options import Options

#: How sure the model is of a claim, by a word in it; of "bold" ones it is wrongly sure.
CONFIDENCE = {"plain": 0.9995, "likely": 0.91, "bold": 0.71}


def opinion(chat: Chat, labels: Sequence[str]) -> Mapping[str, float]:
    word = next(word for word in CONFIDENCE if word in chat[-1].content)
    return {"UNSURE": 0.8} if "unsure" in chat[-1].content else {"SUPPORTED": CONFIDENCE[word]}


def rows(file: Path) -> Path:
    """A hundred plain true claims, forty likely true ones, ten bold false ones, five unsure ones, and rows to pass over."""
    claims = [(f"The plain fact {number}.", "S") for number in range(100)]
    claims += [(f"The likely fact {number}.", "S") for number in range(40)]
    claims += [(f"The bold fact {number}.", "NS") for number in range(10)]
    claims += [(f"The plain unsure fact {number}.", "S") for number in range(5)]
    labelled = {"id": "one", "response": "Facts.", "claims": [{"text": text, "label": label} for text, label in claims]}
    bare = {"id": "two", "response": "More facts.", "claims": [{"text": "The plain fact without a label."}]}
    file.write_text("\n".join(map(json.dumps, (labelled, bare, {"id": "three"}))))
    return file


def opened_engine(engine: Engine, options: Options, opened: AsyncExitStack, facts: EngineFacts) -> Engine:
    opened.push_async_callback(engine.aclose)
    return engine


@pytest.fixture
def options(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Options:
    """A scripted model in place of vLLM, behind a real transcript."""
    engine = RecordingLayer(ScriptedEngine(choose=opinion), tmp_path / "calls.sqlite")
    monkeypatch.setattr("localfact.api.calibrate.open_engine", partial(opened_engine, engine))
    monkeypatch.setattr("localfact.methods.wiring.engine_facts", lambda *_, **__: EngineFacts(engine.identity))
    return Options(model="scripted", embedder="none")


def test_theta_is_the_smallest_whose_accepted_claims_are_shown_to_be_right_often_enough(
    tmp_path: Path, options: Options
) -> None:
    found = calibrate(rows(tmp_path / "rows.jsonl"), options=options, max_risk=0.05)
    assert (found.responses, found.passed_over, found.failed) == (1, 2, 0)
    assert (found.claims, found.definite, found.indefinite) == (155, 150, 5)
    points = {point.theta: point for point in found.points}
    assert (points[0.995].accepted, points[0.995].wrong) == (100, 0)
    assert (points[0.9].accepted, points[0.9].wrong) == (140, 0)
    assert (points[0.7].accepted, points[0.7].wrong, points[0.7].risk) == (150, 10, pytest.approx(10 / 150))
    assert found.chosen is not None
    assert found.chosen.theta == 0.8, "0.7 accepts ten wrong claims of 150, which is more than one in twenty"
    assert found.chosen.skipped == pytest.approx(140 / 155)


@pytest.mark.slow
def test_a_model_whose_card_trusts_no_opinion_of_it_is_asked_for_them_where_theta_is_sought(
    tmp_path: Path, options: Options, monkeypatch: pytest.MonkeyPatch
) -> None:
    facts = EngineFacts(ScriptedEngine().identity, trusts_opinion=False)
    monkeypatch.setattr("localfact.methods.wiring.engine_facts", lambda *_, **__: facts)
    assert calibrate(rows(tmp_path / "rows.jsonl"), method="localfact", options=options).definite == 150


def test_a_map_of_priors_says_how_often_claims_are_supported_of_which_the_model_is_so_sure(
    tmp_path: Path, options: Options
) -> None:
    found = calibrate(rows(tmp_path / "rows.jsonl"), options=options, with_prior_map=True).prior_map
    assert found is not None
    assert (found.claims, found.model) == (155, "scripted")
    # The ten bold claims are all wrong, though the model thinks them as good as true; the plain and likely ones are all right.
    assert found(0.0) < 0.5
    assert found(1.0) == 1.0


@pytest.mark.slow
def test_too_few_claims_for_a_map_of_priors_still_give_theta(tmp_path: Path, options: Options) -> None:
    data = rows(tmp_path / "rows.jsonl")
    row = json.loads(data.read_text().splitlines()[0])
    data.write_text(json.dumps(row | {"claims": row["claims"][:5]}))
    few = calibrate(data, options=options, with_prior_map=True)
    assert few.points
    assert few.prior_map is None
    assert any("too few for a map of priors" in warning for warning in few.warnings)


def test_a_replayed_calibration_finds_the_same(tmp_path: Path, options: Options, monkeypatch: pytest.MonkeyPatch) -> None:
    data = rows(tmp_path / "rows.jsonl")
    first = calibrate(data, options=options)
    monkeypatch.undo()
    assert calibrate(data, options=Options(replay=tmp_path / "calls.sqlite", embedder="none")) == first


def test_what_cannot_be_calibrated_is_refused_before_a_model_is_opened(tmp_path: Path) -> None:
    unlabelled = tmp_path / "bare.jsonl"
    unlabelled.write_text('{"response": "No claims."}')
    with pytest.raises(InputError, match="no labelled claims"):
        calibrate(unlabelled, options=Options(model="nowhere"))
    with pytest.raises(InputError, match="--max-risk"):
        calibrate(unlabelled, options=Options(model="nowhere"), max_risk=0.9)
    with pytest.raises(InputError, match="no gate"):
        calibrate(unlabelled, method="builtin-fr2")


def several(file: Path, *texts: str) -> Path:
    """A response for each text, with one labelled claim."""
    claims = ({"response": text, "claims": [{"text": text, "label": "S"}]} for text in texts)
    file.write_text("\n".join(map(json.dumps, claims)))
    return file


class Scripted(ScriptedEngine):
    """Fails on some claims, and knows whether it was closed."""

    closed = False

    async def choose(self, chat: Chat, labels: Sequence[str], **rest: Any) -> Any:
        text = chat[-1].content
        if "endless" in text:
            await asyncio.Event().wait()
        if "dead" in text:
            raise EngineError("The engine died.")
        if "odd" in text:
            raise ValueError("an odd one")
        return await super().choose(chat, labels, **rest)

    async def aclose(self) -> None:
        self.closed = True


@pytest.fixture
def engine(options: Options, monkeypatch: pytest.MonkeyPatch) -> Scripted:
    scripted = Scripted(choose=opinion)
    monkeypatch.setattr("localfact.api.calibrate.open_engine", partial(opened_engine, scripted))
    return scripted


def test_whatever_one_response_raises_fails_that_response_alone(tmp_path: Path, options: Options, engine: Scripted) -> None:
    data = several(tmp_path / "rows.jsonl", "The plain fact.", "The odd plain fact.", "Another plain fact.")
    found = calibrate(data, options=options)
    assert (found.responses, found.failed, found.claims) == (3, 1, 2)
    assert found.warnings == ("1 responses failed and are not in the figures: row-2: ValueError: an odd one",)
    assert engine.closed


def test_a_dead_engine_ends_the_calibration_without_waiting_for_the_others(
    tmp_path: Path, options: Options, engine: Scripted
) -> None:
    data = several(tmp_path / "rows.jsonl", "The endless plain fact.", "The dead plain fact.", "The third plain fact.")
    with pytest.raises(EngineError, match="died"):
        calibrate(data, options=options, concurrency=2)
    assert engine.closed
    assert not engine.calls, "nobody begins the third"


def test_the_engine_is_closed_when_nothing_can_be_made_of_it(
    tmp_path: Path, options: Options, engine: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuses(*_: object) -> None:
        raise InputError("no extractor")

    monkeypatch.setattr("localfact.api.calibrate.open_extractor", refuses)
    with pytest.raises(InputError, match="no extractor"):
        calibrate(rows(tmp_path / "rows.jsonl"), options=options)
    assert engine.closed
