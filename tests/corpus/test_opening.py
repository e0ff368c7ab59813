"""What a user is told where the file of a corpus cannot be read: that it is damaged, or that it waits for room on the disk."""

import sqlite3
from pathlib import Path

import pytest

from localfact.corpus.tables import open_to_read
from localfact.errors import CorpusError, WriteError


@pytest.mark.parametrize("finished", [True, False])
def test_a_file_of_other_tables_is_damaged_whether_it_is_being_written_or_not(tmp_path: Path, finished: bool) -> None:
    file = tmp_path / "other.sqlite"
    sqlite3.connect(file).execute("CREATE TABLE another (id INTEGER)").connection.close()
    with pytest.raises(CorpusError, match="no such table: pages"), open_to_read(file, finished=finished) as database:
        database.execute("SELECT * FROM pages")


def test_a_file_that_cannot_be_opened_beside_its_writer_is_not_damaged(tmp_path: Path) -> None:
    with pytest.raises(WriteError, match="while it is written"), open_to_read(tmp_path / "none.sqlite", finished=False):
        pass
