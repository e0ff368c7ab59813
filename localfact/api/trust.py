"""Estimates from finished runs how far each host can be relied on, and says why; no model is asked again.

The relations that the runs' graphs were made of stand in their assessments; the mathematics is in `inference/trust.py`. What
comes out is a table of priors for `eval --hosts`.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import yaml

from localfact.api.graph import reasoner_of
from localfact.assess.factors import claim_variable
from localfact.assess.factreasoner import FactReasoner
from localfact.assess.linking import passage_variable
from localfact.errors import InputError
from localfact.evidence.duplicates import merge_near_duplicates
from localfact.inference.trust import MOST, STRENGTH, SourcedGraph, estimate_reliability
from localfact.records import Assessment, Passage, Relation
from localfact.report.trust import Disagreement, HostTrust, TrustReport
from localfact.runs.assessments import assessments_in_order
from localfact.runs.record import read_run
from localfact.runtime.addresses import host_of
from localfact.vocabulary import RelationLabel, VerdictLabel

#: A claim that the rest leaves this near to one half is open.
OPEN_WITHIN = 0.1
#: The most claims that are kept for each host as the reason, and of other hosts for each of them.
MOST_SHOWN, MOST_OTHERS = 10, 5


@dataclass(frozen=True)
class SourcedResponse:
    """One response: its graph, and what is said of it. claims: variable -> id and text. priors: host -> prior in the run."""

    run: str
    id: str
    graph: SourcedGraph
    claims: Mapping[str, tuple[str, str]]
    priors: Mapping[str, float]


def trust(
    runs: Sequence[str | Path],
    *,
    prior: float | None = None,
    strength: float | None = None,
    progress: Callable[[int, float], None] = lambda done, change: None,
) -> TrustReport:
    """Estimates the reliability of every host whose passages speak to a claim in these runs; nothing is written.

    Args:
        runs: folders of runs with a graph: factreasoner, builtin, localfact. A response that stands in several counts once.
        prior: reliability of a host of which nothing is known, above one half; None for the priors of passages in each run.
        strength: how many passages the prior counts as, above 0; None for 4.
        progress: called after each round with its number and the largest change.

    Raises:
        MissingError: there is no such run. InputError: a method without a graph, no host in any, or a number out of range.
    """
    if prior is not None and not 0.5 < prior < 1:
        raise InputError(
            f"The prior of hosts must be above one half and below 1, not {prior:g}: liars that agree look like hosts that tell "
            "the truth unless most are taken to be reliable."
        )
    strength = STRENGTH if strength is None else strength
    if not 0 < strength < float("inf"):
        raise InputError(f"The strength of the prior must be a number of passages above 0, not {strength:g}.")
    responses, repeated, table, warnings = _read([Path(run) for run in runs], prior)
    before = _priors(responses, prior)
    if not before:
        raise InputError("No passage with a known host speaks to a claim in these runs: passages need links (docs/inputs.md).")
    found = estimate_reliability([one.graph for one in responses], before, strength=strength, progress=progress)
    hosts = sorted(_hosts(responses, before, found.of), key=lambda one: (one.after - one.before, one.host))
    unknown = sum(not its for one in responses for its in one.graph.hosts.values())
    return TrustReport(
        runs=tuple(str(run) for run in runs),
        responses=len(responses),
        repeated=repeated,
        hosts=tuple(hosts),
        table=table_of_hosts(hosts, table),
        unknown=unknown,
        strength=strength,
        rounds=found.rounds,
        change=found.change,
        warnings=tuple(warnings),
    )


def table_of_hosts(hosts: Sequence[HostTrust], earlier: Mapping[str, float]) -> Mapping[str, float]:
    """The table that `eval --hosts` reads: hosts that fell, those below them that did not, and what an earlier table had.

    A host that did not fall is left out otherwise, as the table only lowers priors.
    """
    table = {**earlier, **{one.host: round(one.after, 4) for one in hosts if one.fell or one.host in earlier}}
    beside = {one.host: round(one.after, 4) for one in hosts if any(parent in table for parent in _parents(one.host))}
    return dict(sorted({**beside, **table}.items()))


def hosts_file(report: TrustReport) -> str:
    """The table as YAML, with what it comes from."""
    head = (
        f"# By localfact trust, of {report.responses} responses: how far the passages of a host can be relied on.\n"
        "# For localfact eval --hosts; hosts that are not here keep the prior of passages in general.\n"
    )
    return head + yaml.safe_dump(dict(report.table), allow_unicode=True, sort_keys=False)


def _read(runs: Sequence[Path], prior: float | None) -> tuple[list[SourcedResponse], int, dict[str, float], list[str]]:
    """The responses of all runs, how many were passed over as repeated, the runs' own tables of hosts, and warnings."""
    responses: list[SourcedResponse] = []
    seen: set[str] = set()
    table: dict[str, float] = {}
    repeated, warnings = 0, []
    for run in runs:
        record = read_run(run)
        reasoner, _ = reasoner_of(record)
        if prior is None and reasoner.passage_prior <= 0.5:
            raise InputError(
                f"In {run} the prior of passages is {reasoner.passage_prior:g}: name one above one half, --prior 0.9."
            )
        table |= reasoner.host_priors
        if reasoner.tables != "balanced":
            warnings.append(
                f"{run} was made with the tables '{reasoner.tables}'. Hosts are judged by the balanced ones, as with others a "
                "passage may sink by speaking at all; what --hosts then does in such a run may be another thing."
            )
        for assessment in assessments_in_order(run):
            key = assessment.text or "\n".join(claim.text for claim in assessment.claims)
            if assessment.status == "failed" or not assessment.relations:
                continue
            if key in seen:
                repeated += 1
                continue
            seen.add(key)
            responses.append(sourced_response(str(run), assessment, reasoner))
    return responses, repeated, table, warnings


