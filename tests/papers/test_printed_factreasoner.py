"""FactReasoner's tables as printed: those that print the same runs agree, and each cell is the paper's own."""

import re
from pathlib import Path

import pytest

from localfact.papers.printed_tables import Cell, printed_table

DATA, EXAMPLES = "2", [str(number) for number in range(37, 41)]
SCORES = ["3", *(str(number) for number in range(6, 22))]
SIGNIFICANCE = ["4", *(str(number) for number in range(22, 30))]
TABLES = [DATA, *SCORES, *SIGNIFICANCE, "5", *EXAMPLES]
#: Tables that print the same runs: the second with standard deviations.
TWINS = [("3", "12"), ("11", "13"), ("6", "15"), ("7", "17"), ("8", "19"), ("9", "21")]
GRANITE, LLAMA, MIXTRAL = "granite-3.0-8b-instruct", "llama-3.1-70b-instruct", "mixtral-8x22b-instruct"
ASSESSORS = ["FS", "FV", "VS", "FR1", "FR2", "FR3"]
DEEPSEEK = ("DeepSeek-v3", "DeepSeek-v3")

Scores = dict[tuple[str, ...], dict[str, Cell]]


def scores(number: str) -> Scores:
    """Names of a row -> its figures."""
    table = printed_table(number)
    return {tuple(table.names_of(row).values()): table.figures(row) for row in table.rows}


def mean(cell: Cell) -> float:
    value = cell[0] if isinstance(cell, tuple) else cell
    assert isinstance(value, float)
    return value


def means(of: Scores) -> dict[tuple[str, ...], dict[str, float]]:
    return {names: {column: mean(cell) for column, cell in figures.items()} for names, figures in of.items()}


# The tables beside one another.


@pytest.mark.parametrize(
    ("numbers", "kind"), [([DATA], "data"), (["5", *SCORES], "scores"), (SIGNIFICANCE, "significance"), (EXAMPLES, "examples")]
)
def test_every_table_is_there_with_its_kind(numbers: list[str], kind: str) -> None:
    assert {printed_table(number).kind for number in numbers} == {kind}
    assert all(printed_table(number).about and printed_table(number).needs for number in numbers)


@pytest.mark.parametrize("number", SCORES)
def test_every_model_stands_with_every_assessor_in_the_order_of_the_paper(number: str) -> None:
    if number == "10":
        expected = [(model, assessor) for model in ("albert-xlarge-vitaminc-mnli", LLAMA) for assessor in ASSESSORS[3:]]
    else:
        printed = ["FS", "FB", "FV", *ASSESSORS[3:]] if number == "14" else ASSESSORS
        expected = [(model, assessor) for model in (GRANITE, LLAMA, MIXTRAL) for assessor in printed]
        expected += [DEEPSEEK] if number in ("6", "7", "8", "9") else []
    assert list(scores(number)) == expected


@pytest.mark.parametrize(("short", "long"), TWINS)
def test_a_table_agrees_with_the_one_that_prints_it_again_with_deviations(short: str, long: str) -> None:
    found = means(scores(short))
    assert (found.pop(DEEPSEEK, None) is not None) == (short in ("6", "7", "8", "9"))
    assert found == means(scores(long))
    tables = printed_table(short), printed_table(long)
    assert [(table.data_set, table.contexts) for table in tables] == [(tables[0].data_set, tables[0].contexts)] * 2


def test_examples_hold_verdicts_and_nothing_of_the_data_set() -> None:
    for number in EXAMPLES:
        table = printed_table(number)
        ((name, *verdicts),) = table.rows
        assert name == f"Table {number}"
        assert table.columns == ("FR", "FS", "VS", "FV")
        assert set(verdicts) <= {"true", "false"}
        assert verdicts[0] == "true"


# The tables beside the paper's text.


@pytest.fixture(scope="module")
def paper(shared: Path) -> str:
    file = shared / "papers" / "factreasoner.txt"
    if not file.is_file():
        pytest.skip("the paper's text is not there")
    return file.read_text(encoding="utf-8")


def printed_cell(text: str) -> Cell:
    """A cell of the text: "<b>0.62±0.21</b>", "18 $\\pm$ 6", or nothing; raises where it is no number."""
    number = re.sub(r"</?b>|\s", "", text.replace("$\\pm$", "±"))
    if "±" in number:
        value, deviation = number.split("±")
        return float(value), float(deviation)
    return float(number) if number else None


def printed_rows(paper: str, number: str) -> list[tuple[Cell, ...]]:
    """The rows above a table's caption, each behind the model whose heading it stands under."""
    above = re.split(rf"^Table {number}:", paper, flags=re.MULTILINE)[0].rstrip("\n").split("\n\n")[-1]
    rows: list[tuple[Cell, ...]] = []
    model: list[Cell] = []
    for line in above.splitlines():
        name, *cells = line.split("\t")
        if not any(cells):
            model = [name.split(": ")[-1]]
        elif not re.search(r"Pr\b|instruct|\(70b\)", line):  # those are headings
            assessor = name.removesuffix(" (ours)")
            of = ["DeepSeek-v3"] if assessor == "DeepSeek-v3" else model
            rows.append((*of, assessor, *map(printed_cell, cells)))
    return rows


@pytest.mark.parametrize("number", [number for number in TABLES if number not in EXAMPLES])
def test_every_cell_is_the_one_that_the_paper_prints(paper: str, number: str) -> None:
    assert list(printed_table(number).rows) == printed_rows(paper, number)


@pytest.mark.parametrize("number", EXAMPLES)
def test_every_verdict_of_an_example_is_the_one_that_the_paper_prints(paper: str, number: str) -> None:
    below = re.split(rf"^Table {number}:", paper, flags=re.MULTILINE)[1]
    own = re.split(r"^Table \d+:", below, flags=re.MULTILINE)[0]
    table = printed_table(number)
    ((_, *verdicts),) = table.rows
    assert re.findall(r"^(F[RSV]|VS): \W*(true|false)", own, re.MULTILINE) == list(zip(table.columns, verdicts, strict=True))


def captions(paper: str) -> dict[str, str]:
    return dict(re.findall(r"^Table (\d+): (.+)$", paper, re.MULTILINE))


def test_every_table_of_figures_that_the_paper_has_is_here(paper: str) -> None:
    formulas_and_prompts = {"1", *(str(number) for number in range(30, 37))}
    assert set(captions(paper)) - formulas_and_prompts == set(TABLES)


@pytest.mark.parametrize("number", [number for number in TABLES if number != DATA])
def test_data_set_and_contexts_are_those_of_the_caption(paper: str, number: str) -> None:
    caption, table = captions(paper)[number], printed_table(number)
    if number != "10":  # its text says it
        assert f"{table.data_set} dataset" in caption
    if "contexts" in caption:
        assert f"{table.contexts} " in caption
