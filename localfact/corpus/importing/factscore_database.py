"""Reads FActScore's Wikipedia: an SQLite file with the table `documents(title, text)`, one row an article.

The file is untrusted: it is opened read-only, nothing in its schema is executed, and a bad row stops no other.
"""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote

from localfact.corpus.importing.imported import Problem, Progress
from localfact.errors import InputError
from localfact.runtime.sqlite import Connection
from localfact.web.pages import NoPageError, Page, clean_text, page_of

MAGIC = b"SQLite format 3\x00"
TABLE = "documents"
#: Separates the passages of an article, each of at most 256 tokens of RoBERTa.
SEPARATOR = "####SPECIAL####SEPARATOR####"
#: RoBERTa's special tokens for a sentence's beginning and end, which decoding left in.
SENTENCE_MARKS = ("<s>", "</s>")
SPACES = re.compile("  +")
ARTICLES = "https://en.wikipedia.org/wiki/"
#: Characters that MediaWiki does not escape in the address of an article.
UNESCAPED = ";@$!*(),/~:"
#: MediaWiki's own limit is 255 bytes.
MAX_TITLE_CHARACTERS = 1_000
#: Larger rows are refused: reading one could take all memory.
MAX_ROW_BYTES = 50_000_000
#: Rows between two calls of progress.
ROWS_PER_STEP = 200


def read_factscore(file: Path, name: str, progress: Progress) -> Iterator[Page | Problem]:
    """Yields the article of every row, or why it gives none, in the order of the rows.

    The total given to `progress` is the largest row number, which is exact unless rows were deleted.

    Args:
        file: the database.
        name: its name in messages about problems.

    Raises:
        InputError: no SQLite file, or one without a plain table `documents(title, text)`; or it is being written.
    """
    with open_database(file) as database:
        total = check_total(database, file)
        done = 0
        for done, row in enumerate(row_numbers(database, name), start=1):
            yield row if isinstance(row, Problem) else article(database, row, name)
            if done % ROWS_PER_STEP == 0:
                progress(name, done, max(total, done))
        progress(name, done, max(total, done))


def check_factscore(file: Path) -> None:
    """Raises InputError as `read_factscore` does."""
    with open_database(file) as database:
        check_total(database, file)


@contextmanager
def open_database(file: Path) -> Iterator[sqlite3.Connection]:
    """The database, opened read-only."""
    refuse_unfinished(file)
    with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro&immutable=1", uri=True, factory=Connection)) as database:
        database.text_factory = lambda content: content.decode("utf-8", errors="replace")
        database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_ROW_BYTES)
        yield database


def refuse_unfinished(file: Path) -> None:
    """Refuses a file with a journal, whose rows would be missing or half written.

    Raises:
        InputError: there is a journal beside the file.
    """
    for ending in ("-wal", "-journal"):
        journal = file.with_name(file.name + ending)
        if journal.exists() and journal.stat().st_size:
            raise InputError(f"{file} was not closed: {journal.name} holds changes. Close what writes it, or open it once.")


def check_total(database: sqlite3.Connection, file: Path) -> int:
    """The largest row number of the table.

    Raises:
        InputError: the file cannot be read, or has no such table (a view, a virtual table or computed columns would run code).
    """
    try:
        database.execute("PRAGMA trusted_schema = OFF")
        database.execute("PRAGMA cell_size_check = ON")
        statement = "SELECT sql FROM sqlite_master WHERE type = 'table' AND lower(name) = ?"
        definitions = database.execute(statement, (TABLE,)).fetchall()
        if len(definitions) != 1 or str(definitions[0][0]).upper().startswith("CREATE VIRTUAL"):
            raise InputError(f"{file} has no table {TABLE}(title, text), so it is not FActScore's Wikipedia.")
        columns = {str(row[1]).lower(): row[6] for row in database.execute(f"PRAGMA table_xinfo({TABLE})")}
        if any(columns.get(column) != 0 for column in ("title", "text")) or "rowid" in columns:
            raise InputError(f"The table {TABLE} of {file} has no plain columns title and text.")
        (largest,) = database.execute(f"SELECT MAX(rowid) FROM {TABLE}").fetchone()
    except sqlite3.Error as error:
        raise InputError(f"{file} cannot be read as an SQLite database: {error}. Copy it again.") from error
    return int(largest or 0)


def row_numbers(database: sqlite3.Connection, name: str) -> Iterator[int | Problem]:
    """The number of every row, ascending; a problem at the end where the file is damaged."""
    last = None
    try:
        # Numbers only, as a row too large to be read would end the whole statement.
        for (row,) in database.execute(f"SELECT rowid FROM {TABLE} NOT INDEXED ORDER BY rowid"):
            if last is not None and row <= last:
                raise sqlite3.DatabaseError("row numbers do not ascend")
            last = row
            yield row
    except sqlite3.Error as error:
        yield Problem(f"{name}, after row {last or 0}", f"The rest cannot be read: {error}.")


def article(database: sqlite3.Connection, row: int, name: str) -> Page | Problem:
    """The page of one row."""
    where = f"{name}, row {row}"
    try:
        found = database.execute(f"SELECT title, text FROM {TABLE} WHERE rowid = ?", (row,)).fetchone()
        if found is None:
            raise NoPageError("The row is not where its number says.")
        return page_of_article(*found)
    except sqlite3.DataError:
        return Problem(where, f"The row is larger than {MAX_ROW_BYTES:,} bytes.")
    except sqlite3.Error as error:
        return Problem(where, f"The row cannot be read: {error}.")
    except NoPageError as problem:
        return Problem(where, str(problem))


def page_of_article(title: object, text: object) -> Page:
    """The page of an article, with its address on Wikipedia. Raises NoPageError without a title or a text."""
    name = " ".join(clean_text(title).split())
    if not name:
        raise NoPageError("The row has no title.")
    if len(name) > MAX_TITLE_CHARACTERS:
        raise NoPageError(f"The title is longer than {MAX_TITLE_CHARACTERS:,} characters.")
    return page_of({"link": article_link(name), "title": name, "text": article_text(text) if isinstance(text, str) else ""})


def article_link(title: str) -> str:
    """The address of the article in the English Wikipedia."""
    return ARTICLES + quote(title.replace(" ", "_"), safe=UNESCAPED)


def article_text(stored: str) -> str:
    """The text of an article: passages joined, RoBERTa's special tokens removed.

    Where there are such tokens, passages were cut every 256 tokens, in the middle of a sentence or word, and are joined without
    a gap. Text without them was cut by another tool, and each passage stays a paragraph.
    """
    if not any(mark in stored for mark in SENTENCE_MARKS):
        return "\n".join(stored.split(SEPARATOR))
    text = stored.replace(SEPARATOR, "")
    for mark in SENTENCE_MARKS:
        text = text.replace(mark, " ")
    return SPACES.sub(" ", text)
