"""Ways to ask for relations are compared by what their answers are worth on labelled pairs."""

from pathlib import Path

import pytest

from localfact.prompts.own import read_own_prompts
from localfact.records import Distribution, Failure, Pair
from localfact.relations.calibration import LabelledPair
from localfact.relations.reference import reference_pairs
from scripts.measure_prompts import LABELS, VARIANTS, judge

PAIRS = [LabelledPair(Pair(f"Stone {label}.", "A stone."), label) for label in LABELS]


@pytest.mark.parametrize("folder", sorted(VARIANTS.iterdir()), ids=lambda folder: folder.name)
def test_each_variant_is_a_prompt_that_differs_from_the_one_that_ships(folder: Path) -> None:
    assert read_own_prompts(folder)


def test_right_answers_are_worth_more_than_none() -> None:
    def said(label: str) -> Distribution:
        return Distribution(**{"entailment": 0.1, "contradiction": 0.1, "neutral": 0.1, label: 0.8})  # type: ignore[arg-type]

    reference = {one.pair: said(one.label) for one in reference_pairs()}
    right = judge({**reference, **{one.pair: said(one.label) for one in PAIRS}}, PAIRS)
    assert right.f1 == 1
    assert right.losses.max() < 0.2
    unanswered = judge({**reference, **{one.pair: Failure(reason="no answer") for one in PAIRS}}, PAIRS)
    assert unanswered.losses.tolist() == pytest.approx([1.0986] * len(PAIRS), abs=1e-4)
