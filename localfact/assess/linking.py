"""Which claims are related to which passages in FactReasoner's three versions, and which of these links the gate leaves out.

The assessor asks for the pairs of these links, then builds its graph over the same links.
"""

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

from localfact.records import Claim, Evidence, Pair, Passage


class Link(NamedTuple):
    """A claim and a passage to be related; `variable` is the passage's variable in the graph."""

    claim: Claim
    passage: Passage
    variable: str

    @property
    def pair(self) -> Pair:
        """The pair to relate: the passage as premise, the claim as hypothesis."""
        return Pair(self.passage.text, self.claim.text)


def own_links(claims: Sequence[Claim], evidence: Evidence) -> list[Link]:
    """Each claim with its own hits, every hit a variable of its own, also repeated passages (FR1)."""
    passages = {passage.id: passage for passage in evidence.passages}
    return [
        Link(claim, passages[hit.passage_id], f"passage {number} of claim {claim.id}")
        for claim in claims
        for number, hit in enumerate(evidence.hits.get(claim.id, ()), start=1)
    ]


def all_links(claims: Sequence[Claim], evidence: Evidence, gate: float | None) -> tuple[list[Link], int]:
    """Every claim with every passage, by passage (FR2, FR3), but for those that the gate leaves out; and how many these are."""
    gated = {claim.id: frozenset() if gate is None else _find_gated(claim, evidence, gate) for claim in claims}
    links = [
        Link(claim, passage, passage_variable(passage.id))
        for passage in evidence.passages
        for claim in claims
        if passage.id not in gated[claim.id]
    ]
    return links, len(claims) * len(evidence.passages) - len(links)


def passages_met(claims: Sequence[Claim], evidence: Evidence) -> list[tuple[Passage, Passage]]:
    """The pairs of passages that were found for a common claim, each once, in the order of the passages."""
    found = [{hit.passage_id for hit in evidence.hits.get(claim.id, ())} for claim in claims]
    return [pair for pair in combinations(evidence.passages, 2) if any({one.id for one in pair} <= hits for hits in found)]


def passage_variable(passage_id: str) -> str:
    """The name of a passage's variable that all claims share."""
    return f"passage {passage_id}"


def _find_gated(claim: Claim, evidence: Evidence, gate: float) -> frozenset[str]:
    """The passages whose affinity is below `gate` times the lowest of the claim's own hits; never these hits themselves.

    Where that lowest affinity is negative, it is the threshold itself. Passages that the retriever did not score are not gated.
    """
    affinity = evidence.affinity.get(claim.id, {})
    hits = evidence.hits.get(claim.id, ())
    lowest = min((affinity[hit.passage_id] for hit in hits if hit.passage_id in affinity), default=None)
    if lowest is None:
        return frozenset()
    threshold = gate * lowest if lowest > 0 else lowest
    return frozenset(passage for passage, score in affinity.items() if score < threshold)
