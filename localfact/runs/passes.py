"""A pass over a file: one output row for each input row. An interrupted pass is resumed; unusable rows are carried along.

The caller makes the rows: `api/extract.py` turns responses into claims, `api/generate.py` prompts into responses.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from localfact.errors import InputError
from localfact.inputs.prompts import Prompt
from localfact.records import Failure, Record, Response
from localfact.runs.failures import or_failure
from localfact.runs.progress import SILENT, Progress
from localfact.runs.row_file import ERROR, Row, RowFile
from localfact.runs.run import CONCURRENCY
from localfact.runtime.interrupts import interruptible
from localfact.runtime.tasks import for_each
from localfact.text import path_text

#: Of how many failed rows a summary gives the reasons.
REASONS_SHOWN = 3

Item = TypeVar("Item", Prompt, Response)
#: Makes the row of one item.
Make = Callable[[Item], Awaitable[Row]]


@dataclass(frozen=True)
class PassOptions:
    """Options of a pass that do not change its rows.

    Attributes:
        concurrency: how many rows are made at once; None for the usual number.
        versions, machine: of the software and the hardware, for `OUT.run.yaml`; a difference in versions only warns.
        force: discard what an earlier call made and begin again.
        progress: gets reports on how far the pass is.
    """

    concurrency: int | None = None
    versions: Mapping[str, str] = field(default_factory=dict)
    machine: Mapping[str, Any] = field(default_factory=dict)
    force: bool = False
    progress: Progress = SILENT


DEFAULT_PASS_OPTIONS = PassOptions()


class PassSummary(Record):
    """The content of the output of a complete pass; the same however often it was interrupted.

    Attributes:
        out: the file that was written.
        rows: number of rows.
        failed: those of them that could not be made and carry an `error_message`.
        counts: named whole numbers: claims, unparsed lines, responses cut short, ...
        usage: stage -> calls, requests, prompt and output tokens of the language model, over all rows.
        warnings: sentences the reader must know.
    """

    out: Path
    rows: int
    failed: int
    counts: Mapping[str, int]
    usage: Mapping[str, Mapping[str, int | float]]
    warnings: tuple[str, ...]

    @property
    def exit_code(self) -> int:
        """0, or 1 when rows failed."""
        return 1 if self.failed else 0


async def make_file(
    data: Path,
    items: Sequence[Item],
    out: Path,
    settings: Mapping[str, Any],
    open_maker: Callable[[AsyncExitStack], Make[Item]],
    row_of: Callable[[Item], Row],
    pass_options: PassOptions,
) -> tuple[list[Row], list[str]]:
    """Makes the rows that the output does not have yet, and completes it.

    Args:
        data, items: the input file and the items read from it. out, settings: see `RowFile`.
        open_maker: returns the function that makes one row, and registers with the stack what must be closed; only called when
            rows are missing.
        row_of: the row of an item that cannot be made.
        pass_options: concurrency, progress and so on.

    Returns:
        All rows in the order of the input, and the warnings of the output file.
    """
    refuse_own_input(data, out)
    notes = {"sources": {"data": path_text(data)}, "machine": pass_options.machine}
    with RowFile(out, settings, versions=pass_options.versions, notes=notes, force=pass_options.force) as file:
        usable = carry_unusable(file, items, row_of, pass_options.progress)
        if usable:
            async with AsyncExitStack() as opened:
                with interruptible():
                    make = open_maker(opened)
                await fill(file, usable, make, row_of, pass_options)
        return file.complete([item.id for item in items]), file.warnings


def refuse_own_input(data: Path, out: Path) -> None:
    """Raises InputError when the output would overwrite the input."""
    if out.exists() and data.exists() and out.samefile(data):
        raise InputError(f"{out} is the input itself. Name another file with --out.")


def carry_unusable(file: RowFile, items: Sequence[Item], row_of: Callable[[Item], Row], progress: Progress) -> list[Item]:
    """Begins the pass: writes rows for the unusable items, with the reason, and returns the items that are still to be done."""
    done = file.done
    left = [item for item in items if item.id not in done]
    progress.begin(len(items), len(items) - len(left))
    for item in left:
        if item.problem is not None:
            file.append(row_of(item) | {ERROR: item.problem})
            progress.row_done()
    return [item for item in left if item.problem is None]


async def fill(
    file: RowFile, items: Iterable[Item], make: Make[Item], row_of: Callable[[Item], Row], pass_options: PassOptions
) -> None:
    """Makes the row of every item, some at a time, and appends each when it is made.

    Raises:
        LocalFactError: one that every other item would meet too. Any other error fails its own row.
    """

    async def one(item: Item) -> None:
        row = await or_failure(make(item))
        file.append(row_of(item) | {ERROR: row.reason} if isinstance(row, Failure) else row)
        pass_options.progress.row_done()

    await for_each(items, one, pass_options.concurrency or CONCURRENCY)


def present(**fields: str | None) -> Row:
    """The fields that have a value."""
    return {name: value for name, value in fields.items() if value is not None}


def failure_warnings(rows: Sequence[Row]) -> list[str]:
    """One sentence for the rows that could not be made, with the first reasons."""
    reasons = [f"{row['id']}: {row[ERROR]}" for row in rows if ERROR in row]
    more = " ..." if len(reasons) > REASONS_SHOWN else ""
    return [f"{len(reasons)} rows failed. {' '.join(reasons[:REASONS_SHOWN])}{more}"] if reasons else []
