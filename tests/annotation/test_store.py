"""The database of a project: what was said to be saved is saved, nobody overwrites anybody, and damage is told as damage."""

import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import pytest
from annotation_projects import (
    FINISH,
    REDO,
    REOPEN,
    UNDO,
    add,
    comment,
    decide,
    judge,
    judge_all,
    make_all,
    make_store,
    remove,
    revise,
    tasks,
)

from localfact.annotation.labels import Label
from localfact.annotation.store import ADJUDICATE, LONGEST_PAUSE, WAITED_FOR_SECONDS, AnnotationStore, BehindError, MisfitError
from localfact.errors import InputError


def opened(folder: Path, *wanted: int, clock: Callable[[], float] | None = None) -> AnnotationStore:
    file = make_store(folder / "annotation.sqlite", wanted or (1, 1, 1))
    return AnnotationStore(file) if clock is None else AnnotationStore(file, clock)


def test_a_new_database_has_the_tasks_in_order_and_what_was_said_of_the_project(tmp_path: Path) -> None:
    store = opened(tmp_path, 1, 2, 1)
    assert [task for _, task in store.tasks()] == tasks()
    assert [position for position, _ in store.tasks()] == [1, 2, 3]
    assert (store.size(), store.task(2), store.task(4)) == (3, tasks()[1], None)
    assert store.annotators_wanted() == {1: 1, 2: 2, 3: 1}
    assert store.facts()["made_of"] == "invented.jsonl"
    assert (store.annotators(), store.progress(), store.responses_finished_by_several()) == ([], [], [])
    store.check()


def test_facts_names_and_steps_are_there_after_reopening(tmp_path: Path) -> None:
    store = opened(tmp_path)
    store.set_fact("adjudicators", ["Ann"])
    for name in ("Bo", "Ann", "Bo", "Åsa 'x'"):
        store.join(name)
    made = make_all(store, 1, "Ann", judge("c1"), revise("c2", "Its wheel was cast in Malmö."), add("n1", "It had a pond."))
    store.close()
    again = AnnotationStore(store.file)
    assert again.work(1, "Ann") == made
    assert made.version == 3
    assert again.work(1, "Bo").version == again.work(2, "Ann").version == 0
    assert again.annotators() == ["Ann", "Bo", "Åsa 'x'"]
    assert again.facts()["adjudicators"] == ["Ann"]
    assert [(one.annotator, one.claims, one.judged) for one in again.progress()] == [("Ann", 5, 1)]


def test_a_path_with_signs_of_an_address_in_it_is_opened(tmp_path: Path) -> None:
    folder = tmp_path / "50% of it? #1 ü"
    folder.mkdir()
    store = opened(folder)
    make_all(store, 1, "Ann", judge("c1"))
    store.close()
    assert AnnotationStore(folder / "annotation.sqlite").work(1, "Ann").version == 1


def test_a_step_upon_an_older_version_is_refused_with_the_steps_since(tmp_path: Path) -> None:
    store = opened(tmp_path)
    steps = [judge("c1"), comment("c1", "Hm."), UNDO]
    before = make_all(store, 1, "Ann", *steps)
    for version in range(3):
        with pytest.raises(BehindError) as refused:
            store.make(1, "Ann", judge("c2"), version=version, key="new")
        assert refused.value.since == tuple(steps[version:])
    with pytest.raises(BehindError) as refused:
        store.make(1, "Ann", judge("c2"), version=4, key="new")
    assert refused.value.since == ()
    assert store.work(1, "Ann") == before
    assert store.make(1, "Ann", judge("c2"), version=3, key="new").version == 4


def test_the_same_step_sent_twice_is_made_once(tmp_path: Path) -> None:
    store = opened(tmp_path)
    first = store.make(1, "Ann", judge("c1"), version=0, key="one")
    assert store.make(1, "Ann", judge("c1"), version=0, key="one") == first
    later = store.make(1, "Ann", judge("c2"), version=1, key="two")
    assert store.make(1, "Ann", judge("c1"), version=0, key="one") == later
    assert store.work(1, "Ann").version == 2


