"""FActScore's Wikipedia: what its rows become, and what strangers may put into such a file."""

import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from localfact.corpus.importing import factscore_database
from localfact.corpus.importing.factscore_database import SEPARATOR, article_link, article_text, read_factscore
from localfact.corpus.importing.imported import Problem
from localfact.errors import InputError
from localfact.web.pages import Page

TABLE = "CREATE TABLE documents (title PRIMARY KEY, text)"


def database(file: Path, rows: Iterable[tuple[Any, Any]] = (), *, schema: str = TABLE) -> Path:
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.executescript(schema)
        for row in rows:
            connection.execute("INSERT INTO documents (title, text) VALUES (?, ?)", row)
    return file


def read(file: Path) -> list[Page | Problem]:
    return list(read_factscore(file, file.name, lambda name, done, total: None))


def test_a_row_becomes_the_page_of_its_article(tmp_path: Path) -> None:
    text = f"<s>Orm is a cape.</s><s>Its light is re{SEPARATOR}d.</s>"
    (page,) = read(database(tmp_path / "wiki.db", [("Cape Orm", text)]))
    assert page == Page(
        link="https://en.wikipedia.org/wiki/Cape_Orm",
        title="Cape Orm",
        text="Orm is a cape. Its light is red.",
        provider="local",
    )


@pytest.mark.parametrize(
    ("stored", "text"),
    [
        (f"<s>The lamp{SEPARATOR} was lit.</s>", "The lamp was lit."),  # cut between two words
        (f"<s>The la{SEPARATOR}mp was lit.</s>", "The lamp was lit."),  # cut inside a word
        (f"<s>One.</s>{SEPARATOR}<s>Two.</s>", "One. Two."),
        (f"<s>One.{SEPARATOR}</s><s> Two.</s>", "One. Two."),
        ("<s>One.</s><s>Two.</s>", "One. Two."),
        (f"One passage.{SEPARATOR}Another passage.", "One passage.\nAnother passage."),
        ("No separator.", "No separator."),
    ],
)
def test_passages_join_where_the_tokenizer_cut_them(stored: str, text: str) -> None:
    assert article_text(stored).strip() == text


@pytest.mark.parametrize(
    ("title", "ending"),
    [
        ("Cape Orm", "Cape_Orm"),
        ("AC/DC", "AC/DC"),
        ("Orm (cape)", "Orm_(cape)"),
        ("What is 100%?", "What_is_100%25%3F"),
        ("Zürich #1", "Z%C3%BCrich_%231"),
    ],
)
def test_the_link_is_the_address_that_wikipedia_gives(title: str, ending: str) -> None:
    assert article_link(title) == f"https://en.wikipedia.org/wiki/{ending}"


def test_bad_rows_are_told_with_their_number_and_stop_no_other(tmp_path: Path) -> None:
    rows = [("Good", "One."), (None, "x"), (b"blob", "x"), (7.5, "x"), ("", "x"), ("No text", None), ("Blob", b"\x00\xff")]
    rows += [("Empty", "  "), ("x" * 2_000, "long title"), ("Nul\x00", "a\x00b"), ("Last", "Two.")]
    entries = read(database(tmp_path / "wiki.db", rows))
    pages = [(page.title, page.text) for page in entries if isinstance(page, Page)]
    assert pages == [("Good", "One."), ("Nul\ufffd", "a\ufffdb"), ("Last", "Two.")]
    assert [entry.where for entry in entries if isinstance(entry, Problem)] == [f"wiki.db, row {n}" for n in range(2, 10)]


def test_a_row_too_large_is_told_and_the_next_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(factscore_database, "MAX_ROW_BYTES", 100_000)
    entries = read(database(tmp_path / "wiki.db", [("Huge", "x" * 200_000), ("Good", "One.")]))
    assert entries[0] == Problem("wiki.db, row 1", "The row is larger than 100,000 bytes.")
    assert isinstance(entries[1], Page)


def test_bytes_that_are_no_utf8_are_replaced(tmp_path: Path) -> None:
    file = database(tmp_path / "wiki.db")
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("INSERT INTO documents VALUES ('Caf', CAST(x'636166e9' AS TEXT))")
    (page,) = read(file)
    assert isinstance(page, Page)
    assert page.text == "caf\ufffd"


def test_rows_come_in_the_order_of_their_numbers_not_of_their_titles(tmp_path: Path) -> None:
    entries = read(database(tmp_path / "wiki.db", [("Zebra", "z"), ("Aardvark", "a"), ("Mole", "m")]))
    assert [entry.title for entry in entries if isinstance(entry, Page)] == ["Zebra", "Aardvark", "Mole"]


