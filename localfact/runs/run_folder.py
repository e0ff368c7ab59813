"""The files of one run: run.yaml, assessments.jsonl, timings.jsonl, summary.json, report.html. Append, resume, lock.

A run can be killed at any moment. Every assessment is one synced line; opening the folder again discards an incomplete line and
failed assessments, and knows which responses are done.
"""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import yaml

from localfact.errors import InputError, MissingError, RunFolderError
from localfact.records import Assessment
from localfact.runs.assessments import ASSESSMENTS_FILE, Place, is_failed, lines_at, places_in_order, places_of
from localfact.runs.journal import Appended, Settings, agree, lines_of, lock, read_description
from localfact.runs.outlines import AssessmentsRead, read_outlines_and_shown
from localfact.runtime.files import NEW, replace, replace_by, whole_lines, write_errors
from localfact.runtime.links import refuse_links
from localfact.text import readable

RUN_FILE = "run.yaml"
TIMINGS_FILE = "timings.jsonl"
SUMMARY_FILE = "summary.json"
REPORT_FILE = "report.html"
LOCK_FILE = ".lock"
#: The caches of relations: of the relation model, and of a second opinion.
RELATIONS_FILE, SECOND_RELATIONS_FILE = "relations.sqlite", "second-relations.sqlite"
#: What a language model was asked and answered, beside the runs of a comparison or in a run whose claims were looked at.
CALLS_FILE = "calls.sqlite"
#: What `localfact correct` made of the run's responses.
CORRECTIONS_FILE = "corrections.jsonl"
#: With the two files that SQLite makes beside each while it is open.
SQLITE_FILES = tuple(
    name + kind for name in (RELATIONS_FILE, SECOND_RELATIONS_FILE, CALLS_FILE) for kind in ("", "-wal", "-shm")
)
#: All files that localfact can leave in a run folder.
OWN_FILES = frozenset(
    {
        *(LOCK_FILE, *SQLITE_FILES),
        *(CORRECTIONS_FILE + end for end in ("", NEW, ".part", ".run.yaml")),
        *(name + end for name in (RUN_FILE, ASSESSMENTS_FILE, TIMINGS_FILE, SUMMARY_FILE, REPORT_FILE) for end in ("", NEW)),
    }
)

#: The most responses in a report: with twenty claims each, some 50 MB, which a browser still opens in seconds.
SHOWN = 2_000
#: How many hexadecimal digits of the settings' hash name a run folder.
NAME_DIGITS = 12


