"""The annotators' pages as HTML: the templates, what all pages show, and the files that they load."""

import secrets
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.responses import HTMLResponse

from localfact.annotation.labels import AGREEING, LABELS
from localfact.annotation.safety import AccessControl
from localfact.annotation.steps import LONGEST_TEXT
from localfact.annotation.store import AnnotationStore
from localfact.report.page.rendering import FOLDER as REPORT_PAGES
from localfact.report.page.rendering import environment_of
from localfact.report.palette import MARKS

if TYPE_CHECKING:
    from jinja2 import Environment

PAGES, STATIC = Path(__file__).with_name("pages"), Path(__file__).with_name("static")


@dataclass(frozen=True)
class Renderer:
    """Makes the pages of a project. `blind`: whether what the machine found is hidden from annotators."""

    store: AnnotationStore
    access: AccessControl
    blind: bool

    def page(
        self,
        template: str,
        name: str,
        *,
        status: int = 200,
        fragment: bool = False,
        adjudicates: bool | None = None,
        **values: Any,
    ) -> HTMLResponse:
        """A page for somebody, "" for nobody who signed in.

        Args:
            fragment: whether its main part alone is wanted.
            adjudicates: whether the page leads to adjudication; found out when None.
            values: what the template names.
        """
        shared = {
            "main": template,
            "title": "Annotation",
            "name": name,
            "form_token": self.access.form_token(name),
            "key": secrets.token_hex(8),
            "blind": self.blind,
            "adjudicates": bool(name) and self.adjudicates(name) if adjudicates is None else adjudicates,
        }
        made = environment().get_template(template if fragment else "shell.html")
        return HTMLResponse(made.render({**shared, **values}), status_code=status)

    def adjudicates(self, name: str) -> bool:
        """Whether somebody may decide between annotators: one of those who were named for that, or anybody."""
        named = self.store.facts().get("adjudicators")
        return not named or (isinstance(named, list) and name in named)


@cache
def static_files() -> dict[str, tuple[bytes, str]]:
    """Everything that pages load, read once: no name from outside reaches the file system."""
    style = environment().get_template("annotate.css").render()
    return {
        "annotate.css": (style.encode(), "text/css"),
        "annotate.js": ((STATIC / "annotate.js").read_bytes(), "text/javascript"),
        "htmx.min.js": ((STATIC / "htmx.min.js").read_bytes(), "text/javascript"),
    }


@cache
def environment() -> "Environment":
    """The templates: everything that people, models and pages wrote is escaped, and what would not be seen is shown."""
    made = environment_of([PAGES, STATIC, REPORT_PAGES])
    made.globals |= {"LABELS": LABELS, "AGREEING": AGREEING, "marks": MARKS, "longest": LONGEST_TEXT}
    made.filters["as_it_is"] = _AsItIs
    return made


class _AsItIs(str):
    """What a form sends back: as it is, escaped, without the escapes of what would not be seen."""
