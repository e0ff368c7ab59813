"""The command that fetches evidence from the web into a corpus, ahead of an evaluation: `localfact corpus fetch`."""

from pathlib import Path
from typing import Annotated

import typer

from localfact.cli.options import (
    EVIDENCE,
    AllowHost,
    AsJson,
    BlockHost,
    Claims,
    Concurrency,
    Confidence,
    Data,
    EmbedderName,
    EngineArg,
    EvidenceKind,
    ExtractionTokens,
    HostDelay,
    Limit,
    MaxWords,
    MethodName,
    Model,
    OnlyHost,
    Provider,
    Queries,
    Replay,
    SearxngUrl,
    Seed,
    Stride,
    Theta,
    Transcript,
)
from localfact.inputs.responses import MAX_WORDS
from localfact.report.console import SOME_FAILED, errors, note, show
from localfact.report.tables import fields_table


def fetch(
    out: Annotated[Path, typer.Option("--out", help="The corpus folder: made if missing, added to if there.")],
    data: Data = None,
    method: MethodName = None,
    provider: Provider = None,
    searxng_url: SearxngUrl = None,
    allow_host: AllowHost = None,
    host_delay: HostDelay = 1.0,
    k: Annotated[
        int | None,
        typer.Option(
            "--k",
            "--results",
            min=1,
            help="Pages per claim: results of a search that are fetched. Default: what the method reads.",
            rich_help_panel=EVIDENCE,
        ),
    ] = None,
    evidence: EvidenceKind = "page",
    block_host: BlockHost = None,
    only_host: OnlyHost = None,
    retry_failed: Annotated[
        bool,
        typer.Option(
            "--retry-failed",
            help="Ask again for pages that a time-out, a limit or a broken connection withheld.",
            rich_help_panel=EVIDENCE,
        ),
    ] = False,
    model: Model = None,
    engine_arg: EngineArg = None,
    transcript: Transcript = None,
    replay: Replay = None,
    queries: Queries = "claim",
    claims: Claims = None,
    stride: Stride = "max",
    theta: Theta = 0.995,
    confidence: Confidence = None,
    extraction_tokens: ExtractionTokens = 2048,
    embedder: EmbedderName = "minilm",
    limit: Limit = None,
    max_words: MaxWords = MAX_WORDS,
    concurrency: Concurrency = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Search the web for the claims of responses and keep what is found, for evaluations with or without a network.

    Killed or interrupted, the same command goes on: no query and no page is asked for twice.

    [dim]localfact corpus fetch --data answers.jsonl --out index/web[/]   DuckDuckGo
    [dim]localfact corpus fetch --data answers.jsonl --out index/web --provider searxng --searxng-url http://localhost:8080[/]
    [dim]localfact eval --data answers.jsonl --corpus index/web --offline[/]   then, on any machine
    """
    from localfact.api.evaluate import prepare
    from localfact.api.fetch import gather, summary_of
    from localfact.methods.evidence import privacy_note
    from localfact.methods.options import options_of
    from localfact.report.progress import TerminalProgress

    options = options_of(
        corpus=out,
        providers=tuple(provider or ("duckduckgo",)),
        searxng_url=searxng_url,
        allow_hosts=tuple(allow_host or ()),
        host_delay=host_delay,
        results=k,
        evidence=evidence,
        block_hosts=tuple(block_host or ()),
        only_hosts=tuple(only_host or ()),
        model=model,
        engine_arg=engine_arg,
        transcript=transcript,
        replay=replay,
        queries=queries,
        claims=claims,
        stride=stride,
        theta=theta,
        confidence=confidence,
        extraction_tokens=extraction_tokens,
        embedder=embedder,
        seed=seed,
    )
    job = prepare(data, method=method, options=options, limit=limit, max_words=max_words)
    note(privacy_note(job.options))
    try:
        with TerminalProgress(errors()) as progress:
            gathered = gather(job, retry_failed=retry_failed, concurrency=concurrency, progress=progress)
    except KeyboardInterrupt:
        kept = f"What was fetched is in {out}; t" if out.exists() else "T"
        note(f"Interrupted. {kept}he same command goes on from there.")
        raise
    show(summary_of(gathered, job.options), as_json=as_json, view=fields_table)
    if gathered.failed:
        note("Some responses or searches failed. The same command tries them again.")
        raise typer.Exit(SOME_FAILED)
