"""The folder of a project: how it is made, who may open it, and what helps when its database is damaged."""

import os
import resource
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from datetime import datetime, timedelta, tzinfo
from pathlib import Path

import pytest
from annotation_projects import comment, judge, make_all, make_project, tasks
from typer.testing import CliRunner

from localfact.annotation.database import APPLICATION_ID
from localfact.annotation.project import (
    BACKUPS,
    DATABASE,
    FIRST_GUIDE,
    GUIDE,
    KEPT_BACKUPS,
    UNFINISHED,
    Project,
    create,
    default_folder,
    is_project,
)
from localfact.annotation.store import AnnotationStore
from localfact.cli.main import app
from localfact.errors import InputError, LocalFactError, RunFolderError, WriteError

ROOT = Path(__file__).resolve().parents[2]


def wanted(folder: Path) -> list[int]:
    with Project(folder) as project:
        return list(project.store.annotators_wanted().values())


def test_a_new_project_has_a_database_a_guide_and_its_own_secrets(tmp_path: Path) -> None:
    folder = make_project(tmp_path / "deep" / "project")
    assert is_project(folder)
    assert not is_project(tmp_path)
    assert sorted(path.name for path in folder.iterdir()) == [DATABASE, GUIDE]
    other = make_project(tmp_path / "other")
    with Project(folder) as one, Project(other) as two:
        assert [task for _, task in one.store.tasks()] == tasks()
        facts = one.store.facts()
        assert (facts["made_of"], facts["adjudicators"]) == ("invented.jsonl", [])
        assert facts["secret"] != two.store.facts()["secret"]
        assert facts["token"] != two.store.facts()["token"]


