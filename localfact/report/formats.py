"""A table in five formats: terminal, Markdown, LaTeX, CSV, JSON.

In formats for people numbers are rounded and a group's name is above its rows. In formats for programs they are not rounded,
and every row is complete: its group, the facts about the whole table, and standard deviations in columns of their own.
"""

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast, get_args

from rich.box import SIMPLE
from rich.console import Console, ConsoleOptions, RenderableType
from rich.console import Group as Renderables
from rich.table import Table as RichTable
from rich.text import Text

from localfact.errors import InputError
from localfact.report.table_data import Cell, Column, Group, Table, tell_apart
from localfact.text import collapse, readable

Format = Literal["terminal", "markdown", "latex", "csv", "json"]
FORMATS: tuple[str, ...] = get_args(Format)
#: A width that no table reaches, in characters.
UNLIMITED = 100_000


def find_format(name: str) -> Format:
    """The format of that name.

    Raises:
        InputError: there is none.
    """
    if name not in FORMATS:
        raise InputError(f"There is no format '{name}'. There are: {', '.join(FORMATS)}.")
    return cast(Format, name)


def terminal(table: Table) -> RenderableType:
    """For a terminal: each group under its heading, the facts, the notes; nothing in a cell is read as markup."""
    groups = [Drawn(group, table.columns) for group in table.groups]
    facts = Text("\n".join(readable(f"{name}: {value}") for name, value in table.facts.items()))
    notes = [Text(readable(note), style="yellow") for note in table.notes]
    return Renderables(Text(readable(table.title), style="bold"), *groups, facts, *notes)


@dataclass(frozen=True)
class Drawn:
    """One group as a table of its own under its heading, since Rich has no row that spans columns.

    Where it is too wide for the terminal, every cell has one word a line, as Rich would otherwise break within words.
    """

    group: Group
    columns: tuple[Column, ...]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RichTable]:
        wide = self.grid(" ")
        needed = wide.__rich_measure__(console, options.update_width(UNLIMITED)).maximum
        yield wide if needed <= options.max_width else self.grid("\n")

    def grid(self, between: str) -> RichTable:
        """The table with `between` between the words of a cell."""
        heading = Text(collapse(self.group.heading)) if self.group.heading else None
        grid = RichTable(title=heading, title_justify="left", box=SIMPLE, padding=0)
        for column in self.columns:
            grid.add_column(Text(between.join(collapse(column.name).split())), justify=column.align, overflow="fold")
        for row in self.group.rows:
            grid.add_row(*(Text(between.join(collapse(str(one)).split())) for one in row))
        return grid


def markdown(table: Table) -> str:
    """A table in GitHub's Markdown; a group's heading is a row of its own, in bold."""
    lines = [f"**{markdown_text(table.title)}**", ""]
    lines.append(markdown_row(column.name for column in table.columns))
    lines.append("| " + " | ".join("---:" if column.align == "right" else ":---" for column in table.columns) + " |")
    for group in table.groups:
        if group.heading:
            lines.append(f"| **{markdown_text(group.heading)}** |" + " |" * (len(table.columns) - 1))
        lines += [markdown_row(map(str, row)) for row in group.rows]
    notes = [f"- {markdown_text(name)}: {markdown_text(value)}" for name, value in table.facts.items()]
    notes += [f"- {markdown_text(note)}" for note in table.notes]
    return "\n".join([*lines, *([""] if notes else []), *notes]) + "\n"


def markdown_row(cells: Iterable[str]) -> str:
    """One line of a Markdown table."""
    return "| " + " | ".join(map(markdown_text, cells)) + " |"


#: Places in a mention, an address of mail or the web that keep GitHub from linking it once something stands there. A backslash
#: does not: mentions are looked for in what is shown.
_LINKED = re.compile(r"(?<=(?<![A-Za-z0-9])@)|(?<=@)(?=[\w-]+\.\w)|(?<=:)(?=//)|(?<=www)(?=\.)", re.IGNORECASE)


def markdown_text(text: str) -> str:
    """Text on one line, escaped so that Markdown shows it as it is: no markup, no link, nobody mentioned."""
    return _LINKED.sub("<!-- -->", re.sub(r"([\\`*_{}\[\]<>|~$&])", r"\\\1", collapse(text)))


#: Signs of tables that pdfLaTeX does not know as letters -> their names in mathematics.
LATEX_SIGNS = {
    "±": r"\pm",
    "≠": r"\neq",
    "≤": r"\leq",
    "≥": r"\geq",
    "−": "-",
    "×": r"\times",
    "→": r"\to",
    "Δ": r"\Delta",
    "△": r"\triangle",
    "∅": r"\emptyset",
}
#: Character that LaTeX reads as a command, or pdfLaTeX not at all -> its escape.
LATEX_ESCAPES: Mapping[str, str] = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    **{sign: rf"\ensuremath{{{name}}}" for sign, name in LATEX_SIGNS.items()},
    **{character: f"\\{character}" for character in "&%$#_{}"},
}


