"""Draws the figures that only runs have: risk and coverage, precision by length, scores, posteriors of passages.

The numbers come from plot_data.py, the style from plots.py, which also draws a run's reliability diagram and ROC curve.
"""

from collections.abc import Mapping, Sequence
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from localfact.report.plot_data import LengthBin, PassagePosteriors, PrecisionByLength, ScoreValues
from localfact.report.plots import (
    ENTRY,
    REFERENCE,
    SIZE,
    TYPE,
    Looks,
    blank,
    empty,
    look,
    mark_points,
    number_looks,
    shorten_name,
    style,
    with_interval,
    with_legend,
)
from localfact.scoring.selective import CoverageCurve

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: The fewest claims kept for which an error rate is drawn: of fewer it is noise.
FEWEST_KEPT = 10
#: The most runs whose bands are drawn: of more they hide one another.
MOST_BANDS = 4
#: Up to so many points are drawn at their full size; more are smaller, with half as much area for twice as many.
FULL_SIZE = 50
#: Panels of scores in a row, the size of one in inches, and characters of a line below it.
COLUMNS, PANEL, LABEL = 3, (3.1, 2.7), 36
#: Below it the graph has turned against its own evidence (docs/internals/inference.md, "Why passages can collapse").
BELIEVED, COLLAPSED = 0.5, "below 0.5 the passages have collapsed: the graph disbelieves them"
#: The beginning of a score's name -> what it is. The first that fits counts.
WORDS = (
    ("Pr", "precision"),
    ("F1@K'", "F1 of precision and recall at K'"),
    ("F1@K", "F1 of precision and recall at K"),
    ("F1(gold)", "F1 against the annotation"),
    ("MAE(Pr)", "error of precision"),
    ("Brier", "Brier score"),
)


def risk_coverage_figure(curves: Mapping[str, CoverageCurve], title: str, *, looks: Looks = None) -> "Figure":
    """Draws, by name, the error rate among the claims kept against the share kept, and a marker where all claims are."""
    with style():
        labels = [
            f"{with_interval(curve.area, curve.ci)}; {curve.error:.3f}; {curve.claims:,}  {shorten_name(name)}"
            for name, curve in curves.items()
        ]
        figure, axes = empty(SIZE, labels)
        for label, (index, curve) in zip(labels, number_looks(curves, looks), strict=True):
            points = [point for point in curve.points if point.accepted >= min(FEWEST_KEPT, curve.claims)]
            axes.plot(
                [point.skipped for point in points],
                [point.risk or 0.0 for point in points],
                label=label,
                markevery=[len(points) - 1],
                clip_on=False,
                **look(index),
                **mark_points(index),
            )
        axes.set(xlim=(0, 1), ylabel="error rate among them")
        axes.set_xlabel(f"share of claims kept, the surest first (from {FEWEST_KEPT} claims on)")
        axes.set_ylim(bottom=0)
        with_legend(figure, axes, title, "area under the curve; error rate of all claims; claims")
    return figure


def precision_by_length_figure(runs: Mapping[str, PrecisionByLength], title: str, *, looks: Looks = None) -> "Figure":
    """Draws, by name, a point a response, and the mean of each bin; of few runs with its interval as a band."""
    with style():
        labels = [f"{len(run.words):,}  {shorten_name(name)}" for name, run in runs.items()]
        figure, axes = empty(SIZE, labels)
        for index, run in number_looks(runs, looks):
            _points(axes, run.words, run.precision, index)
            _means(axes, run.bins, index, banded=len(runs) <= MOST_BANDS)
        handles = [
            _entry(index, label, line=bool(run.bins))
            for label, (index, run) in zip(labels, number_looks(runs, looks), strict=True)
        ]
        axes.set(ylim=(-0.02, 1.02), xlabel="length of the response in words", ylabel="precision")
        axes.margins(x=0.03)
        with_legend(figure, axes, title, _lines_told(runs), handles=handles)
    return figure


