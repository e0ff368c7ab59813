"""The five formats of a table, read back by readers that are not ours where there are some."""

import csv
import io
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from localfact.errors import InputError
from localfact.report.formats import (
    FORMATS,
    LATEX_ESCAPES,
    csv_text,
    find_format,
    json_values,
    latex,
    latex_text,
    markdown,
    markdown_text,
    no_formula,
    render,
)
from localfact.report.table_data import Cell, Column, Group, Number, Table, tell_apart
from localfact.text import collapse

SMALL = Table(
    "Two runs",
    (Column("run", "left"), Column("#S"), Column("Pr")),
    (
        Group("first & last", (("FR1", Number(12.25, 8.0, 1), Number(0.604)), ("paper", Number(13, None, 0), ""))),
        Group("", (("difference", Number(-0.75, None, 1, signed=True), Number(0.004, signed=True)),)),
    ),
    {"K": "median=32"},
    ("A note.",),
)

numbers = st.builds(
    Number,
    st.floats(-1e6, 1e6),
    st.none() | st.floats(0, 1e6),
    st.integers(0, 4),
    st.booleans(),
)
#: Texts as data may bring them: controls, lone surrogates, line breaks, markup of any kind.
texts = st.text(st.characters(codec=None), max_size=12) | st.sampled_from(
    ["a|b", "50% & \\more{}", "[bold]x[/]", '"q",', "-", "$x_1$"]
)


@st.composite
def tables(draw: st.DrawFn) -> Table:
    names = draw(st.lists(st.text("abcXYZ#@|_ &", min_size=1, max_size=6), min_size=1, max_size=4, unique=True))
    row = st.tuples(*(st.one_of(texts, numbers) for _ in names))
    groups = st.lists(st.builds(Group, texts, st.lists(row, max_size=3).map(tuple)), max_size=3)
    columns = tuple(Column(name, draw(st.sampled_from(["left", "right"]))) for name in names)
    return Table(draw(texts), columns, tuple(draw(groups)), draw(st.dictionaries(texts, texts, max_size=2)), ())


def cells(table: Table) -> list[tuple[Cell, ...]]:
    return [row for group in table.groups for row in group.rows]


def drawn(table: Table, width: int) -> str:
    console = Console(width=width, file=io.StringIO(), color_system=None)
    console.print(render(table, "terminal"))
    return console.file.getvalue()  # type: ignore[attr-defined]


def test_a_number_is_rounded_for_people_with_its_deviation_and_its_sign() -> None:
    assert str(Number(0.604, 0.2049)) == "0.60 ±0.20"
    assert str(Number(0.004, signed=True)) == "+0.00"
    assert str(Number(-0.004, signed=True)) == "+0.00"
    assert str(Number(-0.75, decimals=1, signed=True)) == "-0.8"
    assert str(Number(19, 9, 0)) == "19 ±9"


@pytest.mark.parametrize(("value", "sd"), [(float("nan"), None), (float("inf"), None), (0.5, float("nan"))])
def test_what_json_cannot_say_is_no_number(value: float, sd: float | None) -> None:
    with pytest.raises(ValueError, match="in a table"):
        Number(value, sd)


def test_markdown_has_a_row_a_line_and_the_alignment() -> None:
    assert markdown(SMALL) == (
        "**Two runs**\n\n"
        "| run | #S | Pr |\n"
        "| :--- | ---: | ---: |\n"
        "| **first \\& last** | | |\n"
        "| FR1 | 12.2 ±8.0 | 0.60 |\n"
        "| paper | 13 |  |\n"
        "| difference | -0.8 | +0.00 |\n\n"
        "- K: median=32\n"
        "- A note.\n"
    )


def test_latex_has_a_tabular_with_rules_and_the_facts_in_its_caption() -> None:
    assert latex(SMALL) == (
        "\\begin{table}\n\\centering\n\\begin{tabular}{lrr}\n\\toprule\n"
        "{}run & \\#S & Pr \\\\\n\\midrule\n"
        "\\multicolumn{3}{l}{\\textbf{first \\& last}} \\\\\n"
        "{}FR1 & 12.2 \\ensuremath{\\pm}8.0 & 0.60 \\\\\n"
        "{}paper & 13 &  \\\\\n\\midrule\n"
        "{}difference & -0.8 & +0.00 \\\\\n"
        "\\bottomrule\n\\end{tabular}\n\\caption{Two runs. K: median=32. A note.}\n\\end{table}\n"
    )


