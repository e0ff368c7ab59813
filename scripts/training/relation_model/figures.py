"""The figures of several relation models on the same sets, each beside that of word overlap."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from localfact.methods.relations import LEXICAL
from localfact.records import Pair, Record
from localfact.scoring.bootstrap import CONFIDENCE, RESAMPLES
from scripts.training.relation_model.asking import Model
from scripts.training.relation_model.evaluated_sets import CALIBRATED_ROWS, CALIBRATION_TARGET, MEASURES, EvaluatedSet
from scripts.training.relation_model.measuring import Answers, Estimated, Interval, answers_of, calibration, estimated


class Figure(Record):
    """A figure, None where it does not exist, and its interval, None where there are fewer than two topics."""

    value: float | None
    interval: Interval | None


class SetFigures(Record):
    """What one model does on one set.

    Attributes:
        measure: what `figure` is. target: what it should reach. met: whether it does; None without a target.
        pairs, topics: how many. failed: pairs without an answer: wrong, but in no area and no calibration.
        gold, said: how many pairs have each label, in the data set and by the model.
        calibration: the expected calibration error of the label said; None on sets of few pairs.
        over_lexical, calibration_over_lexical: the difference to word overlap on the same pairs, resampled together; None for
            word overlap itself.
    """

    set: str
    title: str
    measure: str
    pairs: int
    topics: int
    failed: int
    gold: dict[str, int]
    said: dict[str, int]
    figure: Figure
    target: float | None
    met: bool | None
    calibration: Figure | None
    calibration_met: bool | None
    over_lexical: Figure | None = None
    calibration_over_lexical: Figure | None = None


class ModelFigures(Record):
    """What one model does on all sets; size and speed as in `asking.Model`."""

    name: str
    identity: str
    megabytes: float
    pairs_per_second: float
    held_out: tuple[SetFigures, ...]
    never_trained_on: tuple[SetFigures, ...]


class Evaluation(Record):
    """The figures of all models.

    Attributes:
        limit: about how many pairs of each set were measured; None for all. interval: how the intervals are made.
    """

    data: str
    limit: int | None
    interval: str
    calibration_target: float
    models: tuple[ModelFigures, ...]


class Measured(NamedTuple):
    """The figure of a set, and its calibration error where that is told."""

    figure: Estimated
    calibration: Estimated | None


def evaluation(
    data: str,
    limit: int | None,
    models: Sequence[Model],
    held_out: Sequence[EvaluatedSet],
    unseen: Sequence[EvaluatedSet],
    seed: int,
) -> Evaluation:
    """All figures; `models` have answered all pairs of both lists of sets, and one of them is word overlap."""
    figures = {model.name: ([], []) for model in models}  # type: dict[str, tuple[list[SetFigures], list[SetFigures]]]
    for which, sets in enumerate((held_out, unseen)):
        for one in sets:
            for name, found in set_figures(one, models, seed).items():
                figures[name][which].append(found)
    return Evaluation(
        data=data,
        limit=limit,
        interval=f"{CONFIDENCE:.0%} percentile bootstrap of {RESAMPLES:,} resamples over topics, seed {seed}",
        calibration_target=CALIBRATION_TARGET,
        models=tuple(
            ModelFigures(
                name=model.name,
                identity=model.identity,
                megabytes=model.megabytes,
                pairs_per_second=model.pairs_per_second,
                held_out=tuple(figures[model.name][0]),
                never_trained_on=tuple(figures[model.name][1]),
            )
            for model in models
        ),
    )


def set_figures(one: EvaluatedSet, models: Sequence[Model], seed: int) -> dict[str, SetFigures]:
    """What each model does on one set, by the model's name."""
    answers = {model.name: answered(model, [one]) for model in models}
    measured = {name: measured_on(one, each, seed) for name, each in answers.items()}
    return {name: _record(one, answers[name], found, name, measured[LEXICAL]) for name, found in measured.items()}


def answered(model: Model, sets: Sequence[EvaluatedSet]) -> Answers:
    """The model's answers to all pairs of some sets."""
    pairs = [(example, topic) for one in sets for example, topic in zip(one.examples, one.topics, strict=True)]
    return answers_of(
        [example.label for example, _ in pairs],
        [model.said[Pair(example.premise, example.hypothesis)] for example, _ in pairs],
        [topic for _, topic in pairs],
    )


def measured_on(one: EvaluatedSet, answers: Answers, seed: int) -> Measured:
    """The figure that the set is judged by, and the calibration error if it has pairs enough."""
    many = len(answers.gold) > CALIBRATED_ROWS
    figure = estimated(MEASURES[one.judged.measure], answers, seed)
    return Measured(figure, estimated(calibration, answers, seed) if many else None)


def _record(one: EvaluatedSet, answers: Answers, found: Measured, name: str, lexical: Measured) -> SetFigures:
    said = Counter(answers.labels[place] for place in answers.said if place >= 0)
    gold = Counter(answers.labels[place] for place in answers.gold)
    target, error = one.judged.target, found.calibration
    ours = name != LEXICAL
    return SetFigures(
        set=one.name,
        title=one.judged.title,
        measure=one.judged.measure,
        pairs=len(answers.gold),
        topics=answers.topic_count,
        failed=int((~answers.answered).sum()),
        gold={label: gold[label] for label in answers.labels},
        said={label: said[label] for label in answers.labels},
        figure=_figure(found.figure),
        target=target,
        met=None if target is None else bool(found.figure.value >= target),
        calibration=_figure(error) if error else None,
        calibration_met=bool(error.value <= CALIBRATION_TARGET) if error else None,
        over_lexical=_figure(found.figure.minus(lexical.figure)) if ours else None,
        calibration_over_lexical=_figure(error.minus(lexical.calibration)) if ours and error and lexical.calibration else None,
    )


def _figure(found: Estimated) -> Figure:
    return Figure(value=None if np.isnan(found.value) else found.value, interval=found.interval)
