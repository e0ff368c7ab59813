import datetime
import json
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from pyarrow import parquet

from localfact.errors import InputError
from localfact.inputs.responses import read_response_file, read_responses
from localfact.inputs.row_files import data_digest

ICE, SNOW = "Ice floats on water, as it is lighter.", "Snow falls in winter, and melts in spring."
ROWS: list[dict[str, Any]] = [
    {"id": 3, "Question": "Ice?", "response": ICE, "contexts": ["Ice is light."], "made": datetime.date(2026, 5, 17)},
    {"id": 4, "Question": "Snow?", "response": SNOW, "contexts": None, "made": None},
]


def write_stream(file: Path, rows: list[dict[str, Any]]) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    table = pyarrow.Table.from_pylist(rows)
    with pyarrow.OSFile(str(file), "wb") as sink, pyarrow.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return file


def write_data_set(folder: Path, rows: list[dict[str, Any]]) -> Path:
    """A folder as `datasets.Dataset.save_to_disk` writes it, in two parts that are not in the order of their names."""
    write_stream(folder / "data-00001-of-00002.arrow", rows[:1])
    write_stream(folder / "data-00000-of-00002.arrow", rows[1:])
    files = [{"filename": "data-00001-of-00002.arrow"}, {"filename": "data-00000-of-00002.arrow"}]
    (folder / "state.json").write_text(json.dumps({"_data_files": files, "_split": None}), encoding="utf-8")
    (folder / "dataset_info.json").write_text("{}", encoding="utf-8")
    return folder


def write_kind(folder: Path, kind: str) -> Path:
    table = pyarrow.Table.from_pylist(ROWS)
    if kind == "parquet":
        parquet.write_table(table, folder / "rows.parquet", row_group_size=1)
    elif kind == "arrow file":
        with pyarrow.OSFile(str(folder / "rows.arrow"), "wb") as sink, pyarrow.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)
    elif kind == "arrow stream":
        return write_stream(folder / "rows.arrow", ROWS)
    else:
        return write_data_set(folder / "saved", ROWS)
    return next(folder.iterdir())


@pytest.mark.parametrize("kind", ["parquet", "arrow file", "arrow stream", "data set"])
def test_a_table_of_arrows_gives_its_rows(tmp_path: Path, kind: str) -> None:
    responses, warnings = read_response_file(write_kind(tmp_path, kind))
    assert [(one.id, one.id_given, one.prompt, one.text) for one in responses] == [
        ("3", True, "Ice?", ICE),
        ("4", True, "Snow?", SNOW),
    ]
    assert [one.evidence is not None for one in responses] == [True, False]
    assert warnings == ()


def test_all_splits_of_a_saved_dictionary_are_read_and_named(tmp_path: Path) -> None:
    (tmp_path / "dataset_dict.json").write_text(json.dumps({"splits": ["train", "test", "../away"]}), encoding="utf-8")
    write_data_set(tmp_path / "train", ROWS)
    write_data_set(tmp_path / "test", ROWS)
    before = data_digest(tmp_path)
    responses, warnings = read_response_file(tmp_path)
    assert [one.id for one in responses] == ["3", "4", "3#2", "4#2"]
    assert "The parts train, test of" in warnings[0]
    write_stream(tmp_path / "test" / "data-00000-of-00002.arrow", ROWS)
    assert data_digest(tmp_path) != before


def test_nested_columns_are_read_and_those_of_bytes_are_not(tmp_path: Path) -> None:
    messages = [{"role": "user", "content": "Ice?"}, {"role": "assistant", "content": ICE}]
    row = {"messages": messages, "picture": b"\x89PNG", "more": {"image": b"x", "cost": Decimal("1.5")}, "at": 3.5}
    parquet.write_table(pyarrow.Table.from_pylist([row]), tmp_path / "rows.parquet")
    ((response,), warnings) = read_response_file(tmp_path / "rows.parquet")
    assert (response.prompt, response.text) == ("Ice?", ICE)
    assert warnings == ("Columns of bytes that were not read: picture.",)


def test_pandas_index_without_a_name_is_the_id_where_it_is_no_number(tmp_path: Path) -> None:
    for label, name in (("ice", "ice"), (17, "row-1")):
        table = pyarrow.Table.from_pylist([{"response": ICE, "__index_level_0__": label}])
        parquet.write_table(table, tmp_path / "rows.parquet")
        assert [one.id for one in read_responses(tmp_path / "rows.parquet")] == [name]


def test_samples_of_another_tool_are_known_in_a_table_too(tmp_path: Path) -> None:
    row = {"doc_id": 0, "doc": {"q": "?"}, "resps": [[ICE]], "filter": "none", "arguments": {"gen_args_0": {"arg_0": "Ice?"}}}
    parquet.write_table(pyarrow.Table.from_pylist([row, row | {"filter": "other"}]), tmp_path / "rows.parquet")
    assert [(one.id, one.prompt, one.text) for one in read_responses(tmp_path / "rows.parquet")] == [("0", "Ice?", ICE)]


def test_what_cannot_be_read_is_refused_with_its_reason(tmp_path: Path) -> None:
    table = pyarrow.Table.from_pylist([{"text": ICE, "score": 3}])
    parquet.write_table(table, tmp_path / "no-response.parquet")
    (tmp_path / "torn.parquet").write_bytes((tmp_path / "no-response.parquet").read_bytes()[:-30])
    for name, said in (("no-response", r"none of its columns \(text, score\)"), ("torn", "cannot be read as a table")):
        with pytest.raises(InputError, match=said):
            read_responses(tmp_path / f"{name}.parquet")


@pytest.mark.parametrize("begin", ["PAR1", "ARROW1", "SQLite format 3"])
def test_a_text_that_begins_as_a_table_does_is_a_text(begin: str, tmp_path: Path) -> None:
    (tmp_path / "answer.txt").write_text(f"{begin} is how such a file begins. {ICE}", encoding="utf-8")
    for path in (tmp_path / "answer.txt", tmp_path):
        assert [one.text for one in read_responses(path)] == [f"{begin} is how such a file begins. {ICE}"]


def test_a_response_of_bytes_is_no_column_of_responses(tmp_path: Path) -> None:
    parquet.write_table(pyarrow.Table.from_pylist([{"id": "a", "response": ICE.encode()}]), tmp_path / "rows.parquet")
    with pytest.raises(InputError, match="has no response"):
        read_responses(tmp_path / "rows.parquet")


def test_a_file_that_is_cut_off_gives_what_stands_before(tmp_path: Path) -> None:
    file = write_data_set(tmp_path / "saved", ROWS) / "data-00001-of-00002.arrow"
    file.write_bytes(file.read_bytes()[:-200])
    responses = read_responses(tmp_path / "saved")
    assert [one.text for one in responses if one.problem is None] == [SNOW]
    assert "cannot be read in data-00001-of-00002.arrow" in str(responses[0].problem)


def test_without_pyarrow_one_sentence_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = write_kind(tmp_path, "parquet")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setattr("localfact.runtime.cures.requires", lambda name: ["pyarrow>=20.0; extra == 'tables'"])
    with pytest.raises(InputError, match=r"is a Parquet file, which pyarrow reads: pip install 'pyarrow>=20\.0'\.$"):
        read_responses(file)
