"""Draws figures as PNG and SVG, without a display: ROC curves, reliability diagrams, and lines with bands.

What all figures share is here too: style, looks of lines, sizes, files. run_plots.py draws what only runs have.

The same numbers give the same files, byte for byte, with the same matplotlib: no dates, no random ids, fonts as outlines.
"""

import io
import re
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, TypeVar

from localfact.report.console import escape_unseen, one_line
from localfact.report.palette import COLOURS, GREY
from localfact.scoring.calibration import ReliabilityBin
from localfact.scoring.roc import RocCurve

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: What is drawn of one line: a curve, bins, points.
Drawn = TypeVar("Drawn")
#: Name -> number of its look, so that a run looks the same in every figure; None numbers what is drawn in its order.
Looks = Mapping[str, int] | None
#: Distinguishable without colour; their number is coprime to that of the colours, so that 28 lines differ.
DASHES = ("-", "--", "-.", ":")
#: The same for points, of which 56 differ.
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
#: How many lines differ.
MOST_LINES = len(COLOURS) * len(DASHES)
#: Sizes in inches (figures, margin) and points (type): labels are readable when a figure is as wide as a column of text.
SIZE, SQUARE, MARGIN, TYPE = (6.4, 4.0), (5.2, 5.6), 0.1, 11
#: Pixels an inch of a PNG.
RESOLUTION = 150
#: Characters of a name in a legend.
LONGEST_NAME = 36
#: Entries of a legend that a figure of the usual size has room for, and what each further one adds to its height, in inches.
ROOM, ENTRY = 2, 0.24
#: The width of a legend without its texts, and of a character of these, in inches.
HANDLE, CHARACTER = 0.7, 0.092
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
#: Lines to compare with, such as a diagonal.
REFERENCE: Mapping[str, Any] = {"color": GREY, "linewidth": 1, "linestyle": (0, (1, 3))}
#: What `escape_unseen` leaves and XML forbids.
_NO_XML = re.compile("[\ufffe\uffff]")


def roc_figure(curves: Mapping[str, RocCurve], title: str, *, looks: Looks = None) -> "Figure":
    """Draws curves by name in one square, with each one's area and interval below it."""
    # The area first: a label that begins with "_" would be left out.
    labels = [f"{with_interval(curve.area, curve.ci)}  {shorten_name(name)}" for name, curve in curves.items()]
    with style():
        figure, axes = _square(labels, "false positive rate", "true positive rate")
        for label, (index, curve) in zip(labels, number_looks(curves, looks), strict=True):
            axes.plot(
                [point.false_positive_rate for point in curve.points],
                [point.true_positive_rate for point in curve.points],
                label=label,
                **look(index),
            )
        with_legend(figure, axes, title, "area under the curve")
    return figure


def reliability_figure(
    bins: Mapping[str, Sequence[ReliabilityBin]],
    title: str,
    *,
    looks: Looks = None,
    xlabel: str = "probability stated",
    ylabel: str = "share right",
    counted: str = "pairs",
) -> "Figure":
    """Draws, by name, the share right of each bin against the probability stated; below, the calibration error and the bins.

    Args:
        counted: what the bins hold, in the plural.
    """
    labels = [f"{_calibration(points)}  {shorten_name(name)}" for name, points in bins.items()]
    with style():
        figure, axes = _square(labels, xlabel, ylabel)
        for label, (index, points) in zip(labels, number_looks(bins, looks), strict=True):
            axes.plot(
                [point.posterior for point in points],
                [point.supported for point in points],
                label=label,
                **look(index),
                **mark_points(index),
            )
        with_legend(figure, axes, title, f"calibration error; {counted} in each bin")
    return figure


def _square(labels: Sequence[str], xlabel: str, ylabel: str) -> "tuple[Figure, Axes]":
    """A figure for rates between 0 and 1 on both axes, with the diagonal to compare with."""
    figure, axes = empty(SQUARE, labels)
    axes.plot((0, 1), (0, 1), **REFERENCE)
    axes.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01), xlabel=xlabel, ylabel=ylabel, aspect="equal")
    return figure, axes


