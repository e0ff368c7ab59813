"""Reads a folder of a user's own templates (`--prompts`), and checks them before anything runs.

A template is tried on made-up values: once on every way through it, for fields that there are not, and once as it would be
filled in with nothing but the necessary fields, which it must show.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from localfact.errors import InputError
from localfact.prompts.boundary import Boundary, OwnFiles
from localfact.prompts.chats import lay_out
from localfact.prompts.fields import FIELDS, FIXED, PASSAGE, TASKS, Field, Task, TemplateError
from localfact.prompts.loading import EXAMPLES, FOLDER, TEMPLATE, examples_of, has_parts, read_shipped, write

#: The most bytes of a file. The longest prompt that the papers print has some 30,000.
MOST_BYTES = 256_000
#: The file that `localfact prompts export` writes beside the templates: what each may use, and where the papers' prompts go.
READ_ME = "README.md"
#: A number that no template has by itself.
SAMPLE_NUMBER = 71_993
#: How many queries the template of queries is tried with.
COUNTS = (1, 2, 3)


def own_tasks() -> tuple[Task, ...]:
    """The tasks whose templates may be a user's own."""
    return tuple(task for task in TASKS if task not in FIXED)


def read_own_prompts(folder: Path) -> OwnFiles:
    """Reads a user's prompt templates and examples, by file name; those that equal the built-in ones are left out.

    Raises:
        InputError: no folder; a file that has no place in it, cannot be read or is too large; a template that cannot be read,
            names a field that there is not, or lacks one that is necessary. The message names the file, and the field.
    """
    known = {f"{task}{suffix}": task for task in own_tasks() for suffix in (TEMPLATE, EXAMPLES)}
    try:
        files = sorted(folder.iterdir())
    except OSError as error:
        raise InputError(f"--prompts {folder} cannot be read: {error.strerror}.") from None
    own: dict[str, str] = {}
    for file in files:
        if file.name == READ_ME or file.name.startswith("."):
            continue
        if file.name not in known:
            raise InputError(
                f"{file} has no place among prompts. There may be NAME{TEMPLATE}, and NAME{EXAMPLES} with its examples, for: "
                f"{', '.join(own_tasks())}."
            )
        text = _read(file)
        if text != read_shipped(FOLDER / file.name):
            own[file.name] = text
    for task in dict.fromkeys(known[name] for name in own):
        _check(folder, task, own)
    return own


def _read(file: Path) -> str:
    try:
        with file.open("rb") as stream:
            content = stream.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            raise InputError(f"{file} has more than {MOST_BYTES:,} bytes, which is no prompt.")
        return content.decode("utf-8").replace("\r\n", "\n")
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise InputError(f"{file} is not UTF-8 text.") from None


def _check(folder: Path, task: Task, own: OwnFiles) -> None:
    """Raises InputError, with the file and the field, where a task's template and examples cannot be used."""
    template, examples = (folder / f"{task}{suffix}" for suffix in (TEMPLATE, EXAMPLES))
    boundary, fields = Boundary(own=own), FIELDS[task]
    samples = {name: sample(name, field) for name, field in fields.items()}
    try:
        shown = examples_of(task, own)
        if "examples" in fields:  # those most like each text are shown
            samples["examples"] = shown
            if not all(isinstance(one, dict) and isinstance(one.get("text"), str) for one in shown):
                raise ValueError("each example should have a text and its claims")
    except ValueError as error:
        raise InputError(f"{examples} cannot be read: {' '.join(str(error).split()).rstrip('.')}.") from None
    try:
        for count in COUNTS if "count" in fields else COUNTS[:1]:
            write(task, boundary, {"part": "", **lay_out(task, samples | _count(task, count))}, exploring=True)
        filled = {name: samples[name] for name, field in fields.items() if field.necessary or name == "examples"}
        written = _fill_in(task, boundary, filled)
    except TemplateError as error:
        own_template = template.name in own
        what = "" if own_template else f"an example does not fit {template.name}: "
        file = template if own_template else examples
        raise InputError(f"{file}: {what}{str(error).rstrip('.')}. {describe_fields(fields)}") from None
    for name, field in fields.items():
        if field.necessary and shows(name, field) not in written:
            raise InputError(f"{template} does not show the field {name}: {field.means}. Nothing can be asked without it.")


def _fill_in(task: Task, boundary: Boundary, necessary: Mapping[str, Any]) -> str:
    """The whole prompt with the necessary fields alone."""
    count = _count(task, 1)
    given = lay_out(task, {**necessary, **count})
    if not has_parts(task, boundary):
        return write(task, boundary, given, exploring=False)
    preamble = write(task, boundary, {"part": "preamble", **count}, exploring=False)
    return f"{preamble}\n{write(task, boundary, {'part': 'asked', **given}, exploring=False)}"


def _count(task: Task, count: int) -> dict[str, int]:
    return {"count": count} if "count" in FIELDS[task] else {}


def sample(name: str, field: Field) -> Any:
    """A value to try a template on."""
    if field.number:
        return SAMPLE_NUMBER
    if not field.parts:
        return shows(name, field)
    if not all(field.parts):
        return [shows(name, field)]
    found = [dict.fromkeys(PASSAGE, "found")] if "passages" in field.parts else ["a claim"]
    texts = {part: shows(name, field) if part == "text" else part for part in field.parts}
    return [texts | {part: found for part in ("passages", "claims") if part in field.parts}]


def shows(name: str, field: Field) -> str:
    """What stands in a filled-in template that shows the field."""
    return str(SAMPLE_NUMBER) if field.number else f"Sample of {name}"


def describe_fields(fields: Mapping[str, Field]) -> str:
    """What a template of these fields may name, for an error."""
    named = ", ".join(fields)
    lists = [
        f"each of {name} has {', '.join(field.parts)}" for name, field in fields.items() if all(field.parts) and field.parts
    ]
    return f"{'; '.join([f'Its fields are {named}', *lists])} (`localfact prompts export DIR` writes a table)."
