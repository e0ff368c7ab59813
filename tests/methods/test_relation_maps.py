"""The maps of relations that ship: each is of a card here, of the prompt as it is, and of the reference pairs as they are."""

import pytest

from localfact.errors import InputError
from localfact.llm.scripted import ScriptedEngine
from localfact.methods import wiring
from localfact.methods.engine import EngineFacts
from localfact.methods.options import Options
from localfact.methods.relation_maps import FOLDER, read_relation_map
from localfact.methods.settings import FactReasonerSettings
from localfact.models.cards import load_card
from localfact.prompts import prompt_hashes
from localfact.relations.calibration import FOUND_SHARES, OTHER_SHARES
from localfact.relations.reference import reference_name
from localfact.relations.windows import READING_VERSION
from localfact.runtime.locations import data_folder

FILES = sorted((data_folder("models") / FOLDER).glob("*.json"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_map_that_ships_is_of_what_is_asked_now(file) -> None:
    """After a change of prompt or pairs: `localfact calibrate --relations reference --model NAME --relation-map FILE`."""
    found, card = read_relation_map(file), load_card(file.stem)
    for known in (
        f"revision={card.revision}",
        f"dtype={card.dtype}",
        f"prompt={prompt_hashes()['relation']}",
        f"reading={READING_VERSION}",
    ):
        assert f"{known}," in found.model, known
    assert (found.pairs, found.shares, found.other_shares) == (reference_name(), FOUND_SHARES, OTHER_SHARES)


def test_maps_ship() -> None:
    assert FILES


@pytest.mark.parametrize(
    ("method", "typed", "said"),
    [
        ("factreasoner-fr2", {"relations": "lexical"}, "would change nothing"),
        ("factscore", {}, "would change nothing"),
        ("localfact", {}, "--uncalibrated"),
        ("factreasoner-fr2", {"factors": "soft", "tables": "balanced"}, "Soft factors"),
    ],
)
def test_raw_probabilities_are_refused_where_they_would_change_nothing_or_must_sum_to_one(
    method: str, typed: dict[str, object], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wiring, "engine_facts", lambda options, **_: EngineFacts(ScriptedEngine().identity))
    with pytest.raises(InputError, match=said):
        wiring.configure(method, Options(model="scripted", embedder="none", probability="raw", **typed))


@pytest.mark.parametrize(
    ("method", "typed", "calibrated", "factors"),
    [
        ("localfact", {}, True, "hard"),
        ("localfact", {"factors": "soft"}, True, "soft"),
        ("localfact", {"calibrated": False}, False, "hard"),
        ("localfact", {"tables": "paper"}, True, "hard"),
        ("localfact", {"relations": "lexical"}, False, "hard"),
        ("factreasoner-fr2", {}, False, "hard"),
        ("factreasoner-fr2", {"calibrated": True}, True, "hard"),
        ("builtin-fr2", {"second_opinion": "llm"}, True, "hard"),
    ],
)
def test_our_own_methods_calibrate_a_language_model_and_relations_count_softly_where_that_is_asked(
    method: str, typed: dict[str, object], calibrated: bool, factors: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wiring, "engine_facts", lambda options, **_: EngineFacts(ScriptedEngine().identity))
    settings = wiring.configure(method, Options(model="scripted", embedder="none", **typed)).settings.assessment
    assert isinstance(settings, FactReasonerSettings)
    assert (settings.relation_map, settings.factors) == (reference_name() if calibrated else None, factors)
