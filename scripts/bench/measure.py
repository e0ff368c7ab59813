"""Measuring: how many things a second, each the best of several tries, taken in turn so that noise hits all alike."""

import multiprocessing
import resource
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import Any

from rich.table import Table

#: How often each path is tried; the best try counts, since noise only ever slows.
TRIES = 3
#: How often a path is called in all: once to warm up, then tried.
CALLS = 1 + TRIES


@dataclass(frozen=True)
class Path:
    """One way of doing a piece of work: what is called, and how many things one call handles."""

    work: Callable[[], object]
    things: int


def rates(paths: Mapping[str, Path]) -> dict[str, float]:
    """Things per second of each path. Each is called once before, so that nothing is loaded or compiled while it is timed."""
    best = dict.fromkeys(paths, float("inf"))
    for path in paths.values():
        path.work()
    for _ in range(TRIES):
        for name, path in paths.items():
            started = time.perf_counter()
            path.work()
            best[name] = min(best[name], time.perf_counter() - started)
    return {name: paths[name].things / seconds for name, seconds in best.items()}


def table_of(*columns: str, names: int = 1, caption: str | None = None) -> Table:
    """An empty table: so many first columns hold names, and in the others figures stand to the right."""
    table = Table(caption=caption, caption_justify="left")
    for place, column in enumerate(columns):
        table.add_column(column, justify="left" if place < names else "right", no_wrap=place < names)
    return table


def measure_section(title: str, yardstick: str, paths: Mapping[str, Path]) -> tuple[str, Table]:
    """Measures paths: the title, and a table of their rates and of the ratios to one of them."""
    table = table_of("path", "per second", "ratio")
    measured = rates(paths)
    for name, rate in measured.items():
        table.add_row(name, f"{rate:,.1f}", f"{rate / measured[yardstick]:.3f}")
    return f"{title}; ratio to: {yardstick}", table


def run_alone(work: Callable[..., Any], *arguments: object) -> Any:
    """What the work returns in a fresh process, so that its memory is its own."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as alone:
        return alone.submit(work, *arguments).result()


def peak() -> float:
    """The most memory that this process had so far, in bytes, what it maps from files included."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
