"""A real browser, headless, that says what a page asked of a network and what its script complained of."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

#: Where the command may be called so.
NAMES = ("chromium", "chromium-browser", "google-chrome")
#: Without these it would speak to its maker's hosts by itself; as root it has no sandbox.
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def chromium() -> str | None:
    """The path of Chromium; None where there is none."""
    return next(filter(None, map(shutil.which, NAMES)), None)


@contextmanager
def browser() -> Iterator[Any]:
    """Playwright's browser."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as started:
        launched = started.chromium.launch(executable_path=chromium(), args=list(ARGUMENTS))
        try:
            yield launched
        finally:
            launched.close()


@dataclass
class OpenPage:
    """A page that is open. `asked`: addresses asked for besides the file itself; `complaints`: of script and policy."""

    page: Any
    asked: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)


@contextmanager
def opened(browser: Any, file: Path, *, at: str = "", **context: Any) -> Iterator[OpenPage]:
    """Opens a file in a fresh window.

    Args:
        at: what follows # in its address. context: options of Playwright's contexts (viewport, color_scheme).
    """
    own = file.resolve().as_uri()
    window = browser.new_context(**context)
    try:
        found = OpenPage(window.new_page())
        found.page.on("request", lambda one: None if one.url.split("#")[0] == own else found.asked.append(one.url))
        found.page.on("console", lambda one: found.complaints.append(f"{one.type}: {one.text}"))
        found.page.on("pageerror", lambda one: found.complaints.append(str(one)))
        found.page.goto(own + (f"#{at}" if at else ""))
        yield found
    finally:
        window.close()