def with_legend(figure: "Figure", axes: "Axes", title: str, heading: str, **entries: Any) -> None:
    """Puts the title above the axes, and below them a legend of what is drawn, or of `handles`, under its own heading."""
    axes.set_title(title, fontsize=TYPE)
    figure.legend(loc="outside lower left", title=heading, alignment="left", **entries)


def render_figure(figure: "Figure") -> dict[str, bytes]:
    """The figure's files: "png" and "svg" -> bytes."""
    metadata: Mapping[str, Mapping[str, None]] = {"png": {"Software": None}, "svg": {"Date": None, "Creator": None}}
    files: dict[str, bytes] = {}
    with style():
        for suffix, without in metadata.items():
            content = io.BytesIO()
            figure.savefig(content, format=suffix, dpi=RESOLUTION, metadata=without, facecolor="white")
            files[suffix] = content.getvalue()
    return files


def with_interval(area: float, ci: tuple[float, float] | None) -> str:
    """A number of a legend with its interval."""
    return f"{area:.3f}" + (f" [{ci[0]:.3f}, {ci[1]:.3f}]" if ci else "")


def shorten_name(name: str) -> str:
    """The end of a long name (a path, for example), which fits the legend; what is invisible in it, or no XML, is escaped."""
    seen = _NO_XML.sub("\N{REPLACEMENT CHARACTER}", escape_unseen(one_line(name)))
    return seen if len(seen) <= LONGEST_NAME else "…" + seen[1 - LONGEST_NAME :]


def number_looks(drawn: Mapping[str, Drawn], looks: Looks) -> list[tuple[int, Drawn]]:
    """What is drawn, in its order, each with the number of its look."""
    return [(place if looks is None else looks[name], one) for place, (name, one) in enumerate(drawn.items())]


def look(index: int) -> dict[str, Any]:
    """The style of the line with that number."""
    return {"color": COLOURS[index % len(COLOURS)], "linestyle": DASHES[index % len(DASHES)], "linewidth": 1.8}


def mark_points(index: int) -> dict[str, Any]:
    """The points of the line with that number: hollow, so that those of several lines in one place are all seen."""
    return {"marker": MARKERS[index % len(MARKERS)], "markersize": 6, "markerfacecolor": "none", "markeredgewidth": 1.4}


def style() -> AbstractContextManager[None]:
    """Our style over matplotlib's own defaults, independent of the user's configuration."""
    from matplotlib import rc_context, rcParamsDefault

    # A backend among the parameters would be switched to, and matplotlib.pyplot loaded for that.
    defaults: dict[Any, Any] = {key: value for key, value in rcParamsDefault.items() if key != "backend"}
    return rc_context({**defaults, **STYLE})


def blank(size: tuple[float, float], labels: Sequence[str] = ()) -> "Figure":
    """A figure on the Agg canvas, never on a display.

    Args:
        size: width and height in inches.
        labels: of the legend below it, one a line, for which it is made wide and high enough.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    width, height = size
    roomy = (max(width, HANDLE + CHARACTER * max(map(len, labels), default=0)), height + ENTRY * max(0, len(labels) - ROOM))
    figure = Figure(figsize=roomy, layout=ConstrainedLayoutEngine(w_pad=MARGIN, h_pad=MARGIN))
    FigureCanvasAgg(figure)
    return figure


def empty(size: tuple[float, float], labels: Sequence[str] = ()) -> "tuple[Figure, Axes]":
    """A blank figure with one pair of axes."""
    figure = blank(size, labels)
    return figure, figure.add_subplot()


def _calibration(points: Sequence[ReliabilityBin]) -> str:
    """The expected calibration error, how many bins there are, and how many pairs the smallest and the largest have."""
    counts = [point.count for point in points]
    error = sum(point.count * abs(point.posterior - point.supported) for point in points) / max(1, sum(counts))
    sizes = "-".join(f"{count:,}" for count in sorted({min(counts, default=0), max(counts, default=0)}))
    return f"{error:.3f}; {len(points)} bins of {sizes}"
