"""The report of a large run: how long it takes to make, how large it is, and how quick it is in a real browser."""

import tempfile
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from rich.table import Table

from localfact.report.page.run_page import RunRead, run_page
from localfact.report.run_figures import RunFacts
from localfact.report.summary import summarise
from localfact.vocabulary import VerdictLabel
from scripts.bench.large_runs import large_assessments
from scripts.browser import browser, chromium, opened

#: Responses at --size 1, and claims of each.
RESPONSES, CLAIMS = 500, 20
TRIES = 5
#: Reads cards and list as they stand after a change of the search, so that all of their layout is done.
SHOWN = "document.getElementById('cards').offsetHeight + document.getElementById('list').offsetHeight"
SEARCHED = f"""(words) => {{
  const begun = performance.now(), search = document.getElementById('search');
  search.value = words;
  search.dispatchEvent(new Event('input'));
  {SHOWN};
  return performance.now() - begun;
}}"""
OPENED = """(number) => {
  const begun = performance.now();
  document.querySelectorAll('#list > li > button')[number].click();
  document.getElementById('response').offsetHeight;
  return performance.now() - begun;
}"""


def tables(size: float) -> Iterator[tuple[str, Table]]:
    """The table of the report's costs; what only a browser can tell is left out where there is none."""
    responses = max(10, int(RESPONSES * size))
    assessments = list(large_assessments(responses, CLAIMS))
    run = RunRead(
        name="made",
        summary=summarise(assessments, RunFacts(method="made"), run="runs/made"),
        assessments=assessments,
        decide=lambda claim, posterior, relations: VerdictLabel.SUPPORTED,
    )
    started = time.perf_counter()
    page = run_page(run)
    rows = [("made", f"{time.perf_counter() - started:.2f} s"), ("size", f"{len(page.encode()) / 1e6:.1f} MB")]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "report.html"
        file.write_text(page, encoding="utf-8")
        rows += in_browser(file, responses) if available() else [("in a browser", "no Chromium with Playwright here")]
    table = Table("what", "cost")
    for row in rows:
        table.add_row(*row)
    yield f"report of {responses:,} responses with {responses * CLAIMS:,} claims (the slowest of {TRIES})", table


def available() -> bool:
    """Whether there is a browser, and what drives it."""
    return find_spec("playwright") is not None and chromium() is not None


def in_browser(file: Path, responses: int) -> list[tuple[str, str]]:
    """Loads the report anew several times; searches in it, and opens responses."""
    loads, searches, openings = [], [], []
    with browser() as chrome:
        for number in range(TRIES):
            started = time.perf_counter()
            with opened(chrome, file, viewport={"width": 1280, "height": 900}) as found:
                found.page.evaluate(SHOWN)
                loads.append(time.perf_counter() - started)
                searches += [time_script(found.page, SEARCHED, words) for words in (f"river {number}", "statement", "")]
                openings.append(time_script(found.page, OPENED, number * responses // TRIES))
    return [
        ("window opened, page loaded, list shown", f"{max(loads):.2f} s"),
        ("searched or filtered", f"{max(searches):.0f} ms"),
        ("a response opened", f"{max(openings):.0f} ms"),
    ]


def time_script(page: Any, code: str, argument: object) -> float:
    """Milliseconds that a piece of script takes, its layout included."""
    return float(page.evaluate(code, argument))