def test_csv_has_whole_numbers_deviations_in_columns_and_the_facts_in_every_row() -> None:
    assert csv_text(SMALL) == (
        "group,run,#S,#S sd,Pr,K\n"
        "first & last,FR1,12.25,8.0,0.604,median=32\n"
        "first & last,paper,13,,,median=32\n"
        ",difference,-0.75,,0.004,median=32\n"
    )


def test_json_has_whole_numbers_and_notes() -> None:
    values = json_values(SMALL)
    assert values["rows"][0] == {
        "group": "first & last",
        "cells": {"run": "FR1", "#S": {"value": 12.25, "sd": 8.0}, "Pr": {"value": 0.604, "sd": None}},
    }
    assert (values["facts"], values["notes"]) == ({"K": "median=32"}, ["A note."])


def test_a_terminal_of_80_columns_breaks_a_cell_only_before_its_deviation() -> None:
    wide = Table("t", tuple(Column(f"c{n}") for n in range(10)), (Group("", (tuple(Number(0.5, 0.25) for _ in range(10)),)),))
    assert drawn(wide, 120).count("0.50 ±0.25") == 10
    narrow = drawn(wide, 80)
    assert narrow.count("0.50") == 10
    assert narrow.count("±0.25") == 10
    assert "0.50 ±0.25" not in narrow
    assert max(map(len, narrow.splitlines())) <= 80


def test_markup_in_a_cell_is_shown_and_not_obeyed() -> None:
    table = Table("[red]t[/]", (Column("c"),), (Group("[bold]g[/]", (("[link=x]y[/link]",),)),))
    shown = drawn(table, 80)
    assert all(text in shown for text in ("[red]t[/]", "[bold]g[/]", "[link=x]y[/link]"))


@pytest.mark.slow
@given(tables())
def test_any_csv_is_read_back_cell_by_cell(table: Table) -> None:
    deviating = table.with_deviations()
    rows = list(csv.reader(io.StringIO(csv_text(table), newline="")))
    assert len(rows) == 1 + len(cells(table))
    for read, row in zip(rows[1:], cells(table), strict=True):
        expected = []
        for column, cell in zip(table.columns, row, strict=True):
            expected.append(repr(cell.value) if isinstance(cell, Number) else no_formula(collapse(cell)))
            if column.name in deviating:
                expected.append(repr(cell.sd) if isinstance(cell, Number) and cell.sd is not None else "")
        assert read[1 : 1 + len(expected)] == expected
        assert len(read) == len(rows[0])


