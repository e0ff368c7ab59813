"""Reads Parquet and Arrow files, and data sets that Hugging Face's library saved to disk, by pyarrow (the extra `tables`)."""

import datetime
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from localfact.errors import InputError
from localfact.inputs.json_rows import RowError, names_of, parse_json, plain_name, shown_error
from localfact.inputs.plain_texts import PLAIN
from localfact.runtime.cures import install_extra
from localfact.text import path_text

#: How a file begins -> what it is. A stream of Arrow's, as `save_to_disk` writes it, begins with a mark and has no name.
PARQUET, ARROW, STREAM = b"PAR1", b"ARROW1", b"\xff\xff\xff\xff"
KINDS: Mapping[bytes, str] = {PARQUET: "a Parquet file", ARROW: "an Arrow file", STREAM: "an Arrow file"}
SUFFIXES = (".parquet", ".arrow")
#: What says that a folder is a data set, and that it is several.
STATE, SPLITS = "state.json", "dataset_dict.json"
#: How many rows are made at once, and the most bytes of a group of rows, unpacked.
ROWS, LARGEST_GROUP = 256, 4 * 2**30
#: How pandas calls an index without a name.
_INDEX = re.compile(r"__index_level_\d+__")
_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?")

Note = Callable[[str], None]


def is_table(path: Path) -> bool:
    """Whether a file, by its first bytes, or a folder, by what lies in it, is read here."""
    if path.is_dir():
        return bool(table_files(path))
    try:
        with path.open("rb") as file:
            head = file.read(8)
            file.seek(max(0, path.stat().st_size - len(PARQUET)))
            end = file.read()
    except OSError:
        return False
    # A text may begin with the letters of a Parquet file, which ends with them, too.
    is_parquet = head.startswith(PARQUET) and (end == PARQUET or path.suffix.lower() in SUFFIXES)
    return is_parquet or head.startswith((ARROW + b"\0\0", STREAM))


def table_files(folder: Path) -> list[Path]:
    """The files of a data set in a folder, in order: those that it names, else all tables; none where it is no data set."""
    if (folder / SPLITS).is_file():
        named = _read(folder / SPLITS).get("splits")
        return [file for name in _plain_names(named) for file in table_files(folder / name)]
    if (folder / STATE).is_file():
        named = _read(folder / STATE).get("_data_files")
        names = [one.get("filename") for one in named if isinstance(one, Mapping)] if isinstance(named, list) else []
        files = [folder / name for name in _plain_names(names)]
        return files or sorted(folder.glob("*.arrow"))
    return _loose_tables(folder)


def _loose_tables(folder: Path) -> list[Path]:
    """All tables in a folder and in those in it; none of a folder of texts."""
    tables: list[Path] = []
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        shown = [name for name in names if not name.startswith(".")]
        # A folder of texts stays one; a data set may be described in one.
        if any(Path(name).suffix.lower() in PLAIN and Path(name).stem.lower() != "readme" for name in shown):
            return []
        tables += [Path(place, name) for name in shown if Path(name).suffix.lower() in SUFFIXES]
    return sorted(tables)


def rows_of_tables(path: Path, answers: Sequence[str], note: Note) -> Iterator[Any]:
    """The rows of a file, or of all files of a folder, as values of JSON; one that cannot be made is a RowError.

    Args:
        answers: names of which a table must have one, where its rows are to be responses.

    Raises:
        InputError: pyarrow is not there, or the file cannot be read, or has no such column.
    """
    files = table_files(path) if path.is_dir() else [path]
    if path.is_dir() and len({file.parent for file in files}) > 1:
        names = dict.fromkeys(path_text(file.parent.relative_to(path)) for file in files)
        note(f"The parts {', '.join(names)} of {path_text(path)} were read one after the other.")
    for file in files:
        yield from _rows_of(file, answers, note)


