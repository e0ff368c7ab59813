"""Progress says what a user waits for: how many of how many, what was handled, how long it will take."""

import io
import math

import pytest
from rich.console import Console

from localfact.report import progress as module
from localfact.report.progress import TerminalProgress, TextProgress


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that have gone by; a test moves them."""
    now = [0.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    return now


def test_without_a_terminal_a_line_now_and_then_has_all_of_it(clock: list[float]) -> None:
    out = io.StringIO()
    with TerminalProgress(Console(file=out, width=200)) as progress:
        progress.begin(23, 3)
        for number in range(1, 21):
            clock[0] = 10.0 * number
            progress.count("claims", 50)
            progress.count("prompt_tokens", 900)
            progress.count("cached_tokens", 600)
            progress.count("output_tokens", 100)
            progress.row_done()
    lines = out.getvalue().splitlines()
    assert lines[0] == "6 of 23 responses, 150 claims, 100 tokens/s (67% of prompts cached), 0:02:50 left"
    assert lines[-1].startswith("21 of 23 responses, 900 claims, ")
    assert len(lines) == 6  # every 3 responses, which take 30 seconds


def test_the_time_left_counts_words_some_of_those_under_way_and_rows_that_cannot_be_used_not_at_all(clock: list[float]) -> None:
    progress = TerminalProgress(Console(file=io.StringIO(), width=200))
    progress.begin(11, 0)
    progress.count("words_to_do", 1000)
    progress.row_done()
    assert progress.time_left() == "", "a row that cannot be used says nothing of the others"
    progress.count("words_begun", 400)
    clock[0] = 50.0
    progress.count("words_done", 100)
    progress.row_done()
    assert progress.time_left() == "", "until the first is done much was loaded, and others are half done"
    progress.count("words_begun", 200)
    clock[0] = 60.0
    progress.count("words_done", 140)
    progress.row_done()
    work = math.sqrt(600 * 240)
    paces = (60 / work, 10 / (work - math.sqrt(400 * 100)))  # seconds a word, since the beginning and since the first
    assert progress.time_left() == f"0:00:{math.sqrt(paces[0] * paces[1]) * (1000 - work):02.0f} left"


def test_of_one_text_each_stage_is_a_line_without_a_terminal(clock: list[float]) -> None:
    out = io.StringIO()
    with TextProgress(Console(file=out, width=200)) as progress:
        progress.begin(1, 0)
        for stage, number in (("claims", 9), ("pairs", 45), ("relations", 45)):
            progress.count(stage, number)
    assert out.getvalue().splitlines() == [
        "Reading the text ...",
        "9 claims found; reading what there is about them ...",
        "45 pairs of a claim and a passage to relate ...",
        "45 pairs related; finding the sentences that verdicts rest on ...",
    ]


def test_nothing_is_said_of_what_there_is_none_of(clock: list[float]) -> None:
    out = io.StringIO()
    with TerminalProgress(Console(file=out, width=200)) as progress:
        progress.begin(1, 0)
        progress.row_done()
    assert out.getvalue() == "1 of 1 responses\n"


def test_what_is_quick_says_one_line_without_a_terminal(clock: list[float]) -> None:
    out = io.StringIO()
    with TerminalProgress(Console(file=out, width=200)) as progress:
        progress.begin(20, 0)
        for number in range(20):
            clock[0] = 1.4 * number
            progress.row_done()
    assert out.getvalue() == "2 of 20 responses, 0:00:18 left\n"


def test_a_narrow_terminal_still_shows_how_many_of_how_many_and_the_time_left(clock: list[float]) -> None:
    out = io.StringIO()
    console = Console(file=out, width=80, force_terminal=True, color_system=None)
    progress = TerminalProgress(console)
    progress.begin(200, 0)
    for stage, number in (("claims", 1234), ("relations", 98_765), ("prompt_tokens", 10**8), ("cached_tokens", 8 * 10**7)):
        progress.count(stage, number)
    clock[0] = 3600.0
    for _ in range(50):
        progress.row_done()
    console.print(progress.draw())
    first, second = out.getvalue().splitlines()[:2]
    assert "50/200 responses" in first
    assert "3:00:00 left" in first
    assert "1,234 claims, 98,765 relations, 27,778 tokens/s (80% of prompts cached)" in second
