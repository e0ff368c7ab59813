"""Draws what `localfact show RUN ID` prints, as the terminal shows it:

make eval
python -m scripts.plot_output runs/HASH marie-curie [--out docs/output.svg] [--width 110]
"""

import argparse
from io import StringIO
from pathlib import Path

from rich.console import Console

from localfact.report.terminal import assessment_view
from localfact.runs.run_folder import read_assessments


def main() -> None:
    options = argparse.ArgumentParser(description="Draws one response of a run as `localfact show` prints it.")
    options.add_argument("run", type=Path, help="A run folder.")
    options.add_argument("id", help="A response of it.")
    options.add_argument("--out", type=Path, default=Path("docs/output.svg"), help="An .svg file.")
    options.add_argument("--width", type=int, default=110, help="Columns of the terminal.")
    chosen = options.parse_args()
    (assessment,) = [one for one in read_assessments(chosen.run) if one.response_id == chosen.id]
    terminal = Console(width=chosen.width, record=True, highlight=False, file=StringIO())
    terminal.print(assessment_view(assessment))
    terminal.save_svg(str(chosen.out), title=f"localfact show {chosen.run} {chosen.id}", unique_id="output")


if __name__ == "__main__":
    main()
