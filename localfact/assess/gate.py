"""The gate: which claims the extractor's own pre-verification decides, so that they need no evidence.

It works between extraction and retrieval, on the claims alone (FastFact, section 4.1).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from localfact.errors import InputError
from localfact.records import Claim, Verdict
from localfact.vocabulary import DEFINITE_LABELS, PreVerificationLabel, VerdictLabel

#: The default of the confidence above which a claim is settled (FastFact, section 4.1, condition 2).
THETA = 0.995

#: Label of a settled claim -> its verdict.
SETTLED_AS = {
    PreVerificationLabel.SUPPORTED: VerdictLabel.SUPPORTED,
    PreVerificationLabel.NON_SUPPORTED: VerdictLabel.CONTRADICTED,
    PreVerificationLabel.IRRELEVANT: VerdictLabel.IRRELEVANT,
}


@dataclass(frozen=True)
class Gate:
    """Settles claims whose pre-verification is definite and sure (FastFact, section 4.1, conditions 1 and 2).

    Attributes:
        theta: a definite label settles its claim where its raw confidence C (never a normalised distribution) is above theta,
            in [0, 1]. At 1 nothing is settled.

    Raises:
        InputError: theta outside [0, 1].
    """

    theta: float = THETA

    def __post_init__(self) -> None:
        if not 0 <= self.theta <= 1:
            raise InputError(f"The confidence theta that settles a claim must be a number from 0 to 1, not {self.theta}.")

    def settles(self, claim: Claim) -> bool:
        """Whether the gate decides the claim; never where it was not pre-verified."""
        opinion = claim.preverification
        return opinion is not None and opinion.label in DEFINITE_LABELS and opinion.confidence > self.theta

    def needs_evidence(self, claims: Sequence[Claim]) -> tuple[Claim, ...]:
        """The claims that the gate does not decide, in order."""
        return tuple(claim for claim in claims if not self.settles(claim))

    def verdict(self, claim: Claim) -> Verdict | None:
        """The verdict of a settled claim, with a rationale; None for any other claim."""
        opinion = claim.preverification
        if opinion is None or not self.settles(claim):
            return None
        rationale = (
            f"Settled without evidence: the extractor labelled it '{opinion.label}' "
            f"with confidence {opinion.confidence:.4f} (theta {self.theta:g})."
        )
        return Verdict(claim_id=claim.id, label=SETTLED_AS[opinion.label], rationale=rationale)
