"""A run beside people's annotation as a table: FastFact's Table 1, a column for all responses and one for each source."""

from collections.abc import Callable, Mapping
from functools import partial

from localfact.report.formats import Cell, Column, Group, Number, Table
from localfact.scoring.agreement import Agreement
from localfact.scoring.alignment import EDITS, Alignment, AnnotationDifference

ALL = "all"


def alignment_table(title: str, by_source: Mapping[str, Alignment], facts: Mapping[str, str], notes: tuple[str, ...]) -> Table:
    """The table.

    Args:
        by_source: ALL and sources -> alignment. facts: what decides the figures. notes: sentences for readers.
    """
    columns = list(by_source)

    def row(name: str, cell: Callable[[Alignment], Cell]) -> tuple[Cell, ...]:
        return (name, *(cell(by_source[column]) for column in columns))

    def edited(name: str) -> Callable[[Alignment], Cell]:
        return lambda one: Number(one.edits[name], decimals=3) if name in one.edits else ""

    def differs(pick: Callable[[Alignment], AnnotationDifference | None]) -> Callable[[Alignment], Cell]:
        return lambda one: _number(pick(one), lambda found: found.absolute)

    groups = (
        Group("", (row("responses", lambda one: Number(one.n, decimals=0)),)),
        Group("claims a response, from the run's to the annotation's", tuple(row(f"# {name}", edited(name)) for name in EDITS)),
        Group("labels of matched claims", tuple(_agreements(row))),
        Group(
            "absolute difference of a response, on average",
            (
                row("|ΔK'|", differs(lambda one: one.k_prime)),
                row("Δ# supported", differs(lambda one: one.supported)),
                row("Δ# not supported", differs(lambda one: one.not_supported)),
                row("Δ# irrelevant", differs(lambda one: one.irrelevant)),
                row("ΔF1@K'", differs(lambda one: one.f1)),
            ),
        ),
        Group(
            "F1@K', by the annotation's K'",
            (
                row("annotation", lambda one: _number(one.f1, lambda found: found.annotation)),
                row("run", lambda one: _number(one.f1, lambda found: found.run)),
                row("run less annotation", lambda one: _number(one.f1, _lead, signed=True)),
            ),
        ),
    )
    return Table(title, (Column("", "left"), *map(Column, columns)), groups, facts, notes, grouped_by="about")


def _agreements(row: Callable[[str, Callable[[Alignment], Cell]], tuple[Cell, ...]]) -> list[tuple[Cell, ...]]:
    kinds: tuple[tuple[str, Callable[[Alignment], Agreement]], ...] = (
        ("five labels", lambda one: one.exact),
        ("as scores count", lambda one: one.scoring),
    )
    figures: tuple[tuple[str, Callable[[Agreement], float | None]], ...] = (
        ("agreement", lambda found: found.share),
        ("Cohen's kappa", lambda found: found.kappa),
        ("Krippendorff's alpha", lambda found: found.alpha),
    )
    rows = []
    for kind, agreed in kinds:
        for figure, value in figures:
            rows.append(row(f"{figure}, {kind}", partial(_figure, agreed, value)))
        rows.append(row(f"claims compared, {kind}", partial(_count_compared, agreed)))
    return rows


def _figure(agreed: Callable[[Alignment], Agreement], value: Callable[[Agreement], float | None], one: Alignment) -> Cell:
    found = value(agreed(one))
    return "" if found is None else Number(found, decimals=3)


def _count_compared(agreed: Callable[[Alignment], Agreement], one: Alignment) -> Cell:
    return Number(agreed(one).n, decimals=0)


def _lead(found: AnnotationDifference) -> float:
    return found.run - found.annotation


def _number(found: AnnotationDifference | None, pick: Callable[[AnnotationDifference], float], *, signed: bool = False) -> Cell:
    return "" if found is None else Number(pick(found), decimals=3, signed=signed)
