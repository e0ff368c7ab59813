"""Photographs the annotators' pages in Chromium, as docs/annotation.md shows them: claims, judging, adjudication.

make eval OUT=runs/sample
python -m scripts.photograph_annotation runs/sample [--out docs/pictures]
"""

import argparse
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from localfact.annotation.project import create
from localfact.annotation.tasks import read_tasks
from scripts.browser import browser, chromium
from scripts.photograph import taken

WINDOW = {"width": 1280, "height": 860}
#: The claims of the first response that are judged for the pictures, and where the two annotators differ.
ADA, BO = "ssssrs", "ssrsns"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("run", type=Path, help="A run folder.")
    options.add_argument("--out", type=Path, default=Path("docs/pictures"))
    chosen = options.parse_args()
    if chromium() is None:
        options.error("there is no Chromium here: apt-get install chromium")
    tasks, _ = read_tasks(chosen.run)
    first = tasks[0].model_copy(update={"claims": tasks[0].claims[: len(ADA)]})
    with tempfile.TemporaryDirectory() as folder:
        create(Path(folder) / "project", [first], made_of=str(chosen.run), overlap=1.0)
        with serve(Path(folder) / "project") as address, browser() as chrome:
            ada, bo, cy = (sign_in(chrome, address, name) for name in ("Ada", "Bo", "Cy"))
            ada.goto(f"{address}responses/1/claims")
            taken(ada, "annotate-claims", chosen.out)
            for page, keys in ((ada, ADA), (bo, BO)):
                page.goto(f"{address}responses/1/judge")
                for place, key in enumerate(keys):
                    if page is ada and place == 2:
                        taken(page, "annotate-judge", chosen.out)
                    page.keyboard.press(key)
                    page.wait_for_function(
                        "place => document.querySelector('#said').innerText.includes(place)", arg=f"claim {place + 1}"
                    )
                page.keyboard.press("f")
                page.wait_for_selector("text=Queue of")
            cy.goto(f"{address}adjudicate/1")
            taken(cy, "annotate-adjudicate", chosen.out)


@contextmanager
def serve(folder: Path) -> Iterator[str]:
    """A server in a process of its own, and its address."""
    words = [sys.executable, "-m", "localfact", "annotate", str(folder), "--port", "0"]
    process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        for line in process.stderr:
            if found := re.search(r"Open (http://\S+/)", line):
                yield found[1]
                return
        raise RuntimeError("no server")
    finally:
        process.terminate()
        process.wait()
        process.stderr.close()


def sign_in(chrome: Any, address: str, name: str) -> Any:
    """A window in which somebody signed in."""
    page = chrome.new_context(viewport=WINDOW).new_page()
    page.goto(address)
    page.fill("#name", name)
    page.keyboard.press("Enter")
    page.wait_for_selector(f"text=Queue of {name}")
    return page


if __name__ == "__main__":
    main()
