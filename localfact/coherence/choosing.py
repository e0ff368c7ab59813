"""Chooses which claims of a text are compared with one another: those that speak of the same, at most three pairs a claim.

Words alone decide, weighed by how rare they are: those of the subject and the kinds of values count more, as two claims with
one subject and values of one kind may fill one slot. Nothing is loaded for it, and n claims cost n squared products of a sparse
matrix, which take 0.1 s for a thousand, but never more than 3n pairs for a relation model.
"""

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from localfact.records import Claim
from localfact.relations.lexical.statements import idf_table
from localfact.relations.values.judging import read_sentence
from localfact.relations.values.quantities import Quantity
from localfact.relations.values.value import Measure
from localfact.text import sentences

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

#: The most likely partners that each claim is compared with.
PARTNERS = 3
#: Two claims that are less alike speak of different things.
LEAST_ALIKE = 0.25
#: What the same subject, and a value of the same kind beside it, add to the likeness of all words, which is in [0, 1].
SUBJECT, SLOT = 0.2, 0.2
#: Claims whose likeness to all others is computed at once.
BLOCK = 512


class ChosenPairs(NamedTuple):
    """Pairs of places of claims, the first the smaller, in order; left_out: how many more are as much alike."""

    pairs: tuple[tuple[int, int], ...]
    left_out: int


def choose_pairs(claims: Sequence[Claim], text: str = "") -> ChosenPairs:
    """Pairs of claims that may speak of the same: of each claim those with its PARTNERS most like it, at least LEAST_ALIKE.

    Equal claims are no pair, nor are those of one sentence of the text: what it lists ("the fires of 1837 and 1857") fills
    one slot twice and is true.
    """
    if len(claims) < 2:
        return ChosenPairs((), 0)
    words, subjects, kinds = (_matrix(rows) for rows in zip(*map(_features, claims), strict=True))
    apart = [np.unique(some, return_inverse=True)[1] for some in ([one.text for one in claims], _sentences_of(claims, text))]
    chosen: set[tuple[int, int]] = set()
    alike = 0
    for start in range(0, len(claims), BLOCK):
        rows = slice(start, start + BLOCK)
        same = (subjects[rows] @ subjects.T).toarray()
        likeness = (words[rows] @ words.T).toarray() + SUBJECT * same + SLOT * same * ((kinds[rows] @ kinds.T).toarray() > 0)
        for some in apart:
            likeness[some[rows, None] == some[None]] = 0.0
        alike += int((likeness >= LEAST_ALIKE).sum())
        chosen.update(_nearest(likeness, start))
    return ChosenPairs(tuple(sorted(chosen)), alike // 2 - len(chosen))


def _sentences_of(claims: Sequence[Claim], text: str) -> list[int]:
    """The number of the sentence in which each claim begins; another number for each that is nowhere in the text."""
    starts = [span.start for span in sentences(text)]
    return [bisect_right(starts, claim.spans[0].start) if claim.spans else -1 - place for place, claim in enumerate(claims)]


def _nearest(likeness: NDArray[np.float64], start: int) -> set[tuple[int, int]]:
    """Of each row the best PARTNERS columns; of equal ones the first."""
    best = np.argsort(-likeness, axis=1, kind="stable")[:, :PARTNERS]
    return {
        (min(start + row, other), max(start + row, other))
        for row, others in enumerate(best.tolist())
        for other in others
        if likeness[row, other] >= LEAST_ALIKE
    }


class _Features(NamedTuple):
    """A claim's words and the words of its subjects by their weights, and the kinds of its values: name -> number."""

    words: Mapping[str, float]
    subjects: Mapping[str, float]
    kinds: Mapping[str, float]


def _features(claim: Claim) -> _Features:
    clauses, weight = read_sentence(claim.text), idf_table().weight
    words = frozenset[str]().union(*(clause.words | clause.counted for clause in clauses))
    subjects = frozenset[str]().union(*(clause.subject for clause in clauses))
    kinds = {_kind(value.measure) for clause in clauses for value in clause.values}
    kinds |= {f"name {bound.governor}" for clause in clauses for bound in clause.names if bound.governor}
    weighed, of_subjects = ({word: weight(word) for word in sorted(some)} for some in (words, subjects))
    return _Features(weighed, of_subjects, dict.fromkeys(sorted(kinds), 1.0))


def _kind(measure: Measure) -> str:
    """What fills a slot: a date, a rank, so many of a unit."""
    return measure.dimensions[0][0] if isinstance(measure, Quantity) and measure.dimensions else type(measure).__name__


def _matrix(rows: Sequence[Mapping[str, float]]) -> "csr_matrix":
    """The rows as a sparse matrix, each of length one."""
    from scipy.sparse import csr_matrix

    columns: dict[str, int] = {}
    places = [columns.setdefault(name, len(columns)) for row in rows for name in row]
    lengths = [math.hypot(*row.values()) or 1.0 for row in rows]
    values = [weight / length for row, length in zip(rows, lengths, strict=True) for weight in row.values()]
    ends = np.cumsum([0, *map(len, rows)])
    return csr_matrix((values, places, ends), shape=(len(rows), max(1, len(columns))))
