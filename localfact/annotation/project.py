"""The folder of an annotation project: its database, its guide, its backups."""

import hashlib
import os
import random
import re
import secrets
import sqlite3
from collections.abc import Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from localfact.annotation.database import PRIVATE_FILE, is_whole
from localfact.annotation.store import IRRELEVANT, AnnotationStore
from localfact.annotation.tasks import AnnotationTask
from localfact.errors import InputError
from localfact.inputs.annotations import IrrelevantMeaning
from localfact.runs.journal import lock
from localfact.runtime.files import NEW, replace, write_errors
from localfact.runtime.links import refuse_links

DATABASE, GUIDE, BACKUPS, LOCK = "annotation.sqlite", "guide.md", "backups", ".lock"
#: A database that is being made, and what is left where that is killed.
UNFINISHED = f"{DATABASE}.new"
_LEFT_BY_A_KILL = frozenset({UNFINISHED, f"{UNFINISHED}-journal", GUIDE, f"{GUIDE}{NEW}"})
#: The name of a copy, its number first.
_NUMBERED = re.compile(r"copy-(\d{6})-")
#: Copies that are kept, damaged ones not counted: one is made at every start.
KEPT_BACKUPS = 10
#: The mode of a folder in which secrets are.
PRIVATE_FOLDER = 0o700
#: The share of responses that two people annotate.
OVERLAP = 0.2
#: The guide that a new project begins with.
FIRST_GUIDE = Path(__file__).with_name("guide.md")


def is_project(folder: Path) -> bool:
    """Whether there is a project in that folder."""
    return (folder / DATABASE).is_file()


def create(
    folder: Path,
    tasks: Sequence[AnnotationTask],
    *,
    made_of: str,
    overlap: float = OVERLAP,
    seed: int = 0,
    blind: bool = True,
    irrelevant: IrrelevantMeaning = IrrelevantMeaning.UNRELATED,
) -> None:
    """Makes a project.

    Args:
        folder: new or empty.
        tasks: what is to be annotated.
        made_of: the run or file, for people.
        overlap: share of responses, in [0, 1], that two people are wanted for; which, is drawn by lot.
        seed: of the lot.
        blind: whether what the machine found is hidden from annotators.
        irrelevant: what they mean by that label.

    Raises:
        InputError: there is nothing to annotate, or the folder holds something. WriteError: it cannot be written.
    """
    if not tasks:
        raise InputError(f"{made_of} has no response that can be annotated.")
    if not 0 <= overlap <= 1:
        raise InputError(f"The overlap is a share between 0 and 1, not {overlap:g}.")
    with write_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        if not {item.name for item in folder.iterdir()} <= _LEFT_BY_A_KILL:
            raise InputError(f"{folder} holds something else. Name a new folder with --out.")
        drawn = set(random.Random(seed).sample(range(len(tasks)), round(overlap * len(tasks))))
        wanted = [2 if place in drawn else 1 for place in range(len(tasks))]
        own = {"secret": secrets.token_hex(32), "token": secrets.token_urlsafe(24)}
        chosen = {"overlap": overlap, "seed": seed, "adjudicators": [], "blind": blind, IRRELEVANT: irrelevant.value}
        facts = {"made_of": made_of, **chosen, **own}
        make_private(folder)
        unfinished = folder / UNFINISHED
        for left in _LEFT_BY_A_KILL - {GUIDE}:
            (folder / left).unlink(missing_ok=True)
        try:
            AnnotationStore.create(unfinished, tasks, wanted, facts)
        except sqlite3.Error as error:
            raise OSError(str(error)) from error
        if not (folder / GUIDE).exists():
            replace(folder / GUIDE, FIRST_GUIDE.read_bytes())
        unfinished.replace(folder / DATABASE)


def make_private(folder: Path) -> None:
    """Takes from everybody but the owner the rights to a project: its database, log and copies hold the secrets of its server.

    Raises:
        InputError: the rights cannot be changed.
    """
    try:
        for path in (folder, folder / BACKUPS, *folder.glob("*.sqlite*"), *(folder / BACKUPS).glob("*")):
            if path.exists():
                path.chmod(PRIVATE_FOLDER if path.is_dir() else PRIVATE_FILE)
    except OSError as error:
        raise InputError(
            f"{error.filename or folder} holds secrets of the project, and the rights of others to it cannot be taken away "
            f"({error.strerror}). Only its owner can use it, on a disk that knows owners."
        ) from error


def default_folder(data: Path) -> Path:
    """The default folder of the project for a run or a file: annotations/NAME-HASH, the hash of its path."""
    place = hashlib.sha256(os.fsencode(data.resolve())).hexdigest()[:6]
    return Path("annotations") / f"{data.resolve().stem}-{place}"


class Project:
    """An open project, locked by this process; the database is checked and copied before anybody works with it.

    Raises:
        MissingError, InputError: it is damaged; the message names the newest backup. RunFolderError: a process has it open.
        WriteError: the copy cannot be written.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with ExitStack() as opened:
            refuse_links(folder)
            if is_project(folder):
                make_private(folder)
            opened.enter_context(lock(folder / LOCK, folder))
            try:
                self.store = AnnotationStore(folder / DATABASE)
                opened.callback(self.store.close)
                self.store.check()
            except (InputError, sqlite3.DatabaseError) as error:
                newest = next((copy for copy in reversed(self.backups()) if is_whole(copy)), None)
                log = f"{DATABASE}-wal"
                help_ = f" The newest copy is {newest}: put it in its place, without {log}." if newest else ""
                raise InputError(f"{error}{help_}") from error
            self._back_up()
            self._opened = opened.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._opened.close()

    def backups(self) -> list[Path]:
        """The copies that are there, the oldest first: they are numbered, as a clock may go back; the first ones were not."""
        return sorted((self.folder / BACKUPS).glob("*.sqlite"))

    def guide(self) -> str:
        """The guide as its project has it, Markdown."""
        try:
            return (self.folder / GUIDE).read_text(encoding="utf-8", errors="replace")
        except OSError:
            return FIRST_GUIDE.read_text(encoding="utf-8")

    def _back_up(self) -> None:
        """Makes a copy, and removes those that are older than the last KEPT_BACKUPS undamaged ones."""
        backups = self.folder / BACKUPS
        with write_errors(self.folder):
            backups.mkdir(exist_ok=True)
            backups.chmod(PRIVATE_FOLDER)
            for left in backups.glob("*.new*"):
                left.unlink()
            last = max((int(found[1]) for old in self.backups() if (found := _NUMBERED.match(old.name))), default=0)
            copy = backups / f"copy-{last + 1:06}-{datetime.now(UTC):%Y%m%d-%H%M%S}.sqlite"
            unfinished = copy.with_name(f"{copy.name}{NEW}")
            try:
                self.store.back_up(unfinished)
            except sqlite3.Error as error:
                raise OSError(str(error)) from error
            if not is_whole(unfinished):
                raise OSError("the copy cannot be read again")
            unfinished.replace(copy)
            whole = 0
            for old in reversed(self.backups()):
                if whole == KEPT_BACKUPS:
                    old.unlink()
                else:
                    whole += is_whole(old)
