"""The method fastfact, as published: the paper's values are the defaults of its options."""

from collections.abc import Sequence
from dataclasses import dataclass

from localfact.assess.fastfact import FastFact
from localfact.assess.gate import THETA
from localfact.llm.engine import Engine
from localfact.methods.method import Method
from localfact.methods.options import Options
from localfact.methods.parts import RunPart
from localfact.methods.settings import FastFactSettings, Settings
from localfact.stages import Assessor


@dataclass(frozen=True)
class FastFactMethod(Method):
    """FastFact (sections 4.1-4.4): the gate, and a verifier for every claim that it leaves open."""

    @property
    def parts(self) -> frozenset[RunPart]:
        """The verifier."""
        return frozenset({RunPart.ANSWERS})

    def assessment(self, options: Options, relations: Sequence[str]) -> FastFactSettings:
        """The gate's threshold, and the most tokens of a verifier's answer."""
        theta = THETA if options.theta is None else options.theta
        return FastFactSettings(theta=theta, verification_tokens=options.verification_tokens)

    def assessor(self, settings: Settings, engine: Engine | None) -> Assessor:
        """FastFact's assessor: the gate and the verifier."""
        chosen = settings.assessment
        if engine is None or not isinstance(chosen, FastFactSettings):
            raise AssertionError("fastfact is wired with a language model and with settings of its own")
        return FastFact(engine, theta=chosen.theta, max_tokens=chosen.verification_tokens, seed=settings.seed)


FASTFACT = FastFactMethod(
    "fastfact",
    "FastFact: claims and pre-verification in one call, evidence and a verifier for what that leaves open",
    passages="chunks",
    k=10,
    merge_near_duplicates=False,
    model="required",
    extractor="chunked",
    merging="none",
    cost="N/w + pM",
    source="Wan et al. 2025, sections 4.1-4.4",
    uses_theta=True,
    prompts=("verification",),
    calls=("one a claim that is not settled",),
)
