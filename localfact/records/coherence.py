"""What a text's claims say of one another: the contradictions inside it, each with both places."""

from typing import Literal

from localfact.records.responses import Count, Probability, Record, Span

#: Who found a contradiction: the relation model, or a rule: of other values in one slot, of times that cannot all be true.
Finder = Literal["relations", "values", "times"]


class ClaimPlace(Record):
    """One of the two sides of a contradiction.

    Attributes:
        claim_id: the claim. number: its place in the order of the text, from 1.
        text: the claim's wording.
        span: where it stands in the response; None where it is nowhere in it word by word.
        quoted: what stands there; the claim's wording where nothing does.
        value: what differs, as characters of `text`; None where that is not known.
    """

    claim_id: str
    number: int
    text: str
    span: Span | None = None
    quoted: str
    value: Span | None = None


class SelfContradiction(Record):
    """Two claims of a text that cannot both be true; or two parts of one claim: then both places name it.

    Attributes:
        first, second: the two places, in the order of the text.
        probability: that they contradict one another: the relation model's, the mean of both directions; a rule's is fixed.
        found_by: the relation model, or a rule.
        reason: why, in a few words: the values that differ, or the times that do not fit.
    """

    first: ClaimPlace
    second: ClaimPlace
    probability: Probability
    found_by: Finder
    reason: str


class Coherence(Record):
    """How well the claims of a text agree with one another; no evidence is read for it.

    Attributes:
        score: 1 - |claims in a contradiction| / |claims|, in [0, 1]; None for a text without claims.
        contradictions: the most probable first; of equal ones that which stands first in the text.
        claims: how many there are.
        pairs: of claims, how many the relation model was asked about, each in both directions.
        pairs_left_out: how many more may speak of the same and were not compared, as pairs are at most three for a claim.
        pairs_failed: of `pairs`, those that the relation model failed at; they count as no contradiction.
    """

    score: Probability | None
    contradictions: tuple[SelfContradiction, ...] = ()
    claims: Count
    pairs: Count
    pairs_left_out: Count = 0
    pairs_failed: Count = 0