def scores_figure(scores: Sequence[ScoreValues], names: Sequence[str], title: str, *, looks: Looks = None) -> "Figure":
    """Draws a panel a score: the share of responses that have so much or less, by run; a marker at each run's mean.

    Args:
        names: of the runs, in their order.
    """
    with style():
        labels = {name: f"{_most(scores, name):,}  {shorten_name(name)}" for name in names}
        rows, columns = -(-len(scores) // COLUMNS), min(COLUMNS, len(scores))
        figure = blank((max(SIZE[0], PANEL[0] * columns), PANEL[1] * rows + 4 * ENTRY), list(labels.values()))
        for place, score in enumerate(scores):
            axes = figure.add_subplot(rows, columns, place + 1)
            for index, values in number_looks({name: score.values.get(name) for name in names}, looks):
                if values is not None:
                    _distribution(axes, values, index)
            _label(axes, score)
            if place % columns == 0:
                axes.set_ylabel("share of responses\nat or below", fontsize=TYPE - 2)
        figure.suptitle(title, fontsize=TYPE)
        handles = [_entry(index, label) for index, label in number_looks(labels, looks)]
        figure.legend(handles=handles, loc="outside lower left", title="responses; marker: their mean", alignment="left")
    return figure


def passage_posterior_figure(runs: Mapping[str, PassagePosteriors], title: str, *, looks: Looks = None) -> "Figure":
    """Draws, by name, a point a response: the mean posterior of its passages against the size of its graph."""
    with style():
        labels = [f"{len(run.variables):,}  {shorten_name(name)}" for name, run in runs.items()]
        figure, axes = empty(SIZE, [*labels, COLLAPSED])
        line = axes.axhline(BELIEVED, label=COLLAPSED, **REFERENCE)
        for index, run in number_looks(runs, looks):
            _points(axes, run.variables, run.posteriors, index)
        axes.set(ylim=(-0.02, 1.02), ylabel="mean posterior of a passage")
        axes.set_xlabel("variables of the factor graph (claims and passages)")
        axes.margins(x=0.03)
        handles = [
            _entry(index, label, line=False) for label, (index, _) in zip(labels, number_looks(runs, looks), strict=True)
        ]
        with_legend(figure, axes, title, "responses", handles=[*handles, line])
    return figure


def _points(axes: "Axes", x: Any, y: Any, index: int) -> None:
    """Points in the colour and marker of the run with that number."""
    shrunk = min(1.0, (FULL_SIZE / len(x)) ** 0.5)
    points = {**look(index), **mark_points(index), "linestyle": "", "alpha": 0.8}
    points["markersize"] = max(1.5, points["markersize"] * shrunk)
    points["markeredgewidth"] = max(0.6, points["markeredgewidth"] * shrunk)
    axes.plot(x, y, **points)


def _means(axes: "Axes", bins: Sequence[LengthBin], index: int, *, banded: bool) -> None:
    """The means of bins as a line that is seen among many points, and their intervals as a band."""
    from matplotlib.patheffects import withStroke

    words, line = [one.words for one in bins], look(index)
    if banded:
        low, high = [one.ci[0] for one in bins], [one.ci[1] for one in bins]
        axes.fill_between(words, low, high, color=line["color"], alpha=0.15, linewidth=0)
    halo = withStroke(linewidth=2.2 * line["linewidth"], foreground="white")
    axes.plot(words, [one.precision for one in bins], zorder=3, path_effects=[halo], **line)


def _lines_told(runs: Mapping[str, PrecisionByLength]) -> str:
    """The heading of a legend: what its numbers and lines are."""
    if not any(run.bins for run in runs.values()):
        return "responses"
    band = ("line and band", ", 95 % interval") if len(runs) <= MOST_BANDS else ("line", "")
    return f"responses; {band[0]}: mean of bins of equal count{band[1]}"


def _distribution(axes: "Axes", values: Any, index: int) -> None:
    """The cumulative distribution of ascending values, as steps, and a marker where their mean lies on it."""
    shares = np.arange(1, len(values) + 1) / len(values)
    axes.plot([values[0], *values], [0.0, *shares], drawstyle="steps-post", **look(index))
    mean = float(np.mean(values))
    axes.plot([mean], [np.searchsorted(values, mean, side="right") / len(values)], **look(index), **mark_points(index))


def _label(axes: "Axes", score: ScoreValues) -> None:
    """The name of a score in words and with its policy, and its range: [0, 1] where all values are in it."""
    words = next((words for beginning, words in WORDS if score.name.startswith(beginning)), "score of a response")
    direction = " (less is better)" if score.lower_is_better else ""
    axes.set_xlabel(fill(f"{words}{direction}", LABEL) + "\n" + fill(score.name, LABEL), fontsize=TYPE - 2)
    axes.set_ylim(0, 1.02)
    if all(values[0] >= 0 and values[-1] <= 1 for values in score.values.values()):
        axes.set_xlim(-0.02, 1.02)


def _entry(index: int, label: str, *, line: bool = True) -> Any:
    """The entry of a legend: the marker of a run, with its line or without."""
    from matplotlib.lines import Line2D

    drawn = look(index) if line else {**look(index), "linestyle": ""}
    return Line2D([], [], label=label, **drawn, **mark_points(index))


def _most(scores: Sequence[ScoreValues], name: str) -> int:
    """How many responses of a run have the score that most have."""
    return max((len(score.values[name]) for score in scores if name in score.values), default=0)
