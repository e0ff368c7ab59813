"""FactReasoner, versions 1 to 3: verdicts from the posteriors of a factor graph over claims and passages.

It asks for the pairs to relate, builds the graph from the predictions, and decides by the marginals that inference/ computes
(FactReasoner, section 3).
"""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Literal, get_args

from localfact.assess.factors import (
    Factor,
    between_claims,
    claim_factors,
    claim_variable,
    claims_failed,
    passage_factors,
    relate_passages,
    relate_passages_surely,
)
from localfact.assess.linking import Link, all_links, own_links, passage_variable, passages_met
from localfact.assess.posteriors import Rules, fail_claim, verdict_of
from localfact.errors import InputError
from localfact.inference import FactorGraph, Marginals, TableSet, marginals
from localfact.inference.factor_graph import CLAIM_PRIOR, PASSAGE_PRIOR, build_graph
from localfact.inference.influence import leave_one_out
from localfact.inference.solve import SOLVERS
from localfact.inference.tables import TABLE_SETS, makes_factor
from localfact.records import Claim, Evidence, Judgement, Pair, Passage, Relation, Response, Verdict
from localfact.stages import Relations
from localfact.vocabulary import RelationLabel

Factors = Literal["hard", "soft"]

#: The reader is warned where the mean posterior of the passages is lower: the graph then disbelieves its own evidence.
PASSAGES_BELIEVED = 0.5


