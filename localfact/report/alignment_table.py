"""A run beside people's annotation as a table: FastFact's Table 1, a column for all responses and one for each source."""

from collections.abc import Callable, Mapping

from localfact.report.table_data import Cell, Column, Group, Table, number
from localfact.scoring.agreement import Agreement
from localfact.scoring.alignment import EDITS, Alignment, AnnotationDifference

ALL = "all"


def alignment_table(title: str, by_source: Mapping[str, Alignment], facts: Mapping[str, str], notes: tuple[str, ...]) -> Table:
    """The table.

    Args:
        by_source: ALL and sources -> alignment.
        facts: what decides the figures.
        notes: sentences for readers.
    """

    def row(
        name: str, figure: Callable[[Alignment], float | None], decimals: int = 3, *, signed: bool = False
    ) -> tuple[Cell, ...]:
        return (name, *(number(figure(one), decimals, signed=signed) for one in by_source.values()))

    def edits(name: str) -> tuple[Cell, ...]:
        return row(f"# {name}", lambda one: one.edits.get(name))

    def agreements(kind: str, agreed: Callable[[Alignment], Agreement]) -> tuple[tuple[Cell, ...], ...]:
        return (
            row(f"agreement, {kind}", lambda one: agreed(one).share),
            row(f"Cohen's kappa, {kind}", lambda one: agreed(one).kappa),
            row(f"Krippendorff's alpha, {kind}", lambda one: agreed(one).alpha),
            row(f"claims compared, {kind}", lambda one: agreed(one).n, 0),
        )

    def differences(name: str, pick: Callable[[Alignment], AnnotationDifference | None]) -> tuple[Cell, ...]:
        return row(name, lambda one: found.absolute if (found := pick(one)) is not None else None)

    groups = (
        Group("", (row("responses", lambda one: one.n, 0),)),
        Group("claims a response, from the run's to the annotation's", tuple(map(edits, EDITS))),
        Group(
            "labels of matched claims",
            (
                *agreements("five labels", lambda one: one.exact),
                *agreements("as scores count", lambda one: one.scoring),
            ),
        ),
        Group(
            "absolute difference of a response, on average",
            (
                differences("|ΔK'|", lambda one: one.k_prime),
                differences("Δ# supported", lambda one: one.supported),
                differences("Δ# not supported", lambda one: one.not_supported),
                differences("Δ# irrelevant", lambda one: one.irrelevant),
                differences("ΔF1@K'", lambda one: one.f1),
            ),
        ),
        Group(
            "F1@K', by the annotation's K'",
            (
                row("annotation", lambda one: one.f1.annotation if one.f1 is not None else None),
                row("run", lambda one: one.f1.run if one.f1 is not None else None),
                row(
                    "run less annotation",
                    lambda one: one.f1.run - one.f1.annotation if one.f1 is not None else None,
                    signed=True,
                ),
            ),
        ),
    )
    return Table(title, (Column("", "left"), *map(Column, by_source)), groups, facts, notes, grouped_by="about")
