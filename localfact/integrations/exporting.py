"""Writes a run in the form of another tool: one function a form, from the run folder to lines."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from localfact.integrations.inspect_records import inspect_lines
from localfact.integrations.langfuse import langfuse_lines
from localfact.integrations.otel import otel_lines
from localfact.runtime.files import write_file

#: The name of a form, which is its option -> what makes its lines of a run folder.
FORMS: Mapping[str, Callable[[Path], Iterable[str]]] = {
    "inspect": inspect_lines,
    "otel": otel_lines,
    "langfuse": langfuse_lines,
}


def export_run(run: Path, form: str, out: Path) -> int:
    """Writes a run, finished or not, into a file, and returns how many lines that has.

    Args:
        form: a name of FORMS.

    Raises:
        MissingError: there is no such run. InputError: a file of it is damaged. WriteError: `out` cannot be written.
    """
    lines = [f"{line}\n".encode() for line in FORMS[form](run)]
    write_file(out, lines)
    return len(lines)
