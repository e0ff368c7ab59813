"""FactReasoner's tables as printed: they agree with one another but where a fault says so, and each cell is the paper's own."""

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
#: Table of p-values -> the table of the scores that were compared.
TESTED = {"22": "14", "23": "18", "24": "16", "25": "20", "26": "19", "27": "15", "28": "17", "29": "21"}
GRANITE, LLAMA, MIXTRAL = "granite-3.0-8b-instruct", "llama-3.1-70b-instruct", "mixtral-8x22b-instruct"
ASSESSORS = ["FS", "FV", "VS", "FR1", "FR2", "FR3"]
DEEPSEEK = ("DeepSeek-v3", "DeepSeek-v3")
COUNTS = ("#S", "#C", "#U")

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


def rightly_named(number: str) -> dict[tuple[str, ...], dict[str, float]]:
    """The means of a table, with Table 14's rows named as its fault says that they should be."""
    right = {"FB": "FV", "FV": "VS"} if number == "14" else {}
    return {(model, right.get(assessor, assessor)): row for (model, assessor), row in means(scores(number)).items()}


def faults(number: str, words: str) -> list[str]:
    return [fault for fault in printed_table(number).faults if words in fault]


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


@pytest.mark.parametrize("number", SCORES)
def test_scores_lie_where_such_scores_can_lie(number: str) -> None:
    for (_, assessor), row in scores(number).items():
        for column in {"Pr", "F1@K"} | ({"F1", "MAE"} & set(printed_table(number).columns)):
            assert 0 <= mean(row[column]) <= 1, column
        assert ("E" in row) == assessor.startswith("FR")
        assert ("#U" in row) == (assessor != "FS")  # it knows true and false alone
        assert 0 <= mean(row.get("E", 0.0)) <= 0.16  # -p log10 p is highest at 1/e
        assert all(cell[1] >= 0 for cell in row.values() if isinstance(cell, tuple))


@pytest.mark.parametrize(("short", "long"), TWINS)
def test_a_table_agrees_with_the_one_that_prints_it_again_with_deviations(short: str, long: str) -> None:
    found = means(scores(short))
    assert (found.pop(DEEPSEEK, None) is not None) == (short in ("6", "7", "8", "9"))
    assert found == means(scores(long))
    tables = printed_table(short), printed_table(long)
    assert [(table.data_set, table.contexts) for table in tables] == [(tables[0].data_set, tables[0].contexts)] * 2


def test_tables_10_and_3_differ_where_the_faults_say_it_and_nowhere_else() -> None:
    ten, three, twelve = (means(scores(number)) for number in ("10", "3", "12"))
    differing = {
        (assessor, column): (value, three[model, assessor][column])
        for (model, assessor), row in ten.items()
        if model == LLAMA
        for column, value in row.items()
        if value != three[model, assessor][column]
    }
    assert differing == {("FR1", "Pr"): (0.41, 0.42), ("FR1", "F1"): (0.70, 0.71), ("FR1", "F1@K"): (0.41, 0.42)}
    assert three == twelve
    for number in ("3", "10", "12"):
        (fault,) = faults(number, "FR1 with llama")
        assert set(re.findall(r"0\.\d+", fault)) == {f"{value:.2f}" for pair in differing.values() for value in pair}


def test_the_figures_of_table_10_and_of_its_data_are_those_of_the_paper() -> None:
    assert [row[2:] for row in printed_table("10").rows] == [
        (12, 5, 12, 0.40, 0.66, 0.39, 0.25, 0.11),
        (10, 16, 4, 0.32, 0.53, 0.31, 0.34, 0.09),
        (10, 16, 4, 0.32, 0.53, 0.31, 0.33, 0.09),
        (13, 1, 16, 0.41, 0.70, 0.41, 0.23, 0.10),
        (19, 2, 9, 0.60, 0.83, 0.59, 0.11, 0.06),
        (19, 2, 9, 0.60, 0.83, 0.59, 0.11, 0.06),
    ]
    assert list(scores(DATA)["Biographies",].values()) == [157, 31, 20, 0.62, 32]
    assert faults("10", f"it is {0.83 / 0.53:.2f} times as much")


