"""Makes a page: one HTML file with its style sheet, its script and its data in it, which fetches nothing.

Whatever a model or the web wrote is text here. Jinja2 escapes it in markup, `embed` in data, the script sets it as text
alone, and a policy in the page admits our own script and style by their hashes, and nothing else. What an eye would not see, or
what would turn the text around it, is shown as an escape (`console.escape_unseen`).
"""

import base64
import hashlib
import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from localfact.report.console import escape_unseen
from localfact.report.palette import MARKS

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

FOLDER = Path(__file__).parent
STYLE, SCRIPT = "page.css", "run.js"
#: Characters that could end a data block, or begin a comment in it; as escapes they mean the same to a reader of JSON.
_MARKUP = str.maketrans({character: f"\\u{ord(character):04x}" for character in "<>&"})


def page(template: str, *, script: bool = False, **values: Any) -> str:
    """One page.

    Args:
        template: a file of this folder.
        script: whether it has our script.
        values: what the template names.
    """
    style = _environment().get_template(STYLE).render(marks=MARKS)
    code = (FOLDER / SCRIPT).read_text(encoding="utf-8") if script else ""
    policy = "; ".join(
        (
            "default-src 'none'",
            f"script-src {_hash(code)}" if script else "script-src 'none'",
            f"style-src {_hash(style)}",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )
    return _environment().get_template(template).render(style=_markup(style), script=_markup(code), policy=policy, **values)


def embed(value: Any) -> "Markup":
    """Plain values as JSON for a data block, in which no text can end the block."""
    return _markup(json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).translate(_MARKUP))


def show(text: str) -> str:
    """The text as pages show it: with an escape for every character that would not be seen as itself."""
    return escape_unseen(text)


def place_shown(text: str, offset: int) -> int:
    """A place in a text, in characters of Python, as the place in `show(text)` that the script counts, in units of UTF-16."""
    return len(show(text[:offset]).encode("utf-16-le")) // 2


def is_web_address(link: str) -> bool:
    """Whether a click on the link can only open a web page."""
    try:
        parts = urlsplit(link)
    except ValueError:
        return False
    plain = parts.scheme.lower() in ("http", "https") and bool(parts.hostname) and link == show(link)
    return plain and not any(character.isspace() for character in link)


def _hash(content: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"


def _markup(text: str) -> "Markup":
    from markupsafe import Markup

    return Markup(text)


@cache
def _environment() -> "Environment":
    environment = environment_of([FOLDER])
    environment.filters["embedded"] = embed
    return environment


def environment_of(folders: Sequence[Path]) -> "Environment":
    """The templates of these folders: texts are escaped in HTML, and in them what would not be seen as itself is shown."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader(folders),
        autoescape=lambda name: name is not None and name.endswith(".html"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: show(value) if type(value) is str else value,
    )
