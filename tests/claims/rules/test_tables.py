from localfact.claims.rules.markdown import plain_text, whole_text
from localfact.claims.rules.tables import row_sentences
from localfact.records import Span


def sentences(*rows: str, subject: str | None = None) -> list[list[str]]:
    plain = [plain_text(whole_text(row), Span(start=0, end=len(row))) for row in rows]
    return [[sentence.text for sentence in found] for found in row_sentences(plain, subject)]


def test_a_row_says_something_of_what_its_first_cell_names() -> None:
    assert sentences(
        "| Planet | Diameter | Moons | 2010 |",
        "| :--- | ---: | --- | --- |",
        "| **Mars** | 6,779 km | 2 | 3 |",
        "| Venus | 12,104 km | - | |",
    ) == [
        [],
        [],
        ["The diameter of Mars is 6,779 km", "The moons of Mars are 2", "Mars, 2010: 3."],
        ["The diameter of Venus is 12,104 km"],
    ]


def test_a_table_of_properties_is_about_the_topic() -> None:
    rows = ("| Property | Value |", "|---|---|", "| Height | 330 m |", "| Opened | 1889 |")
    assert sentences(*rows, subject="Morel Tower")[2:] == [
        ["The height of Morel Tower is 330 m"],
        ["Morel Tower was opened in 1889"],
    ]
    assert sentences(*rows) == [[], [], [], []]


def test_a_table_of_years_tells_what_the_topic_did() -> None:
    rows = ("| Year | Event |", "|---|---|", "| 1990 | Won the Osmium Prize |", "| 1991 | Peace |", "| soon | Left the house |")
    assert sentences(*rows, subject="Ada Morel")[2:] == [
        ["In 1990, Ada Morel won the Osmium Prize"],
        ["Ada Morel, 1991: Peace."],
        [],
    ]
    rows = ("| Year | Population |", "|---|---|", "| 1990 | 400,000 |")
    assert sentences(*rows, subject="Lyon")[2:] == [["Lyon, Population, 1990: 400,000."]]
    assert sentences(*rows) == [[], [], []]


def test_a_row_without_a_name_a_head_or_cells_gives_nothing() -> None:
    assert sentences("| City | Mayor |", "| --- | --- |", "| 3 | Joe |", "|  | Joe |", "|", "| Lyon |", "| Lyon | a | b |") == [
        [],
        [],
        [],
        [],
        [],
        [],
        ["The mayor of Lyon is a"],
    ]


def test_each_table_has_its_head() -> None:
    first = ("| City | Mayor |", "|---|---|", "| Lyon | Joe |")
    second = ("| Planet | Diameter |", "|---|---|", "| Mars | 6,779 km |")
    found = sentences(*first, *second)
    assert [one for row in found for one in row] == ["The mayor of Lyon is Joe", "The diameter of Mars is 6,779 km"]
    assert sentences("| a | b |", "| Lyon | Joe |") == [[], []]  # no line of dashes: no head
