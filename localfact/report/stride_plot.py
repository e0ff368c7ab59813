"""Draws FastFact's Figure 2: claims and tokens of a response by stride, and what a theta would settle of the claims."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from localfact.report.plots import REFERENCE, TYPE, blank, look, mark_points, style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Width and height in inches: three panels beside one another.
WIDE = (11.0, 3.6)


def stride_figure(
    strides: Sequence[str],
    claims: Sequence[float],
    tokens: Sequence[float],
    annotated: float | None,
    settled: Mapping[str, Sequence[float]],
) -> "Figure":
    """Three panels: claims, tokens, and shares of claims settled.

    Args:
        strides: n, in the order to be drawn; the axis is of categories, since max is no number.
        claims, tokens: (n,) of a response, on average.
        annotated: the claims of the annotation (K'), if there is one.
        settled: theta -> (n,) share of the claims whose label is surer than that, in [0, 1].
    """
    places = range(len(strides))
    with style():
        figure = blank(WIDE)
        left, middle, right = figure.subplots(1, 3)
        left.plot(places, claims, **look(0), **mark_points(0))
        if annotated is not None:
            left.axhline(annotated, **REFERENCE)
            left.annotate("annotated", (0.99, annotated), xycoords=("axes fraction", "data"), ha="right", va="bottom")
        left.set_title("claims of a response", fontsize=TYPE)
        middle.plot(places, tokens, **look(1), **mark_points(1))
        middle.set_title("tokens of a response", fontsize=TYPE)
        middle.yaxis.set_major_formatter("{x:,.0f}")
        for axes in (left, middle):
            axes.set_xticks(places, strides)
            axes.set(xlabel="stride, in sentences")
            axes.set_ylim(bottom=0)
        thetas = list(settled)
        for index, stride in enumerate(strides):
            shares = [settled[theta][index] for theta in thetas]
            right.plot(range(len(thetas)), shares, label=stride, clip_on=False, **look(index), **mark_points(index))
        right.set_xticks(range(len(thetas)), thetas)
        right.set(xlabel="theta", ylim=(0, 1))
        right.set_title("share of claims settled without evidence", fontsize=TYPE)
        right.legend(title="stride", fontsize=TYPE - 2, title_fontsize=TYPE - 2)
    return figure
