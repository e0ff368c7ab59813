"""Draws how the mean posterior of passages falls with the number of claims, for the three sets of tables:

    python -m scripts.plot_collapse [--out docs/collapse.svg] [--seeds 8]

The graphs are made up, seeded, with the shape of FactReasoner's third version: 3 passages retrieved a claim, all claims
related to all passages, and passages to one another; `ours` is balanced with only those passages related that were retrieved
for a common claim. The band goes from the lowest to the highest seed.
"""

import argparse
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from localfact.inference import TableSet, marginals
from localfact.report.plots import BandedLine, band_figure, render_figure
from scripts.bench.synthetic import fact_graph

CLAIMS = (1, 2, 3, 4, 6, 8, 10, 12, 15, 20, 25, 30, 35, 38, 40, 42, 44, 46, 48, 50, 55, 60)
FR3, PASSAGES_PER_CLAIM = 3, 3
#: Name of a line -> its tables, and whether only passages of a common claim are related.
LINES: Mapping[str, tuple[TableSet, bool]] = {
    "ours": ("balanced", True),
    "balanced": ("balanced", False),
    "priors": ("priors", False),
    "paper": ("paper", False),
}


def mean_passage_posterior(claims: int, seed: int, tables: TableSet, met: bool) -> float:
    """Of one graph, in [0, 1]."""
    solved = marginals(fact_graph(FR3, claims, PASSAGES_PER_CLAIM, tables, seed=seed, met=met))
    if solved.marginals is None:
        raise AssertionError("no probability here is 0 or 1, so every graph is consistent")
    return float(np.mean([posterior for name, posterior in solved.marginals.items() if name.startswith("c")]))


def line(name: str, seeds: int) -> BandedLine:
    """The mean over the seeds, with the lowest and the highest of them."""
    values: NDArray[np.float64] = np.array(
        [[mean_passage_posterior(claims, seed, *LINES[name]) for claims in CLAIMS] for seed in range(seeds)]
    )
    return BandedLine(name, CLAIMS, values.mean(axis=0).tolist(), values.min(axis=0).tolist(), values.max(axis=0).tolist())


def main() -> None:
    options = argparse.ArgumentParser(description="Draws the collapse of passages under the three sets of tables.")
    options.add_argument("--out", type=Path, default=Path("docs/collapse.svg"), help="An .svg or a .png file.")
    options.add_argument("--seeds", type=int, default=8, help="How many graphs of each size.")
    chosen = options.parse_args()
    lines = [line(name, chosen.seeds) for name in LINES]
    for one in lines:
        print(one.name, " ".join(f"{claims}:{value:.3f}" for claims, value in zip(one.x, one.y, strict=True)))
    figure = band_figure(
        lines,
        title="How far passages are believed, by set of tables (made-up FR3 graphs)",
        xlabel="claims of the response",
        ylabel="mean posterior of a passage",
        ylim=(0.0, 1.02),
    )
    chosen.out.parent.mkdir(parents=True, exist_ok=True)
    chosen.out.write_bytes(render_figure(figure)[chosen.out.suffix[1:]])


if __name__ == "__main__":
    main()
