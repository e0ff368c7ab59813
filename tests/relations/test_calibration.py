"""The map that takes a model's bias out of its relations: what it finds, what it leaves alone, what is kept of both."""

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest

from localfact.errors import EngineError, InputError
from localfact.records import Distribution, Failure, Pair, RelationProbabilities, Span
from localfact.relations.calibrated import CalibratedRelations, fit_on_reference_pairs
from localfact.relations.calibration import (
    FEWEST_PAIRS,
    LABELS,
    LabelledPair,
    RelationMap,
    fit_relation_map,
    log_losses,
    places_of,
    probabilities_of,
)
from localfact.relations.reference import reference_name, reference_pairs
from localfact.vocabulary import RelationLabel

#: How a model may be biased: it says neutral, and is too sure of itself.
SLOPE, BIASES = 0.5, (0.9, -1.2, 0.3)


def labelled(count: int, seed: int = 0) -> tuple[np.ndarray, list[LabelledPair]]:
    """True probabilities of the relations of `count` pairs, and relations drawn by them; each is as frequent as the others."""
    drawn = np.random.default_rng(seed)
    truths = drawn.dirichlet([0.5] * 3, count)
    places = [int(drawn.choice(3, p=row)) for row in truths]
    pairs = [LabelledPair(Pair(f"passage {n // 3}", f"claim {n}"), RelationLabel(LABELS[p])) for n, p in enumerate(places)]
    return truths, pairs


def said(probabilities: np.ndarray) -> list[Distribution]:
    return [Distribution(**dict(zip(LABELS, row, strict=True))) for row in probabilities.tolist()]


