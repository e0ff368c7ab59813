"""Marginals of fact graphs: error against references and time, beside the targets.

Graphs read from a folder bring their own references. For generated graphs they are pgmpy's marginals where ours are exact, and
elimination without a limit on time where ours are not, as far as it reaches; beyond, only the time is checked.
"""

import json
import math
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.table import Table

from localfact.errors import InputError
from localfact.inference import FactorGraph, Marginals, marginals
from localfact.inference.reading import read_graph
from scripts.bench import synthetic
from scripts.bench.measure import table_of

#: Calls that are timed, after one that loads and compiles; the median counts.
CALLS = 5
#: Rounding of the reference files: they give nine decimals of log Z, and the marginals to 1e-9.
ROUNDING = 1e-9

#: Version, claims, passages retrieved a claim, and tables of what is generated, beside the densities in synthetic.py.
GENERATED = (
    *((1, 60, 5, "paper"), (1, 120, 5, "balanced"), (2, 15, 3, "paper"), (2, 15, 5, "balanced"), (3, 10, 3, "priors")),
    *((2, 30, 3, "paper"), (2, 30, 3, "priors"), (2, 30, 3, "balanced"), (3, 20, 3, "paper"), (3, 20, 3, "balanced")),
    *((2, 60, 3, "paper"), (2, 60, 3, "balanced"), (3, 60, 2, "paper"), (3, 60, 2, "balanced"), (2, 120, 3, "paper")),
)
#: Generated graphs of more claims than this wait for a whole bench.
QUICK_CLAIMS = 30

#: Claims, passages a claim, and seeds of the graphs whose passages contradict one another falsely, so often.
FALSE_CLAIMS, FALSE_PASSAGES, FALSE_SEEDS = 100, 3, 4
FALSE_SHARE = 0.05


@dataclass(frozen=True)
class Case:
    """A graph, how many of its first variables are claims, and its reference: P(true), (n,), with its tolerance.

    expected: nan throughout where the graph is too wide for any reference.
    width: the least width that an elimination order of it is known to have, ours apart; None where none is known.
    """

    name: str
    graph: FactorGraph
    claims: int
    consistent: bool
    expected: NDArray[np.float64]
    tolerance: float
    reference: str
    width: int | None = None


@dataclass(frozen=True)
class Target:
    """What is promised: largest and mean error over claims, and milliseconds."""

    largest: float
    mean: float
    milliseconds: float


def target_of(case: Case, found: Marginals) -> Target | None:
    """The promise that a graph falls under; None beyond 60 claims in FR3 and 120 in FR2.

    What counts is the least width known, so that missing a narrow order is a promise broken.
    """
    if min((width for width in (case.width, found.width) if width is not None), default=math.inf) <= 16:
        return Target(ROUNDING, ROUNDING, 10 if "fr1" in case.name else 60)
    if case.claims <= 60:
        return Target(0.02, 0.002, 200 if "fr3" in case.name else 100)
    return Target(0.03, 0.003, 300) if case.claims <= 120 and "fr2" in case.name else None


def reference_cases(folder: Path | None) -> Iterator[Case]:
    """The graphs with a reference in the `*.json` files of a folder; none without a folder."""
    for file in sorted(folder.glob("*.json")) if folder else ():
        content = json.loads(file.read_text())
        known = content["reference"]
        values = known["marginals"] or {}
        graph = read_graph(file)
        expected = np.array([values.get(name, np.nan) for name in graph.ids])
        # The file's width is of the whole graph, with what zeros fix.
        width = known.get("induced_width_min_fill")
        yield Case(file.stem, graph, len(content["atoms"]), known["consistent"], expected, known["tolerance"], "file", width)


def generated_cases(size: float) -> Iterator[Case]:
    """Graphs that nothing was settled on, each with a reference of its own as far as an exact solver reaches."""
    for seed, (version, claims, k, tables) in enumerate(GENERATED):
        if claims > QUICK_CLAIMS and version > 1 and size < 1:
            continue
        graph = synthetic.fact_graph(version, claims, k, tables, seed=1000 + seed)
        name = f"made {tables} fr{version}_n{claims:03d}_k{k}"
        known, reference = reference_for(graph)
        expected = np.array([known.get(identity, np.nan) for identity in graph.ids])
        yield Case(name, graph, claims, True, expected, ROUNDING, reference)


