"""Makes the pictures of the documentation from a run: its report, how `localfact show` begins, and the annotators' pages.

    make eval REPLAY=1 OUT=runs/sample
    python -m scripts.photograph runs/sample [--compared PAGE.html] [--out docs/pictures]

With --compared, a page of `localfact compare RUN RUN --html`, that too. Chromium takes them.
"""

import argparse
import io
import re
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from PIL import Image
from rich.console import Console

from localfact.annotation.project import create
from localfact.annotation.tasks import read_tasks
from localfact.report.terminal import assessment_view
from localfact.runs.assessments import read_assessments
from scripts.browser import browser, chromium, opened
from scripts.serving import serve

#: Of a picture that is kept; a palette has no more.
COLOURS = 256


class Picture(NamedTuple):
    """One photograph: its name, the window's width and height in pixels, the colour scheme, and what is open in it."""

    name: str
    width: int
    height: int
    scheme: str = "light"
    medium: str = "screen"
    at: str = ""


OF_REPORT = (
    Picture("report-light", 1280, 860),
    Picture("report-dark", 1280, 860, scheme="dark"),
    Picture("text-light", 1280, 860, at="response=10&claim=9"),
    Picture("report-phone", 390, 844),
    Picture("report-print", 794, 1123, medium="print"),
)
OF_COMPARISON = Picture("compared-light", 1280, 1000)
#: The response that the terminal shows, so many of its claims, and the terminal's columns.
SHOWN, CLAIMS, COLUMNS = "marie-curie", 3, 120
#: The claims of the first response that are judged for the pictures, and where the two annotators differ.
ADA, BO = "ssssrs", "ssrsns"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("run", type=Path, help="A run folder of the sample, with its report.html.")
    options.add_argument("--compared", type=Path, help="A page of two runs side by side.")
    options.add_argument("--out", type=Path, default=Path("docs/pictures"))
    chosen = options.parse_args()
    if chromium() is None:
        options.error("there is no Chromium here: apt-get install chromium")
    chosen.out.mkdir(parents=True, exist_ok=True)
    draw_terminal(chosen.run, chosen.out)
    with browser() as chrome:
        for picture in OF_REPORT:
            photograph(chrome, chosen.run / "report.html", picture, chosen.out)
        if chosen.compared is not None:
            photograph(chrome, chosen.compared, OF_COMPARISON, chosen.out)
        photograph_annotation(chrome, chosen.run, chosen.out)


def draw_terminal(run: Path, out: Path) -> None:
    """Draws how `localfact show` prints the first claims of a response."""
    (assessment,) = [one for one in read_assessments(run) if one.response_id == SHOWN]
    terminal = Console(width=COLUMNS, record=True, highlight=False, file=io.StringIO())
    first = {name: getattr(assessment, name)[:CLAIMS] for name in ("claims", "verdicts")}
    terminal.print(assessment_view(assessment.model_copy(update=first)))
    terminal.print("...")
    drawn = terminal.export_svg(title=f"localfact show {run} {SHOWN}", unique_id="output")
    # A picture fetches nothing: the font is the reader's own.
    (out / "show.svg").write_text(re.sub(r"@font-face \{.*?\}", "", drawn, flags=re.DOTALL), encoding="utf-8")


def photograph(chrome: Any, page: Path, picture: Picture, out: Path) -> None:
    """Takes one picture of a page in a file."""
    window = {"width": picture.width, "height": picture.height}
    with opened(chrome, page, at=picture.at, viewport=window, color_scheme=picture.scheme) as found:
        found.page.emulate_media(media=picture.medium)
        take(found.page, picture.name, out)


def photograph_annotation(chrome: Any, run: Path, out: Path) -> None:
    """Has two annotators judge the first claims of a run, and takes pictures of what they and an adjudicator see."""
    tasks, _ = read_tasks(run)
    first = tasks[0].model_copy(update={"claims": tasks[0].claims[: len(ADA)]})
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder) / "project"
        create(project, [first], made_of=str(run), overlap=1.0)
        with serve("annotate", str(project), "--port", "0", told="Open") as address:
            ada, bo, cy = (sign_in(chrome, address, name) for name in ("Ada", "Bo", "Cy"))
            ada.goto(f"{address}responses/1/claims")
            take(ada, "annotate-claims", out)
            for page, keys in ((ada, ADA), (bo, BO)):
                page.goto(f"{address}responses/1/judge")
                for place, key in enumerate(keys):
                    if page is ada and place == 2:
                        take(page, "annotate-judge", out)
                    page.keyboard.press(key)
                    page.locator("#said").filter(has_text=f"claim {place + 1}").wait_for(state="attached")
                page.keyboard.press("f")
                page.wait_for_selector("text=Queue of")
            cy.goto(f"{address}adjudicate/1")
            take(cy, "annotate-adjudicate", out)


def sign_in(chrome: Any, address: str, name: str) -> Any:
    """A window in which somebody signed in."""
    page = chrome.new_context(viewport={"width": 1280, "height": 860}).new_page()
    page.goto(address)
    page.fill("#name", name)
    page.keyboard.press("Enter")
    page.wait_for_selector(f"text=Queue of {name}")
    return page


def take(page: Any, name: str, out: Path) -> None:
    """Writes what a page shows as PNG, in the most frequent colours: a third as large; those of the verdicts are among them."""
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    frequent = sorted(picture.getcolors(picture.width * picture.height) or [], reverse=True)[:COLOURS]
    palette = Image.new("P", (1, 1))
    palette.putpalette([part for _, colour in frequent for part in colour])
    picture.quantize(palette=palette, dither=Image.Dither.NONE).save(out / f"{name}.png", optimize=True)
    print(f"{out / name}.png: {(out / f'{name}.png').stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