def test_another_step_with_the_same_key_is_refused_and_not_made(tmp_path: Path) -> None:
    store = opened(tmp_path)
    store.make(1, "Ann", judge("c1"), version=0, key="one")
    for version in (0, 1):
        with pytest.raises(BehindError):
            store.make(1, "Ann", judge("c1", Label.REFUTED), version=version, key="one")
    assert store.work(1, "Ann").version == 1
    assert store.make(1, "Bo", judge("c1", Label.REFUTED), version=0, key="one").version == 1, "another's key is another key"
    assert store.make(2, "Ann", judge("c1", Label.REFUTED), version=0, key="one").version == 1


def test_a_step_that_cannot_follow_is_not_made(tmp_path: Path) -> None:
    store = opened(tmp_path)
    for step in (judge("nobody"), UNDO, REDO, FINISH, decide("c1", Label.REFUTED)):
        with pytest.raises(MisfitError):
            store.make(1, "Ann", step, version=0, key="one")
    assert store.work(1, "Ann").version == 0
    assert store.progress() == [], "who made nothing has begun nothing"
    assert store.make(1, "Ann", judge("c1"), version=0, key="one").version == 1


def test_a_step_on_a_response_that_is_not_there_is_told(tmp_path: Path) -> None:
    store = opened(tmp_path)
    with pytest.raises(MisfitError, match="no such response"):
        store.make(99, "Ann", judge("c1"), version=0, key="one")


def test_undoing_goes_on_after_reopening(tmp_path: Path) -> None:
    store = opened(tmp_path)
    make_all(store, 1, "Ann", judge("c1"), judge("c2"), UNDO)
    store.close()
    work = make_all(AnnotationStore(store.file), 1, "Ann", REDO, UNDO, UNDO)
    assert (work.version, work.done, work.undone) == (6, 0, 2)
    assert all(claim.label is None for claim in work.claims)


# The queue.


def test_who_comes_first_is_given_the_first_and_nobody_what_another_has(tmp_path: Path) -> None:
    store = opened(tmp_path)
    assert [store.next_task(name) for name in ("Ann", "Bo", "Cy", "Dag")] == [1, 2, 3, None]
    assert [store.may_annotate(1, name) for name in ("Ann", "Bo")] == [True, False]


def test_an_unfinished_response_comes_before_a_new_one(tmp_path: Path) -> None:
    store = opened(tmp_path)
    assert [store.next_task("Ann") for _ in range(3)] == [1, 1, 1]
    judge_all(store, 1, "Ann")
    assert store.next_task("Ann") == 2
    make_all(store, 1, "Ann", REOPEN)
    assert store.next_task("Ann") == 1
    make_all(store, 1, "Ann", FINISH)
    assert store.next_task("Ann") == 2


def test_two_people_are_given_a_response_where_two_are_wanted_and_never_one_of_them_twice(tmp_path: Path) -> None:
    store = opened(tmp_path, 2, 1, 2)
    given: dict[int, list[str]] = {1: [], 2: [], 3: []}
    idle = False
    while not idle:
        idle = True
        for name in ("Ann", "Bo", "Cy"):
            position = store.next_task(name)
            if position is not None:
                given[position].append(name)
                judge_all(store, position, name)
                idle = False
    assert {position: len(names) for position, names in given.items()} == store.annotators_wanted()
    assert all(len(set(names)) == len(names) for names in given.values())
    assert [store.free_task(name) for name in ("Ann", "Bo", "Cy", "Dag")] == [None] * 4
    assert [(position, task_id) for position, task_id, _ in store.responses_finished_by_several()] == [
        (1, "mill"),
        (3, "ferry"),
    ]
    assert [names for _, _, names in store.responses_finished_by_several()] == [sorted(given[1]), sorted(given[3])]


