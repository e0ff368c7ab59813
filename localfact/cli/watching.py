"""What commands show on standard error while they work, what they say when Ctrl-C ends them, and of runs that it ended."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.progress import Progress, TaskID

from localfact.report.console import errors, note
from localfact.report.progress import TerminalProgress
from localfact.runs.run_folder import SUMMARY_FILE


@contextmanager
def watch(step: str) -> Iterator[TerminalProgress]:
    """Prints which step is done and shows its progress."""
    note(step)
    with TerminalProgress(errors()) as progress:
        yield progress


@contextmanager
def reporting_interruption(left: str) -> Iterator[None]:
    """Prints what an interruption leaves behind when Ctrl-C ends the block."""
    try:
        yield
    except KeyboardInterrupt:
        note(f"Interrupted. {left}")
        raise


def tell_unfinished(runs: Iterable[Path]) -> None:
    """Says of each run that has not ended that what is shown is of a part of it."""
    for run in runs:
        if not (run / SUMMARY_FILE).is_file():
            note(f"{run} has not ended: this is of the responses done so far. The same `localfact eval` goes on with it.")


def line_for_each(bar: Progress, said: str) -> Callable[[str, int, int | None], None]:
    """Gives each of several things a line of the bar.

    Args:
        said: what the line says, {} being the thing's name.

    Returns:
        A function that is called with a name, how much of it is done, and the total.
    """
    tasks: dict[str, TaskID] = {}

    def show_progress(name: str, done: int, total: int | None) -> None:
        if name not in tasks:
            tasks[name] = bar.add_task(said.format(name), total=total)
        bar.update(tasks[name], completed=done, total=total)

    return show_progress
