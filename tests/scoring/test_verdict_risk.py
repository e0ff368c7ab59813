"""Thresholds of verdicts hold what they promise, over responses whose claims all depend on each other, too."""

import numpy as np
import pytest

from localfact.errors import InputError
from localfact.scoring.verdict_risk import fewest_responses, lowest_threshold, threshold_curve

RISK, DELTA = 0.1, 0.1
#: P(wrong) of a verdict of confidence c: below 0.7 many are wrong, above hardly any.
EXPECTED = {0.6: 0.4, 0.8: 0.05, 0.95: 0.01}


def draw(random: np.random.Generator, responses: int, *, together: bool) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Verdicts of responses; `together`: those of one response and confidence are right or wrong as one."""
    confidence = [random.choice(list(EXPECTED), size=random.integers(1, 9)) for _ in range(responses)]
    wrong = []
    for one in confidence:
        luck = dict.fromkeys(EXPECTED, random.random()) if together else None
        wrong.append(np.array([(luck[c] if luck else random.random()) < EXPECTED[c] for c in one]))
    return confidence, wrong


@pytest.mark.parametrize("together", [False, True])
def test_the_risk_is_exceeded_no_more_often_than_promised_and_the_lenient_threshold_is_found(together: bool) -> None:
    random = np.random.default_rng(1)
    found = []
    for _ in range(60):
        confidence, wrong = draw(random, 150, together=together)
        points = threshold_curve(confidence, wrong, RISK, (0.95, 0.8, 0.6))
        chosen = lowest_threshold(confidence, points, RISK, DELTA)
        found.append(chosen.threshold if chosen else None)
    # At 0.6 the risk is (0.4 + 0.05 + 0.01) / 3 = 0.15; at 0.8 it is 0.03.
    assert found.count(0.6) <= 2 * DELTA * len(found)
    assert found.count(0.8) >= 0.8 * len(found)


def test_verdicts_of_one_response_count_once() -> None:
    """Two hundred claims of two responses show less than sixty of sixty."""
    many = [np.full(100, 0.99)] * 2
    few = [np.full(1, 0.99)] * 60
    for confidence, shown in ((many, False), (few, True)):
        points = threshold_curve(confidence, [np.zeros(len(one), bool) for one in confidence], 0.05, (0.9,))
        assert (lowest_threshold(confidence, points, 0.05, 0.1) is not None) is shown
    assert fewest_responses(0.05, 0.1) == 60


def test_a_wrong_verdict_at_the_top_does_not_end_the_search() -> None:
    confidence = [np.array([0.99, 0.9])] * 200
    wrong = [np.array([place == 0, False]) for place in range(200)]
    points = threshold_curve(confidence, wrong, 0.1, (0.99, 0.9))
    chosen = lowest_threshold(confidence, points, 0.1, 0.05)
    assert chosen is not None
    assert (chosen.threshold, chosen.standing, chosen.wrong, chosen.responses) == (0.9, 400, 1, 200)


def test_nothing_is_shown_without_verdicts_and_wrong_arguments_are_refused() -> None:
    points = threshold_curve([[], []], [[], []], 0.1)
    assert {point.p for point in points} == {1.0}
    assert lowest_threshold([[], []], points, 0.1, 0.1) is None
    with pytest.raises(InputError, match="risk must be above 0"):
        threshold_curve([[0.5]], [[False]], 0)
    with pytest.raises(InputError, match="delta must be above 0"):
        lowest_threshold([[0.5]], [], 0.1, 0.9)
    with pytest.raises(InputError, match="do not belong together"):
        threshold_curve([[0.5]], [[False, True]], 0.1)
