"""Damages files that localfact reads, and sees what it makes of them: a result, or an error that says so, within ten seconds.

    python -m scripts.fuzz [--minutes 5] [--seed N] [--only corpus ...]

Each trial copies something small and whole (a corpus, a run folder, a transcript, ...), damages one of its files by lot, and
has it read in a process of its own. A traceback, a killed process or a wait is a finding: it is printed with its seed, by which
it can be had again, and the exit code is 1.
"""

import argparse
import multiprocessing
import os
import random
import shutil
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from localfact.errors import LocalFactError
from localfact.report.console import note
from scripts.fuzz_damages import damage
from scripts.fuzz_subjects import SUBJECTS

#: Seconds that reading a damaged file may take.
LONGEST = 10.0
#: Seconds for making what is damaged.
MAKING = 600.0
#: Of a traceback that is reported.
LINES = 8
#: What a trial ends with.
RESULT, REFUSED, BROKEN, SLOW = "a result", "refused", "broken", "slow"
_EXITS = {0: RESULT, 10: REFUSED}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--trials", type=int, help="so many of each subject, in place of minutes")
    parser.add_argument("--seed", type=int, default=0, help="of the first trial")
    parser.add_argument("--only", nargs="+", choices=sorted(SUBJECTS), help="default: all")
    parser.add_argument("--patience", type=float, default=LONGEST, help="seconds that reading may take")
    options = parser.parse_args(arguments)
    names = options.only or sorted(SUBJECTS)
    ends = Counter[str]()
    with tempfile.TemporaryDirectory() as place:
        for end, finding in trials(names, Path(place), options):
            ends[end] += 1
            if finding:
                note(finding)
    print(", ".join(f"{count} {end}" for end, count in sorted(ends.items())))
    sys.exit(not ends.keys() <= {RESULT, REFUSED})


def trials(names: Sequence[str], place: Path, options: argparse.Namespace) -> Iterator[tuple[str, str]]:
    """Trials of the subjects in turn, until the time is over or there are so many of each: how each ended, and what to tell."""
    for name in names:
        (place / name).mkdir()
        in_child(SUBJECTS[name].make, place / name, MAKING)
    end = time.monotonic() + 60 * options.minutes
    turn = 0
    while (turn < options.trials) if options.trials is not None else time.monotonic() < end:
        for name in names:
            yield trial(name, place / name, place / "damaged", options.seed + turn, options.patience)
        turn += 1


def trial(name: str, whole: Path, copy: Path, seed: int, patience: float) -> tuple[str, str]:
    """A damaged copy is read in a process of its own: how that ended, and, where it may not end so, what to tell."""
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(whole, copy)
    chance = random.Random(f"{name} {seed}")
    file = chance.choice(sorted(file for file in copy.rglob("*") if file.is_file() and file.stat().st_size))
    damage(file, chance)
    ended, why = in_child(SUBJECTS[name].use, copy, patience)
    if ended in (RESULT, REFUSED):
        return ended, ""
    return ended, f"{name}, seed {seed}, {file.relative_to(copy)}: {ended}\n{why}"


def in_child(work: Callable[[Path], object], folder: Path, patience: float) -> tuple[str, str]:
    """How the work ends in a process of its own, and its traceback."""
    report = folder.with_name(f"{folder.name}.txt")
    report.write_text("")
    process = multiprocessing.get_context("fork").Process(target=_child, args=(work, folder, report))
    process.start()
    process.join(patience)
    if process.is_alive():
        process.kill()
        process.join()
        return SLOW, f"It took more than {patience:g} s."
    return _EXITS.get(process.exitcode or 0, BROKEN), report.read_text() or f"exit code {process.exitcode}"


def _child(work: Callable[[Path], object], folder: Path, report: Path) -> None:
    code = 0
    silence()
    try:
        work(folder)
    except LocalFactError:
        code = 10
    except BaseException:
        report.write_text("\n".join(traceback.format_exc(chain=False).splitlines()[-LINES:]))
        code = 1
    os._exit(code)


def silence() -> None:
    """Nothing that this process says is seen."""
    null = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(null, stream)


if __name__ == "__main__":
    main()
