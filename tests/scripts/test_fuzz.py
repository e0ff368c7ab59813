"""Damaged files of every kind end in a result or in an error that says so: some trials of `make fuzz`, with fixed seeds."""

import json
import random
import time
from pathlib import Path

import pytest

from localfact.errors import InputError
from scripts import fuzz
from scripts.fuzz import BROKEN, REFUSED, RESULT, SLOW, in_child
from scripts.fuzz_damages import damaged
from scripts.fuzz_subjects import SUBJECTS


def refuse(folder: Path) -> None:
    raise InputError("damaged")


@pytest.mark.slow
def test_how_reading_ends_is_told_apart(tmp_path: Path) -> None:
    ends = (
        (lambda folder: None, RESULT),
        (refuse, REFUSED),
        (lambda folder: json.loads("{"), BROKEN),
        (lambda folder: time.sleep(60), SLOW),
    )
    for work, end in ends:
        found, why = in_child(work, tmp_path / "folder", 0.3 if end == SLOW else 60.0)
        assert found == end
        assert ("JSONDecodeError" in why) == (end == BROKEN)


def test_what_is_damaged_is_no_longer_what_it_was_and_hangs_on_the_seed() -> None:
    content = bytes(range(256)) * 20
    forms = [damaged(content, random.Random(seed)) for seed in range(60)]
    assert forms == [damaged(content, random.Random(seed)) for seed in range(60)]
    assert sum(form != content for form in forms) > 55


@pytest.mark.slow
@pytest.mark.parametrize("subject", SUBJECTS)
def test_some_trials_of_each_kind_find_nothing(subject: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        fuzz.main(["--trials", "6", "--only", subject, "--patience", "60"])
    assert ended.value.code == 0, capsys.readouterr().err
