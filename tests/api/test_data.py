from pathlib import Path

import pytest

from localfact.api.data import read_data
from localfact.errors import InputError


def test_objects_are_read_as_rows_of_a_file_are(tmp_path: Path) -> None:
    rows = ["Ice floats.", {"id": "b", "response": "Ice sinks.", "claims": ({"text": "Ice sinks.", "label": "NS"},)}]
    first, second = read_data(rows).responses
    assert (first.id, first.text) == ("row-1", "Ice floats.")
    assert second.claims is not None
    assert second.claims[0].text == "Ice sinks."
    assert read_data(iter(rows)).sha256 == read_data(rows).sha256 != read_data(rows[:1]).sha256
    assert read_data(rows, limit=1).responses == [first]
    (tmp_path / "rows.jsonl").write_text('{"response": "Ice floats."}\n')
    assert read_data(tmp_path / "rows.jsonl").responses == [first]


def test_what_is_no_row_is_carried_along_and_what_has_no_form_is_refused() -> None:
    assert [response.problem is None for response in read_data(["Ice.", 3]).responses] == [True, False]  # type: ignore[list-item]
    for data in ([], [{"response": object()}]):
        with pytest.raises(InputError):
            read_data(data)


@pytest.mark.slow
def test_a_frame_has_a_response_a_row() -> None:
    numpy, pandas = pytest.importorskip("numpy"), pytest.importorskip("pandas")
    columns = {"id": ["a", "b"], "response": ["Ice floats.", None], "contexts": [numpy.array(["one", "two"]), []]}
    first, second = read_data(pandas.DataFrame(columns)).responses
    assert (first.id, first.text) == ("a", "Ice floats.")
    assert first.evidence is not None
    assert len(first.evidence.passages) == 2
    assert second.problem is not None


def test_a_mapping_is_read_as_a_document_of_json_is() -> None:
    assert [one.text for one in read_data({"response": ["Ice floats.", "Snow falls."]}).responses] == [
        "Ice floats.",
        "Snow falls.",
    ]
    assert [one.text for one in read_data({"response": "Ice floats.", "topic": "ice"}).responses] == ["Ice floats."]