def test_one_person_alone_leaves_the_second_place_free(tmp_path: Path) -> None:
    store = opened(tmp_path, 2, 2, 2)
    for position in (1, 2, 3):
        assert store.next_task("Ann") == position
        judge_all(store, position, "Ann")
    assert store.next_task("Ann") is None
    assert store.next_task("Bo") == 1


def test_whoever_leaves_a_response_for_days_is_no_longer_waited_for_and_may_still_finish_it(tmp_path: Path) -> None:
    now = [1000.0]
    store = opened(tmp_path, clock=lambda: now[0])
    assert [store.next_task("Ann"), store.free_task("Bo"), store.may_annotate(1, "Bo")] == [1, 2, False]
    now[0] += WAITED_FOR_SECONDS + 1
    assert [store.may_annotate(1, "Bo"), store.next_task("Bo")] == [True, 1]
    assert [store.next_task("Ann"), store.may_annotate(1, "Ann"), store.free_task("Cy")] == [1, True, 2]
    judge_all(store, 1, "Bo")
    now[0] += WAITED_FOR_SECONDS + 1
    assert store.free_task("Cy") == 2, "what is finished counts for good"
    judge_all(store, 1, "Ann")
    assert store.responses_finished_by_several() == [(1, "mill", ["Ann", "Bo"])]


def test_eight_who_ask_at_once_get_different_responses(tmp_path: Path) -> None:
    many = [tasks()[0].model_copy(update={"id": f"mill-{number}"}) for number in range(8)]
    AnnotationStore.create(tmp_path / "annotation.sqlite", many, [1] * 8, {})
    store = AnnotationStore(tmp_path / "annotation.sqlite")
    given: list[int | None] = []
    at_once([lambda name=name: given.append(store.next_task(name)) for name in "abcdefgh"])
    assert sorted(one for one in given if one is not None) == list(range(1, 9))


def test_an_adjudicator_takes_no_annotators_place(tmp_path: Path) -> None:
    store = opened(tmp_path, 2, 1, 1)
    store.begin(1, "Jo", ADJUDICATE)
    assert [store.next_task(name) for name in ("Ann", "Bo", "Cy")] == [1, 1, 2]


# Adjudication.


def test_an_adjudicator_decides_between_those_who_finished(tmp_path: Path) -> None:
    store = opened(tmp_path, 2, 1, 1)
    judge_all(store, 1, "Ann")
    make_all(store, 1, "Bo", judge("c2", Label.REFUTED))
    judge_all(store, 1, "Bo")
    assert set(store.works_finished(1)) == {"Ann", "Bo"}
    assert [claim.id for claim in store.work(1, "Jo", ADJUDICATE).open] == ["c2"]
    for step in (judge("c2"), add("n1", "It had a pond."), FINISH, decide("nobody", Label.REFUTED)):
        with pytest.raises(MisfitError):
            store.make(1, "Jo", step, version=0, key="one", role=ADJUDICATE)
    work = make_all(store, 1, "Jo", decide("c2", Label.CONFLICTING), FINISH, role=ADJUDICATE)
    assert (work.finished, work.open, work.version) == (True, (), 2)
    assert store.adjudicators(1) == ["Jo"]
    assert store.work(1, "Jo").version == 0, "what she decides is no annotation of her own"
    assert [(one.annotator, one.role) for one in store.progress()] == [
        ("Ann", "annotate"),
        ("Bo", "annotate"),
        ("Jo", "adjudicate"),
    ]


# Time and figures.


def test_time_between_steps_counts_and_a_pause_is_cut(tmp_path: Path) -> None:
    now = [1000.0]
    store = opened(tmp_path, clock=lambda: now[0])

    def seconds() -> float:
        return store.progress()[0].seconds

    store.begin(1, "Ann")
    assert seconds() == 0
    now[0] += 20
    make_all(store, 1, "Ann", judge("c1"))
    assert seconds() == 20
    now[0] += 10
    store.begin(1, "Ann")
    assert seconds() == 30
    now[0] += 100_000
    make_all(store, 1, "Ann", judge("c2"))
    assert seconds() == 30 + LONGEST_PAUSE
    now[0] -= 500
    make_all(store, 1, "Ann", judge("c3"))
    assert seconds() == 30 + LONGEST_PAUSE, "a clock that is set back takes no time away"
    now[0] += 5
    make_all(store, 1, "Ann", judge("c4"))
    assert seconds() == 35 + LONGEST_PAUSE


