"""A printed table with runs of ours beside it: our row with its interval, the paper's of the same assessor, the difference.

A difference means something only where data, passages and model are the paper's; a note says where they are known to differ.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from localfact.papers.comparison import Recorded, clauses_of, departures, is_model, names_of
from localfact.papers.printed_tables import Cell as Printed
from localfact.papers.printed_tables import PrintedTable
from localfact.records import Assessment
from localfact.report.summary import Summary
from localfact.report.table_data import Cell, Column, Group, Number, Table
from localfact.scoring import ScoreResult

#: Our methods -> the paper's name of the assessor.
ASSESSORS: Mapping[str, str] = {
    **{f"{kind}-fr{version}": f"FR{version}" for kind in ("factreasoner", "builtin") for version in (1, 2, 3)},
    "factscore": "FS",
    "factverify": "FV",
    "veriscore": "VS",
    "deepseek": "DeepSeek-v3",
}
#: Columns of printed scores -> the beginning of the name of ours. Accuracy on Conflicts is the share classed true, as Pr is.
SCORES: Mapping[str, str] = {"F1": "F1(gold)", "MAE": "MAE(Pr)", "E": "E(log10)"}
#: Columns that count claims.
COUNTS = ("#S", "#C", "#U")
MEASURED, INTERVAL, PRINTED, DIFFERENCE = "measured", "interval", "printed", "difference"


@dataclass(frozen=True)
class MeasuredRun:
    """A run that is set beside a table.

    Attributes:
        model: the language model that judged, "" for none.
        recorded: what is held against the paper.
    """

    name: str
    method: str
    model: str
    summary: Summary
    assessments: Sequence[Assessment]
    recorded: Recorded


def measure_table(printed: PrintedTable, runs: Sequence[MeasuredRun] = ()) -> Table:
    """The table as printed, with the rows of the runs first, each above the paper's rows of the same assessor.

    Args:
        printed: of any kind; runs are set beside tables of assessors' scores alone (p-values: `measured_significance`).
    """
    runs_shown = runs if takes_runs(printed) else ()
    by_model = not set(printed.columns) & {"Pr", *COUNTS}  # Table 5 has a column a model, each with an accuracy
    columns = [*([MEASURED] if by_model and runs_shown else []), *printed.columns]
    heads = (*(Column(name, "left") for name in ("row", "kind")), *map(Column, columns))
    groups = [_beside(run, printed, columns, by_model) for run in runs_shown]
    groups += as_printed(printed, columns)
    by_k = [one.name for run in runs_shown for one in run.summary.scores if one.name.startswith("F1@K(")]
    facts = facts_of(printed) | {"F1@K as measured": ", ".join(dict.fromkeys(by_k)) if "F1@K" in printed.columns else ""}
    kept = {name: value for name, value in facts.items() if value}
    return Table(printed.title, heads, tuple(groups), kept, tuple(notes_of(printed, runs)))


def facts_of(printed: PrintedTable) -> dict[str, str]:
    """What the paper's runs were over, and what it takes to measure such a table again."""
    return {"data": printed.data_set or "", "passages": printed.contexts or "", "to measure it again": printed.needs}


def notes_of(printed: PrintedTable, runs: Sequence[MeasuredRun]) -> Iterator[str]:
    """How the runs differ from the paper's, and the known errors of the paper."""
    yield from tell_departures(printed, runs)
    yield from (f"About the paper's figures: {fault}" for fault in printed.faults)


def takes_runs(printed: PrintedTable) -> bool:
    """Whether runs can be set beside a table: its rows are assessors, its cells their scores."""
    return printed.kind == "scores" and "assessor" in printed.names


def as_printed(printed: PrintedTable, columns: Sequence[str]) -> list[Group]:
    """The paper's rows, by the first of their names where they have several."""
    grouped: dict[str, list[tuple[Cell, ...]]] = {}
    for row in printed.rows:
        first, *others = printed.names_of(row).values()
        heading, name = (first, " ".join(others)) if others else ("", first)
        grouped.setdefault(heading, []).append(line(name, PRINTED, columns, printed.figures(row)))
    return [Group(f"{heading}, as printed" if heading else "as printed", tuple(rows)) for heading, rows in grouped.items()]


