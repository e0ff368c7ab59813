"""Draws figures as PNG and SVG, without a display: ROC curves, reliability diagrams, and lines with bands.

The same numbers give the same files, byte for byte, with the same matplotlib: no dates, no random ids, fonts as outlines.
"""

import io
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from localfact.report.palette import COLOURS
from localfact.scoring.calibration import ReliabilityBin
from localfact.scoring.roc import RocCurve

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Distinguishable without colour; their number is coprime to that of the colours, so that 28 lines differ.
DASHES = ("-", "--", "-.", ":")
#: Sizes in inches (figures, margin) and points (type): labels are readable when a figure is as wide as a column of text.
SIZE, SQUARE, MARGIN, TYPE = (6.4, 4.0), (5.2, 5.6), 0.1, 11
#: Pixels an inch of a PNG.
RESOLUTION = 150
#: Characters of a name in a legend.
LONGEST_NAME = 36
STYLE: Mapping[Any, Any] = {
    "font.family": "DejaVu Sans",  # comes with matplotlib, so that no figure depends on what else is installed
    "font.size": TYPE,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "grid.color": "#DDDDDD",
    "legend.frameon": False,
    "svg.hashsalt": "localfact",
    "svg.fonttype": "path",
    "text.parse_math": False,  # a name may have a dollar sign in it
}


@dataclass(frozen=True)
class BandedLine:
    """A line through points, with a band around it.

    Attributes:
        name: for the legend. x: ascending. y, low, high: of the same length; the band is filled from low to high.
    """

    name: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]


def roc_figure(curves: Mapping[str, RocCurve], title: str) -> "Figure":
    """Draws curves by name in one square, with each one's area and interval below it."""
    with _style():
        figure, axes = _empty(SQUARE)
        axes.plot((0, 1), (0, 1), color="#888888", linewidth=1, linestyle=(0, (1, 3)))
        for index, (name, curve) in enumerate(curves.items()):
            axes.plot(
                [point.false_positive_rate for point in curve.points],
                [point.true_positive_rate for point in curve.points],
                label=f"{_area(curve)}  {_shortened(name)}",  # the area first: a label that begins with "_" would be left out
                **_look(index),
            )
        axes.set(
            xlim=(-0.01, 1.01), ylim=(-0.01, 1.01), xlabel="false positive rate", ylabel="true positive rate", aspect="equal"
        )
        axes.set_title(title, fontsize=TYPE)
        figure.legend(loc="outside lower left", title="area under the curve", alignment="left")
    return figure


def reliability_figure(bins: Mapping[str, Sequence[ReliabilityBin]], title: str) -> "Figure":
    """Draws, by name, the share right of each bin against the probability stated; below, the calibration error and the bins."""
    with _style():
        figure, axes = _empty(SQUARE)
        axes.plot((0, 1), (0, 1), color="#888888", linewidth=1, linestyle=(0, (1, 3)))
        for index, (name, points) in enumerate(bins.items()):
            axes.plot(
                [point.posterior for point in points],
                [point.supported for point in points],
                label=f"{_calibration(points)}  {_shortened(name)}",
                marker="o",
                markersize=4,
                **_look(index),
            )
        axes.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01), xlabel="probability stated", ylabel="share right", aspect="equal")
        axes.set_title(title, fontsize=TYPE)
        figure.legend(loc="outside lower left", title="calibration error; pairs in each bin", alignment="left")
    return figure


def band_figure(lines: Sequence[BandedLine], *, title: str, xlabel: str, ylabel: str, ylim: tuple[float, float]) -> "Figure":
    """Draws lines with their bands."""
    with _style():
        figure, axes = _empty(SIZE)
        for index, line in enumerate(lines):
            look = _look(index)
            axes.fill_between(line.x, line.low, line.high, color=look["color"], alpha=0.2, linewidth=0)
            axes.plot(line.x, line.y, label=f" {line.name}", **look)
        axes.set(xlabel=xlabel, ylabel=ylabel, ylim=ylim)
        axes.margins(x=0.01)
        axes.set_title(title, fontsize=TYPE)
        figure.legend(loc="outside lower left", ncols=len(lines))
    return figure


def rendered(figure: "Figure") -> dict[str, bytes]:
    """The figure's files: "png" and "svg" -> bytes."""
    metadata: Mapping[str, Mapping[str, None]] = {"png": {"Software": None}, "svg": {"Date": None, "Creator": None}}
    files: dict[str, bytes] = {}
    with _style():
        for suffix, without in metadata.items():
            content = io.BytesIO()
            figure.savefig(content, format=suffix, dpi=RESOLUTION, metadata=without, facecolor="white")
            files[suffix] = content.getvalue()
    return files


def _area(curve: RocCurve) -> str:
    return f"{curve.area:.3f}" + (f" [{curve.ci[0]:.3f}, {curve.ci[1]:.3f}]" if curve.ci else "")


def _calibration(points: Sequence[ReliabilityBin]) -> str:
    """The expected calibration error, how many bins there are, and how many pairs the smallest and the largest have."""
    counts = [point.count for point in points]
    error = sum(point.count * abs(point.posterior - point.supported) for point in points) / max(1, sum(counts))
    sizes = "-".join(f"{count:,}" for count in sorted({min(counts, default=0), max(counts, default=0)}))
    return f"{error:.3f}; {len(points)} bins of {sizes}"


def _shortened(name: str) -> str:
    """The end of a long name (a path, for example), which fits the legend."""
    return name if len(name) <= LONGEST_NAME else "…" + name[1 - LONGEST_NAME :]


def _look(index: int) -> dict[str, Any]:
    """The style of the line with that number."""
    return {"color": COLOURS[index % len(COLOURS)], "linestyle": DASHES[index % len(DASHES)], "linewidth": 1.8}


def _style() -> AbstractContextManager[None]:
    """Our style over matplotlib's own defaults, independent of the user's configuration."""
    from matplotlib import rc_context, rcParamsDefault

    # A backend among the parameters would be switched to, and matplotlib.pyplot loaded for that.
    style: dict[Any, Any] = {key: value for key, value in rcParamsDefault.items() if key != "backend"}
    return rc_context({**style, **STYLE})


def _empty(size: tuple[float, float]) -> "tuple[Figure, Axes]":
    """A figure on the Agg canvas, never on a display."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    figure = Figure(figsize=size, layout=ConstrainedLayoutEngine(w_pad=MARGIN, h_pad=MARGIN))
    FigureCanvasAgg(figure)
    return figure, figure.add_subplot()
