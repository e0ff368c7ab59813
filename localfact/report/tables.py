"""Draws plain values as tables for a terminal: plans, graphs, related pairs, methods, the doctor's findings, a corpus."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from localfact.report.console import line, one_line
from localfact.text import closest_sentences, collapse, readable

#: The most characters of a text in a cell.
CELL = 60
#: The most characters of a passage's sentence below its address.
EXCERPT = 150


def table_of(rows: Sequence[Mapping[str, Any]]) -> Table:
    """One row a mapping; the columns are the keys of the first."""
    table = Table()
    for name in rows[0] if rows else ():
        table.add_column(str(name), overflow="fold")
    for row in rows:
        table.add_row(*(line(cell(value)) for value in row.values()))
    return table


def fields_table(fields: Mapping[str, Any]) -> Table:
    """One row a field; nested mappings are flattened to "outer.inner"."""
    table = Table(show_header=False)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    for name, value in flatten(fields).items():
        table.add_row(line(name), line(cell(value)))
    return table


def flatten(fields: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested mappings as one, with dotted names."""
    flat: dict[str, Any] = {}
    for name, value in fields.items():
        if isinstance(value, Mapping) and value:
            flat |= flatten(value, f"{prefix}{name}.")
        else:
            flat[f"{prefix}{name}"] = value
    return flat


def cell(value: Any) -> str:
    """A value as text for people."""
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.4f}"
    return str(value)


def graph_view(result: Mapping[str, Any]) -> RenderableType:
    """The marginals of one graph, or why there are none."""
    if "error_message" in result:
        return line(result["error_message"], "red")
    if not result["consistent"]:
        return line(f"{result['file']}: inconsistent, every assignment has weight 0; there are no marginals.", "red")
    exactness = "exact" if result["exact"] else f"approximate ({result['solver']}), error indication {result['error']:.2g}"
    log_z = "" if result["log_z"] is None else f", log Z {result['log_z']:.4f}"
    head = line(f"{result['file']}: {exactness}{log_z}, {result['seconds']:.3f} s")
    return Group(head, table_of([{"variable": name, "P(true)": p} for name, p in result["marginals"].items()]))


def graphs_table(results: Sequence[Mapping[str, Any]]) -> Table:
    """One row a graph: its size, who solved it and how exactly, its errors where it carries a reference, its time."""
    table = Table(
        box=box.SIMPLE_HEAD,
        padding=(0, 0, 0, 1),
        pad_edge=False,
        caption="max and mean: errors over claims, where a reference is known",
    )
    table.add_column("graph", no_wrap=True, width=18)
    for column, width in (("size", 8), ("width", 5), ("solver", 12), ("max", 5), ("mean", 5), ("flips", 5), ("ms", 7)):
        table.add_column(column, no_wrap=True, justify="right", width=width)
    for result in results:
        name = Path(result["file"]).stem
        if "error_message" in result:
            table.add_row(name, "", "", Text("failed", style="red"))
        else:
            table.add_row(name, *graph_cells(result))
    return table


def graph_cells(result: Mapping[str, Any]) -> list[str]:
    """The cells of one graph behind its name; sizes are variables and factors."""
    if not result["consistent"]:
        solver = "inconsistent"
    else:
        solver = result["solver"] if result["exact"] else f"{result['solver']} ±{result['error']:.0e}"
    deviation = result.get("reference")
    errors = ["", "", ""]
    if deviation and result["consistent"]:
        errors = [f"{deviation['largest']:.0e}", f"{deviation['mean']:.0e}", str(deviation["flips"])]
    width = "" if result["width"] is None else str(result["width"])
    return [f"{result['variables']}/{result['factors']}", width, solver, *errors, f"{1000 * result['seconds']:.1f}"]


def pairs_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    """Related pairs, their texts shortened; of one that failed, why."""
    shown = []
    for row in rows:
        texts = {name: shorten(str(row.get(name, ""))) for name in ("premise", "hypothesis")}
        failed = {"entailment": row["error_message"]} if "error_message" in row else {}
        shown.append({**texts, **{name: {**row, **failed}.get(name) for name in ("entailment", "contradiction", "neutral")}})
    return table_of(shown)


def shorten(text: str, most: int = CELL) -> str:
    """The text on one line, cut at `most` characters."""
    whole = collapse(text)
    return whole if len(whole) <= most else whole[: most - 1] + "…"


def best_sentence(text: str, query: str) -> str:
    """The sentence of a passage that shares most words with a query."""
    return next((text[span.start : span.end] for span in closest_sentences(text, query)), text)


def hits_view(hits: Sequence[Mapping[str, Any]]) -> RenderableType:
    """Passages found for a query, best first."""
    if not hits:
        return Text("No passage has a word of that.", style="yellow")
    lines = []
    for hit in hits:
        source = ", ".join(filter(None, [(hit["links"] or [hit["title"]])[0], hit["date"]]))
        lines.append(Text(one_line(f"{hit['rank']:>3}  {hit['score']:.4f}  {readable(source)}"), overflow="fold"))
        lines.append(Text(f"     {shorten(hit['sentence'], EXCERPT)}", style="dim"))
    return Group(*lines)


def rows_view(rows: Sequence[Mapping[str, Any]]) -> RenderableType:
    """Rows as a table; a remark where there are none."""
    return table_of(rows) if rows else Text("There are none.", style="dim")
