"""Relations without a model: a multinomial logistic regression over a few transparent features (features.py).

It takes well under a millisecond a pair on any machine; it replaces a language model where there is none, and is less accurate.
lexical.json has the coefficients, what they were fitted on and their accuracy on held-out topics.
It was written together with idf.txt by scripts/training/fit_lexical.py of commit 00c214154712; its two features of negation
were taken out since, as they had learned that whatever is negated contradicts (`polarity.py` compares negations now).
"""

import asyncio
import hashlib
import json
import math
import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from localfact.models.embedder import Embedder
from localfact.records import Distribution, Pair
from localfact.relations.calibration import FOUND_SHARES
from localfact.relations.lexical.features import OPPOSITES_FILE, Features, Match, compare
from localfact.relations.lexical.statements import IDF_FILE, ParsedClaim, Premise, idf_table
from localfact.relations.lexical.tokens import is_detail
from localfact.relations.values.correcting import CORRECTION_VERSION, correct_by_values
from localfact.text import sentences
from localfact.vocabulary import RelationLabel

COEFFICIENTS_FILE = Path(__file__).with_name("lexical.json")
IDENTITY_DIGITS = 12
#: Part of the identity; increased when the features, or how they are used, change.
RULES = 6

#: A hypothesis of more tokens is read sentence by sentence, as a passage.
LONGEST_CLAIM = 80
#: How much is taken from what the words of a pair say where a text denies them, and say the opposite then, or where it tells
#: another event. More than a half turns the label; less had a better log loss on labelled pairs, more leaves less doubt.
TAKEN = 0.7
#: A text that has less of a claim's words by weight, its numbers and names aside, speaks of something else.
LEAST_SHARED = 0.3

#: The order of the columns of the coefficients.
LABELS = (RelationLabel.ENTAILMENT, RelationLabel.CONTRADICTION, RelationLabel.NEUTRAL)
#: The share of each label, by weight, among the pairs that the coefficients were fitted on (lexical.json).
FITTED_SHARES = (0.277, 0.241, 0.481)


class Similarity(NamedTuple):
    """The features that need an embedder: the cosine of claim and premise's best part, and how far it exceeds 0.5 and 0.75."""

    similarity: float
    similarity_above_half: float
    similarity_above_75: float


