"""The assessor of the method localfact: FastFact's gate, then FactReasoner's graph over the claims that are left.

A claim's prior is the extractor's opinion of it, so that its posterior combines evidence and the model's own knowledge.
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

    A settled claim has no evidence of its own, and passages found for other claims are not related to it. In the graph it would
    be a variable without a factor, whose posterior is its prior; so its prior is given as posterior, and it is left out of the
    graph.

    Attributes:
        reasoner: the graph over the open claims; their priors replace the reasoner's.
        theta: the confidence that settles a claim, in [0, 1].
        prior_map: calibrates the priors; None uses them unchanged.

    Raises:
        InputError: theta outside [0, 1].
    """

    reasoner: FactReasoner
    _: KW_ONLY
    theta: float = THETA
    prior_map: PriorMap | None = None

    def __post_init__(self) -> None:
        Gate(self.theta)
        object.__setattr__(self, "reasoner", replace(self.reasoner, prior_of=self.prior_of))

    def prior_of(self, claim: Claim) -> float:
        """The extractor's opinion of the claim as a prior in [0, 1], calibrated."""
        return prior_of(claim.preverification, self.prior_map)

    def needs_evidence(self, claims: Sequence[Claim]) -> Sequence[Claim]:
        """The claims that the gate does not decide."""
        return Gate(self.theta).needs_evidence(claims)

    def pairs(self, claims: Sequence[Claim], evidence: Evidence) -> Sequence[Pair]:
        """The pairs that the graph over the open claims needs."""
        return self.reasoner.pairs(self.needs_evidence(claims), evidence)

    async def assess(self, response: Response, claims: Sequence[Claim], evidence: Evidence, relations: Relations) -> Judgement:
        """Decides every claim, in the claims' order. `counts` has those of the graph, and how many claims the gate settled."""
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
