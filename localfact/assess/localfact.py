"""The assessor of the method localfact: FastFact's gate, then FactReasoner's graph over what the gate leaves open.

Every claim's prior is what the extractor thought of it, so that evidence and the model's own knowledge meet in one posterior.
"""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace

from localfact.assess.factreasoner import FactReasoner
from localfact.assess.gate import THETA, Gate
from localfact.assess.priormap import PriorMap
from localfact.assess.priors import prior_of
from localfact.records import Claim, Evidence, Judgement, Pair, Response, Verdict
from localfact.stages import Relations
from localfact.vocabulary import VerdictLabel


@dataclass(frozen=True)
class LocalFact:
    """Decides settled claims by the gate and the others by their posterior.

    A settled claim has no evidence of its own, and passages found for other claims are not related to it: in the graph it would
    be a variable without a factor, whose posterior is its prior. So it is given that, and left out of what is computed.

    Attributes:
        reasoner: the graph over the open claims; each gets its own prior, whatever the reasoner's is.
        theta: the confidence that settles a claim, in [0, 1].
        prior_map: calibrates the priors; None takes them as they are.

    Raises:
        InputError: theta outside [0, 1].
    """

    reasoner: FactReasoner
    _: KW_ONLY
    theta: float = THETA
    prior_map: PriorMap | None = None

    def __post_init__(self) -> None:
        """Checks theta before any work is done, and hands the reasoner the priors."""
        Gate(self.theta)
        object.__setattr__(self, "reasoner", replace(self.reasoner, prior_of=self.prior_of))

    def prior_of(self, claim: Claim) -> float:
        """What the extractor thought of the claim, calibrated."""
        return prior_of(claim.preverification, self.prior_map)

    def needs_evidence(self, claims: Sequence[Claim]) -> Sequence[Claim]:
        """The claims that the gate leaves open."""
        return Gate(self.theta).needs_evidence(claims)

    def pairs(self, claims: Sequence[Claim], evidence: Evidence) -> Sequence[Pair]:
        """What the graph over the open claims needs related."""
        return self.reasoner.pairs(self.needs_evidence(claims), evidence)

    async def assess(self, response: Response, claims: Sequence[Claim], evidence: Evidence, relations: Relations) -> Judgement:
        """Decides every claim, in the claims' order. `counts` has the graph's, and how many claims the gate settled."""
        gate = Gate(self.theta)
        judged = await self.reasoner.assess(response, gate.needs_evidence(claims), evidence, relations)
        verdicts: dict[str, Verdict] = {verdict.claim_id: verdict for verdict in judged.verdicts}
        settled = 0
        for claim in claims:
            verdict = gate.verdict(claim)
            if verdict is not None:
                settled += 1
                posterior = None if verdict.label is VerdictLabel.IRRELEVANT else self.prior_of(claim)
                verdicts[claim.id] = verdict.model_copy(update={"posterior": posterior})
        return judged.model_copy(
            update={
                "verdicts": tuple(verdicts[claim.id] for claim in claims),
                "counts": {"settled": settled, **judged.counts},
            }
        )
