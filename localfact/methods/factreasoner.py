"""The versions of FactReasoner: as published, and builtin, which needs no language model and has our own defaults."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from localfact.assess.factreasoner import FactReasoner
from localfact.assess.posteriors import Rules
from localfact.llm.engine import Engine
from localfact.methods.method import Method
from localfact.methods.options import Options, Tables
from localfact.methods.parts import RunPart
from localfact.methods.relations import DEFAULT_RELATIONS, LLM
from localfact.methods.settings import FactReasonerSettings, Settings
from localfact.stages import Assessor

Version = Literal[1, 2, 3]


@dataclass(frozen=True)
class FactReasonerMethod(Method):
    """A version of FactReasoner (section 3).

    Attributes:
        version: 1, 2 or 3. tables, passage_prior: defaults of these options.
        rules: how a verdict follows from a posterior where the paper leaves it open (`assess/posteriors.py`).
        premise_titles: whether premises have the titles of their pages, by default.
        calibrates: whether a language model's relations are calibrated by default.
        gate: in [0, 1]. A passage found for another claim is only compared with a claim if their affinity is at least `gate`
            times the lowest affinity between the claim and its own passages; None compares all.
    """

    version: Version = 2
    tables: Tables = "balanced"
    passage_prior: float = 0.99
    gate: float | None = 0.8
    rules: Rules = "own"
    premise_titles: bool = False
    calibrates: bool = True

    @property
    def parts(self) -> frozenset[RunPart]:
        """The graph."""
        return frozenset({RunPart.GRAPH})

    def assessment(self, options: Options, relations: Sequence[str]) -> FactReasonerSettings:
        """The settings of the graph: tables, priors and solver."""
        own, *second = relations
        tables = options.tables or self.tables
        settings = FactReasonerSettings(
            version=self.version,
            rules=self.rules,
            gate=self.gate,
            relations=own,
            second_opinion=second[0] if second else None,
            tables=tables,
            factors=options.factors,
            passage_prior=self.passage_prior if options.passage_prior is None else options.passage_prior,
            hosts=dict(sorted(options.hosts.items())),
            solver=options.solver,
            premise_titles=self.premise_titles if options.premise_titles is None else options.premise_titles,
            undecided_within=options.undecided_within,
            claim_relations=options.claim_relations,
        )
        factreasoner(settings)  # raises for invalid options before anything is loaded or written
        return settings

    def assessor(self, settings: Settings, engine: Engine | None) -> Assessor:
        """The FactReasoner assessor."""
        if not isinstance(settings.assessment, FactReasonerSettings):
            raise AssertionError("FactReasoner is wired with settings of its own")
        return factreasoner(settings.assessment)


def factreasoner(settings: FactReasonerSettings) -> FactReasoner:
    """FactReasoner's assessor; it loads nothing, so it can also be used to plan which pairs are needed.

    Raises:
        InputError: an option is out of its range.
    """
    return FactReasoner(
        version=settings.version,
        tables=settings.tables,
        rules=settings.rules,
        factors=settings.factors,
        passage_prior=settings.passage_prior,
        host_priors=settings.hosts,
        gate=settings.gate,
        solver=settings.solver,
        undecided_within=settings.undecided_within,
        claim_relations=settings.claim_relations,
    )


def builtin(version: Version, description: str) -> FactReasonerMethod:
    """A version without a language model, with our own defaults."""
    return FactReasonerMethod(
        f"builtin-fr{version}",
        f"no language model; {description}",
        passages="pages",
        k=5,
        merge_near_duplicates=True,
        model="none",
        extractor="rules",
        relations=DEFAULT_RELATIONS,
        cost="0",
        version=version,
    )


def as_published(version: Version, description: str) -> FactReasonerMethod:
    """A version with the paper's defaults: its tables and priors, k of Wikipedia and of the web, all pairs (section 4)."""
    return FactReasonerMethod(
        f"factreasoner-fr{version}",
        f"FactReasoner as published; {description}",
        passages="pages",
        k=3,
        k_searched=5,
        merge_near_duplicates=False,
        model="optional",
        extractor="atomizer",
        merging="none",
        relations=LLM,
        cost=CALLS[version],
        source="Marinescu et al. 2025, section 3",
        version=version,
        tables="paper",
        gate=None,
        rules="published",
        premise_titles=True,
        calibrates=False,
    )


#: LLM calls with a language model that extracts and relates: atomizer, reviser, pairs.
CALLS: Mapping[Version, str] = {1: "1 + M + kM", 2: "1 + M + Mm", 3: "1 + M + Mm + m^2"}
VERSIONS: Mapping[Version, str] = {
    1: "each claim with its own passages",
    2: "every claim with every passage",
    3: "every claim with every passage, and passages with one another",
}
BUILTIN = tuple(builtin(version, what) for version, what in VERSIONS.items())
FACTREASONER = tuple(as_published(version, what) for version, what in VERSIONS.items())
