"""The four seams of the road, as protocols. A strategy is one file in a stage's folder and one line in methods.py.

`Pipeline.assess` calls them in this order for one response; many responses run at once, so every call is a coroutine and none
may block the event loop for long: heavy work goes to a thread inside the strategy.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol

from localfact.records import Claim, Distribution, Evidence, Extraction, Failure, Judgement, Pair, Response

Relations = Mapping[Pair, Distribution | Failure]


class ClaimExtractor(Protocol):
    """Takes a response apart into claims."""

    async def extract(self, response: Response) -> Extraction:
        """Returns the claims in the order of the text; none at all means that the response abstained."""
        ...


class Retriever(Protocol):
    """Finds passages for claims."""

    async def retrieve(self, response: Response, claims: Sequence[Claim]) -> Evidence:
        """Returns unique passages, and for every claim its hits, best first; a claim may have none."""
        ...


class RelationModel(Protocol):
    """Says how a hypothesis relates to a premise."""

    @property
    def identity(self) -> str:
        """Name and weights revision: part of every cache key and of run.yaml."""
        ...

    async def relate(self, pairs: Sequence[Pair]) -> Sequence[Distribution | Failure]:
        """Returns one prediction a pair, in the same order. One bad pair is a Failure of that pair alone."""
        ...


class Assessor(Protocol):
    """Decides about the claims of one response."""

    def needs_evidence(self, claims: Sequence[Claim]) -> Sequence[Claim]:
        """Returns the claims that evidence must be found for, in order: all, unless something settled a claim before."""
        ...

    def pairs(self, claims: Sequence[Claim], evidence: Evidence) -> Sequence[Pair]:
        """Returns the pairs it needs related, each once; () when it asks a model itself."""
        ...

    async def assess(self, response: Response, claims: Sequence[Claim], evidence: Evidence, relations: Relations) -> Judgement:
        """Returns one verdict a claim, in the claims' order."""
        ...
