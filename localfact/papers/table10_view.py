"""Table 10 for readers: our rows, the paper's row beside each, the difference, and whether it is meaningful."""

import re
from collections.abc import Iterator, Mapping, Sequence

from localfact.methods.relations import LLM
from localfact.methods.settings import FactReasonerSettings
from localfact.models.cards import REVISION_DIGITS, named_card
from localfact.papers.comparison import departures
from localfact.papers.figures import COLUMNS, Column, PaperFigures, PaperRow, PaperTable, factreasoner_figures
from localfact.papers.table10 import Row
from localfact.report.formats import Cell, Group, Number, Table
from localfact.report.formats import Column as Head
from localfact.scoring import ScoreResult

NUMBER = 10
#: Columns that count claims: whole numbers for the paper, one decimal for ours; all others are rates, with two decimals.
COUNTS = ("#S", "#C", "#U")
MEASURED, PAPER, DIFFERENCE, NOT_COMPARABLE = "measured", "paper", "difference", "difference (not comparable)"

Figure = tuple[float, float | None]


def table10(rows: Sequence[Row]) -> Table:
    """The table of these rows (at least one), by relation model and version; the paper's other rows stand at the end."""
    figures = factreasoner_figures()
    paper = figures.table(NUMBER)
    ordered = sorted(rows, key=lambda row: row.run.version)
    names = list(dict.fromkeys(row.run.relations for row in rows))
    data = departures(rows[0].run.job.responses, figures.data_set(paper.data_set))
    groups = [measured_group([row for row in ordered if row.run.relations == name], figures, paper, data) for name in names]
    shown = [paper_row(row, paper) for row in rows]
    others = [one for one in paper.rows if one not in shown]
    for model in dict.fromkeys(one.relation_model for one in others):
        group = [paper_cells(one, figures) for one in others if one.relation_model == model]
        groups.append(Group(f"{model}, as printed in the paper", tuple(group)))
    heads = (Head("version", "left"), Head("row", "left"), *map(Head, COLUMNS))
    title = f"FactReasoner, Table {NUMBER} ({paper.section}): {paper.about}"
    return Table(title, heads, tuple(groups), facts_of(rows), tuple(notes_of(ordered, figures, paper, data)))


def measured_group(rows: Sequence[Row], figures: PaperFigures, paper: PaperTable, data: Sequence[str]) -> Group:
    """The rows of one relation model, each with the paper's below it where the paper has one."""
    cells: list[tuple[Cell, ...]] = []
    for row in rows:
        own = measured(row)
        cells.append(line(row.run.version, MEASURED, own, decimals=1))
        beside = paper_row(row, paper)
        if beside is not None:
            printed = figures.figures(NUMBER, beside)
            comparable = not data and not other_model(row, beside)
            cells.append(paper_cells(beside, figures))
            difference: dict[Column, Figure] = {
                column: (own[column][0] - value, None) for column, (value, _) in printed.items() if column in own
            }
            kind = DIFFERENCE if comparable else NOT_COMPARABLE
            cells.append(line(row.run.version, kind, difference, decimals=1, signed=True))
    return Group(heading(rows[0]), tuple(cells))


def heading(row: Row) -> str:
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


def measured(row: Row) -> dict[Column, Figure]:
    """Column -> value and standard deviation, for the scores that have a value."""
    return {column: (result.value, result.sd) for column, result in row.scores.items() if result.value is not None}


def paper_cells(row: PaperRow, figures: PaperFigures) -> tuple[Cell, ...]:
    """A row as the paper prints it."""
    return line(row.version, PAPER, figures.figures(NUMBER, row), decimals=0)


def line(version: int, kind: str, figures: Mapping[Column, Figure], *, decimals: int, signed: bool = False) -> tuple[Cell, ...]:
    """One line; `decimals` are those of counts. Columns without a figure stay empty."""
    cells: list[Cell] = [f"FR{version}", kind]
    for column in COLUMNS:
        if column in figures:
            value, sd = figures[column]
            cells.append(Number(value, sd, decimals if column in COUNTS else 2, signed))
        else:
            cells.append("")
    return tuple(cells)


def paper_row(row: Row, paper: PaperTable) -> PaperRow | None:
    """The paper's row of that version with that relation model; any language model is compared with the paper's."""
    name = graph_of(row).relations.split("@")[0]
    language_models = {one.card for one in paper.rows if "llm" in named_card(one.card).roles}
    wanted = language_models if row.run.relations == LLM else {name}
    return next((one for one in paper.rows if one.version == row.run.version and one.card in wanted), None)


def other_model(row: Row, beside: PaperRow) -> bool:
    """Whether the language model differs from the paper's: neither its card nor its files."""
    model = row.run.job.chosen.settings.model
    if row.run.relations != LLM or model is None:
        return False
    card = named_card(beside.card)
    return card.name != model.model and card.revision != model.revision.split("+")[0]


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


def notes_of(rows: Sequence[Row], figures: PaperFigures, paper: PaperTable, data: Sequence[str]) -> Iterator[str]:
    """Notes for readers: what the differences mean, what was left out, the paper's settings and its known errors."""
    beside = [(row, one) for row in rows if (one := paper_row(row, paper)) is not None]
    if data:
        yield f"Not comparable: the responses are not the paper's {paper.data_set} ({'; '.join(data)})."
    for model in sorted({one.relation_model for row, one in beside if other_model(row, one)}):
        yield f"Not comparable: the paper's language model is {model}."
    if beside and not data:
        yield f"Responses and labels are the paper's; whether the passages are ({contexts(figures, paper)}) cannot be told."
    yield from left_out(rows)
    used = paper.settings
    yield (
        f"The paper: tables {used.tables}, prior {used.passage_prior:g}, solver {used.solver}, K {used.recall_k}; passages: "
        f"{contexts(figures, paper)}. {' '.join(sources(figures, paper))}"
    )
    for fault in figures.faults_of(NUMBER):
        where = f", FR{fault.version} with {fault.card}" if fault.card is not None else ""
        yield f"About the paper's figures (Table {NUMBER}{where}): {fault.says}"


def contexts(figures: PaperFigures, paper: PaperTable) -> str:
    """Where the paper's passages came from."""
    facts = figures.data_set(paper.data_set)
    return f"{facts.contexts}, {facts.k} a claim"


def sources(figures: PaperFigures, paper: PaperTable) -> list[str]:
    """Where in the paper the figures are that the table itself does not print."""
    whole = [one.source for one in figures.additions if one.table == paper.number and not one.figures]
    single = [one for one in figures.additions if one.table == paper.number and one.figures]
    return [
        *(f"The standard deviations of its language model's rows are those of {source}." for source in dict.fromkeys(whole)),
        *(f"{', '.join(one.figures)} of FR{one.version} is that of {one.source}." for one in single),
    ]


def left_out(rows: Sequence[Row]) -> Iterator[str]:
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
        yield f"{names}: {alike[0][1]}" + (f" And {more} more like this, in which other numbers stand." if more else "")


def reasons(result: ScoreResult) -> str:
    """How many responses did not enter, by reason."""
    return ", ".join(f"{count} responses: {reason}" for reason, count in result.left_out.items())
