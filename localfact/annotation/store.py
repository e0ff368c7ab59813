"""What is in the database of a project: tasks, annotators, and every step that anybody made. Steps are added, never changed.

A step carries the version of the work that its author saw, and a key of its own: a step upon an older version is refused, and
the same step sent twice is made once.
"""

import sqlite3
from collections.abc import Iterator, Sequence

from localfact.annotation.database import AnnotationDatabase, damage
from localfact.annotation.differences import items_of, work_after_adjudication
from localfact.annotation.steps import WHOLE, Step, StepKind
from localfact.annotation.tasks import AnnotationTask
from localfact.annotation.work import Draft, Work, work_of
from localfact.inputs.annotations import IrrelevantMeaning
from localfact.records import Record
from localfact.runtime.sqlite import transaction

#: A longer pause between two steps is no work, in seconds.
LONGEST_PAUSE = 120.0
ANNOTATE, ADJUDICATE = "annotate", "adjudicate"
#: Facts about a project: what its annotators mean by "irrelevant"; whether they may have seen what the machine found.
IRRELEVANT, SHOWN = "irrelevant", "shown"

#: Whose work it is, in a query.
_OWNER = "position = ? AND annotator = ? AND role = ?"
#: Whether work counts against the number of people who are wanted.
_COUNTS = "role = ? AND (finished OR seen > ?)"
#: Somebody who did not look at unfinished work for so long is not waited for: others are given the response too.
WAITED_FOR_SECONDS = 3 * 24 * 3600.0


class BehindError(Exception):
    """A step was made on an outdated version of the work. `since`: the later steps, which its author had not seen."""

    def __init__(self, since: Sequence[Step]) -> None:
        super().__init__(f"{len(since)} steps were made since")
        self.since = tuple(since)


class MisfitError(Exception):
    """A step that is not possible in this state of the work; the message says why."""


class AnnotationProgress(Record):
    """How far an annotator or adjudicator is with one response. `seconds`: time spent on it, without pauses."""

    position: int
    id: str
    annotator: str
    role: str
    finished: bool
    claims: int
    judged: int
    seconds: float


