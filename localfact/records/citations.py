"""What was made of the citations of a response: its sources, and what they say of the sentences that cite them."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from localfact.records.responses import Count, Probability, Record, Span
from localfact.vocabulary import CitationVerdict


class CitedSource(Record):
    """A source that the text cites.

    Attributes:
        id: "s1", "s2", ... in the order of the text.
        mark: what it is cited by: "1", "smith 2019", an address.
        state: read; gone (it was looked for and there is no text: 404); not_given (named, and nowhere at hand); no_target
            (nothing says what the mark stands for).
        origin: where its text is from: sources of the row, its passages, the corpus, or the web; None where there is none.
        reason: why there is no text, in words.
        words: of its text; cut: whether it is longer than what is looked at.
    """

    id: str
    mark: str
    state: Literal["read", "gone", "not_given", "no_target"]
    title: str = ""
    link: str | None = None
    origin: Literal["given", "passages", "corpus", "web"] | None = None
    reason: str | None = None
    words: Count = 0
    cut: bool = False


class CheckedCitation(Record):
    """What one source says of one sentence that cites it.

    Attributes:
        source: the id of the `CitedSource`.
        marks: where it is cited for this sentence, as characters of the response.
        verdict: what was found.
        entailment, contradiction: the relation model's probabilities; None where nothing was read.
        counts: whether the citation counts as precise in ALCE's sense; None where the sentence could not be judged.
        quote: the sentence of the source that decides, or the closest one; None where nothing was read.
        value, claimed: what in the quote stands against or for what in the sentence, where a value decides.
    """

    source: str
    marks: tuple[Span, ...]
    verdict: CitationVerdict
    entailment: Probability | None = None
    contradiction: Probability | None = None
    counts: bool | None = None
    quote: str | None = None
    value: str | None = None
    claimed: str | None = None


class CitedClaim(Record):
    """What the sources that a sentence cites, together, say of a claim in it."""

    claim_id: str
    verdict: CitationVerdict
    entailment: Probability | None = None
    contradiction: Probability | None = None


class CitedSentence(Record):
    """A sentence of the response, cited or not.

    Attributes:
        span: its place in the response. text: as it was judged, without its marks.
        citations: one for each source that it cites; empty for an uncited sentence.
        verdict: of the cited sources together; None for an uncited sentence.
        supported: whether they entail it (ALCE's recall of the sentence); False for an uncited one, None for one that failed.
        claims: of the sentence, where it is cited and they were asked about.
    """

    span: Span
    text: str
    citations: tuple[CheckedCitation, ...] = ()
    verdict: CitationVerdict | None = None
    supported: bool | None = False
    claims: tuple[CitedClaim, ...] = ()


class Citations(Record):
    """The citations of a response.

    Attributes:
        recall: the share of its sentences that their citations entail; None where nothing states anything or all failed.
        precision: the share of its citations that are needed for or entail their sentence; None where nothing is cited.
        counts: verdict -> number of citations; sentences, uncited ones, pairs related, marks outside of any sentence.
    """

    sources: tuple[CitedSource, ...] = ()
    sentences: tuple[CitedSentence, ...] = ()
    recall: Annotated[float, Field(ge=0, le=1)] | None = None
    precision: Annotated[float, Field(ge=0, le=1)] | None = None
    counts: Mapping[str, Count] = Field(default_factory=dict)
