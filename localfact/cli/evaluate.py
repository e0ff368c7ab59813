"""The commands that send text down the road: eval, into a run folder, and check, one text at once."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from localfact.cli.options import (
    EVIDENCE,
    FACTREASONER,
    AllowHost,
    AsJson,
    BlockHost,
    Claims,
    Concurrency,
    Confidence,
    CorpusFolder,
    Data,
    EmbedderName,
    EngineArg,
    EvidenceKind,
    ExtractionTokens,
    Force,
    HostDelay,
    KeepDuplicates,
    Limit,
    MaxWords,
    MethodName,
    Model,
    Offline,
    OnlyHost,
    Provider,
    Queries,
    RecallK,
    Relations,
    Replay,
    SearxngUrl,
    Seed,
    Solver,
    Stride,
    Tables,
    Theta,
    Transcript,
    VerificationTokens,
    read_text,
)
from localfact.errors import InputError
from localfact.inputs.responses import MAX_WORDS
from localfact.report.console import SOME_FAILED, errors, note, show
from localfact.report.tables import fields_table
from localfact.runtime.offline import go_offline


def begin_offline(offline: bool, provider: list[str] | None) -> None:
    """Cuts this process off from the network if that is wanted.

    Raises:
        InputError: the web is to be searched all the same.
    """
    if offline and provider:
        raise InputError("--offline and --provider exclude each other: the web cannot be searched without a network.")
    if offline:
        go_offline()


def eval_command(
    data: Data = None,
    method: MethodName = None,
    model: Model = None,
    corpus: CorpusFolder = None,
    out: Annotated[Path | None, typer.Option("--out", help="Run folder. Default: runs/<hash of data and settings>.")] = None,
    limit: Limit = None,
    claims: Claims = None,
    relations: Relations = None,
    embedder: EmbedderName = "minilm",
    tables: Tables = None,
    solver: Solver = "auto",
    kept_relations: Annotated[
        Path | None,
        typer.Option(
            "--kept-relations",
            help="Keep predicted relations in this file, for several runs over the same pairs. Default: in the run folder.",
            rich_help_panel=FACTREASONER,
        ),
    ] = None,
    provider: Provider = None,
    searxng_url: SearxngUrl = None,
    allow_host: AllowHost = None,
    host_delay: HostDelay = 1.0,
    offline: Offline = False,
    scope: Annotated[
        str | None,
        typer.Option(
            "--scope",
            help="query: pages that the claim's own search found; corpus: all pages. Default: query if searches are recorded.",
            rich_help_panel=EVIDENCE,
        ),
    ] = None,
    results: Annotated[
        int | None,
        typer.Option(
            "--results", min=1, help="Results of a search that are used. Default: 5, or --k.", rich_help_panel=EVIDENCE
        ),
    ] = None,
    evidence: EvidenceKind = "page",
    block_host: BlockHost = None,
    only_host: OnlyHost = None,
    before: Annotated[
        str | None,
        typer.Option("--before", help="Leave out pages of this date (2023-09-30, 2023) and later.", rich_help_panel=EVIDENCE),
    ] = None,
    reranker: Annotated[
        str | None,
        typer.Option(
            "--reranker",
            help="Card of a cross-encoder that puts a claim's passages in order. Default: none.",
            rich_help_panel=EVIDENCE,
        ),
    ] = None,
    queries: Queries = "claim",
    k: Annotated[
        int | None, typer.Option("--k", min=1, help="Passages per claim. Default: the method's.", rich_help_panel=EVIDENCE)
    ] = None,
    passage_prior: Annotated[
        float | None,
        typer.Option("--passage-prior", min=0, max=1, help="Prior of a passage. Default: 0.99.", rich_help_panel=FACTREASONER),
    ] = None,
    hosts: Annotated[
        Path | None, typer.Option("--hosts", help="YAML, host: prior; lowers single hosts.", rich_help_panel=FACTREASONER)
    ] = None,
    prior_map: Annotated[
        Path | None,
        typer.Option(
            "--prior-map",
            help="Calibrates what the model thinks of its claims, for localfact; from `calibrate --prior-map`.",
            rich_help_panel=FACTREASONER,
        ),
    ] = None,
    stride: Stride = "max",
    theta: Theta = 0.995,
    confidence: Confidence = None,
    keep_duplicates: KeepDuplicates = False,
    extraction_tokens: ExtractionTokens = 2048,
    verification_tokens: VerificationTokens = 1024,
    engine_arg: EngineArg = None,
    transcript: Transcript = None,
    replay: Replay = None,
    recall_k: RecallK = "median",
    max_words: MaxWords = MAX_WORDS,
    concurrency: Concurrency = None,
    seed: Seed = 0,
    force: Force = False,
    plan: Annotated[bool, typer.Option("--plan", help="Show what would be done; run nothing.")] = False,
    as_json: AsJson = False,
) -> None:
    """Score responses. Killed or interrupted, the same command goes on where it stopped.

    [dim]localfact eval[/]                                         the shipped sample
    [dim]localfact eval --data answers.jsonl --corpus index/mine[/]  your responses, your corpus
    [dim]localfact eval --data answers.jsonl --model llama-3.1-8b --corpus index/mine[/]  FastFact, in vLLM
    [dim]localfact eval --data answers.jsonl --corpus index/web --provider duckduckgo[/]  evidence from the web, kept
    [dim]localfact eval --data answers.jsonl --corpus index/web --offline[/]  the same again with the network unplugged
    [dim]localfact eval --data answers.jsonl --plan[/]               what that would do
    """
    begin_offline(offline, provider)
    from localfact.api import evaluate
    from localfact.api.plan import plan as planned
    from localfact.api.rescore import first_failure
    from localfact.methods.evidence import privacy_note
    from localfact.methods.options import options_of, read_hosts
    from localfact.report.progress import TerminalProgress
    from localfact.report.terminal import machine_line, summary_view
    from localfact.scoring import KPolicy

    recall = KPolicy.parse(recall_k)
    options = options_of(
        corpus=corpus,
        claims=claims,
        relations=relations,
        kept_relations=kept_relations,
        queries=queries,
        providers=tuple(provider or ()),
        searxng_url=searxng_url,
        allow_hosts=tuple(allow_host or ()),
        host_delay=host_delay,
        scope=scope,
        results=results,
        evidence=evidence,
        block_hosts=tuple(block_host or ()),
        only_hosts=tuple(only_host or ()),
        before=before,
        reranker=reranker,
        embedder=embedder,
        tables=tables,
        solver=solver,
        k=k,
        passage_prior=passage_prior,
        hosts=read_hosts(hosts),
        prior_map=prior_map,
        model=model,
        engine_arg=engine_arg,
        transcript=transcript,
        replay=replay,
        stride=stride,
        theta=theta,
        confidence=confidence,
        keep_duplicates=keep_duplicates,
        extraction_tokens=extraction_tokens,
        verification_tokens=verification_tokens,
        seed=seed,
    )
    job = evaluate.prepare(data, method=method, options=options, out=out, limit=limit, max_words=max_words)
    if plan:
        show(planned(job), as_json=as_json, view=fields_table)
        return
    if job.machine:
        note(machine_line(job.machine))
    if job.options.live:
        note(privacy_note(job.options))
    try:
        with TerminalProgress(errors()) as progress:
            summary = evaluate.execute(job, recall_k=recall, concurrency=concurrency, force=force, progress=progress)
    except KeyboardInterrupt:
        note(f"Interrupted. What is done is in {job.out}; the same command goes on from there.")
        raise
    show(summary.model_dump(mode="json"), as_json=as_json, view=lambda _: summary_view(summary))
    if summary.responses_failed or summary.verdicts["failed"]:
        note("Some responses or claims failed. The same command tries them again; rows that cannot be used must be mended.")
        note(f"The first of them, {first_failure(job.out)}")
        raise typer.Exit(SOME_FAILED)


def check(
    file: Annotated[str, typer.Argument(metavar="FILE|-", help="A text file, or - for standard input.")],
    topic: Annotated[
        str | None, typer.Option("--topic", help="What the text is about; resolves a leading she, he or it.")
    ] = None,
    prompt: Annotated[str | None, typer.Option("--prompt", help="What the text answers.")] = None,
    method: MethodName = None,
    model: Model = None,
    corpus: CorpusFolder = None,
    embedder: EmbedderName = "minilm",
    relations: Relations = None,
    engine_arg: EngineArg = None,
    transcript: Transcript = None,
    replay: Replay = None,
    provider: Provider = None,
    searxng_url: SearxngUrl = None,
    allow_host: AllowHost = None,
    host_delay: HostDelay = 1.0,
    offline: Offline = False,
    max_words: MaxWords = MAX_WORDS,
    as_json: AsJson = False,
) -> None:
    """Judge one text: a verdict per claim, with what told most. Without --corpus, the sample's pages are searched."""
    begin_offline(offline, provider)
    from localfact.api import evaluate
    from localfact.methods.evidence import check_web, privacy_note, with_corpus
    from localfact.methods.options import options_of
    from localfact.report.terminal import assessment_view
    from localfact.runs.run_folder import is_failed

    text = sys.stdin.read() if file == "-" else read_text(Path(file), lenient=True)
    options = options_of(
        corpus=corpus,
        embedder=embedder,
        relations=relations,
        model=model,
        engine_arg=engine_arg,
        transcript=transcript,
        replay=replay,
        providers=tuple(provider or ()),
        searxng_url=searxng_url,
        allow_hosts=tuple(allow_host or ()),
        host_delay=host_delay,
    )
    if options.live:
        check_web(options)
        note(privacy_note(with_corpus(options)))
    elif corpus is None:
        note("Evidence: the sample's 60 pages about 20 topics. For your own pages: localfact corpus build, then --corpus DIR")
    assessment = evaluate.check(text, topic=topic, prompt=prompt, method=method, options=options, max_words=max_words)
    show(assessment.model_dump(mode="json"), as_json=as_json, view=lambda _: assessment_view(assessment))
    if is_failed(assessment):
        raise typer.Exit(SOME_FAILED)
