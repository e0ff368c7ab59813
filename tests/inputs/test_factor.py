import csv
import gzip
import io
from pathlib import Path

import pytest

from localfact.errors import InputError
from localfact.inputs.factor import COLUMNS, Question, read_questions

ROW = {
    "full_prefix": "Question: Who? Answer: ",
    "completion": "It was Ada.",
    "contradiction_0": "It was Bob.",
    "contradiction_1": "It was Cy.",
    "contradiction_2": "It was not Ada.",
}


def as_csv(*rows: dict[str, str], columns: tuple[str, ...] = ("doc_id", *COLUMNS)) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, columns, extrasaction="ignore")
    writer.writeheader()
    writer.writerows({"doc_id": "7", **row} for row in rows)
    return text.getvalue().encode()


def read(folder: Path, content: bytes) -> list[Question | str]:
    file = folder / "data.csv"
    file.write_bytes(content)
    return list(read_questions(file))


def test_the_premise_is_the_prefix_with_the_true_completion_and_the_true_one_comes_first(tmp_path: Path) -> None:
    (question,) = read(tmp_path, as_csv(ROW))
    assert question == Question(
        "1", "Question: Who? Answer: It was Ada.", ("It was Ada.", "It was Bob.", "It was Cy.", "It was not Ada.")
    )


@pytest.mark.parametrize(
    ("prefix", "premise"), [("Who?", "Who? It was Ada."), ("", "It was Ada."), ("Who?\n", "Who?\nIt was Ada.")]
)
def test_prefix_and_completion_are_parted_by_white_space(tmp_path: Path, prefix: str, premise: str) -> None:
    (question,) = read(tmp_path, as_csv({**ROW, "full_prefix": prefix}))
    assert isinstance(question, Question)
    assert question.premise == premise


def test_a_packed_file_is_read_by_its_content(tmp_path: Path) -> None:
    assert read(tmp_path, gzip.compress(as_csv(ROW))) == read(tmp_path, as_csv(ROW))


def test_a_row_that_cannot_be_used_is_told_and_the_others_are_read(tmp_path: Path) -> None:
    rows = read(
        tmp_path, as_csv(ROW, {**ROW, "completion": " ", "contradiction_2": ""}, ROW) + b"7,only a prefix\r\n" + b"\r\n"
    )
    assert [row.id if isinstance(row, Question) else row for row in rows] == [
        "1",
        "Row 2 has no text in completion and contradiction_2.",
        "3",
        "Row 4 has no text in completion and contradiction_0 and contradiction_1 and contradiction_2.",
    ]


def test_texts_over_lines_quotes_broken_bytes_and_long_fields_are_carried_through(tmp_path: Path) -> None:
    long = "word " * 40_000  # beyond the csv module's own limit
    content = as_csv({**ROW, "full_prefix": 'He said "no",\nthen ' + long}, {**ROW, "completion": "Ada BROKEN"}, ROW)
    first, second, third = read(tmp_path, b"\xef\xbb\xbf" + content.replace(b"BROKEN", b"\xff\x00\x1b"))
    assert isinstance(first, Question)
    assert first.premise == 'He said "no",\nthen ' + long + "It was Ada."
    assert isinstance(second, Question)
    assert second.hypotheses[0] == "Ada \ufffd\ufffd\ufffd"
    assert isinstance(third, Question)


def test_a_lone_carriage_return_spoils_no_other_row(tmp_path: Path) -> None:
    rows = read(tmp_path, as_csv(ROW) + b"7,a\rb,c,d,e,f\r\n" + as_csv(ROW).split(b"\r\n", 1)[1])
    assert isinstance(rows[0], Question)
    assert isinstance(rows[-1], Question)
    assert any(isinstance(row, str) for row in rows)


def test_a_file_without_the_columns_is_refused_with_their_names(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no column contradiction_1 or contradiction_2"):
        read(tmp_path, as_csv(ROW, columns=COLUMNS[:3]))
    with pytest.raises(InputError, match="no column full_prefix"):
        read(tmp_path, b"")


@pytest.mark.parametrize("content", [gzip.compress(as_csv(*[ROW] * 50), mtime=0)[:60], b"\x1f\x8bnot gzip at all", b"\x1f\x8b"])
def test_a_damaged_packed_file_is_refused(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(InputError, match="is damaged"):
        read(tmp_path, content)


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="There is no file"):
        list(read_questions(tmp_path / "none.csv"))
    with pytest.raises(InputError, match="cannot be read"):
        list(read_questions(tmp_path))


@pytest.mark.parametrize(("name", "count"), [("expert_factor.csv", 154), ("news_factor.csv.gz", 693)])
def test_the_published_files_are_read_whole(shared: Path, name: str, count: int) -> None:
    rows = list(read_questions(shared / "data" / "factor" / name))
    assert len(rows) == count
    assert all(isinstance(row, Question) for row in rows)
