"""FastFact's tables as printed: none is missing, and each cell is the paper's own."""

import re
from collections.abc import Iterable
from pathlib import Path

import pytest

from localfact.papers.printed_tables import Cell, PrintedTable, printed_table, printed_tables

#: Table -> names, columns and rows as they are printed. Table 4 has texts only.
SHAPES = {"1": (2, 6, 13), "2": (1, 7, 6), "3": (1, 4, 4), "5": (1, 3, 4), "6": (1, 4, 4), "7": (1, 6, 10), "8": (2, 9, 78)}
#: Table -> how the line of its columns begins in the paper's text; its rows follow, and then the caption, "Table 1: ...".
HEADERS = {
    "1": "Task/Meta",
    "2": "Prompt Source",
    "3": "Metrics",
    "5": "Model\tTotal",
    "6": "Pipelines",
    "7": "Benchmark Ground-Truths",
    "8": "Model\tBenchmark",
}


def table(number: str) -> PrintedTable:
    return printed_table(f"fastfact {number}")


def by_name(number: str) -> dict[tuple[str, ...], dict[str, Cell]]:
    """Names of a row -> column -> cell."""
    found = table(number)
    return {tuple(found.names_of(row).values()): found.figures(row) for row in found.rows}


# What needs the files of this project alone.


def test_every_table_of_figures_is_there_with_all_its_rows_and_columns() -> None:
    found = {number: held for (paper, number), held in printed_tables().items() if paper == "FastFact"}
    assert {number: (len(held.names), len(held.columns), len(held.rows)) for number, held in found.items()} == {
        **SHAPES,
        "7.1": (1, 2, 6),
    }


@pytest.mark.parametrize("which", [*SHAPES, "7.1"])
def test_no_two_rows_of_a_table_have_the_same_names(which: str) -> None:
    assert len(by_name(which)) == len(table(which).rows)


# What needs the paper's text beside the checkout.


@pytest.fixture(scope="module")
def paper(shared: Path) -> list[str]:
    return (shared / "papers/fastfact.txt").read_text(encoding="utf-8").split("\n")


def printed_rows(paper: list[str], which: str) -> list[list[str]]:
    """The table's lines from that of its columns to the caption, as cells; where a second page repeats it, once."""
    begin = next(at for at, line in enumerate(paper) if line.startswith(HEADERS[which]))
    end = next(at for at, line in enumerate(paper) if line.startswith(f"Table {which}: "))
    columns = paper[begin]
    lines = [columns, *(line for line in paper[begin + 1 : end] if "\t" in line and line != columns)]
    return [[cell.strip() for cell in line.split("\t")] for line in lines]


def rows_of_table_8(paper: list[str]) -> list[list[str]]:
    """The table's rows without its columns and without one that the text has twice, misread the second time."""
    return [row for row in printed_rows(paper, "8")[1:] if row[1] != "iongraci"]


def figures_in(cells: Iterable[str]) -> list[float]:
    """Numbers among printed cells, in order; signs of percent are the column's."""
    return [float(cell.rstrip("%")) for cell in cells if re.fullmatch(r"\d+(\.\d+)?%?", cell)]


@pytest.mark.parametrize("which", ["1", "2", "5", "7"])
def test_every_figure_stands_in_the_paper_in_this_order(paper: list[str], which: str) -> None:
    _, *printed = printed_rows(paper, which)
    assert [[cell for cell in row if isinstance(cell, float)] for row in table(which).rows] == [
        figures_in(row) for row in printed
    ]


@pytest.mark.parametrize("which", ["2", "3", "6"])
def test_every_text_stands_in_the_paper_in_this_order(paper: list[str], which: str) -> None:
    columns, *printed = printed_rows(paper, which)
    texts = [[cell for cell in row if isinstance(cell, str)] for row in table(which).rows]
    assert texts == [row[: len(texts[0])] for row in printed]
    assert [*table(which).names, *table(which).columns] == columns


def test_every_figure_of_table_8_stands_in_the_paper_and_what_the_text_lost_is_empty(paper: list[str]) -> None:
    for ours, theirs in zip(table("8").rows, rows_of_table_8(paper), strict=True):
        assert ours[1] == {"expertga": "expertqa"}.get(theirs[1], theirs[1].replace(" ", "_"))
        lost = 9 if ours[1] == "Avg" else None
        assert [cell for cell in ours[2:] if cell is not None] == figures_in(
            cell for at, cell in enumerate(theirs) if at >= 2 and at != lost
        )
        assert all(cell is None for cell, text in zip(ours[2:], theirs[2:], strict=True) if not text)


def test_the_models_of_table_8_are_named_in_the_paper_where_their_rows_stand(paper: list[str]) -> None:
    named = {str(row[0]): "" for row in table("8").rows}
    for ours, theirs in zip(table("8").rows, rows_of_table_8(paper), strict=True):
        named[str(ours[0])] += theirs[0].replace(" ", "").replace("ol", "o1")
    misread = {"gpt-4o": "ant-40gpt-4o", "gemini-2.0-flash-thinking-exp": "gemini-2.0-flash-thinking-exp81"}
    assert named == {name: misread.get(name, name) for name in named}
