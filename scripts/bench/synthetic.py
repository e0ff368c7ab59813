"""Made-up material of any size, seeded: texts, vectors and graphs with the shapes of real ones."""

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from localfact.inference.factor_graph import FactorGraph, build_graph
from localfact.inference.tables import TableSet
from localfact.records import Relation
from localfact.vocabulary import RelationLabel

VOCABULARY = 20_000
#: Words are drawn with frequency 1 / (rank + shift), roughly as in English.
ZIPF_SHIFT = 5
SENTENCE_WORDS = 18


def words(generator: np.random.Generator, count: int) -> list[str]:
    """Made-up words with a natural distribution of frequencies."""
    weights = 1.0 / (np.arange(VOCABULARY) + ZIPF_SHIFT)
    drawn = generator.choice(VOCABULARY, size=count, p=weights / weights.sum())
    return [f"{'bdfgklmnprst'[i % 12]}{'aeiou'[i % 5]}{i:x}" for i in drawn.tolist()]


def prose(generator: np.random.Generator, word_count: int) -> str:
    """Sentences of made-up words, every third with an abbreviation, a decimal or a quotation in it."""
    drawn = words(generator, word_count)
    sentences = []
    for number, begin in enumerate(range(0, word_count, SENTENCE_WORDS)):
        sentence = drawn[begin : begin + SENTENCE_WORDS]
        sentence.insert(len(sentence) // 2, ("Dr.", "3.14", "\u201cso!\u201d")[number % 3] if number % 3 == 0 else "and")
        sentences.append(" ".join(sentence).capitalize() + ".")
    return " ".join(sentences)


def texts(count: int, word_count: int, seed: int = 0) -> list[str]:
    """So many texts of so many words."""
    generator = np.random.default_rng(seed)
    return [prose(generator, word_count) for _ in range(count)]


def vectors(count: int, dimension: int, seed: int = 0) -> NDArray[np.float32]:
    """Unit vectors, shape (count, dimension)."""
    drawn = np.random.default_rng(seed).standard_normal((count, dimension)).astype(np.float32)
    return drawn / np.linalg.norm(drawn, axis=1, keepdims=True)


@dataclass(frozen=True)
class Density:
    """Chances of a relation: (entailment, contradiction) of a claim by its own passages and by others, and, between passages,
    (equivalence, entailment, contradiction). Those given are a guess at realistic ones.
    """  # fmt: skip

    own: tuple[float, float] = (0.35, 0.08)
    others: tuple[float, float] = (0.08, 0.03)
    between: tuple[float, float, float] = (0.03, 0.05, 0.02)


#: Unique passages for each one retrieved: claims share some.
UNIQUE_SHARE = 0.7
PROBABILITY_LIMITS = (0.5, 0.9999)
CLAIM_LABELS = (RelationLabel.ENTAILMENT, RelationLabel.CONTRADICTION)
PASSAGE_LABELS = (RelationLabel.EQUIVALENCE, *CLAIM_LABELS)


def fact_graph(
    version: int,
    claims: int,
    k: int,
    tables: TableSet,
    *,
    seed: int = 0,
    density: Density | None = None,
    met: bool = False,
) -> FactorGraph:
    """A graph of FactReasoner, version 1 to 3, with k passages retrieved a claim; probabilities are Beta(8, 1.5).

    `met`: version 3 relates only the passages that were retrieved for a common claim, as our own methods do.
    """
    density, generator = density or Density(), np.random.default_rng([version, claims, k, seed])
    count = claims * k if version == 1 else max(k, round(UNIQUE_SHARE * claims * k))
    found = [
        range(claim * k, (claim + 1) * k) if version == 1 else sorted(generator.choice(count, size=k, replace=False).tolist())
        for claim in range(claims)
    ]
    relations = []
    for claim, own in enumerate(found):
        for passage in own if version == 1 else range(count):
            chances = density.own if passage in own else density.others
            relations += relate(generator, f"c{passage}", f"a{claim}", CLAIM_LABELS, chances)
    if version == 3:
        common = {pair for own in found for pair in combinations(own, 2)}
        for one, other in sorted(common) if met else combinations(range(count), 2):
            relations += relate(generator, f"c{one}", f"c{other}", PASSAGE_LABELS, density.between)
    priors = {f"a{claim}": 0.5 for claim in range(claims)}, {f"c{passage}": 0.99 for passage in range(count)}
    return build_graph(*priors, relations, tables=tables)


def relate(
    generator: np.random.Generator, source: str, target: str, labels: tuple[RelationLabel, ...], chances: tuple[float, ...]
) -> list[Relation]:
    """The relation of a pair, or none."""
    drawn = int(np.searchsorted(np.cumsum(chances), generator.random(), side="right"))
    if drawn == len(labels):
        return []
    probability = float(np.clip(generator.beta(8, 1.5), *PROBABILITY_LIMITS))
    return [Relation(source=source, target=target, label=labels[drawn], probability=probability)]
