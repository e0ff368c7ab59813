"""The papers' figures as data: what is there holds together, and the numbers are those that are printed."""

import pytest

from localfact.models.cards import list_cards
from localfact.papers.figures import COLUMNS, PaperFigures, PaperRow, factreasoner_figures


@pytest.fixture(scope="module")
def figures() -> PaperFigures:
    return factreasoner_figures()


def row(figures: PaperFigures, card: str, version: int) -> PaperRow:
    return next(one for one in figures.table(10).rows if (one.card, one.version) == (card, version))


def test_table_10_has_three_versions_with_each_of_two_relation_models_that_have_cards(figures: PaperFigures) -> None:
    rows = figures.table(10).rows
    assert [(one.card, one.version) for one in rows] == [
        (card, version) for card in ("albert-vitaminc", "llama-3.1-70b") for version in (1, 2, 3)
    ]
    assert {one.card for one in rows} <= {card.name for card in list_cards()}


@pytest.mark.parametrize(
    ("card", "version", "printed"),
    [
        ("albert-vitaminc", 1, (12, 5, 12, 0.40, 0.66, 0.39, 0.25, 0.11)),
        ("albert-vitaminc", 2, (10, 16, 4, 0.32, 0.53, 0.31, 0.34, 0.09)),
        ("albert-vitaminc", 3, (10, 16, 4, 0.32, 0.53, 0.31, 0.33, 0.09)),
        ("llama-3.1-70b", 1, (13, 1, 16, 0.41, 0.70, 0.41, 0.23, 0.10)),
        ("llama-3.1-70b", 2, (19, 2, 9, 0.60, 0.83, 0.59, 0.11, 0.06)),
        ("llama-3.1-70b", 3, (19, 2, 9, 0.60, 0.83, 0.59, 0.11, 0.06)),
    ],
)
def test_the_figures_are_those_of_the_paper(figures: PaperFigures, card: str, version: int, printed: tuple[float, ...]) -> None:
    assert dict(row(figures, card, version).figures) == dict(zip(COLUMNS, printed, strict=False))


def test_deviations_and_the_brier_score_come_from_other_places_of_the_paper(figures: PaperFigures) -> None:
    second = figures.figures(10, row(figures, "llama-3.1-70b", 2))
    assert second["#S"] == (19, 9)
    assert second["Brier"] == (0.18, 0.10)
    assert figures.figures(10, row(figures, "llama-3.1-70b", 3))["MAE"] == (0.11, 0.12)
    assert "Brier" not in figures.figures(10, row(figures, "llama-3.1-70b", 3))
    assert figures.figures(10, row(figures, "albert-vitaminc", 2))["Pr"] == (0.32, None)


def test_every_addition_and_every_fault_of_a_row_concerns_a_row_that_is_there(figures: PaperFigures) -> None:
    rows = {(table.number, one.card, one.version) for table in figures.tables for one in table.rows}
    assert {(one.table, one.card, one.version) for one in figures.additions} <= rows
    single = [one for one in figures.faults if one.card is not None]
    assert single
    assert {(number, one.card, one.version) for one in single for number in one.tables} <= rows


def test_the_faults_of_a_table_are_told_and_those_of_others_are_not(figures: PaperFigures) -> None:
    ten = [fault.says for fault in figures.faults_of(10)]
    assert any("Tables 3 and 12 give Pr 0.42" in says for says in ten)
    assert not any("FactVerify" in says for says in ten)
    assert any("FactVerify" in fault.says for fault in figures.faults_of(14))
    assert [fault.says for fault in figures.faults_of(22)] == [
        "FV and VS stand in each other's place, compared with Tables 14 to 21."
    ]


def test_a_fault_that_speaks_of_numbers_speaks_of_those_that_are_kept(figures: PaperFigures) -> None:
    encoder = row(figures, "albert-vitaminc", 1).figures
    assert encoder["#S"] + encoder["#C"] + encoder["#U"] == 29
    assert figures.data_set("Biographies").claims == 31
    ratio = row(figures, "llama-3.1-70b", 2).figures["F1"] / row(figures, "albert-vitaminc", 2).figures["F1"]
    assert round(ratio, 2) == 1.57
