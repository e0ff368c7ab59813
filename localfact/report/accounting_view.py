"""Draws the accounting of a run for a terminal: what was sent beside the formulas, with the reasons for differences."""

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from localfact.report.accounting import Accounting


def accounting_view(accounting: Accounting) -> RenderableType:
    """One row a line of the accounting; below a rule, the formulas of the other pipelines for the same text; then the notes."""
    table = Table(
        title=f"Cost: {figures(accounting)}", title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True
    )
    for column in ("stage", "what", "formula"):
        table.add_column(column, no_wrap=True)
    weighed = any(line.mass is not None for line in accounting.lines)
    for column in ("by\nformula", "sent", "prompt\ntokens", "output\ntokens", *(("mass of\nlabels",) if weighed else ())):
        table.add_column(column, justify="right", no_wrap=True)  # a figure is never cut
    for line in accounting.lines:
        tokens = [f"{count:,}" if line.what == "LLM calls" else "" for count in (line.prompt_tokens, line.output_tokens)]
        mass = ["" if line.mass is None else f"{line.mass:.3f}"] if weighed else []
        cells = (line.stage, line.what, line.formula, number(line.expected), f"{line.sent:,}", *tokens, *mass)
        table.add_row(*map(Text, cells), end_section=line is accounting.lines[-1])
    for other in accounting.others:
        table.add_row(other.pipeline, other.what, other.formula, number(other.expected), style="dim")
    notes = [Text(f"{line.stage}, {line.what}: {line.note}.", style="dim") for line in accounting.lines if line.note]
    return Group(table, *notes)


def figures(accounting: Accounting) -> str:
    """The run's figures in the formulas' letters, for example "N = 214 sentences, M = 120 claims, p = 0.42, q = 1, w = max"."""
    share = "undefined" if accounting.searched_share is None else f"{accounting.searched_share:.2f}"
    parts = [f"N = {accounting.sentences:,} sentences", f"M = {accounting.claims:,} claims", f"p = {share}"]
    parts.append(f"q = {accounting.queries_per_claim}")
    if accounting.stride is not None:
        parts.append(f"w = {accounting.stride}")
    return ", ".join(parts)


def number(value: float | None) -> str:
    """A whole number without decimals, any other with one, or nothing."""
    if value is None:
        return ""
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.1f}"
