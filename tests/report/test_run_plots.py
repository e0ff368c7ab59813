"""The figures that only runs have: what they say, and that they are pictures."""

import io
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image
from run_builders import assessment, run_of

from localfact.report.plot_data import (
    LengthBin,
    PassagePosteriors,
    PrecisionByLength,
    response_scores,
    risk_coverage,
)
from localfact.report.plots import ENTRY, MARKERS, MOST_LINES, ROOM, SIZE, look, mark_points, render_figure
from localfact.report.run_plots import (
    MOST_BANDS,
    passage_posterior_figure,
    precision_by_length_figure,
    risk_coverage_figure,
    scores_figure,
)

SVG = "{http://www.w3.org/2000/svg}"
POSTERIORS = PassagePosteriors(np.array([20, 40, 60]), np.array([0.98, 0.7, 0.1]))
LENGTHS = PrecisionByLength(
    np.arange(1, 11), np.linspace(0, 1, 10), (LengthBin(3, 0.2, (0.1, 0.4)), LengthBin(8, 0.7, (0.6, 0.9)))
)


def is_a_picture(files: dict[str, bytes]) -> str:
    """The SVG, once both files are found to be well-formed and not blank."""
    with Image.open(io.BytesIO(files["png"])) as image:
        assert len(image.convert("RGB").getcolors(1_000_000) or ()) > 10
    tree = ElementTree.fromstring(files["svg"])
    assert tree.tag == f"{SVG}svg"
    assert not list(tree.iter(f"{SVG}text"))
    return files["svg"].decode()


def test_risk_and_coverage_tell_the_area_the_error_of_all_claims_and_how_many_there_are() -> None:
    curve = risk_coverage([assessment("S" * 20, gold="s" * 15 + "n" * 5, posteriors=np.linspace(0.99, 0.6, 20).tolist())])
    svg = is_a_picture(render_figure(risk_coverage_figure({"run": curve}, "Errors")))
    assert f"{curve.area:.3f}; 0.250; 20  run" in svg
    assert "share of claims kept, the surest first (from 10 claims on)" in svg


def test_an_error_rate_of_few_claims_is_drawn_only_where_there_are_no_more() -> None:
    many = risk_coverage([assessment("S" * 20, gold="s" * 20, posteriors=np.linspace(0.99, 0.6, 20).tolist())])
    few = risk_coverage([assessment("SS", gold="sn", posteriors=(0.9, 0.8))])
    lines = risk_coverage_figure({"many": many, "few": few}, "t").axes[0].lines
    assert [line.get_xdata()[0] for line in lines] == [0.5, 1.0]


@pytest.mark.slow
def test_precision_by_length_tells_how_many_responses_and_what_the_line_is() -> None:
    svg = is_a_picture(render_figure(precision_by_length_figure({"run": LENGTHS}, "t")))
    assert "10  run" in svg
    assert "responses; line and band: mean of bins of equal count, 95 % interval" in svg
    assert "length of the response in words" in svg
    few = PrecisionByLength(LENGTHS.words, LENGTHS.precision, ())
    assert "mean of bins" not in render_figure(precision_by_length_figure({"run": few}, "t"))["svg"].decode()


def test_bands_of_many_runs_are_left_out() -> None:
    figure = precision_by_length_figure({str(at): LENGTHS for at in range(MOST_BANDS + 1)}, "t")
    assert len(figure.axes[0].collections) == 0
    assert figure.legends[0].get_title().get_text() == "responses; line: mean of bins of equal count"
    assert len(precision_by_length_figure({"a": LENGTHS}, "t").axes[0].collections) == 1


def test_many_points_are_small_and_few_are_not() -> None:
    many = PassagePosteriors(np.arange(800), np.full(800, 0.5))
    lines = passage_posterior_figure({"many": many, "few": POSTERIORS}, "t").axes[0].lines
    assert [line.get_markersize() for line in lines[1:]] == [pytest.approx(1.5), 6]