class LexicalRelationModel:
    """A logistic regression over word-overlap features; an embedder adds similarity (coefficients were fitted with MiniLM).

    Where it is used passages were searched for, and more of them entail their claim than among the pairs that it was fitted on:
    its probabilities are those for the label shares FOUND_SHARES, which a language model's map has, too (Saerens et al. 2002).
    Without `embedder` the features of similarity are left out, and coefficients that were fitted without them are used.
    """

    def __init__(self, embedder: Embedder | None = None) -> None:
        fitted = json.loads(COEFFICIENTS_FILE.read_text(encoding="utf-8"))
        coefficients = fitted["variants"]["embedder" if embedder else "plain"]["coefficients"]
        names = (*Features._fields, *(Similarity._fields if embedder else ()), "intercept")
        self._rows = [tuple(map(float, coefficients[name])) for name in names]  # a row a feature, a column a label of LABELS
        moved = (math.log(found / fitted) for found, fitted in zip(FOUND_SHARES, FITTED_SHARES, strict=True))
        self._rows[-1] = tuple(intercept + by for intercept, by in zip(self._rows[-1], moved, strict=True))
        self._embedder = embedder
        self.identity = lexical_identity(embedder.identity if embedder else None)

    async def relate(self, pairs: Sequence[Pair]) -> Sequence[Distribution]:
        """One distribution a pair, in order, computed in a thread; a pair's result does not depend on the other pairs.

        A hypothesis longer than a claim is read sentence by sentence, and the most decided sentence counts; `windows` is the
        number of sentences. What the values of a pair say corrects it
        (`values/`). A pair in which either side has no words is neutral.
        """
        return await asyncio.to_thread(self.predictions, pairs)

    def predictions(self, pairs: Sequence[Pair]) -> list[Distribution]:
        """`relate` on the calling thread."""
        pairs = [Pair(*(unicodedata.normalize("NFC", text) for text in pair)) for pair in pairs]  # "é" may be "e" and a sign
        similarities = self._similarities(pairs)
        statements = {hypothesis: statements_of(hypothesis) for hypothesis in dict.fromkeys(pair.hypothesis for pair in pairs)}
        order = sorted(range(len(pairs)), key=lambda position: pairs[position].premise)
        relations: dict[int, Distribution] = {}
        premise, text = Premise(""), ""
        for position in order:
            pair = pairs[position]
            if pair.premise != text:
                premise, text = Premise(pair.premise), pair.premise
            relations[position] = self._predict(premise, statements[pair.hypothesis], similarities[position])
        return [relations[position] for position in range(len(pairs))]

    def _predict(self, premise: Premise, statements: Sequence[ParsedClaim], similarity: Sequence[float]) -> Distribution:
        if not premise.length or not statements[0].tokens:
            return Distribution(entailment=0.0, contradiction=0.0, neutral=1.0)
        read = (self._read(premise, claim, similarity) for claim in statements)
        decisive = max(read, key=lambda said: max(said.entailment, said.contradiction))
        return decisive.model_copy(update={"windows": len(statements)})

    def _read(self, premise: Premise, claim: ParsedClaim, similarity: Sequence[float]) -> Distribution:
        said = self._read_words(Match(claim, premise), similarity)
        # Nor does a text deny what it does not speak of.
        if said.label is RelationLabel.CONTRADICTION and not speaks_of(premise, claim):
            said = Distribution(entailment=said.entailment, contradiction=0.0, neutral=1 - said.entailment)
        return correct_by_values(Pair(premise.text, claim.text), said)

    def _read_words(self, match: Match, similarity: Sequence[float]) -> Distribution:
        """What the words of a pair say, before its values are compared."""
        entailment, contradiction, neutral = self._probabilities([*compare(match), *similarity])
        if match.is_denied or match.tells_other_event:
            taken = TAKEN * entailment
            entailment, contradiction = entailment - taken, (1 - TAKEN) * contradiction + (taken if match.is_denied else 0.0)
            neutral = max(0.0, 1 - entailment - contradiction)
        return Distribution(entailment=entailment, contradiction=contradiction, neutral=neutral)

    def _probabilities(self, features: Iterable[float]) -> tuple[float, float, float]:
        """The probabilities of LABELS. Plain sums in a fixed order: the same to the last bit whatever else is computed."""
        scores = list(self._rows[-1])
        for value, row in zip(features, self._rows, strict=False):
            for column, coefficient in enumerate(row):
                scores[column] += value * coefficient
        top = max(scores)
        entailment, contradiction, neutral = (math.exp(score - top) for score in scores)
        total = entailment + contradiction + neutral
        return entailment / total, contradiction / total, neutral / total

    def _similarities(self, pairs: Sequence[Pair]) -> list[Sequence[float]]:
        """The features of similarity of each pair, none without an embedder. Vectors of a corpus's passages are reused."""
        if self._embedder is None:
            return [()] * len(pairs)
        parts = {text: self._embedder.parts(text) for text in dict.fromkeys(text for pair in pairs for text in pair)}
        pieces = list(dict.fromkeys(piece for several in parts.values() for piece in several))
        row = {piece: index for index, piece in enumerate(pieces)}
        # Claims are embedded as passages too: similarity has no direction here, and passages are related to each other.
        vectors = self._embedder.encode(pieces, role="passage")
        return [similarity_features(*(vectors[[row[piece] for piece in parts[text]]] for text in pair)) for pair in pairs]


def speaks_of(premise: Premise, claim: ParsedClaim) -> bool:
    """Whether the premise has LEAST_SHARED of the words of the claim, by weight.

    Numbers, dates and names do not count, as these are what a denial changes.
    """
    apart = claim.names | claim.details(is_detail)
    weights = {stem: weight for stem, weight in claim.weights.items() if stem not in apart}
    return sum(weight for stem, weight in weights.items() if stem in premise.places) >= LEAST_SHARED * sum(weights.values())


def statements_of(hypothesis: str) -> list[ParsedClaim]:
    """The hypothesis as one claim, or, where it is as long as a passage, its sentences that have words."""
    claim = ParsedClaim(hypothesis, idf_table())
    if len(claim.tokens) <= LONGEST_CLAIM:
        return [claim]
    parts = (ParsedClaim(hypothesis[span.start : span.end], idf_table()) for span in sentences(hypothesis))
    return [part for part in parts if part.tokens]


def similarity_features(premise: NDArray[np.float32], hypothesis: NDArray[np.float32]) -> Similarity:
    """The features of similarity, from the vectors of the parts of each text, one a row, of length 1."""
    # Not a matrix product: its rounding may change with the shape and place of the arrays.
    cosine = max(float(np.sum(premise * vector, axis=1, dtype=np.float64).max()) for vector in hypothesis)
    return Similarity(cosine, max(0.0, cosine - 0.5), max(0.0, cosine - 0.75))


def lexical_identity(embedder: str | None) -> str:
    """The identity of the model with an embedder of that identity, or with none, without loading either."""
    content = b"".join(
        [
            f"{RULES}.{CORRECTION_VERSION}".encode(),
            *(file.read_bytes() for file in (COEFFICIENTS_FILE, IDF_FILE, OPPOSITES_FILE)),
        ]
    )
    revision = hashlib.sha256(content).hexdigest()[:IDENTITY_DIGITS]
    return f"lexical@{revision}+{embedder or 'no-embedder'}"
