import json
from pathlib import Path
from typing import Any

import pytest

from localfact.errors import InputError
from localfact.inputs.prompts import read_prompts
from localfact.inputs.responses import read_response_file, read_responses

ICE, SNOW = "Ice floats on water, as it is lighter.", "Snow falls in winter, and melts in spring."
ROWS = [{"id": "ice", "topic": "ice", "response": ICE}, {"id": "snow", "topic": "snow", "response": SNOW}]
COLUMNS = {name: [row[name] for row in ROWS] for name in ROWS[0]}
LISTS = [list(row.values()) for row in ROWS]
BY_LABEL = {str(label): row for label, row in enumerate(ROWS)}


def written(folder: Path, document: Any, name: str = "rows.json") -> Path:
    (folder / name).write_text(document if isinstance(document, str) else json.dumps(document), encoding="utf-8")
    return folder / name


TABLES: dict[str, Any] = {
    "split": {"columns": list(ROWS[0]), "index": [0, 1], "data": LISTS},
    "split without index": {"columns": list(ROWS[0]), "data": LISTS},
    "fields": {"fields": [{"name": name, "type": "text"} for name in ROWS[0]], "rows": LISTS},
    "index": BY_LABEL,
    "columns": {name: dict(zip("01", cells, strict=True)) for name, cells in COLUMNS.items()},
    "table": {
        "schema": {"fields": [{"name": "index", "type": "integer"}], "primaryKey": ["index"], "pandas_version": "1.4.0"},
        "data": [{"index": label, **row} for label, row in enumerate(ROWS)],
    },
    "lists": COLUMNS,
    "capitals": {name.title(): cells for name, cells in COLUMNS.items()},
    "head and rows": [list(ROWS[0]), *LISTS],
    "wrapped": {"version": 2, "results": ROWS},
    "wrapped twice": {"file": {"data": COLUMNS}, "made": "today"},
    "one after the other": "\n".join(json.dumps(row, indent=2) for row in ROWS),
}


@pytest.mark.parametrize("form", TABLES)
def test_a_table_in_json_gives_its_rows(tmp_path: Path, form: str) -> None:
    responses, warnings = read_response_file(written(tmp_path, TABLES[form]))
    assert [(one.id, one.topic, one.text) for one in responses] == [tuple(row.values()) for row in ROWS]
    assert warnings == ()


@pytest.mark.slow
@pytest.mark.parametrize("orient", ["records", "split", "index", "columns", "values", "table"])
def test_what_pandas_writes_is_read_back(tmp_path: Path, orient: str) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(ROWS)
    for written_frame in (frame, frame.set_index("id")):
        written_frame.to_json(tmp_path / "rows.json", orient=orient)
        responses, warnings = read_response_file(tmp_path / "rows.json")
        assert [one.text for one in responses] == [ICE, SNOW]
        assert bool(warnings) == (orient == "values")
        lost = orient == "values" or (orient == "records" and "id" not in written_frame)
        assert [one.id for one in responses] == (["row-1", "row-2"] if lost else ["ice", "snow"])


def test_cells_without_names_are_guessed_only_where_one_is_by_far_the_longest(tmp_path: Path) -> None:
    _, (warning,) = read_response_file(written(tmp_path, LISTS))
    assert "in place 3, by far the longest texts, are taken for the responses; the other 2 were not read" in warning
    with pytest.raises(InputError):
        read_responses(written(tmp_path, '[["Ice floats.", "Snow falls."]'))
    (unclear,) = read_responses(written(tmp_path, [["Ice floats.", "Snow falls."]]))
    assert unclear.problem is not None


def test_columns_need_not_be_of_one_length_and_a_single_value_stands_in_every_row(tmp_path: Path) -> None:
    first, second = read_responses(written(tmp_path, {"response": [ICE, SNOW], "topic": ["ice"], "model": "m"}))
    assert (first.topic, second.topic, second.model) == ("ice", None, "m")


def test_one_row_is_no_table_whatever_it_holds(tmp_path: Path) -> None:
    claims = ["Ice floats."]
    (response,) = read_responses(
        written(tmp_path, {"response": ICE, "claims": claims, "passages": [{"text": "a", "topic": "b"}]})
    )
    assert response.claims is not None
    (message,) = read_responses(written(tmp_path, {"response": {"role": "assistant", "content": ICE}}))
    assert message.text == ICE


def test_several_lists_are_read_and_told_and_an_empty_one_is_an_error(tmp_path: Path) -> None:
    responses, (warning,) = read_response_file(written(tmp_path, {"train": ROWS[:1], "test": ROWS[1:]}))
    assert [one.id for one in responses] == ["ice", "snow"]
    assert "train, test" in warning
    with pytest.raises(InputError, match="empty list"):
        read_responses(written(tmp_path, {"data": []}))


def test_prompts_may_be_wrapped_too(tmp_path: Path) -> None:
    wrapped = written(tmp_path, {"data": [{"prompt": "What floats?"}]})
    assert [prompt.text for prompt in read_prompts(wrapped).prompts] == ["What floats?"]


WHOLE = json.dumps([{**row, "claims": [{"id": "c1", "text": "a b."}, {"id": "c2", "text": "c d."}]} for row in (*ROWS, *ROWS)])


@pytest.mark.parametrize(
    ("document", "usable"),
    [
        (WHOLE[:-60], [True, True, True, False]),
        (json.dumps(json.loads(WHOLE), indent=2)[:-90], [True, True, True, False]),
        (WHOLE[:-1], [True] * 4),
        (f'{{"data": {WHOLE[:-60]}', [True, True, True, False]),
        (WHOLE.replace('"snow", "topic"', '"snow" "topic"', 1), [True, False, True, True]),
        (WHOLE.replace('"snow", "topic"', '"snow, "topic"', 1), [True, False, True, True]),
        (WHOLE.replace("}, {", "}, oops, {", 1).replace('"claims"', "'claims'", 1), [False, True, True, True]),
        ('[{"response": "Ice."},, {"response": "Snow."},]', [True, True]),
        ('[{"response": "Ice\nfloats."}, 5, {"response": "Snow."}]', [True, False, True]),
        ('[{"response": "Ice."}, ' + '{"a": ' * 100_000, [True, False]),
        ("\x1e" + "\n\x1e".join(map(json.dumps, ROWS)), [True, True]),
        ("\n".join(json.dumps(row) + "," for row in ROWS), [True, True]),
        ("\n".join(map(json.dumps, ROWS))[:-9], [True, False]),
    ],
)
def test_what_is_whole_of_a_broken_file_is_read_and_the_rest_counted(tmp_path: Path, document: str, usable: list[bool]) -> None:
    responses = read_responses(written(tmp_path, document))
    assert [one.problem is None for one in responses] == usable


def test_bad_elements_without_end_are_told_once(tmp_path: Path) -> None:
    responses = read_responses(written(tmp_path, '[{"response": "Ice."}' + ', {"response" "x"}' * 5_000))
    assert len(responses) == 101
    assert "Nothing after it could be read" in (responses[-1].problem or "")
