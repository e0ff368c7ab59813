"""Agreement of two raters: by hand, and as scikit-learn has it."""

import random

import pytest
from sklearn.metrics import cohen_kappa_score

from localfact.scoring.agreement import agreement


def test_chance_is_taken_out_of_what_agrees() -> None:
    pairs = [("s", "s")] * 20 + [("n", "n")] * 15 + [("s", "n")] * 5 + [("n", "s")] * 10
    found = agreement(pairs)
    assert (found.n, found.share) == (50, 0.7)
    assert found.kappa == pytest.approx(0.4)  # chance 0.5: 25 of 50 against 30 of 50
    # Of 100 labels 55 are s, 45 are n: two drawn without replacement differ with 2 * 55 * 45 / (100 * 99) = 0.5.
    assert found.alpha == pytest.approx(1 - 0.3 / 0.5)


def test_kappa_is_that_of_scikit_learn() -> None:
    chance = random.Random(3)
    pairs = [(chance.choice("abcde"), chance.choice("aabcd")) for _ in range(200)]
    assert agreement(pairs).kappa == pytest.approx(cohen_kappa_score([one for one, _ in pairs], [two for _, two in pairs]))


def test_alpha_of_krippendorffs_nominal_example_with_two_observers() -> None:
    # Two observers, ten units, 0 and 1 (Krippendorff, "Computing Krippendorff's alpha-reliability", section A): 0.095.
    first, second = "0100000000", "1110010100"
    assert agreement(list(zip(first, second, strict=True))).alpha == pytest.approx(0.095, abs=5e-4)


def test_with_one_label_or_nothing_coefficients_are_undefined() -> None:
    assert agreement([]).model_dump() == {"n": 0, "share": None, "kappa": None, "alpha": None}
    assert agreement([("s", "s")] * 3).model_dump() == {"n": 3, "share": 1.0, "kappa": None, "alpha": None}
