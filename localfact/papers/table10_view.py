"""Table 10 for readers: our rows, the paper's row beside each, the difference, and whether it is meaningful."""

import re
from collections.abc import Iterator, Mapping, Sequence

from localfact.methods.relations import LLM
from localfact.methods.settings import FactReasonerSettings
from localfact.models.model_card import REVISION_DIGITS
from localfact.papers.comparison import ENCODERS, Departure, departures, names_of
from localfact.papers.measured_table import line, mean_of
from localfact.papers.printed_tables import Cell as Printed
from localfact.papers.printed_tables import PrintedTable, printed_table
from localfact.papers.table10 import COLUMNS, Row
from localfact.report.table_data import Cell, Column, Group, Table
from localfact.scoring import ScoreResult

MEASURED, PAPER, DIFFERENCE = "measured", "paper", "difference"
LANGUAGE_MODEL = "llama-3.1-70b"
#: Our cards of the relation models in the paper's table -> their names there.
PAPER_MODELS: Mapping[str, str] = {**ENCODERS, LANGUAGE_MODEL: "llama-3.1-70b-instruct"}
#: Mean and standard deviation of the Brier score of FR2 with the language model, which only the text gives (section C.2).
BRIER = (0.18, 0.10)
PASSAGES = "Wikipedia, 3 a claim"
PAPER_NOTE = (
    f"The paper: tables paper, prior 0.99, solver wmb, K median; passages: {PASSAGES}. The standard deviations of its language "
    "model's rows are those of Table 12. Brier of FR2 is that of section C.2."
)

#: Name of a model in the paper, and version (1, 2, 3) of FactReasoner.
PaperRow = tuple[str, int]


def table10(rows: Sequence[Row]) -> Table:
    """The table of these rows (at least one), by relation model and version; the paper's other rows stand at the end."""
    printed = printed_table("10")
    paper = paper_rows(printed)
    ordered = sorted(rows, key=lambda row: row.run.version)
    names = list(dict.fromkeys(row.run.relations for row in rows))
    found = {row.run.name: departures(row.recorded, printed) for row in rows}
    groups = [group_measured([row for row in ordered if row.run.relations == name], paper, found) for name in names]
    shown = {paper_row(row) for row in rows}
    for model in PAPER_MODELS.values():
        left = [
            line(f"FR{version}", PAPER, COLUMNS, cells)
            for (name, version), cells in paper.items()
            if name == model and (name, version) not in shown
        ]
        if left:
            groups.append(Group(f"{model}, as printed in the paper", tuple(left)))
    heads = (Column("version", "left"), Column("row", "left"), *map(Column, COLUMNS))
    return Table(printed.title, heads, tuple(groups), facts_of(rows), tuple(notes_of(ordered, printed, found)))


def paper_rows(printed: PrintedTable) -> dict[PaperRow, dict[str, Printed]]:
    """The figures of each of the paper's rows: Table 10's, with the standard deviations and the score that stand elsewhere."""
    deviations = {tuple(row[:2]): printed_table("12").figures(row) for row in printed_table("12").rows}
    found: dict[PaperRow, dict[str, Printed]] = {}
    for row in printed.rows:
        cells = printed.figures(row)
        for column, cell in deviations.get(tuple(row[:2]), {}).items():
            value = mean_of(cells[column])
            if isinstance(cell, tuple) and value is not None:
                cells[column] = (value, cell[1])
        found[str(row[0]), int(str(row[1]).removeprefix("FR"))] = cells
    found[PAPER_MODELS[LANGUAGE_MODEL], 2]["Brier"] = BRIER
    return found


def group_measured(
    rows: Sequence[Row], paper: Mapping[PaperRow, Mapping[str, Printed]], found: Mapping[str, Sequence[Departure]]
) -> Group:
    """The rows of one relation model, each with the paper's below it where the paper has one, and what is not the paper's."""
    cells: list[tuple[Cell, ...]] = []
    for row in rows:
        version = f"FR{row.run.version}"
        own: dict[str, Printed] = {
            column: result.value if result.sd is None else (result.value, result.sd)
            for column, result in row.scores.items()
            if result.value is not None
        }
        cells.append(line(version, MEASURED, COLUMNS, own, 1))
        beside = paper_row(row)
        if beside is not None:
            printed = paper[beside]
            cells.append(line(version, PAPER, COLUMNS, printed))
            difference: dict[str, Printed] = {}
            for column in COLUMNS:
                ours, theirs = mean_of(own.get(column)), mean_of(printed.get(column))
                if ours is not None and theirs is not None:
                    difference[column] = ours - theirs
            cells.append(line(version, difference_of(found[row.run.name]), COLUMNS, difference, 1, signed=True))
    return Group(row_heading(rows[0]), tuple(cells))


