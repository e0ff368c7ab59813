"""Draws corrections for a terminal: each edit with its source, and what was left."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from localfact.report.console import line
from localfact.report.findings import many

#: The most characters of a quoted sentence.
QUOTED = 240


def correction_view(row: Mapping[str, Any]) -> RenderableType:
    """The edits of one text, what was left and why, and its precision; `row` as `api.correct.correction_row` makes it."""
    parts: list[RenderableType] = []
    for number, edit in enumerate(row["edits"], start=1):
        parts += _edit(number, edit)
    for one in row["left"]:
        parts += [line(f"Left: {one['text']}", "yellow"), line(f"   {one['reason']}", "dim")]
    before, after = (row["precision"][name] for name in ("before", "after"))
    if before is not None and after is not None:
        parts.append(line(f"Precision before {before:.2f}, after {after:.2f}."))
    if not row["edits"]:
        parts.insert(0, line("Nothing was changed." if row["left"] else "Nothing was found contradicted."))
    return Group(*parts)


def _edit(number: int, edit: Mapping[str, Any]) -> Sequence[RenderableType]:
    head = Text(f"{number}. ", style="bold")
    head.append(line(edit["old"], "red strike"))
    head.append(" → ")
    head.append(line(edit["new"], "green bold"))
    by = "" if edit["by"] == "value" else ", by the language model"
    if edit["before"] is not None and edit["after"] is not None:
        head.append(line(f"   true with probability {edit['before']:.2f} before, {edit['after']:.2f} after{by}", "dim"))
    source = edit["source"]
    quote = source["quote"] if len(source["quote"]) <= QUOTED else f"{source['quote'][:QUOTED]} …"
    where = ", ".join(filter(None, (source["title"], source["url"]))) or "a given passage"
    return [head, line(f"   “{quote}”"), line(f"   {where}", "dim")]


def corrections_view(summary: Mapping[str, Any]) -> RenderableType:
    """The sums of a run's corrections; `summary` as plain values of `CorrectionsSummary`."""
    left = sum(summary["left"].values())
    made = summary["contradicted"] - left
    parts = [
        line(
            f"{many(summary['contradicted'], 'contradicted claim')} in {many(summary['responses'], 'response')}: {made:,} "
            f"corrected by {many(summary['edits'], 'edit')}, {left:,} left",
            "bold",
        )
    ]
    parts += [line(f"  {count:,}  {reason}", "dim") for reason, count in summary["left"].items()]
    if summary["precision_before"] is not None:
        parts.append(line(f"Mean precision before {summary['precision_before']:.3f}, after {summary['precision_after']:.3f}."))
    if summary["calls"]:
        parts.append(line(f"Calls of the language model: {summary['calls']:,}."))
    if summary["failed"]:
        parts.append(line(f"{summary['failed']:,} responses could not be corrected; their rows say why.", "yellow"))
    parts += [line(f"Note: {warning}", "yellow") for warning in summary["warnings"]]
    parts.append(line(f"Corrections: {summary['out']}", "dim"))
    return Group(*parts)
