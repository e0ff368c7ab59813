from pathlib import Path

import pytest

from localfact.api.data import read_data
from localfact.errors import InputError
from localfact.inputs.responses import read_response_file, read_responses


def test_a_file_of_plain_text_is_a_response_with_its_name_as_id(tmp_path: Path) -> None:
    for name, encoding in (("ice.txt", "utf-8"), ("ice.md", "utf-8-sig"), ("ice", "utf-16")):
        (tmp_path / name).write_bytes("[1] Ice floats.\r\nSnow — falls.".encode(encoding))
        (response,) = read_responses(tmp_path / name)
        assert (response.id, response.id_given, response.text) == ("ice", True, "[1] Ice floats.\nSnow — falls.")


def test_the_head_of_a_markdown_file_says_what_it_answers(tmp_path: Path) -> None:
    (tmp_path / "ice.md").write_text("---\ntitle: x\nprompt: What floats?\ntopic: ice\nid: 7\n---\n\n# Ice\n\nIt floats.\n")
    (response,) = read_responses(tmp_path / "ice.md")
    assert (response.id, response.prompt, response.topic, response.text) == (
        "7",
        "What floats?",
        "ice",
        "# Ice\n\nIt floats.\n",
    )
    rule = "---\nIce: [floats\n---\nYes.\n"
    (tmp_path / "ice.md").write_text(rule)
    assert read_responses(tmp_path / "ice.md")[0].text == rule


def test_a_folder_of_texts_is_read_and_what_is_not_is_told(tmp_path: Path) -> None:
    (tmp_path / "more").mkdir()
    for name in ("snow.txt", "ice.md", "ice.txt", "more/ice.txt", ".hidden.txt", "picture.png"):
        (tmp_path / name).write_text(f"{name} floats.")
    (tmp_path / "none.txt").write_text(" ")
    responses, (warning,) = read_response_file(tmp_path)
    assert [one.id for one in responses] == ["ice.md", "ice.txt", "none", "snow", "more/ice"]
    assert [one.id for one in responses if one.problem is not None] == ["none"]
    assert "picture.png" in warning
    assert ".hidden" not in warning


def test_the_hash_of_a_folder_is_of_its_texts_and_their_names(tmp_path: Path) -> None:
    (tmp_path / "ice.txt").write_text("Ice floats.")
    before = read_data(tmp_path).sha256
    (tmp_path / "notes.pdf").write_text("x")
    assert read_data(tmp_path).sha256 == before
    (tmp_path / "ice.txt").rename(tmp_path / "snow.txt")
    assert read_data(tmp_path).sha256 != before


@pytest.mark.parametrize(("name", "said"), [("run.yaml", "is a run folder"), ("corpus.yaml", "is a corpus")])
def test_a_folder_of_another_kind_is_refused(tmp_path: Path, name: str, said: str) -> None:
    (tmp_path / name).write_text("x: 1")
    (tmp_path / "ice.txt").write_text("Ice floats.")
    with pytest.raises(InputError, match=said):
        read_responses(tmp_path)