def _beside(run: MeasuredRun, printed: PrintedTable, columns: Sequence[str], by_model: bool) -> Group:
    """What the run measured, its intervals, and how far that is from the paper's rows of the same assessor."""
    scores = _scores(run, [MEASURED] if by_model else printed.columns)
    measured: dict[str, Printed] = {
        column: one.value if one.sd is None else (one.value or 0.0, one.sd)
        for column, one in scores.items()
        if one.value is not None
    }
    intervals = {column: f"{one.ci[0]:.2f} to {one.ci[1]:.2f}" for column, one in scores.items() if one.ci is not None}
    rows = [line(run.name, MEASURED, columns, measured, 1), line("", INTERVAL, columns, intervals)]
    found = departures(run.recorded, printed)
    apart_named = f"(not comparable: {names_of(found)})" if found else ""
    for name, cells in _paper_rows(run, printed):
        rows.append(line(name, PRINTED, columns, cells))
        apart: dict[str, Printed] = {}
        for column, cell in cells.items():
            ours, theirs = mean_of(measured.get(MEASURED if by_model else column)), mean_of(cell)
            if ours is not None and theirs is not None:
                apart[column] = ours - theirs
        rows.append(line(apart_named, DIFFERENCE, columns, apart, 1, signed=True))
    return Group(f"{run.name}, measured", tuple(rows))


def _scores(run: MeasuredRun, columns: Sequence[str]) -> dict[str, ScoreResult]:
    """Column -> our score of that name, whatever its policy."""
    found: dict[str, ScoreResult] = {}
    for column in columns:
        for one in run.summary.scores:
            if is_score("Pr" if column == MEASURED else column, one.name):
                found.setdefault(column, one)
    return found


def is_score(column: str, name: str) -> bool:
    """Whether a printed column is of our score of that name, whatever the score's parameters."""
    wanted = SCORES.get(column, column)
    return name == wanted or name.startswith(f"{wanted}(")


def _paper_rows(run: MeasuredRun, printed: PrintedTable) -> Iterator[tuple[str, Mapping[str, Printed]]]:
    """The paper's rows of the run's assessor: of its own model where the paper has that, else of every one."""
    assessor = ASSESSORS.get(run.method, run.method)
    found = [(printed.names_of(row), printed.figures(row)) for row in printed.rows]
    same = [(named, cells) for named, cells in found if _is_assessor(assessor, named.get("assessor", ""))]
    own = [(named, cells) for named, cells in same if is_model(run.model, named.get("model", ""))]
    for named, cells in own or same:
        if "model" in named:
            yield f"{assessor}, {named['model']}", cells
        else:  # a column a model
            of_own = {column: cell for column, cell in cells.items() if is_model(run.model, column)}
            yield assessor, of_own or cells


def _is_assessor(ours: str, printed: str) -> bool:
    """Whether a printed name is of that assessor; "FR1/2" is of two."""
    return ours == printed or (printed.startswith("FR") and ours.startswith("FR") and ours[2:] in printed[2:].split("/"))


def mean_of(cell: Printed) -> float | None:
    """The number of a cell, without its deviation; None for a text."""
    if isinstance(cell, tuple):
        return cell[0]
    return cell if isinstance(cell, int | float) else None


def line(
    name: str, kind: str, columns: Sequence[str], cells: Mapping[str, Printed], decimals: int = 0, *, signed: bool = False
) -> tuple[Cell, ...]:
    """A row: its name, its kind, and a cell a column, empty where there is none."""

    def cell(column: str) -> Cell:
        found = cells.get(column)
        if found is None or isinstance(found, str):
            return found or ""
        value, sd = found if isinstance(found, tuple) else (found, None)
        places = decimals if column in COUNTS else _places(value) if kind == PRINTED else 2
        return Number(float(value), sd, places, signed)

    return (name, kind, *map(cell, columns))


def _places(value: float) -> int:
    """As many decimals as the paper prints."""
    return 0 if float(value).is_integer() and abs(value) > 1 else max(2, len(f"{value:.4f}".rstrip("0").partition(".")[2]))


def tell_departures(printed: PrintedTable, runs: Sequence[MeasuredRun]) -> Iterator[str]:
    """How each run differs from the paper's, as far as that can be checked."""
    if runs and not takes_runs(printed) and printed.kind != "significance":
        yield "Runs stand beside tables of assessors. For labels there is align, for models leaderboard."
        return
    for run in runs:
        if found := departures(run.recorded, printed):
            yield f"{run.name} is not comparable: {clauses_of(found)}."
        else:
            yield f"{run.name}: all that was recorded is as in the paper; whether its passages are cannot be checked."
