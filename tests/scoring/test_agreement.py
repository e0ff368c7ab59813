"""Agreement of two raters: by hand, and as scikit-learn has it."""

import random

import pytest

from localfact.scoring.agreement import agreement, alpha_of_many


def test_chance_is_taken_out_of_what_agrees() -> None:
    pairs = [("s", "s")] * 20 + [("n", "n")] * 15 + [("s", "n")] * 5 + [("n", "s")] * 10
    found = agreement(pairs)
    assert (found.n, found.share) == (50, 0.7)
    assert found.kappa == pytest.approx(0.4)  # chance 0.5: 25 of 50 against 30 of 50
    # Of 100 labels 55 are s, 45 are n: two drawn without replacement differ with 2 * 55 * 45 / (100 * 99) = 0.5.
    assert found.alpha == pytest.approx(1 - 0.3 / 0.5)


def test_kappa_is_that_of_scikit_learn() -> None:
    from sklearn.metrics import cohen_kappa_score

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


def test_alpha_of_krippendorffs_nominal_example_with_four_observers_some_of_whom_passed_units_over() -> None:
    # Four observers, twelve units, five labels (the same paper, section C): 0.743.
    observers = ("123321412...", "1233224125.3", ".3332342251.", "12332441251.")
    units = [[label for label in unit if label != "."] for unit in zip(*observers, strict=True)]
    assert alpha_of_many(units) == pytest.approx(0.743, abs=5e-4)


def test_alpha_of_many_is_that_of_two_raters_and_knows_no_order() -> None:
    chance = random.Random(5)
    for size in (1, 2, 7, 60):
        pairs = [(chance.choice("abc"), chance.choice("aabc")) for _ in range(size)]
        labels = [label for pair in pairs for label in pair]
        drawn = [(one, two) for place, one in enumerate(labels) for two in labels[:place] + labels[place + 1 :]]
        expected = sum(one != two for one, two in drawn) / len(drawn)
        by_hand = 1 - sum(one != two for one, two in pairs) / size / expected if expected else None
        assert agreement(pairs).alpha == (by_hand if by_hand is None else pytest.approx(by_hand))
        turned = [(*reversed(pair),) for pair in reversed(pairs)]
        assert alpha_of_many([*turned, "a", ""]) == agreement(pairs).alpha


def test_alpha_of_many_is_undefined_where_nobody_or_nothing_differs() -> None:
    assert alpha_of_many([]) is None
    assert alpha_of_many(["a", "b"]) is None
    assert alpha_of_many(["aa", "aaa"]) is None
