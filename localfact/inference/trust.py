"""How far hosts can be relied on, by expectation-maximisation over the graphs of many responses.

A passage is true with the probability that its host is reliable; that is the only unknown (Dempster, Laird and Rubin, 1977).
Expectation: P(true) of every passage, by inference in each graph, without what its host says elsewhere in the same response.
Maximisation: a host's reliability is the mean of these, drawn to its prior. The tables are always the balanced ones: with the
paper's a passage sinks by speaking at all, whatever the others say.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from localfact.inference.factor_graph import PASSAGE_PRIOR, build_graph
from localfact.inference.solve import marginals
from localfact.records import Relation

#: Limits of a reliability: no host is beyond doubt, nor beyond being heard again.
LEAST, MOST = 0.01, 0.99
#: How many passages a host's prior counts as.
STRENGTH = 4.0
#: No reliability changes by more in the last round, and how many rounds there are at most.
TOLERANCE, ROUNDS = 1e-3, 100
#: Where the steps within a round begin, how many there are at most, and when a host stands still.
START, STEPS, CLOSE = 0.8, 5_000, 1e-7


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
    rounds: int = ROUNDS,
    progress: Callable[[int, float], None] = lambda done, change: None,
) -> HostReliability:
    """Estimates the reliability of hosts; the same graphs always give the same.

    What the rest makes of a passage does not depend on its host's own reliability, so each round maximises over that to the end
    before the graphs are solved again: rounds are what costs. A text that several hosts have counts once: it is shared among
    them by how well each explains it.

    Args:
        graphs: one a response.
        priors: host -> its prior, and where the search begins; of all hosts in the graphs. Above one half for most of them, as
            hosts that agree in lies and hosts that agree in truths look alike otherwise.
        strength: how many passages the prior counts as.
        rounds: at most; it ends before where none changes by TOLERANCE.
        progress: called after each round with its number and its largest change.
    """
    names = list(priors)
    position = {name: place for place, name in enumerate(names)}
    prior = np.clip(np.array([priors[name] for name in names], dtype=np.float64), LEAST, MOST)
    found, change, done = prior, 0.0, 0
    solved: dict[int, tuple[Mapping[str, float], Mapping[str, float]]] = {}  # with which reliability, and what came
    for done in range(1, rounds + 1):
        now = dict(zip(names, found.tolist(), strict=True))
        for place, graph in enumerate(graphs):
            if place not in solved or _has_moved(graph, solved[place][0], now):
                solved[place] = now, odds_by_the_rest(graph, now)
        odds = [value for place in range(len(graphs)) for value in solved[place][1].values()]
        hosts = [graphs[place].hosts[name] for place in range(len(graphs)) for name in solved[place][1]]
        new = _maximise(np.array(odds), [[position[host] for host in its] for its in hosts], prior, strength)
        change = float(np.abs(new - found).max(initial=0.0))
        found = new
        progress(done, change)
        if change < TOLERANCE:
            break
    return HostReliability(dict(zip(names, found.tolist(), strict=True)), done, change)


def odds_by_the_rest(graph: SourcedGraph, reliability: Mapping[str, float]) -> Mapping[str, float]:
    """Of each passage whose hosts are known, how much likelier all the others are if it is true than if it is not.

    As if it were all that its hosts say of this response: a host that has several passages would otherwise bear itself out.
    """
    together, of_host = graph.posteriors(reliability), graph.passages_of()
    found = {}
    for name, its in graph.hosts.items():
        others = frozenset[str]().union(*(of_host[host] for host in its)) - {name}
        if its and together:
            believed = graph.without(others).posteriors(reliability)[name] if others else together[name]
            prior = sum(reliability[host] for host in its) / len(its)
            found[name] = believed / max(1 - believed, 1e-12) * (1 - prior) / prior
    return found


def _maximise(
    odds: NDArray[np.float64], hosts: Sequence[Sequence[int]], prior: NDArray[np.float64], strength: float
) -> NDArray[np.float64]:
    """The most probable reliabilities, by the steps of the mixture, given what the rest makes of each passage.

    Args:
        odds: (n,) of the passages. hosts: of each passage, the positions of its hosts. prior: (h,) of the hosts.
    """
    passage = np.array([place for place, its in enumerate(hosts) for _ in its], dtype=np.int64)
    host = np.array([one for its in hosts for one in its], dtype=np.int64)
    if not len(host):
        return prior
    share = 1 / np.bincount(passage)[passage]
    found = np.full_like(prior, START)
    for _ in range(STEPS):
        true, false = share * found[host] * odds[passage], share * (1 - found[host])
        whole = np.bincount(passage, true + false)[passage]
        new = (np.bincount(host, true / whole, len(prior)) + strength * prior) / (
            np.bincount(host, (true + false) / whole, len(prior)) + strength
        )
        new = np.clip(new, LEAST, MOST)
        if np.abs(new - found).max() < CLOSE:
            return new
        found = new
    return found


def _has_moved(graph: SourcedGraph, before: Mapping[str, float], now: Mapping[str, float]) -> bool:
    """Whether a host of the graph did, so that it has to be solved again."""
    return any(abs(now[host] - before[host]) >= TOLERANCE for its in graph.hosts.values() for host in its)
