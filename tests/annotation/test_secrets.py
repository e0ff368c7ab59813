"""Who can read a project's files: they hold the token and the secret of its cookies, so its owner alone."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from annotation_projects import comment, make_all, make_project
from typer.testing import CliRunner

from localfact.annotation.project import BACKUPS, DATABASE, UNFINISHED, Project
from localfact.cli.main import app


@pytest.fixture(params=[0o000, 0o022, 0o777], autouse=True)
def mask(request: pytest.FixtureRequest) -> Iterator[None]:
    """What the user's mask takes away says nothing of what others may read."""
    before = os.umask(request.param)
    yield
    os.umask(before)


def modes_of(folder: Path) -> dict[str, int]:
    """Path in the folder -> its mode, of folders and of what holds a secret."""
    found = [folder, folder / BACKUPS, *folder.rglob("*.sqlite*")]
    return {str(path.relative_to(folder)): path.stat().st_mode & 0o777 for path in found if path.exists()}


def assert_private(folder: Path) -> None:
    modes = modes_of(folder)
    assert DATABASE in modes
    assert modes == {name: 0o700 if name in (".", BACKUPS) else 0o600 for name in modes}


def open_to_all(folder: Path) -> None:
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o777 if path.is_dir() else 0o666)


def test_a_new_project_and_all_that_comes_into_it_are_its_owners(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = make_project(tmp_path / "project")
    assert_private(folder)
    seen: list[dict[str, int]] = []
    rename = Path.replace

    def look_and_rename(self: Path, target: Path) -> Path:
        if self.parent.name == BACKUPS:
            seen.append(modes_of(folder))
        return rename(self, target)

    monkeypatch.setattr(Path, "replace", look_and_rename)
    with Project(folder) as project:
        make_all(project.store, 1, "ada", comment("c1", "Note."))
        assert {f"{DATABASE}-wal", f"{DATABASE}-shm"} < set(modes_of(folder))
        assert_private(folder)
    (while_written,) = seen
    assert any(name.startswith(BACKUPS + "/") and "new" in name for name in while_written)
    assert set(while_written.values()) == {0o600, 0o700}


def test_a_folder_that_was_there_is_its_owners_before_anything_is_in_it(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    folder.chmod(0o777)
    (folder / UNFINISHED).touch()
    (folder / UNFINISHED).chmod(0o666)
    assert_private(make_project(folder))


@pytest.mark.parametrize("how", ["opened", "export"])
def test_a_project_that_others_could_read_is_its_owners_from_its_next_opening(tmp_path: Path, how: str) -> None:
    folder = make_project(tmp_path / "project")
    for _ in range(2):
        with Project(folder):
            pass
    (folder / BACKUPS / "old.sqlite-wal").touch()
    open_to_all(folder)
    if how == "opened":
        with Project(folder):
            assert_private(folder)
    else:
        done = CliRunner().invoke(app, ["annotate", "export", str(folder), "--out", str(tmp_path / "gold.jsonl")])
        assert done.exit_code == 0, done.output
    assert_private(folder)


def test_a_killed_makers_log_is_not_left_to_others(tmp_path: Path) -> None:
    folder = make_project(tmp_path / "project")
    with Project(folder):
        open_to_all(folder)
        (folder / DATABASE).chmod(0o600)
    log = folder / f"{DATABASE}-wal"
    log.touch()
    log.chmod(0o666)
    with Project(folder):
        assert_private(folder)