def settings_name(settings: Settings) -> str:
    """The default name of a run folder: a hash of everything that decides the run's results."""
    canonical = json.dumps(settings, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(canonical.encode()).hexdigest()[:NAME_DIGITS]


class RunFolder:
    """One run's folder, locked by this process.

    Args:
        path: the folder; made if missing.
        settings: what decides the results, as plain values. A folder of a run with other settings is refused.
        versions: of the software; a difference only warns.
        notes: for readers of run.yaml: where data and corpus lay, how the model was placed. They decide nothing.
        force: discard the content of the folder and begin again.

    Attributes:
        path: the folder.
        done: index of a response that need not be run again -> the window that decided something for it
            (`Assessment.decided_by_window`).
        unchanged: the assessments as they were read when the folder was opened, SHOWN of them whole, as long as they are all
            that it has; else None.
        warnings: differences in versions.

    Raises:
        RunFolderError: other settings, another process, or a folder that is no run folder.
        WriteError: the folder cannot be written.
    """

    def __init__(
        self,
        path: Path,
        settings: Settings,
        versions: Mapping[str, str],
        *,
        notes: Mapping[str, Mapping[str, Any]] | None = None,
        force: bool = False,
    ) -> None:
        self.path = path
        self.done: dict[int, int | None] = {}
        self.unchanged: AssessmentsRead | None = None
        self.warnings: list[str] = []
        with write_errors(path), ExitStack() as opened:
            path.mkdir(parents=True, exist_ok=True)
            refuse_links(path)
            if any(item.name not in OWN_FILES for item in path.iterdir()) and not (path / RUN_FILE).exists():
                raise RunFolderError(
                    f"{path} holds other files and is not a run folder. Name an empty or a new folder with --out."
                )
            held = opened.enter_context(lock(path / LOCK_FILE, path))
            held.truncate(0)
            held.write(f"pid {os.getpid()}".encode())
            held.flush()
            if force:
                self._forget()
            self._agree(settings, versions, notes or {})
            self._load()
            self._lines = Appended(path / ASSESSMENTS_FILE, path / TIMINGS_FILE)
            opened.callback(self._lines.close)
            self._opened = opened.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._opened.close()

    def append(self, assessment: Assessment, timing: Mapping[str, Any]) -> None:
        """Adds one assessment, which is on the disk when this returns.

        Raises:
            WriteError: the disk is full, for example. An incomplete line is removed; earlier ones stay.
        """
        line = assessment.model_dump_json().encode() + b"\n"
        self.append_line(line, assessment.index, assessment.decided_by_window, timing)

    def append_line(self, line: bytes, index: int, window: int | None, timing: Mapping[str, Any]) -> None:
        """Appends a line of another run's assessments; `index` and `window` are its entry in `done`."""
        self.unchanged = None
        self._lines.append(line, json.dumps(timing, sort_keys=True).encode() + b"\n")
        self.done[index] = window

    def complete(self, summary: Mapping[str, Any]) -> None:
        """Sorts the assessments into the order of the input and writes the summary."""
        with write_errors(self.path):
            file = self.path / ASSESSMENTS_FILE
            if (places := [place for place in places_of(file) if place.whole]) != sorted(places):
                replace_by(file, lines_at(file, sorted(places)))
            replace(self.path / SUMMARY_FILE, readable(json.dumps(summary, indent=2, ensure_ascii=False) + "\n").encode())

    def _forget(self) -> None:
        # run.yaml last, as it marks the folder as a run folder.
        for name in (ASSESSMENTS_FILE, TIMINGS_FILE, SUMMARY_FILE, REPORT_FILE, RUN_FILE):
            (self.path / name).unlink(missing_ok=True)

    def _agree(self, settings: Settings, versions: Mapping[str, str], notes: Mapping[str, Mapping[str, Any]]) -> None:
        """Writes run.yaml, or compares the settings with those in it; before any response is done they may change."""
        file = self.path / RUN_FILE
        assessments = self.path / ASSESSMENTS_FILE
        anything_done = assessments.exists() and assessments.stat().st_size > 0
        if not (file.exists() and anything_done):
            if anything_done:
                raise RunFolderError(
                    f"{self.path} has assessments but no {RUN_FILE} to say of what. Begin it again with --force."
                )
            content = {"settings": dict(settings), "versions": dict(versions), **notes}
            replace(file, yaml.safe_dump(content, sort_keys=False, allow_unicode=True).encode())
            return
        self.warnings += agree(self.path, read_run_file(self.path), settings, versions, what="run")

    def _load(self) -> None:
        """Reads the assessments that are there; incomplete lines, and failures, which are tried again, are discarded."""
        file = self.path / ASSESSMENTS_FILE
        kept: list[Place] = []
        read = read_outlines_and_shown(self._read_kept(file, kept), most=SHOWN)
        if len(kept) != sum(1 for _ in places_of(file)):
            replace_by(file, lines_at(file, sorted(kept, key=lambda place: place.begin)))
        else:
            self.unchanged = read
        lines_of(self.path / TIMINGS_FILE)

    def _read_kept(self, file: Path, kept: list[Place]) -> Iterator[Assessment]:
        """Yields the assessments that stay, and notes their places."""
        for place, assessment in places_in_order(file):
            if not is_failed(assessment) and assessment.index not in self.done:
                self.done[assessment.index] = assessment.decided_by_window
                kept.append(place)
                yield assessment


def read_run_file(path: Path) -> dict[str, Any]:
    """The content of run.yaml.

    Raises:
        MissingError: there is no such run.
        InputError: the file is damaged.
    """
    file = path / RUN_FILE
    if not file.is_file():
        raise MissingError(f"{path} is not a run folder: it has no {RUN_FILE}.")
    return read_description(file.read_bytes(), file)


def own_files(path: Path) -> list[Path]:
    """The files in a run folder that localfact wrote, run.yaml last: it tells what the folder is.

    Raises:
        MissingError: there is no such run.
    """
    if not (path / RUN_FILE).is_file():
        raise MissingError(f"{path} is not a run folder: it has no {RUN_FILE}.")
    found = (path / name for name in sorted(OWN_FILES - {RUN_FILE}))
    return [*(file for file in found if file.is_file() or file.is_symlink()), path / RUN_FILE]


def remove(path: Path) -> list[str]:
    """Deletes what localfact wrote in a run folder, and the folder; returns the names of other files, for which it stays.

    Raises:
        MissingError: there is no such run. RunFolderError: a process is at work on it. WriteError: it cannot be deleted.
        InputError: `path` is a symbolic link.
    """
    own_files(path)
    if path.is_symlink():
        raise InputError(
            f"{path} is a symbolic link to {path.readlink()}. Name that folder itself, and remove the link by hand."
        )
    with write_errors(path), lock(path / LOCK_FILE, path, instead=""):
        for file in own_files(path):  # the last is run.yaml, so that what a kill leaves can be removed again
            file.unlink(missing_ok=True)
        left = sorted(item.name for item in path.iterdir())
        if not left:
            path.rmdir()
    return left


def read_timings(path: Path) -> dict[int, dict[str, Any]]:
    """Index of a response -> its timings of the last try. Unreadable lines are skipped: timings decide nothing."""
    file = path / TIMINGS_FILE
    found: dict[int, dict[str, Any]] = {}
    for line in whole_lines(file)[0] if file.is_file() else ():
        try:
            timing = json.loads(line)
            found[int(timing["index"])] = dict(timing)
        except (ValueError, TypeError, KeyError, RecursionError):
            continue
    return found


def read_seconds(path: Path) -> dict[int, dict[str, float]]:
    """Index of a response -> stage -> seconds, of its last try."""
    found: dict[int, dict[str, float]] = {}
    for index, timing in read_timings(path).items():
        try:
            found[index] = {str(stage): float(seconds) for stage, seconds in timing["seconds"].items()}
        except (ValueError, TypeError, KeyError, AttributeError):
            continue
    return found


def pending_indices(indices: Sequence[int], done: Sequence[int] | Mapping[int, Any]) -> list[int]:
    """The indices of the responses still to be run, in order."""
    return [index for index in indices if index not in done]
