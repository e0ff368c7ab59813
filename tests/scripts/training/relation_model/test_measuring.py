from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from localfact.records import Distribution, Failure
from scripts.training.relation_model.examples import CONTRADICTION, ENTAILMENT, NEUTRAL
from scripts.training.relation_model.measuring import (
    NOT_ENTAILMENT,
    Answers,
    accuracy,
    answers_of,
    area,
    calibration,
    curve,
    estimated,
    macro_f1,
)

E, C, N = ENTAILMENT, CONTRADICTION, NEUTRAL
Said = Distribution | Failure


def says(label: str, probability: float = 0.8) -> Distribution:
    rest = (1 - probability) / 2
    return Distribution.model_validate({E: rest, C: rest, N: rest} | {label: probability})


def one_topic_each(labels: Sequence[str], said: Sequence[Said]) -> Answers:
    return answers_of(labels, said, [f"topic {place:03}" for place in range(len(labels))])


def value(measure: Callable[[Answers], Any], answers: Answers) -> float:
    return estimated(measure, answers, seed=0).value


def test_accuracy_is_the_share_of_labels_said_and_a_pair_without_an_answer_is_wrong() -> None:
    answers = one_topic_each([E, C, N, E], [says(E), says(C), says(E), Failure(reason="too long")])
    assert value(accuracy, answers) == 0.5


def test_macro_f1_is_the_mean_over_the_labels_of_the_data() -> None:
    answers = one_topic_each([E, E, C, N, N, N], [says(E), says(C), says(C), says(N), says(N), says(E)])
    # entailment: 1 of 2 found, 1 of 2 said right; contradiction: 1 of 1, 1 of 2; neutral: 2 of 3, 2 of 2
    assert value(macro_f1, answers) == pytest.approx((1 / 2 + 2 / 3 + 4 / 5) / 3)


def test_macro_f1_of_a_set_without_contradictions_is_that_of_its_two_labels() -> None:
    answers = one_topic_each([E, N], [says(E), says(C)])
    assert value(macro_f1, answers) == pytest.approx((1 + 0) / 2)


def test_the_area_is_how_often_a_contradicted_pair_has_the_higher_probability_of_contradiction() -> None:
    answers = one_topic_each([C, C, E, E], [says(C, 0.9), says(C, 0.5), says(C, 0.6), says(E, 0.9)])
    assert value(area, answers) == 0.75


def test_a_pair_without_an_answer_is_in_no_area() -> None:
    answers = one_topic_each([C, C, E], [says(C, 0.9), Failure(reason="too long"), says(E)])
    assert value(area, answers) == 1.0


def test_the_interval_of_the_area_is_that_of_the_curve_that_is_drawn() -> None:
    generator = np.random.default_rng(5)
    labels = [C if place % 4 else E for place in range(80)]
    said = [says(C, float(probability)) for probability in generator.uniform(0.34, 0.99, 80)]
    answers = answers_of(labels, said, [f"topic {place // 4}" for place in range(80)])
    drawn = curve(answers, C, seed=3)
    found = estimated(area, answers, seed=3)
    assert found.value == pytest.approx(drawn.area)
    assert found.interval == pytest.approx(drawn.ci)


def test_the_calibration_error_is_the_distance_between_what_is_stated_and_what_is_right_bin_by_bin() -> None:
    sure = [says(E, 0.9)] * 100
    unsure = [says(E, 0.6)] * 100
    labels = [E] * 80 + [C] * 20 + [E] * 60 + [C] * 40
    assert value(calibration, one_topic_each(labels, [*sure, *unsure])) == pytest.approx((0.1 + 0.0) / 2)


def test_a_model_that_is_always_right_and_sure_is_calibrated() -> None:
    assert value(calibration, one_topic_each([E] * 20, [says(E, 1.0)] * 20)) == 0.0


def test_topics_are_drawn_whole() -> None:
    answers = answers_of([E] * 8, [says(E)] * 4 + [says(C)] * 4, ["right"] * 4 + ["wrong"] * 4)
    assert set(estimated(accuracy, answers, seed=0).resamples) == {0.0, 0.5, 1.0}
    assert estimated(accuracy, answers, seed=0).interval == (0.0, 1.0)


def test_pairs_of_one_topic_have_no_interval() -> None:
    answers = answers_of([E, C], [says(E), says(C)], ["same", "same"])
    assert estimated(accuracy, answers, seed=0).interval is None


def test_the_same_seed_gives_the_same_interval_and_another_one_another() -> None:
    answers = one_topic_each([E] * 50, [says(E if place % 3 else C) for place in range(50)])
    resamples = [estimated(accuracy, answers, seed).resamples for seed in (1, 1, 2)]
    assert (resamples[0] == resamples[1]).all()
    assert (resamples[0] != resamples[2]).any()


def test_a_difference_is_paired_so_a_model_is_no_better_than_itself_on_any_resample() -> None:
    answers = one_topic_each([E, C, N] * 10, [says(E)] * 30)
    found = estimated(accuracy, answers, seed=0)
    assert found.minus(found).interval == (0.0, 0.0)


def test_where_a_set_tells_only_entailment_contradiction_and_neutral_are_one() -> None:
    answers = one_topic_each([NOT_ENTAILMENT, NOT_ENTAILMENT, E], [says(C, 0.6), says(N, 0.6), says(N, 0.6)])
    assert value(accuracy, answers) == pytest.approx(2 / 3)
    assert answers.stated == pytest.approx([0.8, 0.8, 0.8])