class AnnotationStore(AnnotationDatabase):
    """An open database; its methods may be called from any thread."""

    @property
    def irrelevant_means(self) -> IrrelevantMeaning:
        """What the label means here: a project keeps what it was begun with, which its own record says since there are two."""
        return IrrelevantMeaning(str(self.facts().get(IRRELEVANT, IrrelevantMeaning.UNDECIDABLE.value)))

    def size(self) -> int:
        """How many tasks there are."""
        return int(self._rows("SELECT count(*) FROM tasks")[0][0])

    def task(self, position: int) -> AnnotationTask | None:
        """The task at a place, counted from 1."""
        rows = self._rows("SELECT task FROM tasks WHERE position = ?", position)
        with damage(self.file):
            return AnnotationTask.model_validate_json(rows[0][0]) if rows else None

    def tasks(self) -> Iterator[tuple[int, AnnotationTask]]:
        """Every task with its place."""
        for (position,) in self._rows("SELECT position FROM tasks ORDER BY position"):
            task = self.task(position)
            if task is not None:
                yield position, task

    def annotators(self) -> list[str]:
        """The names of all who ever signed in."""
        return [name for (name,) in self._rows("SELECT name FROM annotators ORDER BY name")]

    def join(self, name: str) -> None:
        """Adds a name, if it is new."""
        with self._hold_database() as database:
            database.execute("INSERT OR IGNORE INTO annotators VALUES (?)", (name,))

    def next_task(self, annotator: str) -> int | None:
        """The position of the response that somebody should work on now: an unfinished one of theirs, else a new one.

        New ones are those that need more annotators, in their order; None where nothing is left.
        """
        with self._hold_database() as database, transaction(database):
            unfinished = database.execute(
                "SELECT position FROM works WHERE annotator = ? AND role = ? AND NOT finished ORDER BY position",
                (annotator, ANNOTATE),
            ).fetchone()
            if unfinished is not None:
                return int(unfinished[0])
            free = self.free_task(annotator)
            if free is not None:
                self._begin(database, free, annotator, ANNOTATE)
            return free

    def free_task(self, annotator: str) -> int | None:
        """The first response that needs more annotators and that this one has not begun; None if there is none."""
        at_work = f"SELECT count(*) FROM works AS w WHERE w.position = t.position AND {_COUNTS}"
        theirs = "SELECT 1 FROM works AS w WHERE w.position = t.position AND role = ? AND annotator = ?"
        free = f"SELECT position FROM tasks AS t WHERE wanted > ({at_work}) AND NOT EXISTS ({theirs}) ORDER BY position LIMIT 1"
        rows = self._rows(free, ANNOTATE, self._clock() - WAITED_FOR_SECONDS, ANNOTATE, annotator)
        return int(rows[0][0]) if rows else None

    def may_annotate(self, position: int, annotator: str) -> bool:
        """Whether somebody has begun a response already, or it needs more annotators."""
        if self._rows(f"SELECT 1 FROM works WHERE {_OWNER}", position, annotator, ANNOTATE):
            return True
        at_work = f"SELECT count(*) FROM works WHERE position = ? AND {_COUNTS}"
        found = self._rows(at_work, position, ANNOTATE, self._clock() - WAITED_FOR_SECONDS)
        return int(found[0][0]) < self.annotators_wanted().get(position, 0)

    def responses_finished_by_several(self) -> list[tuple[int, str, list[str]]]:
        """Place, id, and who finished it, of each response that two or more people finished."""
        found: dict[tuple[int, str], list[str]] = {}
        for one in self.progress():
            if one.finished and one.role == ANNOTATE:
                found.setdefault((one.position, one.id), []).append(one.annotator)
        return [(*key, names) for key, names in found.items() if len(names) > 1]

    def begin(self, position: int, annotator: str, role: str = ANNOTATE) -> None:
        """Records that an annotator opened a response, which is assigned to them from then on."""
        with self._hold_database() as database:
            self._begin(database, position, annotator, role)

    def work(self, position: int, annotator: str, role: str = ANNOTATE) -> Work:
        """Somebody's work on a response, as it is now."""
        with self._hold_database() as database:
            return self._work(database, position, annotator, role)

    def works_finished(self, position: int) -> dict[str, Work]:
        """Annotator -> work on a response, of those who finished it, by name."""
        names = self._rows(
            "SELECT annotator FROM works WHERE position = ? AND role = ? AND finished ORDER BY annotator", position, ANNOTATE
        )
        return {name: self.work(position, name) for (name,) in names}

    def adjudicators(self, position: int) -> list[str]:
        """Who decided all that differs in a response now, and finished it, the last one first."""
        last = "SELECT max(at) FROM steps AS s WHERE s.position = w.position AND s.annotator = w.annotator AND s.role = w.role"
        finished = "SELECT annotator FROM works AS w WHERE position = ? AND role = ? AND finished"
        rows = self._rows(f"{finished} ORDER BY ({last}) DESC", position, ADJUDICATE)
        return [name for (name,) in rows if self.work(position, name, ADJUDICATE).finished]

    def make(self, position: int, annotator: str, step: Step, *, version: int, key: str, role: str = ANNOTATE) -> Work:
        """Makes one step; it is on the disk when this returns.

        Args:
            version: of the work that its author saw.
            key: the step's own, the same when it is sent again.

        Raises:
            BehindError: steps were made since that version. MisfitError: the step cannot follow.
        """
        with self._hold_database() as database, transaction(database):
            owner = (position, annotator, role)
            before = database.execute(f"SELECT step FROM steps WHERE {_OWNER} AND key = ?", (*owner, key)).fetchone()
            if before is not None and Step.model_validate_json(before[0]) == step:
                return self._work(database, *owner)
            work = self._work(database, *owner)
            if work.version != version or before is not None:
                since = database.execute(
                    f"SELECT step FROM steps WHERE {_OWNER} AND number > ? ORDER BY number", (*owner, version)
                )
                raise BehindError([Step.model_validate_json(row[0]) for row in since])
            task = self.task(position)
            if task is None:
                raise MisfitError("There is no such response.")
            if step.kind not in WHOLE and (step.kind is StepKind.DECIDE) != (role == ADJUDICATE):
                raise MisfitError("That is not a step of this screen.")
            wrong = Draft(task, work).misfit(step)
            if wrong is not None:
                raise MisfitError(wrong)
            self._begin(database, *owner)
            row = (*owner, version + 1, key, step.model_dump_json(exclude_defaults=True), self._clock())
            database.execute("INSERT INTO steps VALUES (?, ?, ?, ?, ?, ?, ?)", row)
            work = self._work(database, *owner)
            self._note_figures(database, owner, work)
            return work

    def make_all(self, position: int, annotator: str, steps: Sequence[Step]) -> Work | None:
        """Makes the steps of an annotator who is not there, all together or not at all.

        Returns the work; None where there are steps of theirs already.

        Raises:
            MisfitError: a step cannot follow.
        """
        with self._hold_database() as database, transaction(database):
            owner = (position, annotator, ANNOTATE)
            if database.execute(f"SELECT 1 FROM steps WHERE {_OWNER}", owner).fetchone() is not None:
                return None
            task = self.task(position)
            if task is None:
                raise MisfitError("There is no such response.")
            if steps:
                self._begin(database, *owner, timed=False)
            draft = Draft(task, work_of(task, []))
            for number, step in enumerate(steps, start=1):
                wrong = draft.misfit(step)
                if wrong is not None:
                    raise MisfitError(wrong)
                draft.make(step)
                row = (*owner, number, f"import-{number}", step.model_dump_json(exclude_defaults=True), self._clock())
                database.execute("INSERT INTO steps VALUES (?, ?, ?, ?, ?, ?, ?)", row)
            work = work_of(task, steps)
            if steps:
                self._note_figures(database, owner, work)
            return work

    def progress(self) -> list[AnnotationProgress]:
        """All works, by response and name."""
        rows = self._rows(
            "SELECT w.position, t.id, annotator, role, finished, claims, judged, seconds FROM works AS w JOIN tasks AS t"
            " ON t.position = w.position ORDER BY w.position, role DESC, annotator"
        )
        with damage(self.file):
            return [AnnotationProgress(**dict(zip(AnnotationProgress.model_fields, row, strict=True))) for row in rows]

    def annotators_wanted(self) -> dict[int, int]:
        """Place of a response -> by how many people it is to be annotated."""
        rows = self._rows("SELECT position, wanted FROM tasks ORDER BY position")
        with damage(self.file):
            return {int(position): int(people) for position, people in rows}

    def _note_figures(self, database: sqlite3.Connection, owner: tuple[int, str, str], work: Work) -> None:
        figures = (work.finished, len(work.standing), len(work.standing) - len(work.open))
        database.execute(f"UPDATE works SET finished = ?, claims = ?, judged = ? WHERE {_OWNER}", (*figures, *owner))

    def _begin(self, database: sqlite3.Connection, position: int, annotator: str, role: str, *, timed: bool = True) -> None:
        """Adds the time since somebody's last request, whatever response it was about, but at most LONGEST_PAUSE."""
        now = self._clock()
        owner = (position, annotator, role)
        new = "INSERT OR IGNORE INTO works (position, annotator, role, seen) VALUES (?, ?, ?, ?)"
        if database.execute(new, (*owner, now)).rowcount:
            claims = len(self._work(database, *owner).standing)
            database.execute(f"UPDATE works SET claims = ? WHERE {_OWNER}", (claims, *owner))
        (last,) = database.execute("SELECT max(seen) FROM works WHERE annotator = ?", (annotator,)).fetchone()
        passed = min(LONGEST_PAUSE, max(0.0, now - last)) if timed else 0.0
        # Who looks at what is finished does not annotate.
        added = "seconds = seconds + CASE WHEN finished THEN 0 ELSE ? END, seen = ?"
        database.execute(f"UPDATE works SET {added} WHERE {_OWNER}", (passed, now, *owner))

    def _work(self, database: sqlite3.Connection, position: int, annotator: str, role: str) -> Work:
        rows = database.execute(f"SELECT step FROM steps WHERE {_OWNER} ORDER BY number", (position, annotator, role))
        steps = [Step.model_validate_json(step) for (step,) in rows]
        if role == ADJUDICATE:
            return work_after_adjudication(items_of(self.works_finished(position)), steps)
        task = self.task(position)
        if task is None:
            raise MisfitError("There is no such response.")
        return work_of(task, steps)
