"""Made-up material of any size, seeded: texts, vectors and graphs with the shapes of real ones."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from localfact.inference.factor_graph import FactorGraph, build_graph
from localfact.records import Relation, RelationLabel

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


def graph(claims: int, passages_per_claim: int, seed: int = 0) -> FactorGraph:
    """An FR2 graph: a claim's own passages relate to it often, the others seldom; probabilities are Beta(8, 1.5)."""
    generator = np.random.default_rng(seed)
    atoms = {f"a{number}": 0.5 for number in range(claims)}
    contexts = {f"c{number}": 0.99 for number in range(claims * passages_per_claim)}
    return build_graph(atoms, contexts, list(relations(generator, claims, passages_per_claim)), tables="balanced")


def relations(generator: np.random.Generator, claims: int, passages_per_claim: int) -> Iterator[Relation]:
    """The relations of such a graph."""
    for claim in range(claims):
        for passage in range(claims * passages_per_claim):
            own = passage // passages_per_claim == claim
            entails, contradicts = (0.35, 0.08) if own else (0.08, 0.03)
            draw, probability = generator.random(), float(np.clip(generator.beta(8, 1.5), 0.5, 0.9999))
            if draw < entails + contradicts:
                label = RelationLabel.ENTAILMENT if draw < entails else RelationLabel.CONTRADICTION
                yield Relation(source=f"c{passage}", target=f"a{claim}", label=label, probability=probability)
