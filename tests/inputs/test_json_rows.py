from pathlib import Path

import pytest

from localfact.errors import InputError
from localfact.inputs.responses import read_responses


def test_a_table_is_read_with_its_head_as_names(tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    file.write_text(
        "\ufeffid,prompt,response,claims\n"
        'a,,"Ice floats, it says.\nIt is cold.","[{""text"": ""Ice floats.""}]"\n'
        "\n"
        "b,What?,[sic] Ice.,\n"
        "c,,d,,too,many\n"
        "e,only a prompt\n",
        encoding="utf-8",
    )
    first, second, third, fourth = read_responses(file)
    assert (first.id, first.text, first.prompt) == ("a", "Ice floats, it says.\nIt is cold.", None)
    assert [claim.text for claim in first.claims or ()] == ["Ice floats."]
    assert (second.prompt, second.text, second.claims) == ("What?", "[sic] Ice.", None)
    assert "6 cells under 4 names" in (third.problem or "")
    assert "no response" in (fourth.problem or "")
    (tmp_path / "rows.tsv").write_text("response\tid\nIce.\ta\n")
    assert [response.id for response in read_responses(tmp_path / "rows.tsv")] == ["a"]
    assert read_responses(file, limit=1) == [first]


@pytest.mark.parametrize("text", ["response,response\nIce.,Ice.\n", "response,\nIce.,x\n"])
def test_a_table_whose_columns_have_no_names_of_their_own_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "rows.csv").write_text(text)
    with pytest.raises(InputError, match="different names"):
        read_responses(tmp_path / "rows.csv")


def test_a_response_longer_than_the_cells_of_the_library_is_read(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("response\n" + "Ice floats. " * 20_000 + "\n")
    (response,) = read_responses(tmp_path / "rows.csv", max_words=100_000)
    assert len(response.text) > 200_000
