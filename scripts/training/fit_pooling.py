"""Fits how much word overlap counts on passages beside a relation model of ours, and writes it into the model's card.

    python -m scripts.training.fit_pooling DATA [--card models/builtin-nli.yaml]

On the passages of the development part: pairs that neither learned from, and that nothing is measured on. Half a minute.
"""

import argparse
import asyncio
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import log_softmax

from localfact.errors import InputError
from localfact.models.cards import ModelCard, OpinionPool, load_card
from localfact.records import Distribution, Pair
from localfact.relations.crossencoder import CrossEncoderRelationModel
from localfact.relations.lexical.model import LexicalRelationModel
from localfact.relations.pooling import LEAST, MOST_TAKEN, holds_details, is_passage
from localfact.stages import RelationModel
from scripts.training.relation_model.curriculum import DEVELOPMENT_RULES, drawn, made_pairs
from scripts.training.relation_model.evidence_sets import evidence_sets, without_shown
from scripts.training.relation_model.examples import LABELS, Example, Part, split_by_topic
from scripts.training.relation_model.sentence_sets import sentence_sets

#: A set with fewer pairs says nothing that could be relied on.
FEWEST = 30
DIGITS = 2
POOL = re.compile(r"^pool: \{.*\}\n", re.MULTILINE)

Floats = NDArray[np.float64]


class Opinions(NamedTuple):
    """What was said of the pairs of one set.

    Attributes:
        model, overlap: (pairs, labels), log probabilities. gold: (pairs,), places in LABELS.
        held: (pairs,), whether the premise holds all details of the hypothesis.
    """

    model: Floats
    overlap: Floats
    gold: NDArray[np.int64]
    held: NDArray[np.bool_]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="the folder of public data sets")
    parser.add_argument("--card", type=Path, default=Path("models/builtin-nli.yaml"))
    parser.add_argument("--seed", type=int, default=1, help="of the made pairs")
    arguments = parser.parse_args()
    card = load_card(str(arguments.card)).model_copy(update={"pool": None})
    sets = asyncio.run(asked(card, watched(arguments.data, arguments.seed)))
    pool = fitted(list(sets.values()))
    print(f"{'set':20} {'pairs':>5}  log loss: model, overlap, pooled")
    for name, several in (*((name, [one]) for name, one in sets.items()), ("mean of the sets", list(sets.values()))):
        losses = (loss(several, 1, 0), loss(several, 0, 1), loss(several, pool.model, pool.overlap))
        pairs = sum(len(one.gold) for one in several)
        print(f"{name:20} {pairs:5}  " + "  ".join(f"{each:.3f}" for each in losses))
    put(arguments.card, pool)
    print(f"{arguments.card}: {pool}")


def watched(data: Path, seed: int) -> dict[str, list[Example]]:
    """The pairs of the development part, and some that are made of them, per set, as far as their premise is a passage."""
    examples = split_by_topic([*without_shown(sentence_sets(data), data), *evidence_sets(data)])[Part.DEVELOPMENT]
    found: dict[str, list[Example]] = defaultdict(list)
    for example in (*examples, *drawn(made_pairs(examples, seed), DEVELOPMENT_RULES)):
        if is_passage(example.premise):
            found[example.set].append(example)
    return dict(found)


async def asked(card: ModelCard, examples: Mapping[str, Sequence[Example]]) -> dict[str, Opinions]:
    """What the model of the card, by itself, and word overlap say of the pairs of each set that is large enough."""
    model, overlap = CrossEncoderRelationModel(card), LexicalRelationModel()
    try:
        return {
            name: Opinions(
                await log_probabilities(model, own),
                await log_probabilities(overlap, own),
                np.array([LABELS.index(example.label) for example in own]),
                np.array([holds_details(example.premise, example.hypothesis) for example in own]),
            )
            for name, own in examples.items()
            if len(own) >= FEWEST
        }
    finally:
        model.close()


async def log_probabilities(model: RelationModel, examples: Sequence[Example]) -> Floats:
    """(pairs, labels), of what the model says."""
    said = await model.relate([Pair(example.premise, example.hypothesis) for example in examples])
    if not all(isinstance(one, Distribution) for one in said):
        raise InputError("The relation model has no answer to some pairs: its weights are damaged.")
    return np.log(np.maximum([[getattr(one, label) for label in LABELS] for one in said], LEAST))


def fitted(sets: Sequence[Opinions]) -> OpinionPool:
    """The powers of the least mean log loss, in which every set counts alike."""
    found = minimize(lambda logs: loss(sets, *np.exp(logs)), x0=np.log([0.7, 0.3]), method="Nelder-Mead")
    model, overlap = np.exp(found.x).round(DIGITS).tolist()
    return OpinionPool(model=model, overlap=overlap)


def loss(sets: Sequence[Opinions], model: float, overlap: float) -> float:
    """The mean over sets of the mean log loss, pooled with these powers."""
    scores = [log_softmax(pooled_scores(model * one.model, overlap * one.overlap, one.held), axis=1) for one in sets]
    return float(np.mean([-each[np.arange(len(each)), one.gold].mean() for each, one in zip(scores, sets, strict=True)]))


def pooled_scores(own: Floats, other: Floats, held: NDArray[np.bool_]) -> Floats:
    """As `pooling.pooled`, for many pairs: (pairs, labels) of both, and of what they are together."""
    label = own.argmax(axis=1)[:, None]
    ahead = np.take_along_axis(own, label, axis=1) - own
    catching_up = other - np.take_along_axis(other, label, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(catching_up > ahead, ahead / catching_up, 1.0).min(axis=1)
    share = np.where((share < 1) & ~held, MOST_TAKEN * share, 1.0)
    scores: Floats = own + share[:, None] * other
    return scores


def put(card: Path, pool: OpinionPool) -> None:
    """Writes the powers into the card's file, in place of those that stand there."""
    text = POOL.sub("", card.read_text(encoding="utf-8"))
    card.write_text(f"{text.rstrip()}\npool: {{model: {pool.model:g}, overlap: {pool.overlap:g}}}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
