"""A map of priors follows the labels, never falls, and is read back as it was written."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from localfact.assess.factreasoner import FactReasoner
from localfact.assess.localfact import LocalFact
from localfact.assess.priormap import FEWEST_CLAIMS, PriorMap, fit_prior_map, read_prior_map
from localfact.assess.priors import prior_of
from localfact.errors import InputError
from localfact.records import Claim, PreVerification
from localfact.vocabulary import PreVerificationLabel

HALFWAY = PriorMap(knots=((0.0, 0.2), (0.5, 0.2), (1.0, 0.8)))


def test_a_map_is_linear_between_its_knots_and_level_outside() -> None:
    assert [HALFWAY(place) for place in (0.0, 0.25, 0.5, 0.75, 1.0)] == pytest.approx([0.2, 0.2, 0.2, 0.5, 0.8])
    assert PriorMap(knots=((0.4, 0.3), (0.6, 0.9)))(0.1) == 0.3
    assert PriorMap(knots=((0.4, 0.3), (0.6, 0.9)))(0.9) == 0.9


def test_an_overconfident_model_is_brought_down_to_what_its_claims_deserve() -> None:
    expected = [0.95] * 40 + [0.1] * 40
    supported = [True] * 30 + [False] * 10 + [True] * 4 + [False] * 36
    found = fit_prior_map(expected, supported, "some-model")
    assert (found(0.95), found(0.1)) == pytest.approx((0.75, 0.1))
    assert (found.claims, found.model) == (80, "some-model")


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=40, max_size=80), st.floats(0, 1), st.floats(0, 1))
def test_a_fitted_map_never_falls_and_keeps_the_share_of_supported_claims(
    rows: list[tuple[float, bool]], one: float, other: float
) -> None:
    expected, supported = [place for place, _ in rows], [label for _, label in rows]
    if min(sum(supported), len(supported) - sum(supported)) < FEWEST_CLAIMS:
        with pytest.raises(InputError, match="too few"):
            fit_prior_map(expected, supported, "m")
        return
    found = fit_prior_map(expected, supported, "m")
    assert 0 <= found(min(one, other)) <= found(max(one, other)) <= 1
    assert np.mean([found(place) for place in expected]) == pytest.approx(np.mean(supported), abs=1e-6)


def test_a_map_is_read_back_and_anything_else_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "map.json"
    file.write_text(HALFWAY.model_dump_json())
    assert read_prior_map(file) == HALFWAY
    for content in ("{", "[]", json.dumps({"knots": []}), json.dumps({"knots": [[0.5, 0.9], [0.6, 0.1]]})):
        file.write_text(content)
        with pytest.raises(InputError, match="no map of priors"):
            read_prior_map(file)
    with pytest.raises(InputError, match="cannot be read"):
        read_prior_map(tmp_path / "none.json")


def test_the_map_decides_the_priors_of_localfact_and_of_no_other_method(tmp_path: Path) -> None:
    likely = PreVerification(label=PreVerificationLabel.LIKELY_SUPPORTED, confidence=1.0)
    assert prior_of(likely) == 0.75
    assert prior_of(likely, HALFWAY) == pytest.approx(0.5)
    assert prior_of(None, HALFWAY) == 0.5
    assessor = LocalFact(FactReasoner(2), prior_map=HALFWAY)
    claim = Claim(id="c1", text="a claim", preverification=likely)
    assert assessor.reasoner.prior_of is not None
    assert assessor.reasoner.prior_of(claim) == pytest.approx(0.5)
    file = tmp_path / "map.json"
    file.write_text(HALFWAY.model_dump_json())
    assert read_prior_map(file).model_dump(mode="json") == json.loads(file.read_text())
