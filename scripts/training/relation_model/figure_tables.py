"""Draws the figures of relation models as tables: for a terminal, a row a model; for a README, a row a set."""

from collections.abc import Iterator, Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from scripts.training.relation_model.evaluated_sets import CALIBRATED_ROWS
from scripts.training.relation_model.figures import Evaluation, Figure, ModelFigures, SetFigures

HELD_OUT = "Topics that are never trained on"
NEVER_TRAINED_ON = "Never trained on: sets of another licence, whole"
#: Characters of a cell, and of the first column, with what is between two columns.
CELL, FIRST = 16, 22
NONE = "-"
#: Of a target that is met, missed, or not there.
MARKS: dict[bool | None, str] = {True: " ✓", False: " ✗", None: "  "}


def tables(evaluation: Evaluation, width: int) -> Iterator[Table]:
    """The sets that a model may be trained on, speed and size; then the others. In blocks of columns no wider than `width`."""
    at_once = max(1, (width - FIRST) // CELL)
    for title, field in ((HELD_OUT, "held_out"), (NEVER_TRAINED_ON, "never_trained_on")):
        columns: list[SetFigures | str] = list(getattr(evaluation.models[0], field))
        if field == "held_out":
            columns += ["pairs_per_second", "megabytes"]
        for begin in range(0, len(columns), at_once):
            chosen = range(begin, min(begin + at_once, len(columns)))
            yield block(title if not begin else f"{title}, continued", evaluation, field, chosen)


def block(title: str, evaluation: Evaluation, field: str, chosen: range) -> Table:
    """The columns of those places: sets first, then speed and size."""
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column("model", no_wrap=True, width=FIRST - 1)
    sets: Sequence[SetFigures] = getattr(evaluation.models[0], field)
    others = (("pairs a\nsecond", "pairs_per_second"), ("MB", "megabytes"))
    for place in chosen:
        heading = heading_of(sets[place]) if place < len(sets) else others[place - len(sets)][0]
        table.add_column(Text(heading), justify="right", width=CELL - 1)
    for model in evaluation.models:
        found: Sequence[SetFigures] = getattr(model, field)
        columns = [
            cells(found[place]) if place < len(found) else [f"{getattr(model, others[place - len(sets)][1]):,.1f}", *[""] * 5]
            for place in chosen
        ]
        names = [
            model.name,
            "  95 %",
            "  above lexical",
            "  95 %",
            "  calibration error",
            "  95 %",
            "    above lexical",
            "  95 %",
        ]
        rows = [row for row in zip(names, *columns, strict=False) if any(cell.strip() for cell in row[1:])]
        for row in rows:
            table.add_row(*map(Text, row), end_section=row is rows[-1])
    return table


def heading_of(one: SetFigures) -> str:
    """What a column holds: set, measure, size, target."""
    target = "" if one.target is None else f"target {one.target:.2f}"
    return f"{one.title}\n{one.measure}\n{one.pairs:,} pairs\n{one.topics:,} topics\n{target}"


def cells(one: SetFigures) -> list[str]:
    """A column of a model: the figure, how far it is above word overlap, the calibration error; each with its interval."""
    return [
        marked(one.figure, one.met),
        interval(one.figure),
        signed(one.over_lexical),
        interval(one.over_lexical),
        marked(one.calibration, one.calibration_met),
        interval(one.calibration),
        signed(one.calibration_over_lexical),
        interval(one.calibration_over_lexical),
    ]


def marked(figure: Figure | None, met: bool | None) -> str:
    """A figure, and whether it reaches its target."""
    if figure is None:
        return ""
    return plain(figure) + MARKS[met]


def plain(figure: Figure) -> str:
    return NONE if figure.value is None else f"{figure.value:.3f}"


def signed(figure: Figure | None) -> str:
    """A difference."""
    if figure is None:
        return ""
    return (NONE if figure.value is None else f"{figure.value:+.3f}") + "  "


def interval(figure: Figure | None) -> str:
    """The two ends of an interval."""
    if figure is None or figure.interval is None:
        return ""
    return "{:.3f} {:.3f}".format(*figure.interval)


def print_tables(evaluation: Evaluation, console: Console) -> None:
    """Prints the tables to a terminal as wide as it is, to a file each in one piece."""
    width = console.width if console.is_terminal else 10_000
    wide = console if console.is_terminal else Console(file=console.file, width=width, highlight=False)
    for table in tables(evaluation, width):
        wide.print(table)
    wide.print(legend(evaluation), soft_wrap=True, markup=False)


def legend(evaluation: Evaluation) -> str:
    """What marks and figures mean."""
    limited = "" if evaluation.limit is None else f" About {evaluation.limit:,} pairs of each set, by topic."
    return (
        f"Intervals: {evaluation.interval}.{limited} ✓ and ✗: target met or not; of the calibration error (ten bins of equal "
        f"count, the label said) it is {evaluation.calibration_target}, on sets of more than {CALIBRATED_ROWS} pairs. Of "
        "Factcheck-GPT's stances partial support is left out. Lexical embeds the sentences of each premise; the embedder is "
        "not in its size."
    )


def markdown(evaluation: Evaluation) -> str:
    """The figures for a README: a row a set; then the calibration errors, then speed and size."""
    parts = []
    for title, field in ((HELD_OUT, "held_out"), (NEVER_TRAINED_ON, "never_trained_on")):
        if getattr(evaluation.models[0], field):
            parts += [f"**{title}**", set_table(evaluation.models, field, calibration=False)]
            parts += ["Expected calibration error:", set_table(evaluation.models, field, calibration=True)]
    sizes = [(model.name, f"{model.pairs_per_second:,.1f}", f"{model.megabytes:,.1f}") for model in evaluation.models]
    return "\n\n".join([*parts, piped(("model", "pairs a second", "MB"), sizes), legend(evaluation)])


def set_table(models: Sequence[ModelFigures], field: str, *, calibration: bool) -> str:
    """One row a set, two columns a model but for the first: the figure, and how far it is above the first's."""
    heads = ["set", *(() if calibration else ("figure", "target")), "pairs", "topics"]
    for model in models:
        heads += [model.name] if model is models[0] else [model.name, "above lexical"]
    rows = []
    for each in zip(*(getattr(model, field) for model in models), strict=True):
        one: SetFigures = each[0]
        if calibration and one.calibration is None:
            continue
        target = "" if one.target is None else f"{one.target:.2f}"
        row = [one.title, *(() if calibration else (one.measure, target)), f"{one.pairs:,}", f"{one.topics:,}"]
        for place, found in enumerate(each):
            figure, met, above = (
                (found.calibration, found.calibration_met, found.calibration_over_lexical)
                if calibration
                else (found.figure, found.met, found.over_lexical)
            )
            row += [(with_interval(figure) + MARKS[met]).strip(), *([with_interval(above, sign="+")] if place else [])]
        rows.append(row)
    return piped(heads, rows)


def with_interval(figure: Figure | None, sign: str = "") -> str:
    """A figure and its interval in one cell."""
    if figure is None or figure.value is None:
        return NONE
    return f"{figure.value:{sign}.3f}" + (" [{:.3f}, {:.3f}]".format(*figure.interval) if figure.interval else "")


def piped(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of Markdown, in which a name has no bar of its own."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)
