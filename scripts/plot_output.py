"""Draws how `localfact show RUN ID` begins, as the terminal shows it:

    make eval
    python -m scripts.plot_output runs/HASH marie-curie [--claims 3] [--out docs/pictures/show.svg] [--width 120]

docs/tour.md shows it.
"""

import argparse
import re
from io import StringIO
from pathlib import Path

from rich.console import Console

from localfact.report.terminal import assessment_view
from localfact.runs.assessments import read_assessments


def main() -> None:
    options = argparse.ArgumentParser(description="Draws how `localfact show` prints one response of a run.")
    options.add_argument("run", type=Path, help="A run folder.")
    options.add_argument("id", help="A response of it.")
    options.add_argument("--out", type=Path, default=Path("docs/pictures/show.svg"), help="An .svg file.")
    options.add_argument("--claims", type=int, default=3, help="How many of its claims.")
    options.add_argument("--width", type=int, default=120, help="Columns of the terminal.")
    chosen = options.parse_args()
    (assessment,) = [one for one in read_assessments(chosen.run) if one.response_id == chosen.id]
    terminal = Console(width=chosen.width, record=True, highlight=False, file=StringIO())
    first = {name: getattr(assessment, name)[: chosen.claims] for name in ("claims", "verdicts")}
    terminal.print(assessment_view(assessment.model_copy(update=first)))
    if len(assessment.claims) > chosen.claims:
        terminal.print("...")
    drawn = terminal.export_svg(title=f"localfact show {chosen.run} {chosen.id}", unique_id="output")
    # A picture fetches nothing: the font is the reader's own.
    chosen.out.write_text(re.sub(r"@font-face \{.*?\}", "", drawn, flags=re.DOTALL), encoding="utf-8")


if __name__ == "__main__":
    main()
