"""--debug stands anywhere in a command, and shows where an error came from; without it there is one sentence."""

from pathlib import Path

import pytest
from commands import CommandLine

from localfact.cli.debugging import debug_first, whole_traceback


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("eval --debug --k 3", "--debug eval --k 3"),
        ("--debug eval", "--debug eval"),
        ("eval", "eval"),
        ("check -- --debug", "check -- --debug"),
    ],
)
def test_it_may_stand_anywhere_before_two_dashes(typed: str, read: str) -> None:
    assert debug_first(typed.split()) == read.split()


def test_the_traceback_has_the_errors_that_users_are_spared() -> None:
    try:
        try:
            raise KeyError("inner")
        except KeyError:
            raise ValueError("outer") from None
    except ValueError as error:
        shown = whole_traceback(error)
    assert "KeyError: 'inner'" in shown
    assert "ValueError: outer" in shown


@pytest.mark.slow
def test_an_error_is_a_sentence_and_with_debug_a_traceback_above_it(tmp_path: Path) -> None:
    localfact = CommandLine(tmp_path)
    plain = localfact("eval", "--data", "nowhere.jsonl")
    debugged = localfact("eval", "--data", "nowhere.jsonl", "--debug")
    assert (plain.returncode, debugged.returncode) == (2, 2)
    assert "Traceback" not in plain.stderr
    assert "Traceback" in debugged.stderr
    assert debugged.stderr.splitlines()[-1] == plain.stderr.splitlines()[-1]