@pytest.mark.parametrize(
    "schema",
    [
        "CREATE TABLE other (title, text)",
        "CREATE TABLE documents (title)",
        "CREATE TABLE d (title, text); CREATE VIEW documents AS SELECT title, text FROM d",
        """CREATE VIEW documents AS WITH RECURSIVE r(title, text) AS (VALUES ('a', 'b') UNION ALL SELECT title, text FROM r)
        SELECT * FROM r""",
        "CREATE VIRTUAL TABLE documents USING fts5(title, text)",
        "CREATE TABLE documents (title, text GENERATED ALWAYS AS (hex(zeroblob(100000000))))",
        "CREATE TABLE documents (title PRIMARY KEY, text) WITHOUT ROWID",
        "CREATE TABLE documents (title, text, rowid)",
    ],
)
def test_other_tables_views_and_computed_columns_are_refused(tmp_path: Path, schema: str) -> None:
    file = database(tmp_path / "wiki.db", schema=schema)
    with pytest.raises(InputError, match=r"wiki\.db"):
        read(file)


def test_other_tables_beside_it_do_not_matter(tmp_path: Path) -> None:
    file = database(tmp_path / "wiki.db", [("A", "b")], schema=f"CREATE TABLE x (y); {TABLE}; CREATE VIEW v AS SELECT 1/0")
    assert len(read(file)) == 1


def test_a_file_cut_short_or_damaged_at_its_head_is_an_error_with_a_cure(tmp_path: Path) -> None:
    file = database(tmp_path / "wiki.db", [(f"Title {n}", "text " * 200) for n in range(500)])
    content = file.read_bytes()
    for damaged in (content[: len(content) // 2], content[:16] + b"\xff" * 5_000, content[:16]):
        file.write_bytes(damaged)
        with pytest.raises(InputError, match="Copy it again"):
            read(file)


def test_damage_in_the_middle_is_told_and_what_stands_before_it_is_kept(tmp_path: Path) -> None:
    file = database(tmp_path / "wiki.db", [(f"Title {n}", "text " * 200) for n in range(500)])
    content = bytearray(file.read_bytes())
    middle = len(content) // 2 // 4096 * 4096
    content[middle : middle + 4096] = b"\xff" * 4096
    file.write_bytes(content)
    entries = read(file)
    assert isinstance(entries[0], Page)
    assert [entry for entry in entries if isinstance(entry, Problem)]
    assert all(entry.title.startswith("Title ") for entry in entries if isinstance(entry, Page))


def test_pages_that_point_in_circles_end(tmp_path: Path) -> None:
    file = database(tmp_path / "wiki.db", [(f"Title {n}", "text " * 200) for n in range(500)])
    content = bytearray(file.read_bytes())
    with closing(sqlite3.connect(file)) as connection:
        (size,) = connection.execute("PRAGMA page_size").fetchone()
        (root,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'documents'").fetchone()
    # The root of the tree names its first child in the place of all its children.
    begin = (root - 1) * size
    assert content[begin] == 5
    cells = int.from_bytes(content[begin + 3 : begin + 5])
    first = begin + int.from_bytes(content[begin + 12 : begin + 14])
    for number in range(1, cells):
        at = begin + int.from_bytes(content[begin + 12 + 2 * number : begin + 14 + 2 * number])
        content[at : at + 4] = content[first : first + 4]
    file.write_bytes(content)
    entries = read(file)
    assert isinstance(entries[-1], Problem)
    assert len(entries) < 500


def test_nothing_is_written_beside_or_into_the_file(tmp_path: Path) -> None:
    # Read in the usual way, a database in this mode gets two files beside it.
    file = database(tmp_path / "wiki.db", [("A", "b"), ("B", "c")], schema=f"PRAGMA journal_mode = WAL; {TABLE}")
    before = file.read_bytes()
    entries = read_factscore(file, "wiki.db", lambda name, done, total: None)
    next(entries)
    assert [item.name for item in tmp_path.iterdir()] == ["wiki.db"]
    assert len(list(entries)) == 1
    assert [item.name for item in tmp_path.iterdir()] == ["wiki.db"]
    assert file.read_bytes() == before


def test_a_database_in_the_middle_of_a_change_is_refused(tmp_path: Path) -> None:
    file = database(tmp_path / "wiki.db", [("A", "b")], schema=f"PRAGMA journal_mode = WAL; {TABLE}")
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("INSERT INTO documents VALUES ('B', 'c')")
        connection.commit()
        with pytest.raises(InputError, match="was not closed"):
            read(file)
    assert len(read(file)) == 2


def test_progress_ends_with_the_number_of_rows(tmp_path: Path) -> None:
    told: list[tuple[str, int, int | None]] = []
    file = database(tmp_path / "wiki.db", [(f"T{n}", "x") for n in range(450)])
    assert len(list(read_factscore(file, "wiki.db", lambda *step: told.append(step)))) == 450
    assert told == [("wiki.db", 200, 450), ("wiki.db", 400, 450), ("wiki.db", 450, 450)]


def test_reading_is_a_stream_that_can_be_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[sqlite3.Connection] = []
    connect = sqlite3.connect
    file = database(tmp_path / "wiki.db", [(f"T{n}", "x") for n in range(1_000)])
    monkeypatch.setattr(sqlite3, "connect", lambda *args, **named: opened.append(connect(*args, **named)) or opened[-1])
    entries = read_factscore(file, "wiki.db", lambda name, done, total: None)
    next(entries)
    entries.close()
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        opened[0].execute("SELECT 1")
