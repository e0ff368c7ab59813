"""A card may say that its model's opinion of a claim counts for nothing before there is evidence."""

from pathlib import Path

import pytest

from localfact.assess.priormap import PriorMap
from localfact.claims.given import GivenClaims
from localfact.claims.preverified import PreVerifiedClaims
from localfact.llm.scripted import ScriptedEngine
from localfact.methods.engine import EngineFacts
from localfact.methods.extraction import open_extractor
from localfact.methods.localfact import LOCALFACT
from localfact.methods.options import Options
from localfact.methods.registry import METHODS
from localfact.methods.settings import ChunkSettings, LocalFactSettings
from localfact.methods.wiring import Configuration, notes_on, run_settings
from localfact.records import Claim, PreVerification
from localfact.vocabulary import PreVerificationLabel

SURE = Claim(
    id="c", text="The tower fell.", preverification=PreVerification(label=PreVerificationLabel.SUPPORTED, confidence=0.999)
)


def chosen(*, trusts: bool, method: str = "localfact", **options: object) -> Configuration:
    facts = EngineFacts(ScriptedEngine().identity, trusts_opinion=trusts)
    typed = Options(model="scripted", embedder="none", **options)
    return Configuration(METHODS[method], typed, run_settings(METHODS[method], typed, facts), facts)


@pytest.mark.parametrize(("trusts", "settled", "prior"), [(True, 1, 0.95), (False, 0, 0.5)])
def test_without_trust_nothing_is_settled_and_priors_are_one_half(trusts: bool, settled: int, prior: float) -> None:
    configuration = chosen(trusts=trusts)
    assessor = LOCALFACT.assessor(configuration.settings, None)
    assert 1 - len(assessor.needs_evidence([SURE])) == settled
    assert assessor.prior_of(SURE) == prior
    assert bool(notes_on(configuration)) is not trusts


@pytest.mark.parametrize(
    ("trusts", "options", "confidence"),
    [
        (True, {}, "distribution"),
        (False, {}, "none"),
        (False, {"theta": 0.9}, "distribution"),
        (False, {"confidence": "token"}, "token"),
        (False, {"method": "fastfact"}, "token"),
    ],
)
def test_a_label_that_would_decide_nothing_is_not_asked_for(trusts: bool, options: dict[str, str], confidence: str) -> None:
    extraction = chosen(trusts=trusts, **options).settings.extraction
    assert isinstance(extraction, ChunkSettings)
    assert extraction.confidence == confidence
    opened = open_extractor(extraction, ScriptedEngine(), 0)
    assert isinstance(opened, GivenClaims if confidence == "none" else PreVerifiedClaims)


def test_what_is_typed_counts_before_the_card_and_fastfact_stays_as_published(tmp_path: Path) -> None:
    file = tmp_path / "map.json"
    file.write_text(PriorMap(knots=((0.0, 0.2), (1.0, 0.8))).model_dump_json())
    settings = chosen(trusts=False, theta=0.9, prior_map=file).settings.assessment
    assert isinstance(settings, LocalFactSettings)
    assert (settings.theta, settings.prior_map and settings.prior_map(1.0)) == (0.9, 0.8)
    assert chosen(trusts=False, method="fastfact").settings.plain()["assessment"]["theta"] == 0.995
