import io
import os
import subprocess
import sys
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image

from localfact.report.plots import (
    COLOURS,
    RESOLUTION,
    SQUARE,
    reliability_figure,
    render_figure,
    roc_figure,
)
from localfact.scoring.calibration import reliability_bins
from localfact.scoring.roc import RocCurve, roc_curve

SVG = "{http://www.w3.org/2000/svg}"


def some_curve(seed: int) -> RocCurve:
    generator = np.random.default_rng(seed)
    positive = np.tile([True, False], 20)
    return roc_curve(generator.normal(size=40) + positive, positive, np.repeat(np.arange(20), 2))


def size_of(png: bytes) -> tuple[int, int]:
    """From the header: signature, length, "IHDR", width, height."""
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    assert png[12:16] == b"IHDR"
    return int.from_bytes(png[16:20]), int.from_bytes(png[20:24])


@pytest.mark.slow
def test_a_roc_figure_is_a_png_of_its_size_and_an_svg() -> None:
    files = render_figure(roc_figure({"lexical": some_curve(1)}, "Contradiction"))
    assert set(files) == {"png", "svg"}
    assert size_of(files["png"]) == tuple(round(side * RESOLUTION) for side in SQUARE)
    with Image.open(io.BytesIO(files["png"])) as image:
        image.load()
    assert ElementTree.fromstring(files["svg"]).tag == f"{SVG}svg"


@pytest.mark.slow
def test_every_curve_is_drawn_in_its_colour_with_its_area_and_interval_beside_its_name() -> None:
    curves = {"lexical": some_curve(1), "albert": some_curve(2)}
    svg = render_figure(roc_figure(curves, "Entailment"))["svg"].decode()
    for colour, (name, curve) in zip(COLOURS, curves.items(), strict=False):
        assert colour.lower() in svg
        assert curve.ci is not None
        assert f"{curve.area:.3f} [{curve.ci[0]:.3f}, {curve.ci[1]:.3f}]  {name}" in svg
    assert "Entailment" in svg


@pytest.mark.slow
def test_the_diagonal_of_a_guess_is_drawn_beside_the_curves() -> None:
    (axes,) = roc_figure({"lexical": some_curve(1)}, "Entailment").axes
    assert [[0, 1], [0, 1]] in [[list(line.get_xdata()), list(line.get_ydata())] for line in axes.lines]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["_hidden", "a $ b $ c", "models/<b>&amp;", "\\frac{1}", "名前"])
@pytest.mark.filterwarnings("ignore:Glyph")
def test_a_name_of_any_characters_is_drawn_as_it_is(name: str) -> None:
    files = render_figure(roc_figure({name: some_curve(1)}, "t"))
    plain = render_figure(roc_figure({"": some_curve(1)}, "t"))
    assert ElementTree.fromstring(files["svg"]).tag == f"{SVG}svg"
    assert files["png"] != plain["png"]


@pytest.mark.slow
def test_a_long_name_keeps_its_end_and_the_figure_its_curve() -> None:
    svg = render_figure(roc_figure({"/" + "long/" * 40 + "albert": some_curve(1)}, "t"))["svg"].decode()
    assert "…ong/long/long/long/long/long/albert" in svg.replace("&#8230;", "…")


@pytest.mark.slow
def test_the_same_numbers_give_the_same_bytes_in_another_process_whatever_the_user_configured(tmp_path: object) -> None:
    program = (
        "import hashlib, sys; from localfact.report.plots import *;"
        "from localfact.scoring.roc import roc_curve; import numpy as np;"
        "curve = roc_curve(np.arange(40) % 7, np.arange(40) % 3 == 0, np.arange(40) // 2);"
        "files = render_figure(roc_figure({'a': curve}, 't'));"
        "print(*(hashlib.sha256(files[kind]).hexdigest() for kind in ('png', 'svg')), 'matplotlib.pyplot' in sys.modules)"
    )
    configuration = f"{tmp_path}/matplotlibrc"
    with open(configuration, "w") as file:  # noqa: PTH123
        file.write("font.size: 30\nlines.linewidth: 9\nsvg.fonttype: none\nbackend: TkAgg\n")
    printed = [
        subprocess.run(
            [sys.executable, "-c", program], env={**os.environ, **extra}, capture_output=True, text=True, check=True
        ).stdout
        for extra in ({}, {"MATPLOTLIBRC": configuration, "PYTHONHASHSEED": "1"})
    ]
    assert printed[0] == printed[1]
    assert printed[0].endswith("False\n")


def test_nothing_in_an_svg_tells_when_it_was_made() -> None:
    svg = render_figure(roc_figure({"lexical": some_curve(1)}, "t"))["svg"].decode()
    assert "dc:date" not in svg


def test_a_reliability_diagram_has_each_models_error_and_how_many_pairs_a_bin_holds() -> None:
    stated, right = np.repeat([0.5, 0.9], 50), np.tile([1.0, 0.0], 50)
    files = render_figure(reliability_figure({"lexical": reliability_bins(stated, right), "few": ()}, "Stated and right"))
    svg = files["svg"].decode()
    assert size_of(files["png"]) == tuple(round(side * RESOLUTION) for side in SQUARE)
    assert "0.200; 10 bins of 10  lexical" in svg
    assert "Stated and right" in svg


def test_bins_of_two_sizes_are_told_by_both() -> None:
    bins = reliability_bins(np.linspace(0.4, 0.9, 25), np.ones(25))
    assert "10 bins of 2-3  uneven" in render_figure(reliability_figure({"uneven": bins}, "t"))["svg"].decode()