def test_a_step_that_is_refused_or_sent_again_counts_no_time(tmp_path: Path) -> None:
    now = [1000.0]
    store = opened(tmp_path, clock=lambda: now[0])
    store.make(1, "Ann", judge("c1"), version=0, key="one")
    now[0] += 10
    store.make(1, "Ann", judge("c1"), version=0, key="one")
    with pytest.raises(MisfitError):
        store.make(1, "Ann", REDO, version=1, key="two")
    assert store.progress()[0].seconds == 0


def test_progress_says_how_many_claims_stand_and_are_judged(tmp_path: Path) -> None:
    store = opened(tmp_path, 2, 1, 1)
    judge_all(store, 1, "Bo")
    make_all(store, 1, "Ann", judge("c1"), add("n1", "It had a pond."), remove("c2"), remove("c1"))
    make_all(store, 2, "Ann", judge("c1"), UNDO)
    assert [(one.position, one.id, one.annotator, one.finished, one.claims, one.judged) for one in store.progress()] == [
        (1, "mill", "Ann", False, 3, 0),
        (1, "mill", "Bo", True, 4, 4),
        (2, "tower", "Ann", False, 3, 0),
    ]


# Many at once, and kills.


def at_once(calls: list[Callable[[], object]]) -> None:
    """Runs all in threads that begin together; the first error is raised here."""
    errors: list[BaseException] = []
    begin = threading.Barrier(len(calls))

    def run(call: Callable[[], object]) -> None:
        begin.wait()
        try:
            call()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def test_eight_threads_make_steps_on_their_own_works_at_once_and_all_are_there(tmp_path: Path) -> None:
    store = opened(tmp_path, 8, 8, 8)
    steps = [comment("c1", f"Note {number}.") for number in range(20)]
    at_once([lambda name=name: make_all(store, 1, name, *steps) for name in "abcdefgh"])
    store.close()
    again = AnnotationStore(store.file)
    for name in "abcdefgh":
        work = again.work(1, name)
        claim = work.claim("c1")
        assert claim is not None
        assert (work.version, claim.comment) == (20, "Note 19.")


def test_of_eight_threads_with_the_same_version_one_makes_its_step_and_the_others_are_told(tmp_path: Path) -> None:
    store = opened(tmp_path)
    told: list[BehindError] = []

    def attempt(number: int) -> None:
        try:
            store.make(1, "Ann", comment("c1", f"Note {number}."), version=0, key=f"key-{number}")
        except BehindError as behind:
            told.append(behind)

    at_once([lambda number=number: attempt(number) for number in range(8)])
    assert store.work(1, "Ann").version == 1
    assert [len(behind.since) for behind in told] == [1] * 7


KILLED = """
import sys
from pathlib import Path
from localfact.annotation.store import AnnotationStore
from localfact.annotation.steps import Step, StepKind
store = AnnotationStore(Path(sys.argv[1]))
while True:
    version = store.work(1, "Ann").version
    step = Step(kind=StepKind.COMMENT, claim="c1", text=f"Note {version}.")
    print(store.make(1, "Ann", step, version=version, key=f"key-{version}").version, flush=True)
"""


