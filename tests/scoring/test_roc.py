import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from localfact.errors import InputError
from localfact.scoring.bootstrap import resample
from localfact.scoring.roc import RocCurve, area_interval, area_of_rows, interval_method, roc_curve

#: Scores with ties, and which of them are positives.
SCORED = st.lists(st.tuples(st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.9, 1.0]), st.booleans()), min_size=2, max_size=40)


def curve(scores: list[float], positive: list[int], rows: list[int] | None = None, seed: int = 0) -> RocCurve:
    return roc_curve(
        np.array(scores), np.array(positive, dtype=np.bool_), np.array(rows or range(len(scores)), dtype=np.int64), seed=seed
    )


def rates(found: RocCurve) -> list[tuple[float | None, float, float]]:
    return [(point.threshold, point.false_positive_rate, point.true_positive_rate) for point in found.points]


def test_the_curve_and_area_of_four_scores_are_those_drawn_by_hand() -> None:
    found = curve([0.9, 0.6, 0.7, 0.2], [1, 1, 0, 0])
    assert rates(found) == [(None, 0.0, 0.0), (0.9, 0.0, 0.5), (0.7, 0.5, 0.5), (0.6, 0.5, 1.0), (0.2, 1.0, 1.0)]
    assert found.area == 0.75
    assert (found.positives, found.negatives, found.rows) == (2, 2, 4)


def test_a_tie_between_a_positive_and_a_negative_counts_half() -> None:
    found = curve([0.5, 0.5, 0.1], [1, 0, 0])
    assert rates(found) == [(None, 0.0, 0.0), (0.5, 0.5, 1.0), (0.1, 1.0, 1.0)]
    assert found.area == 0.75


def test_scores_that_are_all_equal_give_one_half() -> None:
    assert curve([0.3] * 6, [1, 0, 1, 0, 0, 1]).area == 0.5


@pytest.mark.parametrize(("positive", "area"), [([1, 1, 0, 0], 1.0), ([0, 0, 1, 1], 0.0)])
def test_a_perfect_and_a_reversed_order_are_certain(positive: list[int], area: float) -> None:
    found = curve([0.9, 0.8, 0.2, 0.1], positive, rows=[0, 1, 0, 1])
    assert found.area == area
    assert found.ci == (area, area)


@pytest.mark.parametrize("positive", [[1, 1], [0, 0], []])
def test_one_kind_alone_has_no_curve_and_says_which_is_missing(positive: list[int]) -> None:
    with pytest.raises(InputError, match=rf"{sum(positive)} positives and {len(positive) - sum(positive)} negatives"):
        curve([0.1, 0.2][: len(positive)], positive)


def test_one_row_has_an_area_and_no_interval() -> None:
    found = curve([0.9, 0.1], [1, 0], rows=[7, 7])
    assert (found.area, found.ci, found.rows) == (1.0, None, 1)


def test_rows_that_never_hold_both_kinds_together_leave_the_resamples_that_do() -> None:
    found = curve([0.9, 0.4, 0.5, 0.1], [1, 1, 0, 0], rows=[0, 1, 2, 3])
    assert found.ci is not None
    assert 0.0 <= found.ci[0] < found.area < found.ci[1] <= 1.0


def noisy(questions: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    generator = np.random.default_rng(5)
    rows = np.repeat(np.arange(questions), 4)
    positive = np.tile([True, False, False, False], questions)
    return generator.normal(size=len(rows)) + positive, positive, rows


def test_the_interval_holds_the_area_and_narrows_with_more_rows() -> None:
    widths = []
    for questions in (25, 400):
        found = roc_curve(*noisy(questions))
        assert found.ci is not None
        assert found.ci[0] < found.area < found.ci[1]
        widths.append(found.ci[1] - found.ci[0])
    assert widths[1] < widths[0] / 2


def test_the_interval_depends_on_the_seed_alone() -> None:
    scores, positive, rows = noisy(25)
    assert area_interval(scores, positive, rows, seed=1) == area_interval(scores, positive, rows, seed=1)
    assert area_interval(scores, positive, rows, seed=1) != area_interval(scores, positive, rows, seed=2)
    assert "seed 3" in interval_method(3)


def test_scores_of_one_row_are_drawn_together() -> None:
    """The same scores a hundred times over in two rows are no more certain than once."""
    scores, positive = np.array([0.9, 0.5, 0.4, 0.6]), np.array([True, False, True, False])
    once = area_interval(scores, positive, np.array([0, 0, 1, 1]))
    often = area_interval(np.tile(scores, 100), np.tile(positive, 100), np.tile([0, 0, 1, 1], 100))
    assert often == once


@given(SCORED)
def test_the_area_is_the_share_of_pairs_in_the_right_order(scored: list[tuple[float, bool]]) -> None:
    highs = [score for score, positive in scored if positive]
    lows = [score for score, positive in scored if not positive]
    assume(highs and lows)
    found = curve(*map(list, zip(*scored, strict=True)), rows=[0] * len(scored))
    wins = sum((high > low) + (high == low) / 2 for high in highs for low in lows)
    assert found.area == pytest.approx(wins / (len(highs) * len(lows)), abs=1e-12)


@given(SCORED)
def test_a_curve_rises_from_the_origin_to_the_far_corner(scored: list[tuple[float, bool]]) -> None:
    assume(len({positive for _, positive in scored}) == 2)
    points = rates(curve(*map(list, zip(*scored, strict=True)), rows=[0] * len(scored)))
    assert points[0] == (None, 0.0, 0.0)
    assert points[-1][1:] == (1.0, 1.0)
    assert sorted(points[1:], key=lambda point: (point[1], point[2])) == points[1:]


@given(SCORED, st.integers(2, 6), st.integers(0, 2**32))
def test_a_resample_has_the_area_of_its_rows_written_out(scored: list[tuple[float, bool]], rows: int, seed: int) -> None:
    from sklearn.metrics import roc_auc_score

    scores, positive = (np.array(column) for column in zip(*scored, strict=True))
    row = np.arange(len(scores)) % rows
    chosen = np.random.default_rng(seed).integers(0, rows, rows)
    members = np.concatenate([np.flatnonzero(row == one) for one in chosen])
    estimate = area_of_rows(scores, positive, row, rows)(chosen)
    if len(np.unique(positive[members])) < 2:
        assert np.isnan(estimate)
    else:
        assert estimate == pytest.approx(roc_auc_score(positive[members], scores[members]), abs=1e-12)


@pytest.mark.slow
def test_the_interval_is_that_of_areas_computed_by_the_library() -> None:
    from sklearn.metrics import roc_auc_score

    scores, positive, rows = noisy(6)
    by_row = [np.flatnonzero(rows == row) for row in range(6)]

    def area(chosen: np.ndarray) -> float:
        members = np.concatenate([by_row[row] for row in chosen])
        return float(roc_auc_score(positive[members], scores[members]))

    expected = np.quantile(resample(area, 6, seed=0), (0.025, 0.975))
    assert area_interval(scores, positive, rows) == pytest.approx(tuple(expected), abs=1e-12)
