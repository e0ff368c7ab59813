"""Merges near-duplicate passages, so that one text copied by many pages does not count as several sources."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from localfact.records import Passage
from localfact.text import normalise, words

SHINGLE_WORDS = 5
NEAR_DUPLICATE_JACCARD = 0.9

Shingles = frozenset[tuple[str, ...]]


@dataclass(frozen=True)
class MergedPassages:
    """Passages without near-duplicates, in the order given.

    `survivor`: passage id -> id of the passage that it was merged into.
    """

    passages: tuple[Passage, ...]
    survivor: Mapping[str, str]


def merge_near_duplicates(passages: Sequence[Passage]) -> MergedPassages:
    """Merges each passage into the first passage kept so far whose Jaccard index with it is at least 0.9.

    The index is that of their shingles. The passage that is left gets the other's links. As merged passages are not compared
    any more, small changes do not chain up.
    """
    survivors: dict[str, Passage] = {}
    known: dict[str, Shingles] = {}
    survivor: dict[str, str] = {}
    for passage in passages:
        own = shingles(passage.text)
        kept = next((kept for kept, other in known.items() if jaccard(own, other) >= NEAR_DUPLICATE_JACCARD), None)
        if kept is None:
            survivors[passage.id], known[passage.id] = passage, own
        else:
            links = dict.fromkeys((*survivors[kept].links, *passage.links))
            survivors[kept] = survivors[kept].model_copy(update={"links": tuple(links)})
        survivor[passage.id] = kept or passage.id
    return MergedPassages(tuple(survivors.values()), survivor)


def shingles(text: str) -> Shingles:
    """The set of all runs of SHINGLE_WORDS words, in lower case; a shorter text is one run."""
    found = words(normalise(text))
    return frozenset(tuple(found[i : i + SHINGLE_WORDS]) for i in range(max(1, len(found) - SHINGLE_WORDS + 1)))


def jaccard(one: Shingles, other: Shingles) -> float:
    """|one & other| / |one | other|, or 0 where the sizes alone keep it below NEAR_DUPLICATE_JACCARD."""
    if min(len(one), len(other)) < NEAR_DUPLICATE_JACCARD * max(len(one), len(other)):
        return 0.0
    shared = len(one & other)
    return shared / (len(one) + len(other) - shared)