def biased(truths: np.ndarray) -> np.ndarray:
    """What a model says whose map has SLOPE and BIASES."""
    logits = (np.log(np.maximum(truths, 1e-9)) - np.array(BIASES)) / SLOPE
    weights = np.exp(logits - logits.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


def test_a_model_with_a_known_bias_gets_its_truth_back() -> None:
    truths, pairs = labelled(900)
    raw = biased(truths)
    fitted = fit_relation_map(said(raw), pairs, "made")
    assert fitted.biases == pytest.approx(BIASES, abs=0.25)
    assert fitted.slopes == pytest.approx([SLOPE] * 3, abs=0.1)
    other, others = labelled(900, seed=1)
    calibrated = fitted.calibrate(biased(other))
    assert np.abs(calibrated - other).mean() < 0.02
    assert np.abs(biased(other) - other).mean() > 0.15
    place = places_of(others)
    assert log_losses(calibrated, place).mean() < log_losses(biased(other), place).mean() - 0.3


def test_a_model_without_a_bias_is_left_as_it_is() -> None:
    truths, pairs = labelled(6000)
    fitted = fit_relation_map(said(truths), pairs, "made")
    assert np.abs(fitted.calibrate(truths) - truths).mean() < 0.015


def test_after_the_map_each_label_is_as_frequent_as_among_the_pairs() -> None:
    """Biases are not held back: even a model that is silent to 98 % says each label of balanced pairs as often as it is so."""
    pairs = list(reference_pairs())
    silent = [Distribution(entailment=0.015, contradiction=0.005, neutral=0.98)] * len(pairs)
    fitted = fit_relation_map(silent, pairs, "made")
    assert fitted.calibrate(probabilities_of(silent)).mean(axis=0) == pytest.approx([1 / 3] * 3, abs=1e-3)
    assert sum(fitted.biases) == pytest.approx(0, abs=2e-4)


def test_one_slope_serves_all_labels_unless_three_do_better_on_pairs_held_out() -> None:
    truths, pairs = labelled(900)
    logits = np.log(np.maximum(truths, 1e-9)) / np.array([0.3, 2.0, 1.0])
    weights = np.exp(logits - logits.max(axis=1, keepdims=True))
    assert len(set(fit_relation_map(said(weights / weights.sum(axis=1, keepdims=True)), pairs, "made").slopes)) == 3
    few, of_few = labelled(60)
    assert len(set(fit_relation_map(said(few), of_few, "made").slopes)) == 1


def test_too_few_pairs_of_a_relation_are_refused() -> None:
    truths, pairs = labelled(300)
    kept = [one for one in pairs if one.label is not RelationLabel.NEUTRAL][: 3 * FEWEST_PAIRS]
    with pytest.raises(InputError, match="0 pairs of neutral are too few to calibrate by; it takes 10"):
        fit_relation_map(said(truths[: len(kept)]), kept, "made")


def test_a_certain_model_has_finite_odds() -> None:
    (sure,) = RelationMap(slopes=(2.0, 2.0, 2.0), biases=(1.0, 0.0, -1.0)).calibrate(np.array([[1.0, 0.0, 0.0]]))
    assert sure == pytest.approx([1.0, 0.0, 0.0], abs=1e-6)
    assert math.isfinite(sure.sum())


def test_the_reference_pairs_are_forty_passages_with_each_relation_once() -> None:
    pairs = reference_pairs()
    assert Counter(one.label.value for one in pairs) == dict.fromkeys(LABELS, 40)
    assert len({one.pair for one in pairs}) == 120
    assert set(Counter(one.pair.premise for one in pairs).values()) == {3}
    lengths = sorted(len(one.pair.premise.split()) for one in pairs)
    assert lengths[0] <= 15
    assert lengths[-1] >= 120
    assert reference_name().startswith("reference@")


class Said:
    """A relation model that always says the same, fails at the passages named, and counts what it is asked."""

    identity = "said"

    def __init__(self, *failing: str) -> None:
        self.failing, self.asked = failing, 0

    async def relate(self, pairs: Sequence[Pair]) -> Sequence[Distribution | Failure]:
        self.asked += len(pairs)
        one = Distribution(entailment=0.1, contradiction=0.1, neutral=0.8, windows=3, window=Span(start=2, end=9))
        return [Failure(reason="-") if pair.premise in self.failing else one for pair in pairs]


async def test_predictions_are_calibrated_and_what_the_model_said_and_read_is_kept() -> None:
    below = Said("gone")
    model = CalibratedRelations(below, RelationMap(biases=(1.0, 0.0, -1.0)))
    known, failed = await model.relate([Pair("here", "claim"), Pair("gone", "claim")])
    assert failed == Failure(reason="-")
    assert isinstance(known, Distribution)
    assert known.entailment == pytest.approx(0.1 * math.e / (0.1 * math.e + 0.1 + 0.8 / math.e))
    assert known.raw == RelationProbabilities(entailment=0.1, contradiction=0.1, neutral=0.8)
    assert (known.windows, known.window) == (3, Span(start=2, end=9))
    assert (model.identity, below.asked) == ("said", 2)


async def test_without_a_map_the_reference_pairs_are_asked_once() -> None:
    below = Said()
    model = CalibratedRelations(below, None)
    await model.relate([Pair("here", "claim")])
    await model.relate([Pair("here", "claim")])
    assert below.asked == 122
    assert (await model.fit()).pairs == reference_name()


async def test_a_model_that_fails_at_many_reference_pairs_is_not_calibrated() -> None:
    premises = list(dict.fromkeys(one.pair.premise for one in reference_pairs()))
    assert (await fit_on_reference_pairs(Said(*premises[:4]))).pairs == reference_name()
    with pytest.raises(EngineError, match="15 of 120 reference pairs failed"):
        await fit_on_reference_pairs(Said(*premises[:5]))


def test_shares_weigh_the_labels_after_the_map() -> None:
    even, sure = np.full((1, 3), 1 / 3), np.array([[0.8, 0.1, 0.1]])
    weighed = RelationMap(shares=(0.5, 0.3, 0.2))
    assert weighed.calibrate(even)[0] == pytest.approx([0.5, 0.3, 0.2])
    assert weighed.calibrate(sure)[0] == pytest.approx(np.array([0.4, 0.03, 0.02]) / 0.45)
