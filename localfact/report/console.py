"""Where the command line prints: results to standard output, as JSON or drawn, everything else to standard error.

All that is printed passes here, since most of it was written elsewhere: by models, by web pages, by whoever made a file or a
folder. It is text: nothing in it is markup, and what a terminal would obey or an eye would not see is printed as an escape.
"""

import codecs
import io
import json
import os
import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from localfact.errors import LocalFactError
from localfact.text import path_text, readable

if TYPE_CHECKING:
    from rich.progress import Progress, ProgressColumn

    from localfact.report.formats import Format
    from localfact.report.table_data import Table

#: The exit codes besides those of errors.py: done, but some responses, rows or graphs failed; done, but below --fail-under.
SOME_FAILED, BELOW_BAR = 1, 4

#: Controls of both sets but line feed and tab, marks of direction, separators, surrogates, tags: a terminal may obey them, and
#: what they hide or turn round is not what is read.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e007f]"
)
#: Of a path that is not UTF-8, as Python hands them on.
_PATH_BYTES = re.compile("[\udc80-\udcff]+")
_LINE_BREAKS = re.compile("\r\n|[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")


def escape_unseen(text: str) -> str:
    """The text with an escape (\\x1b, \\u202e) for every character that would not be seen as itself; line breaks stay."""
    return _UNSEEN.sub(lambda found: found[0].encode("unicode_escape").decode(), path_text(text))


def one_line(text: str) -> str:
    """The text without line breaks, so that it cannot pass for a line of ours."""
    return _LINE_BREAKS.sub(" ", text)


def line(text: str, style: str = "") -> Text:
    """One line to be printed, whatever the text has in it."""
    return Text(one_line(text), style=style)


class PlainConsole(Console):
    """A console to which every string is text, and that prints what would not be seen as an escape."""

    def __init__(self, *, stderr: bool = False) -> None:
        super().__init__(stderr=stderr, markup=False, emoji=False, highlight=False)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """The segments of a renderable; those with controls are Rich's own."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=escape_unseen(segment.text))


def prepare_streams() -> None:
    """Gives a stream that is closed nothing to read, or a place to write, and escapes what a locale cannot write (\\u00e9)."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115 - for good
        elif mode == "w" and isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=UNWRITABLE)


def _escape_unwritable(error: UnicodeError) -> tuple[str, int]:
    """An escape that JSON knows for each character that an encoding lacks; see `codecs.register_error`."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return _json_escapes(error.object[error.start : error.end]), error.end


#: The name of that handler of errors.
UNWRITABLE = "localfact-escape"
codecs.register_error(UNWRITABLE, _escape_unwritable)


def output() -> Console:
    """Standard output. A new Console each time, so that a redirected stream is used."""
    return PlainConsole()


def errors() -> Console:
    """Standard error."""
    return PlainConsole(stderr=True)


def show(value: Any, *, as_json: bool, view: Callable[[Any], RenderableType] | None = None) -> None:
    """Prints plain values: as JSON, a mapping on one line, or drawn by `view`."""
    if as_json or view is None:
        print(json_line(value))
    else:
        output().print(view(value), soft_wrap=False)


def json_line(value: Any) -> str:
    """Plain values as JSON on one line; in its strings what would not be seen is escaped, as JSON allows."""
    text = json.dumps(value, ensure_ascii=False)
    text = readable(_PATH_BYTES.sub(lambda found: path_text(found[0]).replace("\\", "\\\\"), text))
    return _UNSEEN.sub(lambda found: _json_escapes(found[0]), text)


def _json_escapes(text: str) -> str:
    """An escape for each character, as JSON has it: \\u00e9, two beyond the first 65,536."""
    units = text.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{int.from_bytes(units[place : place + 2]):04x}" for place in range(0, len(units), 2))


def show_text(text: str) -> None:
    """Prints a document of several lines: a table as CSV, Markdown or LaTeX."""
    print(escape_unseen(text), end="", flush=True)


def show_table(table: "Table", how: "Format") -> None:
    """Prints a table in the chosen format."""
    from localfact.report.formats import render

    view = render(table, how)
    if isinstance(view, str):
        show_text(view)
    else:
        output().print(view)


def note(text: str) -> None:
    """Prints a message to standard error, folded where that is a terminal: elsewhere somebody reads the paths in it."""
    console = errors()
    console.print(text, style="dim", soft_wrap=not console.is_terminal)


def report_error(error: LocalFactError) -> None:
    """Prints an error of the user, as one paragraph on standard error."""
    errors().print(f"Error: {one_line(str(error))}", style="red", soft_wrap=True)


def progress_bar(*columns: "ProgressColumn") -> "Progress":
    """A bar on standard error that goes away at the end; names of files and models in it are text.

    Args:
        columns: in place of description, bar, percentage and the time that is left.
    """
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    usual = (TextColumn("{task.description}", markup=False), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    return Progress(*(columns or usual), console=errors(), transient=True)
