"""The method localfact: FastFact's claims and gate before FactReasoner's graph; what the model knows needs no evidence."""

from collections.abc import Sequence
from dataclasses import dataclass

from localfact.assess.gate import THETA
from localfact.assess.localfact import LocalFact
from localfact.assess.priormap import UNINFORMED, read_prior_map
from localfact.llm.engine import Engine
from localfact.methods.engine import EngineFacts
from localfact.methods.factreasoner import FactReasonerMethod, factreasoner
from localfact.methods.method import Method
from localfact.methods.options import Options
from localfact.methods.parts import RunPart
from localfact.methods.relations import LLM
from localfact.methods.settings import LocalFactSettings, Settings
from localfact.stages import Assessor


@dataclass(frozen=True)
class LocalFactMethod(FactReasonerMethod):
    """The gate before the graph; each claim's prior is the extractor's opinion of it."""

    @property
    def parts(self) -> frozenset[RunPart]:
        """The graph, with priors."""
        return super().parts | {RunPart.PRIORS}

    def assessment(self, options: Options, relations: Sequence[str]) -> LocalFactSettings:
        """The graph's settings, the gate's threshold, and the map of priors if there is one."""
        graph = super().assessment(options, relations)
        prior_map = None if options.prior_map is None else read_prior_map(options.prior_map)
        theta = THETA if options.theta is None else options.theta
        return LocalFactSettings(**dict(graph), theta=theta, prior_map=prior_map)

    def assessor(self, settings: Settings, engine: Engine | None) -> Assessor:
        """The gate, and the graph for the claims that it leaves open."""
        chosen = settings.assessment
        if not isinstance(chosen, LocalFactSettings):
            raise AssertionError("localfact is wired with settings of its own")
        return LocalFact(factreasoner(chosen), theta=chosen.theta, prior_map=chosen.prior_map)


def decides_by_opinion(method: Method, options: Options, facts: EngineFacts) -> bool:
    """Whether a model's opinion of claims may decide anything; not in localfact where its card trusts none.

    What the options name of it is used: a theta, a map of priors.
    """
    named = options.theta is not None or options.prior_map is not None
    return not isinstance(method, LocalFactMethod) or facts.trusts_opinion or named


def without_opinion(settings: LocalFactSettings, options: Options) -> LocalFactSettings:
    """The settings for a model whose opinions of claims say nothing: none is settled, and every prior is one half.

    What the options name stays: a theta, or a map of priors.
    """
    theta = 1.0 if options.theta is None else options.theta
    prior_map = settings.prior_map or UNINFORMED
    return settings.model_copy(update={"theta": theta, "prior_map": prior_map})


LOCALFACT = LocalFactMethod(
    "localfact",
    "FastFact's claims and gate, then FactReasoner's graph over what that leaves open",
    passages="pages",
    k=5,
    merge_near_duplicates=True,
    model="required",
    extractor="chunked",
    confidence="distribution",
    relations=LLM,
    cost="N/w + M + pMm",
    uses_theta=True,
)
