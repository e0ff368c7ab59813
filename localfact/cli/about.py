"""The commands that say what there is: methods and doctor."""

import typer

from localfact.cli.options import AsJson
from localfact.errors import MissingError
from localfact.report.console import show
from localfact.report.tables import table_of


def methods(as_json: AsJson = False) -> None:
    """List the methods and what each is made of."""
    from localfact.methods.registry import METHODS

    rows = [
        {
            "method": method.name,
            "what": method.description,
            "language model": {"none": "no", "required": "yes", "optional": "if named"}[method.model],
            "relations": method.relations,
            "passages": method.passages,
            "k": method.k,
        }
        for method in METHODS.values()
    ]
    show(rows, as_json=as_json, view=table_of)


def doctor(as_json: AsJson = False) -> None:
    """Say what is installed, which models and corpora are found, what is missing and how to get it."""
    from dataclasses import asdict

    from localfact.api.doctor import examine, line_of

    findings = list(examine())
    show([asdict(finding) for finding in findings], as_json=as_json, view=lambda _: table_of([line_of(f) for f in findings]))
    if any(finding.needed and not finding.found for finding in findings):
        raise typer.Exit(MissingError.exit_code)
