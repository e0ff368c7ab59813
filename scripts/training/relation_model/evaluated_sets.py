"""Which labelled pairs relation models are measured on, by which figure each set is judged, and what is aimed at."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from localfact.scoring.bootstrap import Estimator
from scripts.training.relation_model.answer_sets import PARTIAL
from scripts.training.relation_model.evidence_sets import evidence_sets
from scripts.training.relation_model.examples import Example, Part, clusters, digest, split_by_topic
from scripts.training.relation_model.measuring import Answers, accuracy, area, macro_f1
from scripts.training.relation_model.sentence_sets import sentence_sets
from scripts.training.relation_model.unseen_sets import unseen_sets

Measure = Literal["accuracy", "macro-F1", "area under the curve"]
MEASURES: dict[Measure, Callable[[Answers], Estimator]] = {
    "accuracy": accuracy,
    "macro-F1": macro_f1,
    "area under the curve": area,
}
#: The set whose curves are drawn.
DRAWN = "factor_expert"
#: The calibration error aimed at, on sets of more than so many pairs; on smaller ones it is not told.
CALIBRATION_TARGET, CALIBRATED_ROWS = 0.05, 300


@dataclass(frozen=True)
class Judged:
    """How a set is measured.

    Attributes:
        title: for people. measure: the figure. target: what that should reach; None where nothing is aimed at.
        kinds: the pairs that are measured, by their kind; None for all. left_out: the kind that is not.
    """

    title: str
    measure: Measure = "accuracy"
    target: float | None = None
    kinds: tuple[str, ...] | None = None
    left_out: str | None = None


#: Sets that have a title of their own, in the order of the table. All others are measured by accuracy, and follow.
JUDGED = {
    "mnli": Judged("MultiNLI", target=0.70),
    "snli": Judged("SNLI", target=0.78),
    "stance": Judged("Factcheck-GPT stance", "macro-F1", target=0.55, left_out=PARTIAL),
    "factor_expert": Judged("FACTOR expert", "area under the curve", target=0.75, kinds=("completion",)),
    "factor_news": Judged("FACTOR news", "area under the curve", kinds=("completion",)),
    "stance_joined": Judged("stance, snippets joined"),
    "answers": Judged("corrected answers"),
    "wice": Judged("WiCE"),
    "expertqa": Judged("ExpertQA"),
    "conflict_nq": Judged("ConflictNQ"),
    "wikicontradict": Judged("WikiContradict"),
    "fever_symmetric": Judged("FeverSymmetric"),
    "cad": Judged("counterfactual SNLI"),
    "taxinli": Judged("TaxiNLI"),
    "conjnli": Judged("ConjNLI"),
    "anli_r1": Judged("ANLI 1"),
    "anli_r2": Judged("ANLI 2"),
    "anli_r3": Judged("ANLI 3"),
    "control": Judged("ConTRoL"),
    "scitail": Judged("SciTail, two-way"),
    "healthver": Judged("HealthVer"),
    "climate_fever": Judged("Climate-FEVER", "macro-F1"),
    "vitaminc_cut": Judged("VitaminC, evidence cut"),
    "averitec": Judged("AVeriTeC", "macro-F1"),
}


@dataclass(frozen=True)
class EvaluatedSet:
    """The pairs of one set, and what each is about, as whole topics are drawn in a bootstrap."""

    name: str
    judged: Judged
    examples: tuple[Example, ...]
    topics: tuple[str, ...]


def held_out_sets(data: Path, limit: int | None = None) -> list[EvaluatedSet]:
    """The test part of all sets that a model is trained on, and the sets that are only measured."""
    return evaluated_sets(split_by_topic([*sentence_sets(data), *evidence_sets(data)])[Part.TEST], limit)


def never_trained_on(data: Path, limit: int | None = None) -> list[EvaluatedSet]:
    """The sets whose licence keeps them out of training, whole, as far as they are there."""
    return evaluated_sets(list(unseen_sets(data)), limit)


def evaluated_sets(examples: Sequence[Example], limit: int | None = None) -> list[EvaluatedSet]:
    """The examples by set, as the sets are judged. Topics are joined over all of them.

    Args:
        examples: of several sets. limit: with so many pairs of a set no further topic of it is taken; None takes all.
    """
    found: dict[str, list[tuple[str, Example]]] = {}
    for topic, example in zip(clusters(examples), examples, strict=True):
        judged = JUDGED.get(example.set, Judged(example.set))
        if example.kind != judged.left_out and (judged.kinds is None or example.kind in judged.kinds):
            found.setdefault(example.set, []).append((topic, example))
    sets = []
    for name in [*(name for name in JUDGED if name in found), *(name for name in found if name not in JUDGED)]:
        pairs = list(limited(found[name], limit))
        topics, kept = zip(*pairs, strict=True)
        sets.append(EvaluatedSet(name, JUDGED.get(name, Judged(name)), kept, topics))
    return sets


def limited(pairs: Iterable[tuple[str, Example]], limit: int | None) -> Iterator[tuple[str, Example]]:
    """Whole topics by their hash, until there are as many pairs as `limit` says."""
    if limit is None:
        yield from pairs
        return
    by_topic: dict[str, list[tuple[str, Example]]] = {}
    for pair in pairs:
        by_topic.setdefault(pair[0], []).append(pair)
    given = 0
    for topic in sorted(by_topic, key=digest):
        if given >= limit:
            return
        given += len(by_topic[topic])
        yield from by_topic[topic]
