"""Compares relation models by what a method makes of them on labelled responses: F1, MAE of Pr, Brier, with intervals.

    python -m scripts.training.compare [DATA.json ...] [--relations NAME ...] [--method builtin-fr2] [--limit N] [--work FOLDER]

The sample with its labelled claims, and each file named; of the relation models the first is what the others are held against.
Runs are kept in FOLDER: the same command goes on where it was interrupted.
"""

import argparse
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from localfact.api.evaluate import evaluate
from localfact.methods.options import Options
from localfact.methods.relations import BUILTIN_NLI, LEXICAL
from localfact.records import Assessment
from localfact.report.console import note
from localfact.runs.assessments import read_assessments
from localfact.scoring import Score
from localfact.scoring.aggregate import contribution_of
from localfact.scoring.bootstrap import Estimator, percentile_interval, resampled
from localfact.scoring.gold_scores import BrierPerClaim, GoldF1, PrecisionError
from localfact.scoring.tally import Unscored, labelled_claims, tally
from scripts.training.relation_model.figure_tables import piped

SCORES: tuple[Score[Any], ...] = (GoldF1(), PrecisionError(), BrierPerClaim())

LEGEND = (
    "In brackets 95 % intervals, by a bootstrap over responses, over claims where there is one response. Behind a comma: how "
    "far it is above the first relation model."
)


class Compared(NamedTuple):
    """One score of one run: its value and interval, and how far it is from the first run's on the same responses."""

    value: float
    interval: tuple[float, float]
    difference: float
    difference_interval: tuple[float, float]

    def cell(self, *, first: bool) -> str:
        """As it stands in the table; the first run has no difference."""
        text = f"{self.value:.2f} [{self.interval[0]:.2f}, {self.interval[1]:.2f}]"
        low, high = self.difference_interval
        return text if first else f"{text}, {self.difference:+.2f} [{low:+.2f}, {high:+.2f}]"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="*", help="responses with labelled claims")
    parser.add_argument("--relations", action="append", help=f"default: {LEXICAL}, {BUILTIN_NLI}")
    parser.add_argument("--method", default="builtin-fr2")
    parser.add_argument("--limit", type=int, help="responses of each; default: all")
    parser.add_argument("--work", type=Path, default=Path("runs/relation-models-compared"))
    options = parser.parse_args()
    names = options.relations or [LEXICAL, BUILTIN_NLI]
    rows = []
    for data in (None, *options.data):
        title = data.stem if data else "sample"
        within = options.work / title / options.method
        runs = [assessed(data, name, options.method, run_folder(within, name), options.limit) for name in names]
        rows += table_rows(title, names, runs)
    print(piped(("responses", "relations", "verdicts", *map(str, SCORES)), rows))
    print("\n" + LEGEND)


def run_folder(within: Path, relations: str) -> Path:
    """Where the run of a relation model is kept, which may be named by the path of its card."""
    return within / relations.strip("/").replace("/", "-")


def assessed(data: Path | None, relations: str, method: str, out: Path, limit: int | None) -> list[Assessment]:
    """What the method says of the labelled claims with that relation model."""
    note(f"{data or 'the sample'}: {method}, {relations}")
    evaluate(data, method=method, options=Options(claims="given", relations=relations), out=out, limit=limit)
    return read_assessments(out)


def table_rows(title: str, names: Sequence[str], runs: Sequence[Sequence[Assessment]]) -> list[list[str]]:
    """A row a relation model: supported, contradicted and undecided claims, and the scores."""
    rows = []
    for place, (name, run) in enumerate(zip(names, runs, strict=True)):
        counts = Counter[str]()
        for each in run:
            counts.update(tally(each).__dict__)
        verdicts = ", ".join(f"{counts[kind]} {kind}" for kind in ("supported", "contradicted", "undecided"))
        cells = [compared(runs[0], run, score) for score in SCORES]
        shown = [one.cell(first=place == 0) if one else "-" for one in cells]
        rows.append([title if place == 0 else "", name, verdicts, *shown])
    return rows


def compared(first: Sequence[Assessment], other: Sequence[Assessment], score: Score[Any], seed: int = 0) -> Compared | None:
    """The score of the other run, against the first over the same responses; None where no response has it in both."""
    both = [
        (one, two)
        for one, two in zip(first, other, strict=True)
        if not any(isinstance(contribution_of(score, run), Unscored) for run in (one, two))
    ]
    if not both:
        return None
    before, after = (estimator_of([pair[side] for pair in both], score) for side in (0, 1))
    size = len(both) if len(both) > 1 else len(both[0][0].claims)
    everything = np.arange(size)
    return Compared(
        value=after(everything),
        interval=interval(after, size, seed),
        difference=after(everything) - before(everything),
        difference_interval=interval(lambda chosen: after(chosen) - before(chosen), size, seed),
    )


def interval(estimator: Estimator, size: int, seed: int) -> tuple[float, float]:
    """The 95 % interval over the draws in which the score is there."""
    estimates = resampled(estimator, size, seed)
    return percentile_interval(estimates[np.isfinite(estimates)])


def estimator_of(run: Sequence[Assessment], score: Score[Any]) -> Estimator:
    """The score as a function of which responses count; of which claims, where there is one response."""
    if len(run) > 1:
        return score.estimator([contribution_of(score, assessment) for assessment in run])
    (only,) = run

    def of_claims(chosen: NDArray[np.int64]) -> float:
        drawn = with_claims(only, chosen)
        contribution = contribution_of(score, drawn)
        return float("nan") if isinstance(contribution, Unscored) else score.estimator([contribution])(np.arange(1))

    return of_claims


def with_claims(assessment: Assessment, chosen: NDArray[np.int64]) -> Assessment:
    """The response as if it had these of its claims, each as often as it was drawn, and its annotation theirs."""
    drawn = assessment.model_copy(
        update={
            "claims": tuple(assessment.claims[place] for place in chosen),
            "verdicts": tuple(assessment.verdicts[place] for place in chosen),
        }
    )
    gold = [label for label, _ in labelled_claims(drawn)]
    return drawn.model_copy(update={"gold_supported": sum(gold), "gold_not_supported": len(gold) - sum(gold)})


if __name__ == "__main__":
    main()
