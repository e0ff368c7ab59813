"""What is decided: relations between texts, verdicts of claims, and the assessment of a response."""

from collections import Counter
from collections.abc import Mapping
from typing import Annotated, Literal, NamedTuple

from pydantic import Field

from localfact.records.citations import Citations
from localfact.records.coherence import Coherence
from localfact.records.judged_claims import JudgedClaim, cards, frame, said
from localfact.records.recall import EvidenceRecall
from localfact.records.responses import Claim, Count, Passage, Probability, Record, Sample, Span
from localfact.vocabulary import Flag, RelationLabel, VerdictLabel

SCHEMA_VERSION: Literal[1] = 1


class Pair(NamedTuple):
    """An ordered pair of texts to relate. A plain tuple: it is also its prediction's key, so equal texts are asked once."""

    premise: str
    hypothesis: str


class RelationProbabilities(Record):
    """The probabilities of the three relations of one pair; they sum to one, or to the labels' mass where p* is raw."""

    entailment: Probability
    contradiction: Probability
    neutral: Probability

    @property
    def label(self) -> RelationLabel:
        """The predicted relation: the most probable; a tie goes to neutral, then to entailment."""
        candidates = (
            (self.neutral, RelationLabel.NEUTRAL),
            (self.entailment, RelationLabel.ENTAILMENT),
            (self.contradiction, RelationLabel.CONTRADICTION),
        )
        return max(candidates, key=lambda candidate: candidate[0])[1]

    @property
    def probability(self) -> float:
        """p*, the probability of the predicted relation (FactReasoner, section 3.1)."""
        return max(self.neutral, self.entailment, self.contradiction)


class Distribution(RelationProbabilities):
    """What a relation model says of one pair.

    Attributes:
        windows: how many windows of the pair were read: 1 unless it was longer than the model's window.
        window: the one that decided, as characters of the premise; None where the whole premise was read at once.
        raw: what the model itself said, where the probabilities are calibrated; else None.
    """

    windows: Annotated[int, Field(ge=1)] = 1
    window: Span | None = None
    raw: RelationProbabilities | None = None


class Failure(Record):
    """A prediction that could not be made. Never read as neutral: the claim it concerns becomes `failed`."""

    reason: str


class Relation(Record):
    """A relation that entered the graph: source and target are claim or passage ids.

    Attributes:
        probability: p of its factor. predicted: the relation model's probability of the label, where p is another (soft
            relations); None where they are the same.
    """

    source: str
    target: str
    label: RelationLabel
    probability: Probability
    predicted: Probability | None = Field(default=None, exclude_if=lambda value: value is None)


class CountedPassage(Record):
    """A passage that entered a verdict, and how.

    Attributes:
        relation, probability: to the claim; None where a verifier read several passages and did not say what each means.
        shift: the claim's posterior minus the posterior without the factors between claim and passage; in [-1, 1]. None where
            there is no posterior, and for a passage that was read and entered no verdict.
        window: what the relation model read of the passage where that decided; None for all of it.
        sentence: the one in it that the relation hangs on most. Both are characters of the passage's text.
        value: the number, date or name in that sentence that is the claim's or stands against it; claimed: the claim's, as
            characters of the claim's text. Both None where no value decides.
        predicted: the calibrated probabilities of the relations. raw: as the relation model itself gave them. Both None where
            nothing was calibrated.
    """

    passage_id: str
    relation: RelationLabel | None = None
    probability: Probability | None = None
    shift: float | None = None
    window: Span | None = None
    sentence: Span | None = None
    value: Span | None = Field(default=None, exclude_if=lambda value: value is None)
    claimed: Span | None = Field(default=None, exclude_if=lambda value: value is None)
    predicted: RelationProbabilities | None = Field(default=None, exclude_if=lambda value: value is None)
    raw: RelationProbabilities | None = Field(default=None, exclude_if=lambda value: value is None)


class Verdict(Record):
    """What a method decides about one claim.

    `posterior` is P(claim is true) where the method computes one. `passages` are those that entered it, strongest first; of a
    claim that nothing decided, then the best that were read, with what was made of them. `flags` are what a reader must know.
    """

    claim_id: str
    label: VerdictLabel
    posterior: Probability | None = None
    rationale: str | None = None
    passages: tuple[CountedPassage, ...] = ()
    flags: tuple[Flag, ...] = ()

    @property
    def speaking_passages(self) -> tuple[CountedPassage, ...]:
        """What shows why: the first that speaks for the verdict, the first on each side, or all where nothing decided."""
        if self.label in (VerdictLabel.UNDECIDED, VerdictLabel.NOT_ENOUGH_EVIDENCE):
            return self.passages
        first = {counted.relation: counted for counted in reversed(self.passages)}
        if self.label is VerdictLabel.CONFLICTING:
            return tuple(first[side] for side in (RelationLabel.ENTAILMENT, RelationLabel.CONTRADICTION) if side in first)
        speaks_for = RelationLabel.ENTAILMENT if self.label is VerdictLabel.SUPPORTED else RelationLabel.CONTRADICTION
        return (first[speaks_for],) if speaks_for in first else self.passages[:1]


class Judgement(Record):
    """What an assessor returns for one response: one verdict a claim, in the claims' order, and what led to them.

    Attributes:
        relations: the relations that entered the graph.
        counts: named whole numbers worth reporting (relations left out, pairs gated, pairs failed, ...).
        warnings: sentences the reader must know.
    """

    verdicts: tuple[Verdict, ...] = ()
    relations: tuple[Relation, ...] = ()
    counts: Mapping[str, int] = Field(default_factory=dict)
    warnings: tuple[str, ...] = ()


