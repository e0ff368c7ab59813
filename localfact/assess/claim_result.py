"""The result for one claim of an assessor that asks a model about it: the verdict, and what the counts of a response need."""

from collections.abc import Iterable
from typing import NamedTuple

from localfact.records import Claim, CountedPassage, Passage, Verdict
from localfact.vocabulary import VerdictLabel

#: The stage that calls are counted under.
STAGE = "verify"
#: Default of the most output tokens of an answer.
MAX_TOKENS = 1024
#: How many characters of the end of an answer a verdict keeps.
RATIONALE_KEPT = 4_000
PASSAGES_LEFT_OUT = (
    "Some claims were judged without their lowest-ranked passages, which did not fit the model's window "
    "(passages_left_out counts them)."
)


class ClaimResult(NamedTuple):
    """The verdict about one claim, and the name under which it is counted.

    Attributes:
        ending: the count that it adds one to, for example claims_without_evidence or failed.
        chosen: whether the label was chosen from the model's probabilities, as the answer named none.
        left_out: how many of the claim's passages did not fit the window.
    """

    verdict: Verdict
    ending: str
    chosen: bool = False
    left_out: int = 0


def result_without_call(claim: Claim, label: VerdictLabel, rationale: str, ending: str) -> ClaimResult:
    """The result for a claim that the model was not asked about, or could not be."""
    return ClaimResult(Verdict(claim_id=claim.id, label=label, rationale=rationale), ending)


def count_passages(passages: Iterable[Passage]) -> tuple[CountedPassage, ...]:
    """The passages that the model was shown, as a verdict lists them."""
    return tuple(CountedPassage(passage_id=passage.id) for passage in passages)