def test_no_mean_precision_is_further_from_the_true_one_than_its_mae() -> None:
    true = mean(scores(DATA)["Biographies",]["Pr*"])
    for number in ("3", "10", "11", "12", "13"):
        for names, row in means(scores(number)).items():
            assert abs(row["Pr"] - true) < row["MAE"] + 0.015, (number, names)


# The faults: what they say of the numbers is so, and no table lacks one that another has.


def bounds(row: dict[str, float]) -> tuple[float, float]:
    """The fewest and most atoms whose rounded counts are these."""
    counts = [row[column] for column in COUNTS if column in row]
    return sum(max(count - 0.5, 0) for count in counts), sum(count + 0.5 for count in counts)


@pytest.mark.parametrize("number", SCORES)
def test_counts_that_cannot_be_those_of_the_atoms_are_told_and_no_others(number: str) -> None:
    atoms = mean(scores(DATA)[str(printed_table(number).data_set),]["#atoms"])
    sums = set()
    for row in means(scores(number)).values():
        low, high = bounds(row)
        if high <= atoms - 0.5 or low >= atoms + 0.5:
            sums.add(f"{sum(row.get(column, 0) for column in COUNTS):.0f}")
    told = [fault for fault in faults(number, "add up to") if "With granite" not in fault]
    assert {found for fault in told for found in re.findall(r"add up to (\d+)", fault)} == sums
    assert all(f" {atoms:.0f} atoms" in fault for fault in told if "of Table 2" in fault)


def test_rows_whose_atoms_cannot_be_the_same_are_told() -> None:
    """Neither counts that are rounded, nor counts that are cut."""
    for number, few, many in [
        *((number, (GRANITE, "FR3"), (LLAMA, "FV")) for number in ("8", "19")),
        *((number, (GRANITE, "FS"), (GRANITE, "FR3")) for number in ("9", "21")),
    ]:
        table = means(scores(number))
        assert bounds(table[few])[1] <= bounds(table[many])[0]
        counts = [[table[names][column] for column in COUNTS if column in table[names]] for names in (few, many)]
        assert sum(counts[0]) + len(counts[0]) <= sum(counts[1])
        (fault,) = faults(number, "further apart")
        assert all(f"{sum(own):.0f}" in fault for own in counts)


def test_deepseek_has_one_row_in_two_tables() -> None:
    assert scores("7")[DEEPSEEK] == scores("8")[DEEPSEEK]
    assert faults("7", "the same as in Table 8")
    assert faults("8", "the same as in Table 7")


def test_k_is_not_22_where_a_fault_says_so() -> None:
    for number in ("6", "7", "8", "9"):
        data_set = str(printed_table(number).data_set)
        k = mean(scores(DATA)[data_set,]["K"])
        assert [f"gives {k:.0f} for {data_set}" in fault for fault in faults(number, "the K of F1@K")] == [True] * (k != 22)


@pytest.mark.parametrize("number", TESTED)
def test_fv_and_vs_of_the_p_values_have_each_others_place(number: str) -> None:
    """A higher score of an assessor means a higher p of FactReasoner's being above it."""
    tested, p_values = rightly_named(TESTED[number]), means(scores(number))
    assert printed_table(number).data_set == printed_table(TESTED[number]).data_set
    assert printed_table(number).contexts == printed_table(TESTED[number]).contexts
    fv, vs = (next(row for (name,), row in p_values.items() if name.endswith(f"vs {named}")) for named in ("FV", "VS"))
    differing = [column for column in fv if fv[column] != vs[column]]
    assert differing
    for column in differing:
        model, score = column.split(" ")
        assert (fv[column] > vs[column]) == (tested[model, "VS"][score] > tested[model, "FV"][score]), column
    assert len(faults(number, "FV and VS stand in each other's place, compared with Tables 14 to 21")) == 1


