"""The protocols of the four stages, and of what reviews relations, and explains and flags verdicts.

An implementation is one file in a stage's folder and one line in `methods/`. `Pipeline.assess` calls them in this order for
one response; many responses run at once, so every call is a coroutine and none may block the event loop for long: heavy work
goes to a thread inside the implementation.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import NamedTuple, Protocol

from localfact.records import (
    Assessment,
    Citations,
    Claim,
    Coherence,
    Distribution,
    Evidence,
    EvidenceRecall,
    Extraction,
    Failure,
    Judgement,
    Pair,
    Response,
    Verdict,
)
from localfact.vocabulary import VerdictLabel

#: Why a claim has no verdict where a text is compared with itself alone.
NO_EVIDENCE_READ = "No evidence was read: the claims of the text were compared with one another alone."


class PairInContext(Pair):
    """A pair with the text that its hypothesis was taken from, for a relation model that reads it: a key of its own."""

    context: str

    def __new__(cls, premise: str, hypothesis: str, context: str) -> "PairInContext":
        """The pair in that context."""
        made = super().__new__(cls, premise, hypothesis)
        made.context = context
        return made

    def __eq__(self, other: object) -> bool:
        """Whether both are the same texts in the same context."""
        return isinstance(other, PairInContext) and tuple(self) == tuple(other) and self.context == other.context

    def __ne__(self, other: object) -> bool:
        """Whether they are not."""
        return not self == other

    def __hash__(self) -> int:
        """Of all three texts."""
        return hash((*self, self.context))


def context_of(pair: Pair) -> str:
    """What a pair's hypothesis was taken from; "" where nobody reads it."""
    return pair.context if isinstance(pair, PairInContext) else ""


Relations = Mapping[Pair, Distribution | Failure]
#: Predicts further pairs, with whatever the pipeline relates by.
Relate = Callable[[Sequence[Pair]], Awaitable[Relations]]


class ClaimExtractor(Protocol):
    """Extracts the claims of a response."""

    async def extract(self, response: Response) -> Extraction:
        """Returns the claims in the order of the text; without any claim the response counts as abstained."""
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
        """Returns one prediction a pair, in the same order. An error that concerns one pair is a Failure in its place."""
        ...


class Review(NamedTuple):
    """Relations as they are after a review, and named whole numbers worth reporting of it."""

    relations: Relations
    counts: Mapping[str, int]


class Reviewer(Protocol):
    """Looks again at predictions before they decide anything."""

    async def review(self, claims: Sequence[Claim], relations: Relations) -> Review:
        """Returns a prediction for every pair of `relations`."""
        ...


class Recalibrator(Protocol):
    """Adds to what the relation model says of a pair what was known of it before."""

    def recalibrate(self, relations: Relations, claims: Sequence[Claim], evidence: Evidence) -> Relations:
        """The relations with other probabilities; none is lost."""
        ...


class Assessor(Protocol):
    """Decides the verdicts of the claims of one response."""

    def needs_evidence(self, claims: Sequence[Claim]) -> Sequence[Claim]:
        """Returns the claims to retrieve evidence for, in order: all, unless the assessor decides some without evidence."""
        ...

    def pairs(self, claims: Sequence[Claim], evidence: Evidence) -> Sequence[Pair]:
        """Returns the pairs to relate, each once; () where the assessor needs none."""
        ...

    async def assess(self, response: Response, claims: Sequence[Claim], evidence: Evidence, relations: Relations) -> Judgement:
        """Returns one verdict a claim, in the claims' order."""
        ...


class Explainer(Protocol):
    """Says what in the passages the verdicts hang on."""

    async def explain(
        self,
        judgement: Judgement,
        claims: Sequence[Claim],
        evidence: Evidence,
        relations: Relations,
        relate: Relate,
    ) -> Judgement:
        """Returns the judgement with reasons; no label or posterior changes.

        Args:
            claims: those judged.
            relations: the predictions that the assessor had.
            relate: predicts further pairs.
        """
        ...


class ClaimRelations(NamedTuple):
    """What the claims of one response say of one another.

    Attributes:
        relations: of claims compared, both directions.
        coherence: the contradictions among them.
    """

    relations: Relations
    coherence: Coherence

    def added_to(self, assessment: Assessment, *, kept: bool) -> Assessment:
        """The assessment with how many pairs were compared, and, if that is kept, what was found."""
        found = self.coherence
        counts = {name: getattr(found, name) for name in ("pairs", "pairs_left_out", "pairs_failed")}
        counts["contradictions"] = len(found.contradictions)
        said = {"coherence": found} if kept else {}
        return assessment.model_copy(update={"counts": {**assessment.counts, "compare claims": counts}, **said})


def without_evidence(claims: Sequence[Claim]) -> Judgement:
    """The judgement of claims that were compared with one another alone: none of them could be verified."""
    return Judgement(
        verdicts=tuple(
            Verdict(claim_id=claim.id, label=VerdictLabel.UNVERIFIABLE, rationale=NO_EVIDENCE_READ) for claim in claims
        )
    )


class ClaimRelator(Protocol):
    """Says how the claims of a response relate to one another."""

    async def relate(self, response: Response, claims: Sequence[Claim], relate: Relate) -> ClaimRelations:
        """Chooses pairs of claims, has them related, and finds those that cannot both be true.

        Args:
            relate: predicts pairs, with whatever the pipeline relates by.
        """
        ...


class Flagger(Protocol):
    """Says what a reader of the verdicts must know."""

    async def flag(
        self, response: Response, claims: Mapping[str, Claim], judgement: Judgement, evidence: Evidence
    ) -> Judgement:
        """Returns the judgement with flags; no label or posterior changes. `claims`: those judged, by id."""
        ...


class CitationCheck(Protocol):
    """Says what the sources that a response cites say of it."""

    async def check(
        self, response: Response, claims: Sequence[Claim], relate: Relate, observe: Callable[[str, int], None]
    ) -> Citations:
        """Returns its sources, its sentences with what was found of each mark, and recall and precision.

        Args:
            claims: of the response.
            relate: asks the relation model.
            observe: called with "citations" and how many there are.
        """
        ...


class RecallCheck(Protocol):
    """Says which facts of the pages about a prompt its response says."""

    async def check(self, response: Response, relate: Relate, observe: Callable[[str, int], None]) -> EvidenceRecall:
        """Returns the facts, each with what the response makes of it and its sources; without any, the reason.

        Args:
            relate: asks the relation model.
            observe: called with "key_facts" and how many there are.
        """
        ...
