"""The templates of the annotators' pages, and the files that pages load."""

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from localfact.report.page.rendering import FOLDER as REPORT_PAGES
from localfact.report.page.rendering import shown
from localfact.report.palette import MARKS

if TYPE_CHECKING:
    from jinja2 import Environment

PAGES, STATIC = Path(__file__).with_name("pages"), Path(__file__).with_name("static")


@cache
def static_files() -> dict[str, tuple[bytes, str]]:
    """Everything that pages load, read once: no name from outside reaches the file system."""
    style = environment().get_template("annotate.css").render(marks=MARKS)
    return {
        "annotate.css": (style.encode(), "text/css"),
        "annotate.js": ((STATIC / "annotate.js").read_bytes(), "text/javascript"),
        "htmx.min.js": ((STATIC / "htmx.min.js").read_bytes(), "text/javascript"),
    }


@cache
def environment() -> "Environment":
    """The templates: everything that people, models and pages wrote is escaped, and what would not be seen is shown."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    made = Environment(
        loader=FileSystemLoader([PAGES, STATIC, REPORT_PAGES]),
        autoescape=lambda name: name is not None and name.endswith(".html"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: shown(value) if type(value) is str else value,
    )
    made.filters["as_it_is"] = _AsItIs
    return made


class _AsItIs(str):
    """What a form sends back: as it is, escaped, without the escapes of what would not be seen."""