@pytest.mark.parametrize("number", TESTED)
def test_p_values_that_cannot_be_fr2s_are_told(number: str) -> None:
    """A p above one half where FR2 is ahead, or below it where FR2 is behind."""
    tested, impossible = rightly_named(TESTED[number]), set()
    for (name,), row in means(scores(number)).items():
        other = {"FS": "FS", "FV": "VS", "VS": "FV"}[name.split(" vs ")[1]]
        for column, p in row.items():
            model, score = column.split(" ")
            ahead = tested[model, "FR2"][score] - tested[model, other][score]
            if (p > 0.5 and ahead > 0) or (p < 0.5 and ahead < 0):
                impossible.add(model)
    assert impossible == ({GRANITE} if faults(number, "cannot be FR2") else set())


def test_the_p_values_of_table_4_are_of_the_runs_with_wikipedia() -> None:
    wikipedia, searched = means(scores("3")), means(scores("11"))
    for (name,), row in means(scores("4")).items():
        for column, p in row.items():
            model, score = column.split(" ")
            sign = -1 if score == "MAE" else 1
            ahead = [sign * (of[model, "FR2"][score] - of[model, name.split(" vs ")[1]][score]) for of in (wikipedia, searched)]
            assert p < 0.5
            assert ahead[0] > 0
            assert score != "MAE" or ahead[1] < 0


def test_what_the_text_says_of_biographies_and_the_tables_do_not_is_told() -> None:
    wikipedia, searched = means(scores("3")), means(scores("11"))
    assert {
        assessor for (model, assessor) in searched if searched[model, assessor]["MAE"] > wikipedia[model, assessor]["MAE"]
    } == {
        "FR2",
        "FR3",
    }
    assert faults("11", "higher MAE") == faults("13", "higher MAE") != []
    assert [searched[LLAMA, assessor]["#S"] for assessor in ("FV", "VS", "FR1")] == [23, 23, 21]
    assert faults("11", "more cautious") == faults("13", "more cautious") != []
    assert [wikipedia[model, "FS"]["Pr"] for model in (LLAMA, MIXTRAL)] == [0.59, 0.59]
    assert [wikipedia[model, "FR2"]["Pr"] for model in (LLAMA, MIXTRAL)] == [0.60, 0.63]
    assert faults("4", "FS has 0.59 with both models, and FR2 has 0.60 and 0.63")


def test_what_the_text_says_of_the_other_data_sets_and_the_tables_do_not_is_told() -> None:
    for number in ("6", "7", "8", "9"):
        table = means(scores(number))
        above = [names for names, row in table.items() if names != DEEPSEEK and row["#S"] > table[names[0], "FS"]["#S"]]
        assert bool(above) == bool(faults(number, "FS finds more supported atoms"))
        behind = [
            model
            for model in (GRANITE, LLAMA, MIXTRAL)
            if min(table[model, own]["Pr"] for own in ("FR2", "FR3")) < max(table[model, other]["Pr"] for other in ("FV", "VS"))
        ]
        assert bool(behind) == bool(faults(number, "higher precision than FV and VS"))
    for number in map(str, range(14, 22)):
        table = means(scores(number))
        ahead = [names for names, row in table.items() if row["Pr"] > table[names[0], "FS"]["Pr"]]
        assert bool(ahead) == bool(faults(number, "FS always has a higher Pr"))


def test_examples_hold_verdicts_and_nothing_of_the_data_set() -> None:
    for number in EXAMPLES:
        table = printed_table(number)
        ((name, *verdicts),) = table.rows
        assert name == f"Table {number}"
        assert table.columns == ("FR", "FS", "VS", "FV")
        assert set(verdicts) <= {"true", "false"}
        assert verdicts[0] == "true"
        assert bool(faults(number, "right about this one")) == ("true" in verdicts[1:])


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


@pytest.mark.parametrize(("number", "spread"), [("3", ""), ("12", "±0.20")])
def test_the_score_that_is_bold_though_another_is_higher_is_told(paper: str, number: str, spread: str) -> None:
    above = re.split(rf"^Table {number}:", paper, flags=re.MULTILINE)[0]
    mixtral = above[above.rindex(MIXTRAL) :]
    assert re.search(rf"^FR2.*\t<b>0.63{spread}</b>", mixtral, re.MULTILINE)
    row = means(scores(number))
    assert row[MIXTRAL, "FR2"]["Pr"] < row[MIXTRAL, "FR3"]["Pr"]
    assert faults(number, "is bold at 0.63")


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
