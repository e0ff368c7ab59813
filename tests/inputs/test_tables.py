from pathlib import Path

import pytest

from localfact.errors import InputError
from localfact.inputs.responses import read_response_file, read_responses

HEAD = "id,prompt,response\n"


def written(folder: Path, text: str, name: str = "rows.csv", encoding: str = "utf-8") -> Path:
    (folder / name).write_bytes(text.encode(encoding))
    return folder / name


def test_a_table_is_read_with_its_head_as_names(tmp_path: Path) -> None:
    file = written(
        tmp_path,
        "\ufeffid,prompt,response,claims\n"
        'a,,"Ice floats, it says.\nIt is cold.","[{""text"": ""Ice floats.""}]"\n'
        "\n"
        "b,What?,[sic] Ice.,\n"
        "c,,d,,too,many\n"
        "e,only a prompt\n",
    )
    first, second, third, fourth = read_responses(file)
    assert (first.id, first.text, first.prompt) == ("a", "Ice floats, it says.\nIt is cold.", None)
    assert [claim.text for claim in first.claims or ()] == ["Ice floats."]
    assert (second.prompt, second.text, second.claims) == ("What?", "[sic] Ice.", None)
    assert "6 cells under 4 names" in (third.problem or "")
    assert fourth.problem is not None
    assert fourth.problem.startswith("The row has no response: it has id, prompt.")
    assert read_responses(file, limit=1) == [first]


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_separator_and_encoding_are_found_from_what_the_file_holds(tmp_path: Path, separator: str, encoding: str) -> None:
    table = f'{HEAD}a,What?,"Ice floats; it is lighter|colder\tthan water, it says. Þetta.\r\nYes."\r\n'.replace(
        "prompt", "Prompt "
    )
    head, _, rows = table.partition("\n")
    rows = rows.replace("a,What?,", separator.join(("a", "What?", "")))
    read = read_response_file(written(tmp_path, head.replace(",", separator) + "\n" + rows, encoding=encoding))
    (response,) = read.responses
    assert (response.id, response.prompt) == ("a", "What?")
    assert response.text == "Ice floats; it is lighter|colder\tthan water, it says. Þetta.\r\nYes."
    assert read.warnings == ()


def test_a_first_line_for_excel_says_what_separates_the_cells(tmp_path: Path) -> None:
    (response,) = read_responses(written(tmp_path, "sep=;\r\nresponse;id\r\nIce, it floats.;a\r\n"))
    assert (response.id, response.text) == ("a", "Ice, it floats.")


def test_a_column_without_a_name_is_an_index_or_is_told(tmp_path: Path) -> None:
    for head in (",response", "Unnamed: 0,Response", "response,", ",response,"):
        row = ",".join("Ice." if "esponse" in name else "0" if place == 0 else "" for place, name in enumerate(head.split(",")))
        read = read_response_file(written(tmp_path, f"{head}\n{row}\n"))
        assert [(one.id, one.id_given, one.text) for one in read.responses] == [("row-1", False, "Ice.")]
        assert read.warnings == ()
    (named,), _ = read_response_file(written(tmp_path, ",response\nice,Ice floats.\n"))
    assert (named.id, named.id_given) == ("ice", True)
    _, (warning,) = read_response_file(written(tmp_path, "response,\nIce.,a remark\n"))
    assert "in 1 rows" in warning


def test_lists_are_read_as_python_and_numpy_write_them_and_texts_are_not(tmp_path: Path) -> None:
    file = written(
        tmp_path,
        "response,claims,contexts\n"
        """"['Ice']","['Ice isn\\'t warm.', ""It's cold.""]","['one' 'two'\n ""it's three""]"\n"""
        """Ice.,"['Ice.', nan]",[]\n"""
        "Ice.,NaN,<NA>\n"
        "None,[],[]\n",
    )
    first, second, third, fourth = read_responses(file)
    assert first.text == "['Ice']"
    assert [claim.text for claim in first.claims or ()] == ["Ice isn't warm.", "It's cold."]
    assert first.evidence is not None
    assert [passage.text for passage in first.evidence.passages] == ["one", "two", "it's three"]
    assert second.problem == "'claims' must be a list."
    assert (third.problem, third.claims, third.evidence) == (None, None, None)
    assert (fourth.problem or "").startswith("The row has no response")


@pytest.mark.parametrize(
    "cell", ["[" * 300, "[" + "-" * 100_000 + "1]", "['" + r"\'" * 200_000, "[{1: 2}]", "[...]", "[open('x')]"]
)
def test_a_cell_made_to_harm_stays_a_text(tmp_path: Path, cell: str) -> None:
    (response,) = read_responses(written(tmp_path, f'response,claims\nIce.,"{cell}"\n'))
    assert response.problem == "'claims' must be a list."


def test_a_quote_that_is_not_closed_spoils_one_line(tmp_path: Path) -> None:
    table = 'id,response\na,Ice.\nb,"never closed\nc,Snow.\nd,"Rain, {}"\n'
    for last in ("it rains", 'it ""rains""'):
        responses = read_responses(written(tmp_path, table.format(last)))
        assert [one.problem is None for one in responses] == [True, False, True, True]
        assert [one.id for one in responses][2:] == ["c", "d"]
        assert "a quote in line 3" in (responses[1].problem or "")
    many = read_responses(written(tmp_path, "id,response\n" + 'a,"open\n' * 500))
    assert [one.problem is None for one in many] == [False] * len(many)
    assert "nor were 100 before it" in (many[-1].problem or "")


@pytest.mark.parametrize(
    "text", ["response,response\nIce.,Ice.\n", "Response,response\nIce.,Ice.\n", "response, response \nIce.,x\n"]
)
def test_a_table_whose_columns_have_no_names_of_their_own_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError, match="different names"):
        read_responses(written(tmp_path, text))


def test_a_table_without_a_response_is_refused_by_what_it_has(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"semicolons separate 3 columns \(id, who, words\), and none is a response"):
        read_responses(written(tmp_path, "id;who;words\na;b;c\n"))
    with pytest.raises(InputError, match=r"it has one column \(Ice floats\.\)"):
        read_responses(written(tmp_path, "Ice floats.\nSnow falls.\n"))


def test_a_table_under_another_ending_is_known_by_its_names(tmp_path: Path) -> None:
    table = "id;response\na;Ice floats.\n"
    assert [one.id for one in read_responses(written(tmp_path, table, "rows.txt"))] == ["a"]
    (prose,) = read_responses(written(tmp_path, "Response, output\nIce floats.\n", "prose.txt"))
    assert prose.text == "Response, output\nIce floats.\n"


def test_a_response_longer_than_the_cells_of_the_library_is_read(tmp_path: Path) -> None:
    (response,) = read_responses(written(tmp_path, "response\n" + "Ice floats. " * 20_000 + "\n"), max_words=100_000)
    assert len(response.text) > 200_000
