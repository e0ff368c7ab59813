"""The commands that say what there is: methods and doctor."""

from collections.abc import Mapping, Sequence
from typing import Any

import typer
from rich.console import Group, RenderableType
from rich.text import Text

from localfact.cli.options import AsJson
from localfact.errors import MissingError
from localfact.report.console import line, output, show
from localfact.report.tables import table_of

LETTERS = (
    "N sentences, M claims, w sentences a chunk, p share of the claims that goes to evidence, q searches a claim, k passages a "
    "claim, m passages of a response. Under a grammar (--guided), and with --confidence distribution as in localfact, each "
    "of the M claims is asked about once more for its label; in localfact not where the model's card trusts no opinion of it. "
    "m^2 counts each passage with itself, which is not asked."
)


def methods(as_json: AsJson = False) -> None:
    """List the methods and what each is made of."""
    from localfact.methods.registry import METHODS

    rows = [
        {
            "method": method.name,
            "what": method.description,
            "language model": {"none": "no", "required": "yes", "optional": "if named"}[method.model],
            "LLM calls": method.cost,
            "claims": method.extractor,
            "relations": method.relations,
            "passages": method.passages,
            "k": method.k,
            "source": method.source or "localfact",
        }
        for method in METHODS.values()
    ]
    show(rows, as_json=as_json, view=methods_view)


def methods_view(rows: Sequence[Mapping[str, Any]]) -> RenderableType:
    """Each method in two lines: what it is, and what it takes."""
    lines = []
    for row in rows:
        takes = [
            f"language model: {row['language model']}",
            f"calls: {row['LLM calls']}",
            f"claims: {row['claims']}",
            f"passages: {row['k']} {row['passages']}",
            *([f"relations: {row['relations']}"] if row["relations"] else []),
            row["source"],
        ]
        lines += [line(f"{row['method']}: {row['what']}"), Text(f"    {'; '.join(takes)}", style="dim")]
    return Group(*lines, Text(LETTERS, style="dim"))


def doctor(as_json: AsJson = False) -> None:
    """Say what is installed, which models and corpora are found, what is missing and how to get it."""
    from dataclasses import asdict

    from localfact.api.doctor import examine, line_of, tell_readiness
    from localfact.api.list_models import list_models

    findings = list(examine())
    show([asdict(finding) for finding in findings], as_json=as_json, view=lambda _: table_of([line_of(f) for f in findings]))
    if not as_json and not any(finding.name == "model cards" for finding in findings):
        output().print("\n".join(tell_readiness(findings, list_models())))
    if any(finding.needed and not finding.found for finding in findings):
        raise typer.Exit(MissingError.exit_code)