def test_a_folder_with_anything_in_it_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / ".mine").write_text("mine")
    with pytest.raises(InputError, match="holds something else"):
        make_project(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [".mine"]
    folder = make_project(tmp_path / "project")
    before = (folder / DATABASE).read_bytes()
    with pytest.raises(InputError, match="holds something else"):
        make_project(folder)
    assert (folder / DATABASE).read_bytes() == before


def test_an_empty_folder_will_do(tmp_path: Path) -> None:
    assert is_project(make_project(tmp_path))


def test_nothing_to_annotate_is_told_and_nothing_is_made(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"empty\.jsonl has no response"):
        create(tmp_path / "project", [], made_of="empty.jsonl")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("overlap", [-0.1, 1.1, float("nan"), float("inf")])
def test_an_overlap_that_is_no_share_is_told_and_nothing_is_made(tmp_path: Path, overlap: float) -> None:
    with pytest.raises(InputError, match="share between 0 and 1"):
        make_project(tmp_path / "project", overlap=overlap)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(WriteError, match="cannot be written"):
        make_project(tmp_path / "file" / "project")


FULL = """
import sys
from pathlib import Path
from annotation_projects import make_project
from localfact.errors import WriteError
try:
    make_project(Path(sys.argv[1]), many=200)
except WriteError as error:
    print(error)
"""


def test_a_full_disk_is_told_when_a_project_is_made(tmp_path: Path) -> None:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, 30_000))

    made = subprocess.run(
        [sys.executable, "-c", FULL, tmp_path / "project"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tests" / "support")])},
        capture_output=True,
        text=True,
        preexec_fn=limit,
    )
    assert "cannot be written" in made.stdout, made.stderr[-500:]
    assert not is_project(tmp_path / "project")


@pytest.mark.parametrize(("overlap", "twice"), [(0.0, 0), (0.5, 5), (0.25, 2), (1.0, 10)])
def test_the_overlap_is_the_share_of_responses_that_two_people_annotate(tmp_path: Path, overlap: float, twice: int) -> None:
    people = wanted(make_project(tmp_path / "project", overlap=overlap, many=10))
    assert (people.count(2), people.count(1)) == (twice, 10 - twice)


def test_the_same_seed_draws_the_same_responses_and_another_one_others(tmp_path: Path) -> None:
    draws = [wanted(make_project(tmp_path / str(at), overlap=0.5, seed=seed, many=20)) for at, seed in enumerate((3, 3, 4))]
    assert draws[0] == draws[1] != draws[2]
    assert sum(draws[2]) == 30


def test_the_default_folder_is_named_after_the_data_and_their_place(tmp_path: Path) -> None:
    one, other = (default_folder(tmp_path / place / "answers.jsonl") for place in ("a", "b"))
    assert one.parent == other.parent == Path("annotations")
    assert one.name.startswith("answers-")
    assert one != other
    assert one == default_folder(tmp_path / "b" / ".." / "a" / "answers.jsonl")


OPEN = """
import sys
from pathlib import Path
from localfact.annotation.project import Project
from localfact.errors import RunFolderError
try:
    with Project(Path(sys.argv[1])):
        print("opened")
except RunFolderError as error:
    print(error)
"""


def opened_elsewhere(folder: Path) -> str:
    return subprocess.run(
        [sys.executable, "-c", OPEN, folder],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout


@pytest.mark.slow
def test_an_open_project_is_refused_to_another_process_and_here_until_it_is_closed(tmp_path: Path) -> None:
    folder = make_project(tmp_path / "project")
    with Project(folder):
        assert f"at work on {folder}" in opened_elsewhere(folder)
        with pytest.raises(RunFolderError, match="Another process"):
            Project(folder)
    assert opened_elsewhere(folder) == "opened\n"
    with Project(folder) as project:
        assert project.store.size() == 3


def test_a_project_that_could_not_be_opened_is_not_left_locked(tmp_path: Path) -> None:
    folder = make_project(tmp_path / "project")
    whole = (folder / DATABASE).read_bytes()
    (folder / DATABASE).write_bytes(b"Dear diary.")
    with pytest.raises(InputError):
        Project(folder)
    (folder / DATABASE).write_bytes(whole)
    assert wanted(folder) == [1, 1, 1]


@pytest.mark.parametrize("folder", ["nowhere", "."])
def test_a_folder_that_is_no_project_is_told(tmp_path: Path, folder: str) -> None:
    with pytest.raises(LocalFactError):
        Project(tmp_path / folder)


def test_each_start_makes_a_copy_and_the_last_ones_are_kept(tmp_path: Path) -> None:
    folder = make_project(tmp_path / "project")
    seen: list[Path] = []
    for start in range(KEPT_BACKUPS + 3):
        with Project(folder) as project:
            there = project.backups()
            assert len(there) == min(start + 1, KEPT_BACKUPS)
            seen.append(there[-1])
            make_all(project.store, 1, "Ann", comment("c1", f"Note {start}."))
    assert len(set(seen)) == len(seen)
    assert sorted((folder / BACKUPS).iterdir()) == seen[-KEPT_BACKUPS:]
    # A copy has what was there when its start was made.
    assert [AnnotationStore(copy).work(1, "Ann").version for copy in (seen[-1], seen[-2])] == [len(seen) - 1, len(seen) - 2]


class BackwardClock(datetime):
    """A clock that is a day earlier at each look."""

    looks = 0

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> "BackwardClock":
        cls.looks += 1
        return cls(2030, 1, 1, tzinfo=tz) - timedelta(days=cls.looks)


def test_a_clock_that_goes_back_makes_no_new_copy_an_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = make_project(tmp_path / "project")
    (folder / BACKUPS).mkdir()
    earlier = folder / BACKUPS / "20300101-000000-000000.sqlite"  # as copies were named once
    shutil.copy(folder / DATABASE, earlier)
    monkeypatch.setattr("localfact.annotation.project.datetime", BackwardClock)
    for start in range(KEPT_BACKUPS + 2):
        with Project(folder) as project:
            assert AnnotationStore(project.backups()[-1]).work(1, "Ann").version == start
            make_all(project.store, 1, "Ann", comment("c1", f"Note {start}."))
    assert not earlier.exists()
    assert [AnnotationStore(copy).work(1, "Ann").version for copy in project.backups()] == list(range(2, KEPT_BACKUPS + 2))


@pytest.mark.parametrize("how", ["cut", "no database", "flipped", "empty", "without tables"])
def test_damaged_copies_are_not_named_and_push_no_good_one_out(tmp_path: Path, how: str) -> None:
    folder = make_project(tmp_path / "project")
    with Project(folder) as project:
        (good,) = project.backups()
    for _ in range(KEPT_BACKUPS + 1):
        with Project(folder) as project:
            copy = project.backups()[-1]
        if how == "without tables":
            copy.unlink()
            with closing(sqlite3.connect(copy)) as bare:
                bare.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        else:
            copy.write_bytes(damaged(copy.read_bytes())[how])
    assert good.exists()
    (folder / DATABASE).write_bytes(b"")
    with pytest.raises(InputError, match=f"The newest copy is {good}"):
        Project(folder)


def test_a_copy_that_cannot_be_read_again_is_told_and_removes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = make_project(tmp_path / "project")
    with Project(folder) as project:
        before = project.backups()
    monkeypatch.setattr(AnnotationStore, "back_up", lambda _, file: file.write_bytes(b""))
    with pytest.raises(WriteError, match="cannot be read again"):
        Project(folder)
    assert sorted((folder / BACKUPS).glob("*.sqlite")) == before


def test_what_a_killed_server_saved_is_there_at_the_next_start(tmp_path: Path) -> None:
    folder = make_project(tmp_path / "project")
    with Project(folder) as project:
        make_all(project.store, 1, "Ann", judge("c1"), judge("c2"))
        # A kill leaves the files as they are now, the log beside the database too.
        shutil.copytree(folder, tmp_path / "killed")
    assert (tmp_path / "killed" / f"{DATABASE}-wal").stat().st_size > 0
    with Project(tmp_path / "killed") as project:
        assert project.store.work(1, "Ann").version == 2
        assert AnnotationStore(project.backups()[-1]).work(1, "Ann").version == 2


def damaged(whole: bytes) -> dict[str, bytes]:
    middle = len(whole) // 2
    return {
        "cut": whole[: len(whole) // 3],
        "no database": b"Dear diary.\n" * 1000,
        "flipped": whole[:4096] + bytes(255 - byte for byte in whole[4096:middle]) + whole[middle:],
        "empty": b"",
    }


@pytest.mark.parametrize("how", ["cut", "no database", "flipped", "empty", "gone"])
def test_a_damaged_database_names_the_newest_copy_which_opens_in_its_place(tmp_path: Path, how: str) -> None:
    folder = make_project(tmp_path / "project")
    for name in ("Ann", "Bo"):
        with Project(folder) as project:
            make_all(project.store, 1, name, judge("c1"), judge("c2"))
    file = folder / DATABASE
    if how == "gone":
        file.unlink()
    else:
        file.write_bytes(damaged(file.read_bytes())[how])
    copies = sorted((folder / BACKUPS).glob("*.sqlite"))
    with pytest.raises(InputError) as told:
        Project(folder)
    assert str(file) in str(told.value)
    assert f"The newest copy is {copies[-1]}" in str(told.value)
    assert sorted((folder / BACKUPS).glob("*.sqlite")) == copies, "no copy is made of a damaged database"
    shutil.copy(copies[-1], file)
    with Project(folder) as project:
        assert [project.store.work(1, name).version for name in ("Ann", "Bo")] == [2, 0]


@pytest.mark.slow
@pytest.mark.parametrize("how", ["cut", "no database", "flipped", "empty"])
def test_the_newest_copy_opens_although_a_killed_server_left_its_log(tmp_path: Path, how: str) -> None:
    folder = make_project(tmp_path / "project")
    with Project(folder) as project:
        # More pages than SQLite's log holds before it begins anew: it fits the damaged file alone.
        make_all(project.store, 1, "Ann", *(comment("c1", f"{'Note. ' * 150}{number}") for number in range(300)))
        make_all(project.store, 1, "Ann", judge("c1"), judge("c2"))
        shutil.copytree(folder, tmp_path / "killed")
    file = tmp_path / "killed" / DATABASE
    assert file.with_name(f"{DATABASE}-wal").stat().st_size > 4_000_000
    file.write_bytes(damaged(file.read_bytes())[how])
    with pytest.raises(InputError, match="The newest copy is") as told:
        Project(file.parent)
    newest = max((file.parent / BACKUPS).glob("*.sqlite"))
    # Whoever does as the message says.
    for beside in file.parent.glob(f"{DATABASE}-*"):
        if beside.name in str(told.value):
            beside.unlink()
    shutil.copy(newest, file)
    with Project(file.parent) as project:
        assert project.store.work(1, "Ann").version == 0


def test_a_database_that_was_damaged_before_there_was_a_copy_is_told_alone(tmp_path: Path) -> None:
    folder = make_project(tmp_path / "project")
    (folder / DATABASE).write_bytes(b"Dear diary.\n" * 1000)
    with pytest.raises(InputError) as told:
        Project(folder)
    assert "newest copy" not in str(told.value)


@pytest.mark.parametrize("name", [DATABASE, f"{DATABASE}-wal", GUIDE, ".lock", BACKUPS, "backups/old.sqlite"])
def test_a_folder_with_a_link_in_it_is_refused_and_nothing_is_written_through_it(tmp_path: Path, name: str) -> None:
    folder = make_project(tmp_path / "project")
    target = tmp_path / "elsewhere"
    if name == BACKUPS:
        target.mkdir()
    else:
        target.write_bytes(b"mine")
    link = folder / name
    link.parent.mkdir(exist_ok=True)
    link.unlink(missing_ok=True)
    link.symlink_to(target)
    with pytest.raises(InputError, match="symbolic link"):
        Project(folder)
    assert list(target.iterdir()) == [] if target.is_dir() else target.read_bytes() == b"mine"


def test_the_guide_is_the_projects_own_and_falls_back_to_the_first_one(tmp_path: Path) -> None:
    folder = make_project(tmp_path / "project")
    first = FIRST_GUIDE.read_text(encoding="utf-8")
    with Project(folder) as project:
        assert project.guide() == first
        (folder / GUIDE).write_text("# Ours\n\nBe kind: größer.\n", encoding="utf-8")
        assert project.guide() == "# Ours\n\nBe kind: größer.\n"
        (folder / GUIDE).write_bytes(b"# Ours \xff")
        assert project.guide() == "# Ours \N{REPLACEMENT CHARACTER}"
        (folder / GUIDE).unlink()
        assert project.guide() == first
        (folder / GUIDE).mkdir()
        assert project.guide() == first


def test_a_project_that_was_killed_while_it_was_made_is_made_again(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    make_project(folder)
    (folder / DATABASE).replace(folder / UNFINISHED)
    make_project(folder)
    with Project(folder) as project:
        assert project.store.size() == len(tasks())


def test_gold_data_and_disagreements_are_two_files(tmp_path: Path) -> None:
    folder, file = make_project(tmp_path / "project"), tmp_path / "gold.jsonl"
    done = CliRunner().invoke(app, ["annotate", "export", str(folder), "--out", str(file), "--disagreements", str(file)])
    assert "name two files" in str(done.exception)
    assert not file.exists()
