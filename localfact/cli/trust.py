"""The command that says how far hosts can be relied on: trust."""

from pathlib import Path
from typing import Annotated

import typer

from localfact.cli.options import AsJson
from localfact.cli.watching import tell_unfinished
from localfact.report.console import note, progress_bar, show
from localfact.runtime.files import write_file


def trust(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN", help="Run folders of methods with a graph.")],
    out: Annotated[Path | None, typer.Option("--out", help="Write the table of hosts here, as YAML for eval --hosts.")] = None,
    prior: Annotated[
        float | None,
        typer.Option("--prior", help="Reliability of a host that nothing is known of, above 0.5. Default: as in the runs."),
    ] = None,
    strength: Annotated[
        float | None, typer.Option("--strength", help="How many passages the prior counts as. [default: 4]")
    ] = None,
    html: Annotated[Path | None, typer.Option("--html", help="Write a page for a browser: all hosts, and why.")] = None,
    as_json: AsJson = False,
) -> None:
    """Estimate from finished runs how far each host can be relied on: one that disagrees with what the rest bears out sinks.

    No model is asked: the relations that the graphs were made of are kept. The table lowers priors of hosts in the next run.

    [dim]localfact trust runs/4f1c --out hosts.yaml[/]
    [dim]localfact eval --data answers.jsonl --corpus DIR --hosts hosts.yaml[/]   then localfact compare says what it changed
    """
    from localfact.api.trust import hosts_file
    from localfact.api.trust import trust as estimate
    from localfact.report.trust_view import trust_page, trust_view

    with progress_bar() as bar:
        task = bar.add_task("solving the graphs", total=None)
        found = estimate(
            runs,
            prior=prior,
            strength=strength,
            progress=lambda done, change: bar.update(task, description=f"round {done}: largest change {change:.3f}"),
        )
    tell_unfinished(runs)
    for warning in found.warnings:
        note(warning)
    show(found.model_dump(mode="json"), as_json=as_json, view=lambda _: trust_view(found))
    for file, content in ((out, hosts_file), (html, trust_page)):
        if file is not None:
            write_file(file, [content(found).encode("utf-8", "surrogatepass")])
    if out is not None:
        note(f"The table, of {len(found.table)} hosts, is in {out}: localfact eval ... --hosts {out}")
    if html is not None:
        note(f"Page: {html}")