@dataclass(frozen=True)
class FactReasoner:
    """The assessor of FactReasoner (section 3); the defaults are the paper's.

    Attributes:
        version: 1 relates each claim to its own passages, each a variable of its own; 2 every claim to every passage; 3 also
            the passages to one another.
        tables: the set of factor tables.
        rules: of what the paper leaves open: "published", or "own" (docs/internals). By our own, only passages found for a
            common claim are related to one another, and a claim without evidence, or between two fires, is called so.
        passage_prior, claim_prior: prior probabilities of being true, in [0, 1].
        prior_of: a claim's own prior, instead of claim_prior.
        host_priors: lower-case host -> prior of its passages, where that is lower; subdomains are included.
        gate: versions 2 and 3 relate a claim to a passage found for other claims only where its affinity is at least this
            share, in [0, 1], of the lowest of the claim's own; None relates all. Passage pairs are not gated, as no affinity
            between passages is known.
        solver: see `localfact.inference.marginals`.
        factors: how a relation between passage and claim makes a factor: "hard" by its most probable label, "soft" by its odds
            (`factors.relate_softly`), with the balanced tables alone. Passage pairs always keep the hard rule.
        undecided_within: how near to one half a claim is undecided; None for what `rules` have.
        claim_relations: whether what claims say of one another makes factors, too, where that was predicted.

    Raises:
        InputError: an option is out of its range.
    """

    version: Literal[1, 2, 3]
    tables: TableSet = "paper"
    rules: Rules = "published"
    passage_prior: float = PASSAGE_PRIOR
    claim_prior: float = CLAIM_PRIOR
    prior_of: Callable[[Claim], float] | None = None
    host_priors: Mapping[str, float] = field(default_factory=dict)
    gate: float | None = None
    solver: str = "auto"
    factors: Factors = "hard"
    undecided_within: float | None = None
    claim_relations: bool = False

    def __post_init__(self) -> None:
        for name, value, known in (
            ("version", self.version, (1, 2, 3)),
            ("tables", self.tables, TABLE_SETS),
            ("solver", self.solver, tuple(SOLVERS)),
            ("factors", self.factors, get_args(Factors)),
        ):
            if value not in known:
                raise InputError(
                    f"The {name} {value!r} of FactReasoner is unknown. Choose one of: {', '.join(map(str, known))}."
                )
        if self.factors == "soft" and self.tables != "balanced":
            raise InputError(f"Soft factors are made for the balanced tables, not for {self.tables}: add --tables balanced.")
        fractions = {"passage prior": self.passage_prior, "claim prior": self.claim_prior, "gate": self.gate or 0.0}
        fractions.update((f"prior of {host}", prior) for host, prior in self.host_priors.items())
        for name, fraction in fractions.items():
            if not 0 <= fraction <= 1:
                raise InputError(f"The {name} of FactReasoner must be a number from 0 to 1, not {fraction}.")

    def needs_evidence(self, claims: Sequence[Claim]) -> Sequence[Claim]:
        """All claims."""
        return claims

    def pairs(self, claims: Sequence[Claim], evidence: Evidence) -> Sequence[Pair]:
        """The pairs to relate, each once, a passage as premise and a claim as hypothesis.

        Version 1 relates a claim to the passages found for it, version 2 to all passages of the response, version 3 also every
        two passages, in both directions. With the same `gate`, the pairs of each version are among those of the next.
        """
        links, _ = self._links(claims, evidence)
        asked = [link.pair for link in links]
        for one, other in self._passage_pairs(claims, evidence):
            asked += [Pair(one.text, other.text), Pair(other.text, one.text)]
        return tuple(dict.fromkeys(asked))

    async def assess(self, response: Response, claims: Sequence[Claim], evidence: Evidence, relations: Relations) -> Judgement:
        """Decides every claim by its posterior, in the claims' order.

        A claim with a Failure among its pairs is `failed` and left out of the graph with all its relations, so that a partly
        known claim cannot influence passages. A pair of passages with a Failure makes no factor; it is counted, with a warning.
        The work is done in a thread.
        """
        if not claims:
            return Judgement()
        return await asyncio.to_thread(self._judge, claims, evidence, relations)

    def _judge(self, claims: Sequence[Claim], evidence: Evidence, relations: Relations) -> Judgement:
        links, gated = self._links(claims, evidence)
        failures = claims_failed(links, relations)
        judged = [claim for claim in claims if claim.id not in failures]
        links = [link for link in links if link.claim.id not in failures]
        between_passages, failed_pairs = self._passage_factors(claims, evidence, relations)
        soft = self.factors == "soft"
        among_claims = between_claims(judged, relations, soft=soft) if self.claim_relations else []
        predicted = [*claim_factors(links, relations, soft=soft), *between_passages, *among_claims]
        factors = [
            factor for factor in predicted if makes_factor(self.tables, factor.relation.label, factor.relation.probability)
        ]
        passages = self._passage_variables(links, evidence)
        graph = build_graph(
            {claim_variable(claim): self.claim_prior_of(claim) for claim in judged},
            passages,
            [factor.between_variables for factor in factors],
            tables=self.tables,
            passage_prior=self.passage_prior,
        )
        result = marginals(graph, solver=self.solver)
        return Judgement(
            verdicts=tuple(self._verdicts(claims, failures, result, factors, _shifts(graph, result, judged))),
            relations=tuple(factor.relation for factor in factors),
            counts={
                **_counts(predicted, factors, graph, result),
                **({"claim_relations": len(among_claims)} if self.claim_relations else {}),
                "pairs_gated": gated,
                "passage_pairs_failed": failed_pairs,
            },
            warnings=tuple(self._warnings(result, passages, failed_pairs)),
        )

    def _links(self, claims: Sequence[Claim], evidence: Evidence) -> tuple[list[Link], int]:
        if self.version == 1:
            return own_links(claims, evidence), 0
        return all_links(claims, evidence, self.gate)

    def _passage_pairs(self, claims: Sequence[Claim], evidence: Evidence) -> Sequence[tuple[Passage, Passage]]:
        """The pairs of passages that version 3 relates, each in one order."""
        if self.version != 3:
            return ()
        return passages_met(claims, evidence) if self.rules == "own" else list(combinations(evidence.passages, 2))

    def _passage_factors(self, claims: Sequence[Claim], evidence: Evidence, relations: Relations) -> tuple[list[Factor], int]:
        rule = relate_passages_surely if self.rules == "own" else relate_passages
        return passage_factors(self._passage_pairs(claims, evidence), relations, rule)

    def _passage_variables(self, links: Sequence[Link], evidence: Evidence) -> dict[str, float]:
        """The passages' variables and their priors."""
        if self.version == 1:
            return {link.variable: self.passage_prior_of(link.passage) for link in links}
        return {passage_variable(passage.id): self.passage_prior_of(passage) for passage in evidence.passages}

    def claim_prior_of(self, claim: Claim) -> float:
        """The prior of a claim, in [0, 1]."""
        return self.prior_of(claim) if self.prior_of else self.claim_prior

    def passage_prior_of(self, passage: Passage) -> float:
        """The prior of a passage, in [0, 1]: lower where its host, or one above it, has a lower one."""
        labels = (passage.host or "").split(".")
        for start in range(len(labels)):
            domain = ".".join(labels[start:])
            if domain in self.host_priors:
                return min(self.passage_prior, self.host_priors[domain])
        return self.passage_prior

    def _verdicts(
        self,
        claims: Sequence[Claim],
        failures: Mapping[str, str],
        result: Marginals,
        factors: Sequence[Factor],
        shifts: Mapping[tuple[str, str], float],
    ) -> Iterator[Verdict]:
        of_claim: defaultdict[str, list[tuple[Relation, float]]] = defaultdict(list)
        beside: defaultdict[str, list[tuple[str, Relation]]] = defaultdict(list)
        variables = {claim_variable(claim) for claim in claims}
        for factor in factors:
            if factor.source in variables:
                beside[factor.target].append((factor.source, factor.relation))
                beside[factor.source].append((factor.target, factor.relation))
            else:
                of_claim[factor.target].append((factor.relation, shifts.get((factor.source, factor.target), 0.0)))
        for claim in claims:
            if claim.id in failures:
                yield fail_claim(claim, f"a relation of it could not be predicted: {failures[claim.id]}")
            elif result.marginals is None:
                yield fail_claim(
                    claim, "the graph is inconsistent: with priors of 0 or 1, no assignment of true and false is possible"
                )
            else:
                variable = claim_variable(claim)
                posterior, prior = result.marginals[variable], self.claim_prior_of(claim)
                carried = [relation for other, relation in beside[variable] if of_claim[other]]
                within = self.undecided_within
                yield verdict_of(claim, posterior, result.error, of_claim[variable], self.rules, prior, within, carried)

    def _warnings(self, result: Marginals, passages: Mapping[str, float], failed_pairs: int) -> list[str]:
        warnings = []
        if failed_pairs:
            warnings.append(f"Pairs of passages that could not be related and are not in the graph: {failed_pairs}.")
        if not result.exact and result.error:
            warnings.append(
                f"The posteriors are approximate: the solver {result.solver} indicates errors up to {result.error:.2g}, "
                "and claims that near to one half are undecided."
            )
        elif not result.exact:
            warnings.append(
                f"The posteriors are approximate, and the solver {result.solver} does not say how far off they may be."
            )
        if result.marginals is not None and passages:
            mean = sum(result.marginals[variable] for variable in passages) / len(passages)
            if mean < PASSAGES_BELIEVED:
                warnings.append(
                    f"The mean posterior of the passages fell to {mean:.2f} (tables '{self.tables}'): the graph has turned "
                    "against its own evidence, and claims drift to one half."
                )
        return warnings


def _shifts(graph: FactorGraph, result: Marginals, claims: Sequence[Claim]) -> dict[tuple[str, str], float]:
    """(the passage's variable, the claim's variable) -> how far the passage shifts the claim's posterior."""
    found = leave_one_out(graph, result, map(claim_variable, claims))
    return {
        (influence.neighbour, variable): influence.shift for variable, influences in found.items() for influence in influences
    }


def _counts(predicted: Sequence[Factor], factors: Sequence[Factor], graph: FactorGraph, result: Marginals) -> dict[str, int]:
    """Relations by label, how many that are not neutral made no factor, and the size of the graph; its width where known."""
    by_label = Counter(factor.relation.label for factor in predicted)
    counts = {f"relations_{label}": by_label[label] for label in RelationLabel}
    counts["relations_dropped"] = len(predicted) - by_label[RelationLabel.NEUTRAL] - len(factors)
    counts["graph_variables"] = len(graph.ids)
    counts["graph_factors"] = len(graph.edges)
    if result.width is not None:
        counts["graph_width"] = result.width
    return counts
