"""Makes one fact of those that say the same, and weighs each by its independent hosts and by how near the prompt it is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from localfact.models.embedder import Embedder
from localfact.recall.facts import FoundFact, details_of, parse, read_premise, share_held
from localfact.relations.lexical.statements import ParsedClaim, Premise

#: Two facts say the same where either holds so much of the other's words by weight, or where they are so near as vectors and
#: share some words; and all numbers, dates and names of the shorter are in the longer.
SAME_WORDS, SAME_VECTORS, SOME_WORDS = 0.7, 0.75, 0.4
#: The least nearness, as a share of the nearest fact's: a farther one is about something else.
LEAST_NEAR = 0.25
#: The same of a passage, by the mean nearness of its facts.
LEAST_NEAR_PASSAGE = 0.5
#: Below a country's domain, what is no owner's name: in "news.example.co.uk" the owner's is "example.co.uk".
_SECOND_LEVEL = ("ac", "co", "com", "edu", "gob", "gouv", "gov", "mil", "ne", "net", "nhs", "nom", "or", "org", "sch")


@dataclass(frozen=True)
class MergedFact:
    """A fact, as its shortest wording has it, with all places that say it.

    Attributes:
        nearness: to topic or prompt, whichever is nearer, in [0, 1].
        hosts: of different owners, in the order of the passages; a passage without a host counts as one of its own.
    """

    text: str
    found: tuple[FoundFact, ...]
    nearness: float
    hosts: tuple[str, ...]

    @property
    def weight(self) -> float:
        """What it counts: its nearness, once for each independent host."""
        return self.nearness * len(self.hosts)


def merge_facts(found: Sequence[FoundFact], asked: Sequence[str], embedder: Embedder | None) -> list[MergedFact]:
    """Merges facts and leaves out those that are far from what was asked; the weightiest first, equal ones in their order.

    Args:
        asked: topic and prompt, as far as there are.
        embedder: None for nearness by shared words alone.
    """
    if not found or not asked:
        return []
    texts = list(dict.fromkeys(fact.text for fact in found))
    vectors = None if embedder is None else embedder.encode(texts)
    near = _nearness(texts, asked, embedder, vectors)
    found = _leave_out_passages(found, dict(zip(texts, near, strict=True)))
    kept = {fact.text for fact in found}
    groups = [group for every in _group(texts, vectors) if (group := [number for number in every if texts[number] in kept])]
    of_text: Mapping[str, list[FoundFact]] = {text: [one for one in found if one.text == text] for text in texts}
    merged = []
    for group in groups:
        places = [fact for number in group for fact in of_text[texts[number]]]
        shortest = min(group, key=lambda number: (len(texts[number]), number))
        owners = dict.fromkeys(registrable(one.passage.host) if one.passage.host else one.passage.id for one in places)
        merged.append(MergedFact(texts[shortest], tuple(places), max(near[number] for number in group), tuple(owners)))
    nearest = max(fact.nearness for fact in merged)
    enough = [fact for fact in merged if fact.nearness > 0 and fact.nearness >= LEAST_NEAR * nearest]
    return sorted(enough, key=lambda fact: -fact.weight)


def _nearness(texts: Sequence[str], asked: Sequence[str], embedder: Embedder | None, vectors: np.ndarray | None) -> list[float]:
    """How near each text is to the nearest of what was asked: the cosine, or the share of its words; at least 0."""
    if embedder is None or vectors is None:
        return [max(share_held(parse(one), read_premise(text)) for one in asked) for text in texts]
    queries = embedder.encode(asked, role="query")
    return [max(0.0, *(float(np.sum(vector * query, dtype=np.float64)) for query in queries)) for vector in vectors]


def _leave_out_passages(found: Sequence[FoundFact], near: Mapping[str, float]) -> list[FoundFact]:
    """The facts without those of passages that only name the subject."""
    of_passage: dict[str, list[float]] = {}
    for fact in found:
        of_passage.setdefault(fact.passage.id, []).append(near[fact.text])
    means = {passage: sum(values) / len(values) for passage, values in of_passage.items()}
    nearest = max(means.values())
    return [fact for fact in found if means[fact.passage.id] >= LEAST_NEAR_PASSAGE * nearest]


def _group(texts: Sequence[str], vectors: np.ndarray | None) -> list[list[int]]:
    """The numbers of texts that say the same as the first of their group."""
    parsed, premises = [parse(text) for text in texts], [read_premise(text) for text in texts]
    groups: list[list[int]] = []
    for number in range(len(texts)):
        for group in groups:
            first = group[0]
            cosine = 0.0 if vectors is None else float(np.sum(vectors[number] * vectors[first], dtype=np.float64))
            if say_the_same(parsed[number], premises[number], parsed[first], premises[first], cosine):
                group.append(number)
                break
        else:
            groups.append([number])
    return groups


def say_the_same(one: ParsedClaim, premise: Premise, other: ParsedClaim, other_premise: Premise, cosine: float) -> bool:
    """Whether two facts say the same, as far as words, details and vectors tell; a denial never says what is not denied."""
    if one.negated != other.negated:
        return False
    apart = one.subject & other.subject  # of one thing many things are said
    forward, backward = share_held(one, other_premise, apart), share_held(other, premise, apart)
    alike = min(forward, backward) >= SAME_WORDS or (cosine >= SAME_VECTORS and min(forward, backward) >= SOME_WORDS)
    details, others = details_of(one), details_of(other)
    return alike and (details <= others or others <= details)


def registrable(host: str) -> str:
    """The domain that somebody registers: the last two parts of a host, or three below a country's "co", "ac" and the like.

    Hosts of one such domain are not independent, as one owner may have any number of them. A rule of thumb, without the public
    list of suffixes; an address of numbers, and a name of one part, stay as they are.
    """
    parts = host.split(".")
    if len(parts) < 3 or parts[-1].isdigit() or ":" in host:
        return host
    several = len(parts[-1]) == 2 and parts[-2] in _SECOND_LEVEL
    return ".".join(parts[-3:] if several else parts[-2:])