def latex(table: Table) -> str:
    """A LaTeX table with booktabs rules (`\\usepackage{booktabs}`, T1 fonts); facts and notes are its caption.

    pdfLaTeX takes it as it stands where its texts are of Latin letters; LuaLaTeX and XeLaTeX take all.
    """
    width = len(table.columns)
    lines = [r"\begin{table}", r"\centering", rf"\begin{{tabular}}{{{''.join(column.align[0] for column in table.columns)}}}"]
    lines += [r"\toprule", latex_row(column.name for column in table.columns)]
    for group in table.groups:
        lines.append(r"\midrule")
        if group.heading:
            lines.append(rf"\multicolumn{{{width}}}{{l}}{{\textbf{{{latex_text(group.heading)}}}}} \\")
        lines += [latex_row(map(str, row)) for row in group.rows]
    notes = [f"{table.title}.", *(f"{name}: {value}." for name, value in table.facts.items()), *table.notes]
    lines += [r"\bottomrule", r"\end{tabular}", rf"\caption{{{latex_text(' '.join(notes))}}}"]
    return "\n".join([*lines, r"\end{table}"]) + "\n"


def latex_row(cells: Iterable[str]) -> str:
    """One row of a tabular."""
    # An empty group before each row: a cell that begins with a bracket would be read as an argument of the row before.
    return "{}" + " & ".join(map(latex_text, cells)) + r" \\"


def latex_text(text: str) -> str:
    """Text on one line, escaped for LaTeX."""
    return "".join(LATEX_ESCAPES.get(character, character) for character in collapse(text))


def csv_text(table: Table) -> str:
    """Comma-separated values: the group and the facts in columns before and after those of the table, numbers unrounded.

    A column with standard deviations is followed by one called "NAME sd". Notes are left out.
    """
    deviating = table.with_deviations()
    names = [name for column in table.columns for name in (column.name, f"{column.name} sd")[: 1 + (column.name in deviating)]]
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    heads = tell_apart((table.grouped_by, *names), "column")
    writer.writerow(map(no_formula, (*heads, *tell_apart(table.facts, "fact", taken=heads))))
    for group in table.groups:
        for row in group.rows:
            cells = [
                value
                for column, one in zip(table.columns, row, strict=True)
                for value in plain(one)[: 1 + (column.name in deviating)]
            ]
            writer.writerow(map(no_formula, [collapse(group.heading), *cells, *map(collapse, table.facts.values())]))
    return stream.getvalue()


#: The beginning of what a spreadsheet takes for a formula, in ASCII or full width; a number with a sign is none.
_FORMULA = re.compile(r"(?![+-]?(?:\d+(?:\.\d*)?(?:e[+-]?\d+)?)?$)[=+@\t\r＝＋－＠-]")


def no_formula(cell: str) -> str:
    """The cell with an apostrophe before what a spreadsheet would take for a formula; numbers stay."""
    return f"'{cell}" if _FORMULA.match(cell) else cell


def plain(cell: Cell) -> tuple[str, str]:
    """A cell's value for programs, and its standard deviation, "" where it has none."""
    if isinstance(cell, str):
        return collapse(cell), ""
    return repr(cell.value), "" if cell.sd is None else repr(cell.sd)


def json_values(table: Table) -> dict[str, Any]:
    """The table as plain values: a mapping a row, from column to a text or to {"value", "sd"}, and its group's heading."""
    names = [column.name for column in table.columns]
    rows: list[dict[str, Any]] = []
    for group in table.groups:
        for row in group.rows:
            cells = [one if isinstance(one, str) else {"value": one.value, "sd": one.sd} for one in row]
            rows.append({table.grouped_by: group.heading, "cells": dict(zip(names, cells, strict=True))})
    return {"title": table.title, "columns": names, "rows": rows, "facts": dict(table.facts), "notes": list(table.notes)}


def json_text(table: Table) -> str:
    """`json_values` as JSON, indented."""
    return readable(json.dumps(json_values(table), indent=2, ensure_ascii=False)) + "\n"


WRITTEN: Mapping[str, Callable[[Table], str]] = {
    "markdown": markdown,
    "latex": latex,
    "csv": csv_text,
    "json": json_text,
}


def render(table: Table, how: Format) -> RenderableType:
    """The table in one of the five formats: text, or for a terminal what Rich draws."""
    return terminal(table) if how == "terminal" else WRITTEN[how](table)
