"""The command that fetches evidence from the web into a corpus, ahead of an evaluation: `localfact corpus fetch`."""

from pathlib import Path
from typing import Annotated

import typer

from localfact.cli.machines import Ray, machines_at
from localfact.cli.options import AsJson, Concurrency, Data, Limit, MaxWords, MethodName, options_from
from localfact.inputs.responses import MAX_WORDS
from localfact.methods.options import (
    ChunkOptions,
    ClaimOptions,
    EvidenceOptions,
    GateOptions,
    ModelOptions,
    Options,
    WebOptions,
)
from localfact.report.console import SOME_FAILED, errors, note, show
from localfact.report.progress import TerminalProgress
from localfact.report.tables import fields_table


@options_from(
    Options,
    *(ClaimOptions, ModelOptions, ChunkOptions, GateOptions, EvidenceOptions, WebOptions),
    "seed",
    without={"corpus", "k", "results", "scope", "reranker"},
)
def fetch(
    options: Options,
    out: Annotated[Path, typer.Option("--out", help="The corpus folder: made if missing, added to if there.")],
    data: Data = None,
    method: MethodName = None,
    k: Annotated[
        int | None,
        typer.Option(
            "--k",
            "--results",
            min=1,
            help="Pages per claim: results of a search that are fetched. Default: what the method reads.",
            rich_help_panel="Evidence",
        ),
    ] = None,
    retry_failed: Annotated[
        bool,
        typer.Option(
            "--retry-failed",
            help="Ask again for pages that a time-out, a limit or a broken connection withheld.",
            rich_help_panel="Evidence",
        ),
    ] = False,
    limit: Limit = None,
    max_words: MaxWords = MAX_WORDS,
    concurrency: Concurrency = None,
    ray: Ray = None,
    as_json: AsJson = False,
) -> None:
    """Search the web for the claims of responses and keep what is found, for evaluations with or without a network.

    Killed or interrupted, the same command goes on: no query and no page is asked for twice.

    [dim]localfact corpus fetch --data answers.jsonl --out index/web[/]   DuckDuckGo
    [dim]localfact corpus fetch --data answers.jsonl --out index/web --provider searxng --searxng-url http://localhost:8080[/]
    [dim]localfact eval --data answers.jsonl --corpus index/web --offline[/]   then, on any machine
    """
    from localfact.api.evaluate import prepare
    from localfact.api.fetch import fetch as fetch_evidence
    from localfact.api.fetch import summary_of
    from localfact.methods.option_group import check_options
    from localfact.methods.web import privacy_note
    from localfact.web.searching.providers import DEFAULT_PROVIDER

    asked = {"corpus": out, "results": k, "providers": options.providers or (DEFAULT_PROVIDER,)}
    checked = check_options(Options, asked)
    options = options.model_copy(update={name: getattr(checked, name) for name in asked})
    job = prepare(data, method=method, options=options, limit=limit, max_words=max_words)
    note(privacy_note(job.chosen.options))
    try:
        with machines_at(ray) as machines, TerminalProgress(errors()) as progress:
            fetched = fetch_evidence(
                job, retry_failed=retry_failed, concurrency=concurrency, progress=progress, machines=machines
            )
    except KeyboardInterrupt:
        kept = f"What was fetched is in {out}; t" if out.exists() else "T"
        note(f"Interrupted. {kept}he same command goes on from there.")
        raise
    show(summary_of(fetched, job.chosen.options), as_json=as_json, view=fields_table)
    if fetched.failed:
        note("Some responses or searches failed. The same command tries them again.")
        raise typer.Exit(SOME_FAILED)