def reference_for(graph: FactorGraph) -> tuple[Mapping[str, float], str]:
    """The marginals by an exact solver that is not the one to be checked, and its name; none for a graph too wide for it."""
    solver = "pgmpy" if marginals(graph).exact else "exact"
    try:
        return marginals(graph, solver=solver).marginals or {}, solver
    except InputError:
        return {}, "none"


def timed(work: Callable[[], object]) -> float:
    """Median milliseconds of a call on one core: processor time, so that what else the machine does counts little."""
    work()
    taken = []
    for _ in range(CALLS):
        started = time.process_time()
        work()
        taken.append(1000 * (time.process_time() - started))
    return float(np.median(taken))


def row_of(case: Case, found: Marginals, milliseconds: float) -> list[str]:
    """What the table says of a graph."""
    shape = f"{len(case.graph.ids)} / {len(case.graph.edges)}"
    start = [case.name, shape, found.solver, "" if found.width is None else str(found.width)]
    if found.marginals is None or not case.consistent:
        verdict = "inconsistent" if found.marginals is None else "consistent"
        right = (found.marginals is None) == (not case.consistent)
        return [*start, verdict, "", "", "", case.reference, f"{milliseconds:.1f}", "yes" if right else "NO"]
    values = np.array([found.marginals[name] for name in case.graph.ids])[: case.claims]
    expected = case.expected[: case.claims]
    errors = np.abs(values - expected)
    decided = np.abs(expected - 0.5) > case.tolerance
    flips = int(np.sum((values > 0.5)[decided] != (expected > 0.5)[decided]))
    target = target_of(case, found)
    kept = target and (
        not errors.max() > max(target.largest, case.tolerance)  # nan without a reference: then the time alone counts
        and not errors.mean() > max(target.mean, case.tolerance)
        and milliseconds <= target.milliseconds
        and flips == 0
        and np.isfinite(found.log_z or 0.0)
    )
    agrees = "" if kept is None else "yes" if kept else "NO"
    figures = [f"{errors.max():.1e}", f"{errors.mean():.1e}", f"{found.error:.1e}", str(flips)]
    reference = case.reference if np.isnan(errors).all() else f"{case.reference} ±{case.tolerance:.0e}"
    return [*start, *figures, reference, f"{milliseconds:.1f}", agrees]


def tables(size: float, folder: Path | None = None) -> Iterator[tuple[str, Table]]:
    """The title and its table; `folder` holds further graphs with references."""
    columns = ("width", "max error", "mean error", "said", "flips", "reference", "ms", "kept")
    table = table_of("graph", "variables / relations", "solver", *columns, names=3)
    for cases in (reference_cases(folder), generated_cases(size)):
        for case in cases:
            found = marginals(case.graph)
            table.add_row(*row_of(case, found, timed(lambda graph=case.graph: marginals(graph))))
        table.add_section()
    yield "marginals of fact graphs: errors over claims, and whether the promised error and time are kept", table
    yield (
        f"good passages of {FALSE_CLAIMS} claims, {FALSE_SHARE:.0%} of the related pairs falsely contradictory, balanced",
        false_contradictions(),
    )


def false_contradictions() -> Table:
    """The mean posterior of good passages of which some are wrongly taken to contradict one another, by pairs related."""
    density = synthetic.Density(between=(*synthetic.Density().between[:2], FALSE_SHARE))
    table = table_of("passages related", "lowest mean posterior", "highest")
    for name, met in (("all, as FactReasoner", False), ("those found for a common claim, as ours", True)):
        means = []
        for seed in range(FALSE_SEEDS):
            graph = synthetic.fact_graph(3, FALSE_CLAIMS, FALSE_PASSAGES, "balanced", seed=seed, density=density, met=met)
            found = marginals(graph).marginals or {}
            means.append(float(np.mean([value for name, value in found.items() if name.startswith("c")])))
        table.add_row(name, f"{min(means):.3f}", f"{max(means):.3f}")
    return table