@pytest.mark.slow
def test_killed_in_the_middle_of_steps_every_acknowledged_one_is_there_and_none_twice(
    tmp_path: Path, some: Callable[[Sequence[int]], Sequence[int]]
) -> None:
    file = make_store(tmp_path / "annotation.sqlite")
    for turn in some(range(5)):
        process = subprocess.Popen([sys.executable, "-c", KILLED, file], stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        said = [process.stdout.readline() for _ in range(10 + turn)]
        process.send_signal(signal.SIGKILL)
        said += process.stdout.readlines()
        process.wait()
        process.stdout.close()
        acknowledged = max(int(line) for line in said if line.endswith("\n"))
        store = AnnotationStore(file)
        store.check()
        version = store.work(1, "Ann").version
        # The step that was on its way may be there, unsaid.
        assert acknowledged <= version <= acknowledged + 1
        store.close()
        database = sqlite3.connect(file)
        rows = database.execute("SELECT number, key, step FROM steps ORDER BY number").fetchall()
        database.close()
        assert [(number, key) for number, key, _ in rows] == [(number, f"key-{number - 1}") for number in range(1, version + 1)]
        assert all(f"Note {number - 1}." in step for number, _, step in rows)


# Damage.


def use(file: Path) -> None:
    """Reads all there is and makes a step, as a server would."""
    store = AnnotationStore(file)
    try:
        store.check()
        store.facts()
        list(store.tasks())
        store.annotators()
        store.progress()
        store.annotators_wanted()
        store.responses_finished_by_several()
        for position in range(1, store.size() + 1):
            for name in ("Ann", "Bo"):
                store.work(position, name)
            store.works_finished(position)
            store.work(position, "Jo", ADJUDICATE)
            store.adjudicators(position)
            store.may_annotate(position, "Ann")
        store.next_task("Bo")
        version = store.work(1, "Dag").version
        store.make(1, "Dag", comment("c1", "Still here."), version=version, key=f"key-{version}")
    finally:
        store.close()


def worked_on(folder: Path) -> Path:
    """A closed database with work of two people and an adjudicator in it."""
    store = opened(folder, 2, 1, 1)
    for name, label in (("Ann", Label.SUPPORTED), ("Bo", Label.REFUTED)):
        store.join(name)
        make_all(store, 1, name, comment("c1", "A note. " * 100), add(f"{name}-1", "It had a pond."))
        judge_all(store, 1, name, label)
    make_all(store, 1, "Jo", decide("c1", Label.CONFLICTING), role=ADJUDICATE)
    store.close()
    assert [path.name for path in folder.iterdir()] == [store.file.name]
    use(store.file)
    return store.file


def told_or_fine(file: Path, content: bytes) -> bool:
    """Whether a damaged file is told as one; any other error is raised."""
    for beside in file.parent.glob(f"{file.name}-*"):
        beside.unlink()
    file.write_bytes(content)
    said = ""
    try:
        use(file)
    except InputError as error:
        said = str(error)
    except (BehindError, MisfitError):
        pass
    assert not said or str(file) in said
    return bool(said)


def test_a_file_that_is_not_there_is_told_and_not_made(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be used"):
        AnnotationStore(tmp_path / "annotation.sqlite")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", [b"", b"Dear diary.\n" * 1000, b"\0" * 8192], ids=["empty", "text", "zeros"])
def test_a_file_that_is_no_database_is_told(tmp_path: Path, content: bytes) -> None:
    assert told_or_fine(tmp_path / "annotation.sqlite", content)


def test_a_database_of_something_else_is_told_and_left_as_it_was(tmp_path: Path) -> None:
    file = tmp_path / "annotation.sqlite"
    database = sqlite3.connect(file)
    database.execute("CREATE TABLE shopping (what TEXT)")
    database.close()
    before = file.read_bytes()
    with pytest.raises(InputError, match="no annotation database of localfact"):
        AnnotationStore(file)
    assert file.read_bytes() == before


def test_a_database_of_another_format_is_refused(tmp_path: Path) -> None:
    file = make_store(tmp_path / "annotation.sqlite")
    with closing(sqlite3.connect(file)) as database:
        database.execute("PRAGMA user_version = 99")
    with pytest.raises(InputError, match=r"has format 99, .* localfact annotate RUN --out FOLDER"):
        AnnotationStore(file)


def test_a_database_with_a_trigger_is_refused(tmp_path: Path) -> None:
    file = make_store(tmp_path / "annotation.sqlite")
    database = sqlite3.connect(file)
    database.execute("CREATE TRIGGER t AFTER INSERT ON steps BEGIN DELETE FROM steps; END")
    database.commit()
    database.close()
    with pytest.raises(InputError, match="trigger"):
        AnnotationStore(file)


def test_a_database_that_was_cut_is_told(tmp_path: Path) -> None:
    file = worked_on(tmp_path)
    whole = file.read_bytes()
    for share in (0.1, 0.3, 0.5, 0.7, 0.9):
        assert told_or_fine(file, whole[: int(share * len(whole))])


@pytest.mark.slow
def test_a_database_with_flipped_bytes_in_it_is_read_or_told(tmp_path: Path) -> None:
    file = worked_on(tmp_path)
    whole = file.read_bytes()
    lots = random.Random(7)
    told = 0
    for _ in range(150):
        content = bytearray(whole)
        start = lots.randrange(100, len(content))
        for place in range(start, min(start + lots.choice((1, 1, 4, 64, 4096)), len(content))):
            content[place] ^= lots.randrange(1, 256)
        told += told_or_fine(file, bytes(content))
    assert told > 20


@pytest.mark.parametrize(
    "damaged",
    [
        "UPDATE tasks SET task = 'no task' WHERE position = 1",
        "UPDATE tasks SET task = '{\"id\": 7}' WHERE position = 1",
        "UPDATE tasks SET task = x'00ff' WHERE position = 1",
        'UPDATE steps SET step = \'{"kind": "dance"}\' WHERE number = 1',
        "UPDATE steps SET step = '' WHERE number = 1",
        "UPDATE facts SET value = '{'",
        "UPDATE facts SET value = x'ff'",
        "UPDATE works SET claims = 'many'",
        "DROP TABLE works",
        "ALTER TABLE steps DROP COLUMN at",
    ],
)
def test_a_record_that_is_none_is_told(tmp_path: Path, damaged: str) -> None:
    file = worked_on(tmp_path)
    assert told_or_fine(file, changed(file, damaged))


@pytest.mark.parametrize(
    "damaged",
    [
        "DELETE FROM tasks WHERE position = 1",
        "DELETE FROM works",
        "DELETE FROM steps WHERE number = 2",
        "UPDATE steps SET number = number + 100 WHERE number > 3",
        "UPDATE works SET seen = 'yesterday', seconds = 'long'",
        "UPDATE tasks SET wanted = 'all'",
        "UPDATE annotators SET name = x'ff' WHERE name = 'Bo'",
    ],
)
def test_records_that_do_not_belong_together_are_read_or_told(tmp_path: Path, damaged: str) -> None:
    file = worked_on(tmp_path)
    told_or_fine(file, changed(file, damaged))


def changed(file: Path, statement: str) -> bytes:
    """A database after somebody else's hand was in it."""
    database = sqlite3.connect(file)
    database.execute(statement)
    database.commit()
    database.close()
    return file.read_bytes()


def test_a_backup_is_a_database_with_everything_that_was_saved(tmp_path: Path) -> None:
    store = opened(tmp_path)
    make_all(store, 1, "Ann", judge("c1"), judge("c2"))
    store.back_up(tmp_path / "copy.sqlite")
    make_all(store, 1, "Ann", judge("c3"))
    copy = AnnotationStore(tmp_path / "copy.sqlite")
    assert (copy.work(1, "Ann").version, store.work(1, "Ann").version) == (2, 3)
    assert copy.facts() == store.facts()
    copy.check()


def test_a_project_may_lie_at_a_path_that_is_not_utf8(tmp_path: Path) -> None:
    file = tmp_path / os.fsdecode(b"project-\xff.sqlite")
    AnnotationStore.create(file, [], [], {})
    assert file.is_file()