def _rows_of(path: Path, answers: Sequence[str], note: Note) -> Iterator[Any]:
    pyarrow = _pyarrow(path)
    bad = (pyarrow.ArrowException, OSError, MemoryError, ValueError, LookupError, TypeError)
    try:
        schema, batches = _open(path)
        names, kept = list(schema.names), [place for place, field in enumerate(schema) if not _holds_bytes(field.type)]
    except bad as error:
        raise InputError(f"{path} cannot be read as a table: {_shown(error)}.") from None
    left = [name for place, name in enumerate(names) if place not in kept]
    if left:
        note(f"Columns of bytes that were not read: {names_of(left)}.")
    if answers and not {plain_name(names[place]) for place in kept} & {*answers, "resps", "filtered_resps", "provider"}:
        raise InputError(
            f"{path} has no response: none of its columns ({names_of(names)}) is one. "
            "Call that of the texts 'response', or as docs/inputs.md has it."
        )
    try:
        for batch in batches:
            batch.validate(full=True)  # what says that a text ends before it begins is not followed
            table = batch.select(kept)
            for begin in range(0, table.num_rows, ROWS):
                yield from map(_row, table.slice(begin, ROWS).to_pylist())
    except bad as error:
        yield RowError(f"The rows from here on cannot be read in {path.name}: {_shown(error)}.")


def _pyarrow(path: Path) -> Any:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        with path.open("rb") as file:
            head = file.read(8)
        what = next((kind for mark, kind in KINDS.items() if head.startswith(mark)), "a table")
        raise InputError(f"{path} is {what}, which pyarrow reads: {install_extra('tables')}.") from None
    return pyarrow


def _open(path: Path) -> tuple[Any, Iterator[Any]]:
    """The schema of a file, and its rows in parts."""
    import pyarrow
    from pyarrow import parquet

    with path.open("rb") as file:
        head = file.read(8)
    if head.startswith(PARQUET):
        table = parquet.ParquetFile(path)
        sizes = [table.metadata.row_group(number).total_byte_size for number in range(table.metadata.num_row_groups)]
        if sizes and max(sizes) > LARGEST_GROUP:
            raise ValueError(f"a group of its rows has {max(sizes):,} bytes, more than {LARGEST_GROUP:,}")
        return table.schema_arrow, table.iter_batches(batch_size=ROWS)
    # Not mapped into memory: there a damaged file ends the process.
    source = pyarrow.OSFile(str(path))
    if head.startswith(ARROW):
        reader = pyarrow.ipc.open_file(source)
        return reader.schema, map(reader.get_batch, range(reader.num_record_batches))
    stream = pyarrow.ipc.open_stream(source)
    return stream.schema, iter(stream)


def _holds_bytes(kind: Any) -> bool:
    import pyarrow

    return bool(
        pyarrow.types.is_binary(kind) or pyarrow.types.is_large_binary(kind) or pyarrow.types.is_fixed_size_binary(kind)
    )


def _row(row: dict[str, Any]) -> dict[str, Any]:
    """A row as values of JSON; pandas' index is its id where it is no number and there is no other."""
    labels = [value for name, value in row.items() if _INDEX.fullmatch(name)]
    said = {name: _plain(value) for name, value in row.items() if not _INDEX.fullmatch(name)}
    named = labels and isinstance(labels[0], str) and not _NUMBER.fullmatch(labels[0])
    return {"id": labels[0], **said} if named and "id" not in said else said


def _plain(value: Any) -> Any:
    """A value as JSON has it; a mapping is a list of pairs in Arrow, and bytes are left out."""
    if isinstance(value, Mapping):
        return {str(name): _plain(one) for name, one in value.items()}
    if isinstance(value, list):
        pairs = bool(value) and all(isinstance(one, tuple) and len(one) == 2 for one in value)
        return {str(name): _plain(one) for name, one in value} if pairs else [_plain(one) for one in value]
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, bytes):
        return None
    return value.isoformat() if isinstance(value, datetime.date | datetime.time) else str(value)


def _read(file: Path) -> Mapping[str, Any]:
    said = parse_json(file.read_text(encoding="utf-8", errors="replace"))
    return said if isinstance(said, Mapping) else {}


def _plain_names(names: object) -> list[str]:
    """Those names that are of something in its folder, and lead nowhere else."""
    texts = [name for name in names if isinstance(name, str)] if isinstance(names, list) else []
    return [name for name in texts if name == Path(name).name and name not in ("", ".", "..")]


def _shown(error: BaseException) -> str:
    return shown_error(error) or type(error).__name__
