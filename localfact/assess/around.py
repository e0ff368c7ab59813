"""What is put around an assessor to change its verdicts: everything before them is the assessor's own."""

from collections.abc import Sequence
from dataclasses import dataclass

from localfact.records import Claim, Evidence, Pair
from localfact.stages import Assessor


@dataclass(frozen=True)
class AroundAssessor:
    """The base of what wraps an assessor.

    Attributes:
        assessor: decides.
    """

    assessor: Assessor

    def needs_evidence(self, claims: Sequence[Claim]) -> Sequence[Claim]:
        """The same as of the wrapped assessor."""
        return self.assessor.needs_evidence(claims)

    def pairs(self, claims: Sequence[Claim], evidence: Evidence) -> Sequence[Pair]:
        """The same as of the wrapped assessor."""
        return self.assessor.pairs(claims, evidence)
