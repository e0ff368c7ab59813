"""What the tests cost: processor minutes by room, and the costliest tests (budgets: CONTRIBUTING.md).

A test's processor time is its worker's own and that of the processes that it started and saw end, set-up and teardown
included. What is made once (an engine, a server) is counted where it is first asked for, or where its process ends.
"""

import os
import time
from collections import Counter, defaultdict
from collections.abc import Generator, Iterator

import pytest

#: Names of the numbers that travel with a test's last report: seconds of processor and of clock.
PROCESSOR, CLOCK = "processor", "clock"
COSTLIEST = 25


def processor_seconds() -> float:
    """Of this process and of those of its children that have ended."""
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system


class Costs:
    """Measures in every worker; the process that prints gathers what came with the reports."""

    def __init__(self) -> None:
        self._begun = (0.0, 0.0)
        self._tests: dict[str, tuple[float, float]] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self) -> Generator[None, object, object]:
        self._begun = (processor_seconds(), time.perf_counter())
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        if report.when == "teardown":
            processor, clock = self._begun
            report.user_properties += [(PROCESSOR, processor_seconds() - processor), (CLOCK, time.perf_counter() - clock)]
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        spent = dict(report.user_properties)
        if PROCESSOR in spent:
            self._tests[report.nodeid] = (float(str(spent[PROCESSOR])), float(str(spent[CLOCK])))

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if len(self._tests) < COSTLIEST:
            return
        terminalreporter.section("what the tests cost")
        for line in self.lines():
            terminalreporter.write_line(line)

    def lines(self) -> Iterator[str]:
        """A table of rooms, then one of tests."""
        rooms: defaultdict[str, float] = defaultdict(float)
        counts: Counter[str] = Counter()
        for test, (processor, _) in self._tests.items():
            rooms[room_of(test)] += processor
            counts[room_of(test)] += 1
        yield "processor minutes, tests, room"
        yield from (
            f"{seconds / 60:8.2f} {counts[room]:6} {room}" for room, seconds in sorted(rooms.items(), key=lambda item: -item[1])
        )
        yield f"{sum(rooms.values()) / 60:8.2f} {len(self._tests):6} all"
        yield f"processor seconds, seconds, the {COSTLIEST} costliest tests"
        costliest = sorted(self._tests.items(), key=lambda item: item[1], reverse=True)[:COSTLIEST]
        yield from (f"{processor:8.1f} {clock:8.1f} {test}" for test, (processor, clock) in costliest)


def room_of(test: str) -> str:
    """The folder below `tests/` that a test stands in; `tests` where it stands in none."""
    parts = test.partition("::")[0].split("/")
    return parts[1] if len(parts) > 2 else parts[0]
