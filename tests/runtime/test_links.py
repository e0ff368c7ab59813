"""Symbolic links in folders from elsewhere: nothing is written through one, and the refusal names it."""

import sqlite3
from pathlib import Path

import pytest

from localfact.errors import InputError
from localfact.runtime.files import NEW, replace
from localfact.runtime.links import append_to, refuse_links
from localfact.runtime.sqlite import connect

PRECIOUS = "what must not be lost"


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    file = tmp_path / "victim"
    file.write_text(PRECIOUS)
    return file


@pytest.mark.parametrize("name", ["link", "below/link", "below/deeper/link"])
def test_a_link_at_any_depth_is_named(tmp_path: Path, victim: Path, name: str) -> None:
    folder = tmp_path / "folder"
    link = folder / name
    link.parent.mkdir(parents=True)
    refuse_links(folder)
    link.symlink_to(victim)
    with pytest.raises(InputError, match=f"{link} is a symbolic link to {victim}"):
        refuse_links(folder)


def test_a_folder_that_cannot_be_read_is_an_error_of_its_own(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="gone cannot be looked into"):
        refuse_links(tmp_path / "gone")


def test_a_linked_folder_is_not_looked_into_and_the_folders_own_path_may_be_a_link(tmp_path: Path, victim: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "named").symlink_to(tmp_path / "folder")
    refuse_links(tmp_path / "named")
    (tmp_path / "folder/below").symlink_to(tmp_path)
    with pytest.raises(InputError, match="below is a symbolic link"):
        refuse_links(tmp_path / "named")


def test_a_link_where_a_new_file_is_made_is_replaced_by_the_file(tmp_path: Path, victim: Path) -> None:
    (tmp_path / f"file{NEW}").symlink_to(victim)
    replace(tmp_path / "file", b"new")
    assert (tmp_path / "file").read_bytes() == b"new"
    assert not (tmp_path / "file").is_symlink()
    assert victim.read_text() == PRECIOUS


def test_nothing_is_appended_through_a_link(tmp_path: Path, victim: Path) -> None:
    (tmp_path / "log").symlink_to(victim)
    with pytest.raises(OSError, match="symbolic links"):
        append_to(tmp_path / "log")
    assert victim.read_text() == PRECIOUS


@pytest.mark.parametrize("ending", ["-wal", "-shm", "-journal"])
def test_what_sqlite_opens_beside_a_file_is_no_link(tmp_path: Path, victim: Path, ending: str) -> None:
    file = tmp_path / "some file.sqlite"
    connect(file.as_uri()).close()
    (tmp_path / f"some file.sqlite{ending}").symlink_to(victim)
    with pytest.raises(InputError, match=f"{ending} is a symbolic link"):
        connect(f"{file.as_uri()}?mode=ro")
    assert victim.read_text() == PRECIOUS


@pytest.mark.parametrize(
    ("statement", "kind"),
    [
        ("CREATE VIEW calls AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n", "view"),
        ("CREATE TRIGGER after_all AFTER INSERT ON own BEGIN DELETE FROM own; END", "trigger"),
        ("CREATE VIRTUAL TABLE passages USING fts5(text)", "table"),
    ],
)
def test_a_file_with_more_than_tables_is_refused(tmp_path: Path, statement: str, kind: str) -> None:
    file = tmp_path / "from-elsewhere.sqlite"
    with sqlite3.connect(file) as database:
        database.execute("CREATE TABLE own (id)")
        database.execute(statement)
    database.close()
    with pytest.raises(sqlite3.DatabaseError, match=f"it has a {kind} named"):
        connect(file.as_uri())
