"""What is judged, and with what: responses, the claims in them, and the evidence that was found for these."""

import hashlib
from collections.abc import Mapping
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from localfact.vocabulary import GoldLabel, PreVerificationLabel

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


class Sample(Record):
    """Which sample of another tool's log a response is, so that a score goes back to it.

    Attributes:
        id: as the log has it, as a text.
        task: what the log calls its task or data set.
        epoch: which of several answers to the same sample, from 1; None where the log does not count them.
    """

    id: str
    task: str | None = None
    epoch: Annotated[int, Field(ge=1)] | None = None


class GivenSource(Record):
    """A source that a row brings along.

    Attributes:
        mark: what the text cites it by: its place in the list, from 1, or its name in a mapping.
        text: None where the row gives a title or an address alone.
    """

    mark: str
    title: str = ""
    link: str | None = None
    text: str | None = None


class GivenSources(Record):
    """The sources of a row.

    Attributes:
        of_passages: whether the row gives none, and these are its passages.
        problem: why they cannot be used, which matters only where citations are asked for.
    """

    sources: tuple[GivenSource, ...] = ()
    of_passages: bool = False
    problem: str | None = None


class Response(Record):
    """One long text to be judged, with the prompt it answers.

    Attributes:
        id: unique in its file; made from the line number where the file gives none.
        id_given: whether the file gives the id, and to this response alone.
        prompt: what the model was asked; None when unknown.
        topic: what the text is about (a person's name, say); resolves leading pronouns.
        model: which model wrote it.
        source: which set the prompt came from; medians are taken within a source.
        sample: which sample of another tool's log it is, or None.
        claims: claims that come with the input, or None.
        evidence: passages that come with it, or None.
        sources: what the text may cite, or None.
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
    sample: Sample | None = None
    claims: tuple[Claim, ...] | None = None
    annotation: tuple[Claim, ...] | None = None
    extraction: Extraction | None = None
    evidence: Evidence | None = None
    sources: GivenSources | None = None
    problem: str | None = None