def difference_of(found: Sequence[Departure]) -> str:
    """The head of a row of differences: with all that is not the paper's, by name."""
    return f"{DIFFERENCE} (not comparable: {names_of(found)})" if found else DIFFERENCE


def row_heading(row: Row) -> str:
    """The relation model with its revision; of a language model also the precision that it ran in."""
    model = row.run.job.chosen.settings.model
    if row.run.relations != LLM or model is None:
        return graph_of(row).relations
    revision = model.revision.removeprefix("sha256:")[:REVISION_DIGITS]
    return f"{model.model}@{revision} ({model.quantisation or model.dtype})"


def graph_of(row: Row) -> FactReasonerSettings:
    """The settings of the row's graph."""
    settings = row.run.job.chosen.settings.assessment
    if not isinstance(settings, FactReasonerSettings):
        raise AssertionError("every row of the table is a version of FactReasoner")
    return settings


def paper_row(row: Row) -> PaperRow | None:
    """The paper's row of that version with that relation model; any language model is compared with the paper's."""
    card = LANGUAGE_MODEL if row.run.relations == LLM else graph_of(row).relations.split("@")[0]
    return (PAPER_MODELS[card], row.run.version) if card in PAPER_MODELS else None


def facts_of(rows: Sequence[Row]) -> dict[str, str]:
    """Facts about all rows, which the table must show."""
    job = rows[0].run.job
    settings, graph = job.chosen.settings, graph_of(rows[0])
    usable = [response for response in job.responses if response.problem is None]
    given = [response for response in usable if response.claims is not None]
    passages = sum(response.evidence is not None for response in usable)
    ks = dict.fromkeys(row.scores["F1@K"].name.removeprefix("F1@K(").removesuffix(")") for row in rows)
    claims = f"given for {len(given)} responses ({sum(len(one.claims or ()) for one in given)})"
    if len(given) < len(usable):
        claims += f", extracted ({settings.extraction.extractor}) for {len(usable) - len(given)}"
    evidence = [f"given for {passages} responses"] if passages else []
    if passages < len(usable):
        evidence.append(
            f"from the corpus {job.chosen.options.corpus} for {len(usable) - passages}, {settings.evidence.k} a claim"
        )
    return {
        "data": f"{job.data}, {len(job.responses)} responses",
        "claims": claims,
        "passages": ", ".join(evidence),
        "tables": f"{graph.tables}, prior of a passage {graph.passage_prior:g}",
        "solver": graph.solver,
        "K of F1@K": ", ".join(ks),
        "seed": str(settings.seed),
    }


def notes_of(rows: Sequence[Row], printed: PrintedTable, found: Mapping[str, Sequence[Departure]]) -> Iterator[str]:
    """Notes for readers: what the differences mean, what was left out, the paper's settings and its known errors."""
    clauses = dict.fromkeys(one.clause for row in rows for one in found[row.run.name])
    for clause in clauses:
        concerned = [row.run.name for row in rows if clause in {one.clause for one in found[row.run.name]}]
        yield f"Not comparable: {clause}" + (f" ({', '.join(concerned)})." if len(concerned) < len(rows) else ".")
    if not clauses:
        yield f"All that was recorded is as in the paper; whether the passages are ({PASSAGES}) cannot be checked."
    yield from tell_left_out(rows)
    yield PAPER_NOTE
    yield from (f"About the paper's figures: {fault}" for fault in printed.faults)


def tell_left_out(rows: Sequence[Row]) -> Iterator[str]:
    """Which means are not over all responses, and why; equal reasons of several rows once."""
    groups: dict[str, list[str]] = {}
    for row in rows:
        columns_by_reason: dict[str, list[str]] = {}
        for column, result in row.scores.items():
            if result.left_out:
                columns_by_reason.setdefault(reasons(result), []).append(column)
        for reason, columns in columns_by_reason.items():
            which = "All columns leave" if len(columns) == len(COLUMNS) else f"{', '.join(columns)} leave"
            groups.setdefault(f"{which} out {reason}", []).append(row.run.name)
    for text, names in groups.items():
        yield f"{text} ({'; '.join(names)})."


def warnings_of(rows: Sequence[Row]) -> Iterator[str]:
    """The warnings of the runs, with the rows that they concern; warnings that only differ in their numbers are given once."""
    groups: dict[str, list[tuple[str, str]]] = {}
    for row in rows:
        for warning in row.summary.warnings:
            groups.setdefault(re.sub(r"\d+(\.\d+)?", "0", warning), []).append((row.run.name, warning))
    for alike in groups.values():
        names = ", ".join(dict.fromkeys(name for name, _ in alike))
        more = len({warning for _, warning in alike}) - 1
        yield f"{names}: {alike[0][1]}" + (f" And {more} more like this, with other numbers." if more else "")


def reasons(result: ScoreResult) -> str:
    """How many responses did not enter, by reason."""
    return ", ".join(f"{count} responses: {reason}" for reason, count in result.left_out.items())