@pytest.mark.parametrize("cell", ["=1+1", "+1+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "- a line"])
def test_a_cell_that_a_spreadsheet_would_reckon_out_is_a_text(cell: str) -> None:
    assert no_formula(cell) == f"'{cell}"


@pytest.mark.parametrize("cell", ["-0.5", "+1", "-1e-05", "", "-", "a=b"])
def test_a_number_and_a_text_stay(cell: str) -> None:
    assert no_formula(cell) == cell


@pytest.mark.slow
@given(tables())
def test_any_json_is_read_back(table: Table) -> None:
    text = render(table, "json")
    assert isinstance(text, str)
    assert len(json.loads(text.encode())["rows"]) == len(cells(table))


@pytest.mark.slow
@given(tables())
def test_every_line_of_a_markdown_table_has_as_many_cells_as_there_are_columns(table: Table) -> None:
    lines = [line for line in markdown(table).splitlines() if line.startswith("| ")]
    headings = sum(bool(group.heading) for group in table.groups)
    assert len(lines) == 2 + headings + len(cells(table))
    assert {len(re.findall(r"(?<!\\)\|", line.replace("\\\\", ""))) for line in lines} == {len(table.columns) + 1}


@given(texts)
def test_markdown_text_holds_no_markup_and_says_the_same(text: str) -> None:
    escaped = markdown_text(text)
    assert "\n" not in escaped
    assert re.sub(r"\\([\\`*_{}\[\]<>|~$&])", r"\1", escaped) == collapse(text)
    assert not re.search(r"(?<!\\)(\\\\)*[`*_\[\]<>|]", re.sub(r"\\.", "", escaped))


@given(texts)
def test_latex_text_holds_no_command_of_its_own(text: str) -> None:
    escaped = latex_text(text)
    written = sorted(LATEX_ESCAPES.values(), key=len, reverse=True)
    back = {value: key for key, value in LATEX_ESCAPES.items()}
    pattern = "|".join(map(re.escape, written))
    assert not set(re.sub(pattern, "", escaped)) & set(LATEX_ESCAPES)
    assert re.sub(pattern, lambda found: back[found[0]], escaped) == collapse(text)


def test_latex_writes_each_of_its_marks_as_a_text() -> None:
    assert latex_text(r"""\ ~ ^ < > | " ± & % $ # _ { }""") == (
        r"\textbackslash{} \textasciitilde{} \textasciicircum{} \textless{} \textgreater{} \textbar{} \textquotedbl{} "
        r"\ensuremath{\pm} \& \% \$ \# \_ \{ \}"
    )


def test_a_narrow_terminal_breaks_no_word() -> None:
    columns = (Column("version", "left"), Column("row", "left"), *(Column(f"c{at}") for at in range(9)))
    numbers = tuple(Number(0.5, 0.25) for _ in range(9))
    rows = (("FR1", "measured", *numbers), ("FR1", "difference (not comparable)", *numbers))
    shown = drawn(Table("t", columns, (Group("g", rows),)), 80)
    assert set(shown.split()) >= {"version", "measured", "difference", "(not", "comparable)", "0.50", "±0.25", "c8"}
    assert max(map(len, shown.splitlines())) <= 80


@pytest.mark.slow
@given(tables())
def test_a_wide_terminal_shows_every_number_of_any_table(table: Table) -> None:
    shown = drawn(table, 400)
    assert all(str(one) in shown for row in cells(table) for one in row if isinstance(one, Number))


def test_a_row_too_short_and_two_columns_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="a row of 1 cells"):
        Table("t", (Column("a"), Column("b")), (Group("", (("x",),)),))
    with pytest.raises(ValueError, match="one name"):
        Table("t", (Column("a"), Column("a")), ())


def test_an_unknown_format_is_refused_with_those_there_are() -> None:
    assert [find_format(name) for name in FORMATS] == list(FORMATS)
    with pytest.raises(InputError, match="terminal, markdown, latex, csv, json"):
        find_format("html")


ODD_NAMES = ["n", "n", "n (source)", "a b", "a\nb", "", "Pr"]


def test_names_from_data_are_told_apart_from_one_another_and_from_ours() -> None:
    found = tell_apart(ODD_NAMES, "source", taken={"n", "Pr", ""})
    assert found == ["n (source)", "n (source 2)", "n (source) (source)", "a b", "a b (source)", " (source)", "Pr (source)"]


def test_no_head_of_a_csv_file_stands_twice_or_is_a_formula() -> None:
    names = ("group", "x", "x sd", "=1+1", "-1", "＝1+1")
    row = (Number(1.0, 0.5), Number(1.0, 0.5), *[""] * 4)
    table = Table("t", tuple(map(Column, names)), (Group("@g", (row,)),), {"x": "＠f", "+fact": "＋1+1"})
    heads, cells = csv.reader(io.StringIO(csv_text(table)))
    assert len(set(heads)) == len(heads) == len(cells)
    assert {"'=1+1", "-1", "'＝1+1", "'+fact", "x (fact)"} <= set(heads)
    assert cells[0] == "'@g"
    assert cells[-2:] == ["'＠f", "'＋1+1"]


@pytest.mark.parametrize("text", ["@octocat", "see http://x.example", "HTTPS://x.example", "www.x.example", "a@x.example"])
def test_markdown_mentions_nobody_and_links_nothing_wherever_the_text_stands(text: str) -> None:
    table = Table(text, (Column(text),), (Group(text, ((text,),)),), {text: text}, (text,))
    said = markdown(table)
    assert not re.search(r"@\w|://|www\.", said, re.IGNORECASE)
    assert said.replace("<!-- -->", "").count(text) == 7
