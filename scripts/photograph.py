"""Photographs the report of a run in Chromium, as docs/tour.md and the README show it: light, dark, on a phone, in print.

    make eval REPLAY=1 OUT=runs/sample
    python -m scripts.photograph runs/sample [--response 10] [--claim 9] [--out docs/pictures]

With --compared, a page of `localfact compare RUN RUN --html`, that too.
"""

import argparse
import io
from pathlib import Path
from typing import Any, NamedTuple

from PIL import Image

from scripts.browser import browser, chromium, opened

#: Of a picture that is kept; a palette has no more.
COLOURS = 256


class Picture(NamedTuple):
    """One photograph: its name, the window's width and height in pixels, the colour scheme, and whether a claim is open."""

    name: str
    width: int
    height: int
    scheme: str = "light"
    medium: str = "screen"
    claim: bool = False


OF_REPORT = (
    Picture("report-light", 1280, 860),
    Picture("report-dark", 1280, 860, scheme="dark"),
    Picture("text-light", 1280, 860, claim=True),
    Picture("report-phone", 390, 844),
    Picture("report-print", 794, 1123, medium="print"),
)
OF_COMPARISON = (Picture("compared-light", 1280, 1000),)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("run", type=Path, help="A run folder with its report.html.")
    options.add_argument("--response", type=int, default=10, help="The number of the response that is open in one of them.")
    options.add_argument("--claim", type=int, default=9, help="The number of its claim that is open.")
    options.add_argument("--compared", type=Path, help="A page of two runs side by side.")
    options.add_argument("--out", type=Path, default=Path("docs/pictures"))
    chosen = options.parse_args()
    if chromium() is None:
        options.error("there is no Chromium here: apt-get install chromium")
    chosen.out.mkdir(parents=True, exist_ok=True)
    at = f"response={chosen.response}&claim={chosen.claim}"
    with browser() as chrome:
        for picture in OF_REPORT:
            photograph(chrome, chosen.run / "report.html", at if picture.claim else "", picture, chosen.out)
        for picture in OF_COMPARISON if chosen.compared is not None else ():
            photograph(chrome, chosen.compared, "", picture, chosen.out)


def reduce_colours(picture: Image.Image) -> Image.Image:
    """The picture in its COLOURS most frequent colours, a third as large; those of the verdicts are among them."""
    found = picture.getcolors(picture.width * picture.height) or []
    frequent = [colour for _, colour in sorted(found, reverse=True)[:COLOURS]]
    palette = Image.new("P", (1, 1))
    palette.putpalette([part for colour in frequent for part in colour])
    return picture.quantize(palette=palette, dither=Image.Dither.NONE)


def photograph(chrome: Any, page: Path, at: str, picture: Picture, out: Path) -> None:
    """Takes one picture of a page in a file."""
    window = {"width": picture.width, "height": picture.height}
    with opened(chrome, page, at=at, viewport=window, color_scheme=picture.scheme) as found:
        found.page.emulate_media(media=picture.medium)
        taken(found.page, picture.name, out)


def taken(page: Any, name: str, out: Path) -> None:
    """Writes what a page shows as PNG."""
    file = out / f"{name}.png"
    reduce_colours(Image.open(io.BytesIO(page.screenshot())).convert("RGB")).save(file, optimize=True)
    print(f"{file}: {file.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
