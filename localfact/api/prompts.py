"""Writes the prompts that ship into a folder, where a user changes them or lays others in (`--prompts`)."""

from pathlib import Path

from localfact.errors import InputError
from localfact.prompts.fields import FIELDS, Field
from localfact.prompts.loading import EXAMPLES, FOLDER, TEMPLATE, read_shipped
from localfact.prompts.own import READ_ME, own_tasks
from localfact.runtime.files import replace, write_errors

#: The text of the file that goes with them, and the line in it where the table of fields comes.
TEXT, TABLE = "own_prompts.md", "(table)"


def export_prompts(folder: Path) -> list[Path]:
    """Writes our templates and examples into a folder, with a table of what each may use; returns the files.

    Raises:
        InputError: one of them is there already. WriteError: they cannot be written.
    """
    names = [f"{task}{suffix}" for task in own_tasks() for suffix in (TEMPLATE, EXAMPLES)]
    texts = {name: text for name in names if (text := read_shipped(FOLDER / name)) is not None}
    texts[READ_ME] = (read_shipped(FOLDER / TEXT) or "").replace(TABLE, field_table())
    if there := [name for name in texts if (folder / name).exists()]:
        raise InputError(f"{folder / there[0]} is there already: name a folder without prompts.")
    with write_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            replace(folder / name, text.encode())
    return [folder / name for name in texts]


def field_table() -> str:
    """What each template may use, as a table in Markdown; what it must show is bold."""
    rows = ["| file | fields |", "| --- | --- |"]
    for task in own_tasks():
        shown = [
            f"{f'**{name}**' if field.necessary else name}: {field.means}{_parts(field)}"
            for name, field in FIELDS[task].items()
        ]
        rows.append(f"| {task}{TEMPLATE} | {'; '.join(shown)} |")
    return "\n".join(rows)


def _parts(field: Field) -> str:
    return f" (a list, each with {', '.join(field.parts)})" if any(field.parts) else " (a list of texts)" if field.parts else ""