def sourced_response(run: str, assessment: Assessment, reasoner: FactReasoner) -> SourcedResponse:
    """The graph of one response with the hosts of its passages: copies are one, and one relates to a claim once."""
    failed = {verdict.claim_id for verdict in assessment.verdicts if verdict.label is VerdictLabel.FAILED}
    claims = {claim.id: claim for claim in assessment.claims if claim.id not in failed}
    merged = merge_near_duplicates(assessment.passages)
    known = {passage.id: passage for passage in merged.passages}
    names = {claim.id: claim_variable(claim) for claim in claims.values()}
    strongest: dict[tuple[str, str], Relation] = {}
    for relation in assessment.relations:
        if {relation.source, relation.target} & failed:
            continue
        source, target = (names.get(end) or passage_variable(merged.survivor.get(end, end)) for end in _ends(relation))
        kept = strongest.get((source, target))
        if source != target and (kept is None or kept.probability < relation.probability):
            strongest[source, target] = relation.model_copy(update={"source": source, "target": target})
    speaking = {end for relation in strongest.values() for end in _ends(relation)} - set(names.values())
    texts = {passage_variable(name): passage for name, passage in known.items()}
    hosts = {end: _hosts_of(texts[end]) if end in texts else () for end in sorted(speaking)}
    return SourcedResponse(
        run,
        assessment.response_id,
        SourcedGraph(
            {names[claim.id]: reasoner.claim_prior_of(claim) for claim in claims.values()},
            tuple(strongest.values()),
            hosts,
            reasoner.passage_prior,
        ),
        {names[claim.id]: (claim.id, claim.text) for claim in claims.values()},
        {
            host: reasoner.passage_prior_of(Passage(id="", text="", host=host))
            for host in dict.fromkeys(host for its in hosts.values() for host in its)
        },
    )


def _ends(relation: Relation) -> tuple[str, str]:
    return relation.source, relation.target


def _hosts_of(passage: Passage) -> tuple[str, ...]:
    """The hosts that have a passage, each once, without www."""
    found = [host for host in map(host_of, passage.links) if host] or [passage.host or ""]
    return tuple(dict.fromkeys(host.removeprefix("www.") for host in found if host))


def _parents(host: str) -> Iterator[str]:
    """The domains above a host."""
    labels = host.split(".")
    yield from (".".join(labels[start:]) for start in range(1, len(labels)))


def _priors(responses: Sequence[SourcedResponse], prior: float | None) -> dict[str, float]:
    """Host -> what its passages' prior was in the runs, a mean over responses; or the one given."""
    given: defaultdict[str, list[float]] = defaultdict(list)
    for response in responses:
        for host, value in response.priors.items():
            given[host].append(min(value, MOST) if prior is None else prior)
    return {host: fmean(values) for host, values in sorted(given.items())}


def _hosts(
    responses: Sequence[SourcedResponse], before: Mapping[str, float], after: Mapping[str, float]
) -> Iterator[HostTrust]:
    """What is said of each host."""
    passages, inside = Counter[str](), Counter[str]()
    sides: defaultdict[str, Counter[str]] = defaultdict(Counter)
    why: defaultdict[str, list[Disagreement]] = defaultdict(list)
    for response in responses:
        for host, its in response.graph.passages_of().items():
            passages[host] += len(its)
            inside[host] += 1
            for side, told in _against_the_rest(response, host, its, after):
                sides[host][side] += 1
                why[host] += [told] if side == "against" else []
    for host in before:
        clearest = sorted(why[host], key=lambda one: (-abs(one.rest - 0.5) * (one.probability - 0.5), one.response_id))
        yield HostTrust(
            host=host,
            before=before[host],
            after=after[host],
            passages=passages[host],
            responses=inside[host],
            claims=sides[host].total(),
            borne_out=sides[host]["borne out"],
            against=sides[host]["against"],
            open=sides[host]["open"],
            why=tuple(clearest[:MOST_SHOWN]),
        )


def _against_the_rest(
    response: SourcedResponse, host: str, its: frozenset[str], reliability: Mapping[str, float]
) -> Iterator[tuple[str, Disagreement]]:
    """Of each claim that a host speaks to: whether all the others bear it out, contradict it, or leave it open."""
    rest = response.graph.without(its).posteriors(reliability)
    of_claim: defaultdict[str, list[Relation]] = defaultdict(list)
    for relation in response.graph.relations:
        of_claim[relation.target].append(relation)
    for variable, (claim_id, text) in response.claims.items():
        own = [relation for relation in of_claim[variable] if relation.source in its]
        if not own:
            continue
        says = max(own, key=lambda relation: relation.probability)
        true = rest[variable]
        agrees = (true > 0.5) == (says.label is not RelationLabel.CONTRADICTION)
        side = "open" if abs(true - 0.5) <= OPEN_WITHIN else "borne out" if agrees else "against"
        opposite = [
            one
            for one in sorted(of_claim[variable], key=lambda relation: -relation.probability)
            if one.source not in its
            and (one.label is RelationLabel.CONTRADICTION) != (says.label is RelationLabel.CONTRADICTION)
        ]
        others = dict.fromkeys(other for one in opposite for other in response.graph.hosts.get(one.source, ()))
        yield (
            side,
            Disagreement(
                run=response.run,
                response_id=response.id,
                claim_id=claim_id,
                claim=text,
                says=says.label,
                probability=says.probability,
                rest=true,
                others=tuple(others)[:MOST_OTHERS],
            ),
        )