AssessmentStatus = Literal["scored", "abstained", "unscored", "failed"]


class Assessment(Record):
    """The result for one response: one line of assessments.jsonl.

    Nothing in it differs between two runs with the same settings (times are in timings.jsonl).

    Attributes:
        index: position of the response in the input, from 0.
        id_given: whether the input gave the id, to this response alone; else the row was counted.
        sample: which sample of another tool's log the response is; None for one that is of no log.
        status: scored; abstained (the text states nothing); unscored (S + N = 0, or nothing of the text could be read as a
            claim); failed (see `error`).
        passages: those that entered some verdict, so that the line is complete in itself.
        gold_supported, gold_not_supported: how many claims of the annotation carry each label; None without an annotation. The
            annotation may have other claims than ours: precision and K' are compared, not claims.
        unparsed: lines of the extractor's answer that could not be read.
        counts: stage -> what it counted: sentences dropped by reason, passages, pairs, relations by label, ...
        usage: stage -> calls of the language model, requests, prompt and output tokens, as really sent; choices among labels,
            and the sum of the probabilities that the labels had together (mass).
        decided_by_window: tokens of the language model's window, where that decided how a text was split or cut; None where
            every larger one would have given the same.
        coherence: what its claims say of one another, where that was asked for.
        citations: what the sources that the text cites say of it; None where that was not asked.
        recall: which key facts of the pages it says; None where that was not asked.
    """

    schema_version: Literal[1] = SCHEMA_VERSION
    index: int
    response_id: str
    id_given: bool = False
    prompt: str | None = None
    topic: str | None = None
    model: str | None = None
    source: str | None = None
    sample: Sample | None = Field(default=None, exclude_if=lambda value: value is None)
    text: str = ""
    status: AssessmentStatus
    error: str | None = None
    claims: tuple[Claim, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    passages: tuple[Passage, ...] = ()
    relations: tuple[Relation, ...] = ()
    gold_supported: int | None = None
    gold_not_supported: int | None = None
    unparsed: tuple[str, ...] = ()
    counts: Mapping[str, Mapping[str, Count]] = Field(default_factory=dict)
    usage: Mapping[str, Mapping[str, Count | Annotated[float, Field(ge=0, allow_inf_nan=False)]]] = Field(default_factory=dict)
    decided_by_window: Count | None = None
    coherence: Coherence | None = Field(default=None, exclude_if=lambda value: value is None)
    warnings: tuple[str, ...] = ()
    citations: Citations | None = Field(default=None, exclude_if=lambda value: value is None)
    recall: EvidenceRecall | None = Field(default=None, exclude_if=lambda value: value is None)

    @property
    def judged(self) -> tuple[JudgedClaim, ...]:
        """All claims with their verdicts, in the order of the text."""
        passages = {passage.id: passage for passage in self.passages}
        return tuple(judge(claim, verdict, passages) for claim, verdict in zip(self.claims, self.verdicts, strict=True))

    @property
    def contradicted(self) -> tuple[JudgedClaim, ...]:
        """The contradicted claims, the least likely to be true first."""
        found = [claim for claim in self.judged if claim.verdict is VerdictLabel.CONTRADICTED]
        return tuple(sorted(found, key=lambda claim: 1.0 if claim.probability is None else claim.probability))

    @property
    def supported(self) -> tuple[JudgedClaim, ...]:
        """The supported claims, the surest first."""
        found = [claim for claim in self.judged if claim.verdict is VerdictLabel.SUPPORTED]
        return tuple(sorted(found, key=lambda claim: 0.0 if claim.probability is None else -claim.probability))

    def __repr__(self) -> str:
        """One line: the id, and how many claims have which verdict."""
        return f"<Assessment {self.response_id!r}: {self.headline}>"

    __str__ = __repr__

    @property
    def headline(self) -> str:
        """What came out, in a sentence without its end: "8 claims: 1 contradicted, 7 supported"."""
        if self.status == "failed":
            return f"failed: {self.error}"
        times = Counter(verdict.label for verdict in self.verdicts)
        counts = ", ".join(f"{times[label]} {said(label)}" for label in VerdictLabel if times[label])
        found = f"{len(self.claims)} claim{'s' * (len(self.claims) != 1)}: {counts}" if self.claims else "no claims"
        return found if self.status == "scored" else f"{self.status}, {found}"

    def _repr_html_(self) -> str:
        """A short form of the report, for notebooks: contradicted claims first, the others folded; no scripts."""
        claims = (*self.contradicted, *(claim for claim in self.judged if claim.verdict is not VerdictLabel.CONTRADICTED))
        return frame(f"{self.response_id}: {self.headline}", self.warnings, cards(claims))


def judge(claim: Claim, verdict: Verdict, passages: Mapping[str, Passage]) -> JudgedClaim:
    """A claim with its verdict, and with the passage among these that speaks most for it."""
    counted = next((one for one in verdict.speaking_passages if one.passage_id in passages), None)
    passage = passages[counted.passage_id] if counted is not None else None
    read = (counted.sentence or counted.window) if counted is not None else None
    sentence = None if passage is None else passage.text[read.start : read.end] if read is not None else passage.text
    return JudgedClaim(
        id=claim.id,
        text=claim.text,
        verdict=verdict.label,
        probability=verdict.posterior,
        sentence=sentence,
        source=None if passage is None else next(iter(passage.links), passage.title) or None,
    )
