"""A pass over a file: rows in, rows out, each made by itself; goes on where it was stopped and carries along what is unusable.

What makes a row is the caller's: `api/extract.py` turns responses into claims, `api/generate.py` prompts into responses.
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

#: How many failed rows a summary tells the reasons of.
REASONS_SHOWN = 3

Item = TypeVar("Item", Prompt, Response)
#: Makes the row of one item.
Make = Callable[[Item], Awaitable[Row]]


@dataclass(frozen=True)
class Conduct:
    """How a pass is carried out; nothing here decides a row.

    Attributes:
        concurrency: how many rows are at work at once.
        versions, machine: of the software and the hardware, for `OUT.run.yaml`; another version only warns.
        force: forget what an earlier call made and begin again.
        progress: is told how far the pass is.
    """

    concurrency: int = CONCURRENCY
    versions: Mapping[str, str] = field(default_factory=dict)
    machine: Mapping[str, Any] = field(default_factory=dict)
    force: bool = False
    progress: Progress = SILENT


USUAL = Conduct()


class PassSummary(Record):
    """What the output of a pass holds when it is complete; the same however often it was interrupted.

    Attributes:
        out: the file that was written.
        rows: how many it has; failed of them could not be made and carry an `error_message`.
        counts: named whole numbers: claims, unparsed lines, responses cut short, ...
        usage: stage -> calls, requests, prompt and output tokens of the language model, of all rows.
        warnings: sentences the reader must know.
    """

    out: Path
    rows: int
    failed: int
    counts: Mapping[str, int]
    usage: Mapping[str, Mapping[str, int]]
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
    conduct: Conduct,
) -> tuple[list[Row], list[str]]:
    """Makes the rows that the output has not yet, and completes it.

    Args:
        data, items: the input and what was read from it. out, settings: as `RowFile`.
        open_maker: returns what makes one row, and leaves with the stack what must be closed; called only when there is work.
        row_of: the row of an item that cannot be made.
        conduct: as the callers'.

    Returns:
        All rows in the order of the input, and the warnings of the output file.
    """
    refuse_own_input(data, out)
    notes = {"sources": {"data": str(data)}, "machine": conduct.machine}
    with RowFile(out, settings, versions=conduct.versions, notes=notes, force=conduct.force) as file:
        usable = carry_unusable(file, items, row_of, conduct.progress)
        if usable:
            async with AsyncExitStack() as opened:
                with interruptible():
                    make = open_maker(opened)
                await fill(file, usable, make, row_of, conduct)
        return file.complete([item.id for item in items]), file.warnings


def refuse_own_input(data: Path, out: Path) -> None:
    """Raises InputError when the output would take the input's place."""
    if out.exists() and data.exists() and out.samefile(data):
        raise InputError(f"{out} is the input itself. Name another file with --out.")


def carry_unusable(file: RowFile, items: Sequence[Item], row_of: Callable[[Item], Row], progress: Progress) -> list[Item]:
    """Begins the pass: writes the rows of the input that cannot be used, with the reason, and returns what is left to do."""
    done = file.done
    left = [item for item in items if item.id not in done]
    progress.begin(len(items), len(items) - len(left))
    for item in left:
        if item.problem is not None:
            file.append(row_of(item) | {ERROR: item.problem})
            progress.row_done()
    return [item for item in left if item.problem is None]


async def fill(file: RowFile, items: Iterable[Item], make: Make[Item], row_of: Callable[[Item], Row], conduct: Conduct) -> None:
    """Makes the row of every item, some at a time, and appends each as it is made.

    Raises:
        LocalFactError: what no other item would escape. Anything else fails its own row.
    """

    async def one(item: Item) -> None:
        row = await or_failure(make(item))
        file.append(row_of(item) | {ERROR: row.reason} if isinstance(row, Failure) else row)
        conduct.progress.row_done()

    await for_each(items, one, conduct.concurrency)


def present(**fields: str | None) -> Row:
    """The fields that have a value."""
    return {name: value for name, value in fields.items() if value is not None}


def failure_warnings(rows: Sequence[Row]) -> list[str]:
    """One sentence for the rows that could not be made, with the first reasons."""
    reasons = [f"{row['id']}: {row[ERROR]}" for row in rows if ERROR in row]
    more = " ..." if len(reasons) > REASONS_SHOWN else ""
    return [f"{len(reasons)} rows failed. {' '.join(reasons[:REASONS_SHOWN])}{more}"] if reasons else []
