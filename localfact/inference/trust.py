"""How far hosts can be relied on, by expectation-maximisation over the graphs of many responses.

A passage is true with the probability that its host is reliable; that is the only unknown (Dempster, Laird and Rubin, 1977).
Expectation: P(true) of every passage, by inference in each graph, without what its host says elsewhere in the same response.
Maximisation: a host's reliability is the mean of these, drawn to its prior. The tables are always the balanced ones: with the
paper's a passage sinks by speaking at all, whatever the others say.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from localfact.inference.factor_graph import PASSAGE_PRIOR, build_graph
from localfact.inference.solve import marginals
from localfact.records import Relation

#: Limits of a reliability: no host is beyond doubt, nor beyond being heard again.
LEAST, MOST = 0.01, 0.99
#: How many passages a host's prior counts as.
STRENGTH = 4.0
#: No reliability changes by more in the last round, and how many rounds there are at most.
TOLERANCE, ROUNDS = 1e-3, 100


@dataclass(frozen=True)
class SourcedGraph:
    """The graph of one response, with who says what.

    Attributes:
        claims: id -> prior.
        relations: from passages to claims, or among either.
        hosts: passage id -> the hosts that have it, each once; none where they are not known. Copies are one passage.
        prior: of the passages whose hosts are not known, in [0, 1].
    """

    claims: Mapping[str, float]
    relations: Sequence[Relation]
    hosts: Mapping[str, tuple[str, ...]]
    prior: float = PASSAGE_PRIOR

    def without(self, passages: Collection[str]) -> "SourcedGraph":
        """The graph without these passages."""
        kept = tuple(one for one in self.relations if one.source not in passages and one.target not in passages)
        return SourcedGraph(
            self.claims, kept, {name: its for name, its in self.hosts.items() if name not in passages}, self.prior
        )

    def posteriors(self, reliability: Mapping[str, float]) -> Mapping[str, float]:
        """P(true) of every claim and passage; a passage's prior is the mean reliability of its hosts."""
        priors = {
            name: sum(reliability[host] for host in its) / len(its) if its else self.prior for name, its in self.hosts.items()
        }
        return marginals(build_graph(self.claims, priors, self.relations, tables="balanced")).marginals or {}

    def passages_of(self) -> Mapping[str, frozenset[str]]:
        """Host -> the passages that it has."""
        found: defaultdict[str, set[str]] = defaultdict(set)
        for name, its in self.hosts.items():
            for host in its:
                found[host].add(name)
        return {host: frozenset(names) for host, names in found.items()}


@dataclass(frozen=True)
class HostReliability:
    """What was found.

    Attributes:
        of: host -> its reliability, in [LEAST, MOST].
        rounds: how many were made. change: the largest of any host in the last.
    """

    of: Mapping[str, float]
    rounds: int
    change: float


def estimate_reliability(
    graphs: Sequence[SourcedGraph],
    priors: Mapping[str, float],
    *,
    strength: float = STRENGTH,
    tolerance: float = TOLERANCE,
    rounds: int = ROUNDS,
    progress: Callable[[int, float], None] = lambda done, change: None,
) -> HostReliability:
    """Estimates the reliability of hosts; the same graphs always give the same.

    A text that several hosts have counts once: it is shared among them by how well each explains it.

    Args:
        graphs: one a response.
        priors: host -> its prior, and where the search begins; of all hosts in the graphs. Above one half for most of them, as
            hosts that agree in lies and hosts that agree in truths look alike otherwise.
        strength: how many passages the prior counts as.
        tolerance, rounds: when to stop.
        progress: called after each round with its number and its largest change.
    """
    prior = {host: _clamp(value) for host, value in priors.items()}
    found, change, done = prior, 0.0, 0
    solved: dict[int, tuple[Mapping[str, float], Mapping[str, float]]] = {}  # with which reliability, and what came
    for done in range(1, rounds + 1):
        true, weight = defaultdict[str, float](float), defaultdict[str, float](float)
        for place, graph in enumerate(graphs):
            if place not in solved or _moved(graph, solved[place][0], found, tolerance):
                solved[place] = found, independent_posteriors(graph, found)
            for name, believed in solved[place][1].items():
                _share(believed, graph.hosts[name], found, true, weight)
        new = {host: _clamp((true[host] + strength * prior[host]) / (weight[host] + strength)) for host in prior}
        change = max((abs(new[host] - found[host]) for host in prior), default=0.0)
        found = new
        progress(done, change)
        if change < tolerance:
            break
    return HostReliability(found, done, change)


def independent_posteriors(graph: SourcedGraph, reliability: Mapping[str, float]) -> Mapping[str, float]:
    """P(true) of each passage whose hosts are known, as if it were all that its hosts say of this response.

    A host that has several passages would otherwise bear itself out.
    """
    together, of_host = graph.posteriors(reliability), graph.passages_of()
    found = {}
    for name, its in graph.hosts.items():
        others = frozenset[str]().union(*(of_host[host] for host in its)) - {name}
        if its and together:
            found[name] = graph.without(others).posteriors(reliability)[name] if others else together[name]
    return found


def _moved(graph: SourcedGraph, before: Mapping[str, float], now: Mapping[str, float], tolerance: float) -> bool:
    """Whether a host of the graph did, so that it has to be solved again."""
    return any(abs(now[host] - before[host]) >= tolerance for its in graph.hosts.values() for host in its)


def _share(
    believed: float,
    hosts: Sequence[str],
    reliability: Mapping[str, float],
    true: defaultdict[str, float],
    weight: defaultdict[str, float],
) -> None:
    """Adds one passage to what its hosts have said: all of it to one, shares to several."""
    reliable = sum(reliability[host] for host in hosts)
    unreliable = len(hosts) - reliable
    for host in hosts:
        part = believed * reliability[host] / reliable
        true[host] += part
        weight[host] += part + (1 - believed) * (1 - reliability[host]) / unreliable


def _clamp(value: float) -> float:
    return min(MOST, max(LEAST, value))
