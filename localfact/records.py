"""The records that the stages exchange: Response -> Claim -> Evidence -> relations -> Verdict -> Assessment.

Everything is frozen. What is written to disk is validated when it is read and carries `schema_version`; its JSON schema is
`Assessment.model_json_schema()`.
"""

import hashlib
from collections.abc import Mapping
from typing import Annotated, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from localfact.vocabulary import Flag, GoldLabel, PreVerificationLabel, RelationLabel, VerdictLabel

SCHEMA_VERSION: Literal[1] = 1

Probability = Annotated[float, Field(ge=0.0, le=1.0)]
Count = Annotated[int, Field(ge=0)]


class Record(BaseModel):
    """Base of all records: frozen, and strict about unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Span(Record):
    """Where a text stands in another one: characters [start, end)."""

    start: Annotated[int, Field(ge=0)]
    end: Annotated[int, Field(ge=0)]


class PreVerification(Record):
    """The extractor's own opinion of a claim before any evidence (FastFact, section 4.1).

    Attributes:
        label: the label it wrote.
        confidence: C = P(label | everything before it), the product over all the label's tokens (equation 1).
        distribution: label -> probability over all six labels, summing to one, where it was asked for: another scale than C.
        mass: the probability that the model writes one of the six at that place at all; given with the distribution.
    """

    label: PreVerificationLabel
    confidence: Probability
    distribution: Mapping[PreVerificationLabel, Probability] | None = None
    mass: Probability | None = None


class Claim(Record):
    """One short, self-contained, checkable statement of a response.

    Attributes:
        id: unique within the response: "c1", "c2", ... or the id that the input file gives.
        original: its wording before it was revised to be understood alone; None where nothing was changed.
        spans: where it stands in the response; empty when a given claim could not be located.
        gold: the annotator's label, where the input carries one.
        in_corpus: whether the annotator found that the corpus speaks to it, where the input says so.
    """

    id: str
    text: str
    original: str | None = None
    spans: tuple[Span, ...] = ()
    gold: GoldLabel | None = None
    in_corpus: bool | None = None
    preverification: PreVerification | None = None


def passage_id(text: str) -> str:
    """The id of a passage: 16 hexadecimal digits of the SHA-256 of its text, so equal texts have equal ids."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


class Passage(Record):
    """What a relation model or a verifier reads: a chunk of a page, or a whole page capped at 4,000 characters.

    Attributes:
        id: `passage_id(text)`.
        links: every address this very text was found at.
        host: of the first link; lower-case.
        date: of the page, as the page states it.
        provider: which search, corpus or input file it came from.
    """

    id: str
    text: str
    title: str = ""
    links: tuple[str, ...] = ()
    host: str | None = None
    date: str | None = None
    provider: str = ""


class Hit(Record):
    """One retrieved passage of one claim: rank counts from 1; a higher score is better, on the retriever's own scale."""

    passage_id: str
    rank: Annotated[int, Field(ge=1)]
    score: float


class Evidence(Record):
    """The passages found for one response, each text once, and which passages were found for which claim.

    Attributes:
        passages: each id once, in the order in which the passages were first found.
        hits: claim id -> the passages found for that claim, best first. A passage may stand twice in a claim's hits when the
            input gives the same text twice: FR1 (FactReasoner, version 1) makes each of them a variable of its own.
        affinity: claim id -> passage id -> how well that passage matches the claim, for all passages that the retriever
            scored, also those found for other claims. A cosine in [-1, 1], or a BM25 score divided by the claim's best one, in
            [0, 1]. Empty when nothing was scored: then no pair of claim and passage can be left out for its low affinity.
        failures: claim id -> why no evidence could be looked for, for example that no search provider answered. Such a claim
            gets a failed verdict.
        counts: named whole numbers worth reporting (searches, pages, ...).
        notes: sentences about how the evidence was found that a reader of the results must know.
    """

    passages: tuple[Passage, ...] = ()
    hits: Mapping[str, tuple[Hit, ...]] = Field(default_factory=dict)
    affinity: Mapping[str, Mapping[str, float]] = Field(default_factory=dict)
    failures: Mapping[str, str] = Field(default_factory=dict)
    counts: Mapping[str, int] = Field(default_factory=dict)
    notes: tuple[str, ...] = ()


class Extraction(Record):
    """What a claim extractor found.

    Attributes:
        claims: in the order of the text.
        unparsed: lines of a model's answer that are no claim with a label; counted and shown, never guessed at.
        dropped: reason -> how many candidate sentences were not claims.
        counts: named whole numbers worth reporting (chunks, chunks split, duplicates merged, ...).
        warnings: sentences the reader must know.
        unread: whether the text says something and no claim could be made of any of it: it did not abstain.
    """

    claims: tuple[Claim, ...] = ()
    unparsed: tuple[str, ...] = ()
    dropped: Mapping[str, int] = Field(default_factory=dict)
    counts: Mapping[str, int] = Field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    unread: bool = Field(default=False, exclude_if=lambda value: not value)


class Response(Record):
    """One long text to be judged, with the prompt it answers.

    Attributes:
        id: unique in its file; made from the line number where the file gives none.
        id_given: whether the file gives the id, and to this response alone.
        prompt: what the model was asked; None when unknown.
        topic: what the text is about (a person's name, say); resolves leading pronouns.
        model: which model wrote it.
        source: which set the prompt came from; medians are taken within a source.
        claims: claims that come with the input, or None.
        evidence: passages that come with it, or None.
        annotation: an annotator's claims, where `claims` are those of an extractor that ran before; None where `claims` are the
            annotator's, or nobody's.
        extraction: what that extractor said beside its claims: unparsed lines, counts, warnings; None where none ran before.
        problem: why this row cannot be assessed, or None. Such a row is carried through and counted as failed.
    """

    id: str
    id_given: bool = False
    text: str
    prompt: str | None = None
    topic: str | None = None
    model: str | None = None
    source: str | None = None
    claims: tuple[Claim, ...] | None = None
    annotation: tuple[Claim, ...] | None = None
    extraction: Extraction | None = None
    evidence: Evidence | None = None
    problem: str | None = None


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
        share: how much of the premise was read, in [0, 1]: a model that selects windows leaves the others unread.
        raw: what the model itself said, where the probabilities are calibrated; else None.
    """

    windows: Annotated[int, Field(ge=1)] = 1
    window: Span | None = None
    share: Probability = 1.0
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
    """

    schema_version: Literal[1] = SCHEMA_VERSION
    index: int
    response_id: str
    id_given: bool = False
    prompt: str | None = None
    topic: str | None = None
    model: str | None = None
    source: str | None = None
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
    warnings: tuple[str, ...] = ()