@pytest.mark.slow
def test_scores_have_a_panel_each_with_their_policy_and_which_way_is_better() -> None:
    runs = {"one": run_of("SSC", "S"), "other": [assessment("SC", gold="sn", posteriors=(0.9, 0.2))]}
    scores = response_scores(runs)
    figure = scores_figure(scores, list(runs), "t")
    assert len(figure.axes) == len(scores) == 6
    labels = [axes.get_xlabel() for axes in figure.axes]
    assert labels[0] == "precision\nPr"
    assert labels[1] == "F1 of precision and recall at K\nF1@K(median=2)"
    assert labels[5] == "Brier score (less is better)\nBrier(response)"
    svg = is_a_picture(render_figure(figure))
    assert "2  one" in svg
    assert "1  other" in svg


def test_a_distribution_climbs_from_0_to_1_and_its_marker_is_at_the_mean() -> None:
    (axes, *_) = scores_figure(response_scores({"run": run_of("SC", "S", "SSSC", "S")}), ["run"], "t").axes
    steps, mean = axes.lines
    assert steps.get_xdata().tolist() == [0.5, 0.5, 0.75, 1.0, 1.0]
    assert steps.get_ydata().tolist() == [0.0, 0.25, 0.5, 0.75, 1.0]
    assert (mean.get_xdata()[0], mean.get_ydata()[0]) == (0.8125, 0.5)


def test_posteriors_of_passages_have_the_line_below_which_they_have_collapsed() -> None:
    figure = passage_posterior_figure({"run": POSTERIORS}, "t")
    line, points = figure.axes[0].lines
    assert set(line.get_ydata()) == {0.5}
    assert points.get_xdata().tolist() == [20, 40, 60]
    svg = is_a_picture(render_figure(figure))
    assert "below 0.5 the passages have collapsed" in svg
    assert "variables of the factor graph (claims and passages)" in svg


def test_runs_differ_in_marker_as_well_as_in_colour() -> None:
    assert len({mark_points(index)["marker"] for index in range(len(MARKERS))}) == len(MARKERS)
    assert len({(look(index)["color"], look(index)["linestyle"]) for index in range(MOST_LINES)}) == MOST_LINES
    assert len({(look(index)["color"], mark_points(index)["marker"]) for index in range(56)}) == 56


def test_the_look_of_a_run_is_its_number_among_all_runs() -> None:
    looks = {"absent": 0, "present": 2}
    runs = {"present": [assessment("SC", gold="sn", posteriors=(0.9, 0.2))]}
    drawn = (
        (risk_coverage_figure({"present": risk_coverage(runs["present"])}, "t", looks=looks), 0),
        (precision_by_length_figure({"present": LENGTHS}, "t", looks=looks), 0),
        (scores_figure(response_scores(runs), ["present"], "t", looks=looks), 0),
        (passage_posterior_figure({"present": POSTERIORS}, "t", looks=looks), 1),
    )
    for figure, place in drawn:
        assert figure.axes[0].lines[place].get_color() == look(2)["color"]
        assert figure.legends[0].legend_handles[0].get_color() == look(2)["color"]


def test_a_figure_grows_with_its_legend_so_that_nothing_is_cut() -> None:
    runs = {f"{at} {'long ' * 20}": POSTERIORS for at in range(12)}
    usual, grown = (passage_posterior_figure(shown, "t") for shown in ({"a": POSTERIORS}, runs))
    assert usual.get_figheight() == SIZE[1]
    assert grown.get_figheight() == pytest.approx(SIZE[1] + ENTRY * (13 - ROOM))
    grown.draw_without_rendering()
    legend = grown.legends[0].get_window_extent()
    assert 0 <= legend.x0 < legend.x1 <= grown.bbox.x1
    assert legend.y0 >= 0
    assert grown.axes[0].get_window_extent().height > 1.5 * grown.dpi


@pytest.mark.parametrize("name", ["_hidden", "a $ b $ c", "<script>--></script>&amp;", "\x1b[31m\n\ud800\uffff", "--"])
def test_a_name_of_any_characters_is_text_and_leaves_the_svg_well_formed(name: str) -> None:
    svg = is_a_picture(render_figure(passage_posterior_figure({name: POSTERIORS}, "t")))
    assert not [element for element in ElementTree.fromstring(svg).iter() if "script" in str(element.tag)]
