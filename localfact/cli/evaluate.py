"""The commands that assess text: eval, a file into a run folder, and check, one text."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from localfact.api.arguments import is_there
from localfact.cli.builds import Build, FailUnder, ResultFormatOption
from localfact.cli.options import (
    AsJson,
    Concurrency,
    Data,
    Force,
    Limit,
    MaxWords,
    MethodName,
    Offline,
    RecallK,
    options_from,
    read_text,
)
from localfact.cli.watching import reporting_interruption
from localfact.errors import InputError
from localfact.inputs.responses import MAX_WORDS
from localfact.methods.options import Options
from localfact.report.console import SOME_FAILED, errors, note, one_line, show
from localfact.report.progress import TerminalProgress, TextProgress
from localfact.report.tables import fields_table
from localfact.runs.shards import Shard
from localfact.runtime.offline import go_offline

#: Words from which on what is no file's name is taken for a text.
TYPED_TEXT = 3


def begin_offline(offline: bool, options: Options) -> None:
    """Cuts this process off from the network if `offline`.

    Raises:
        InputError: the options want the web to be searched.
    """
    if offline and options.live:
        raise InputError("--offline and --provider exclude each other: the web cannot be searched without a network.")
    if offline:
        go_offline()


@options_from(Options)
def eval_command(
    options: Options,
    data: Data = None,
    method: MethodName = None,
    out: Annotated[Path | None, typer.Option("--out", help="Run folder. Default: runs/<hash of data and settings>.")] = None,
    limit: Limit = None,
    recall_k: RecallK = "median",
    max_words: MaxWords = MAX_WORDS,
    concurrency: Concurrency = None,
    offline: Offline = False,
    force: Force = False,
    shards: Annotated[
        int | None, typer.Option("--shards", min=1, help="Divide the responses among so many runs, on machines of their own.")
    ] = None,
    shard: Annotated[int | None, typer.Option("--shard", min=1, help="Which of them this one is, from 1.")] = None,
    ray: Annotated[
        str | None,
        typer.Option("--ray", help="Assess on the machines of a Ray cluster: its address, or auto for this machine's."),
    ] = None,
    replicas: Annotated[
        int | None, typer.Option("--replicas", min=1, help="Workers of the cluster. Default: as many as there is room for.")
    ] = None,
    plan: Annotated[bool, typer.Option("--plan", help="Show what would be done; run nothing.")] = False,
    fail_under: FailUnder = None,
    how: ResultFormatOption = "terminal",
    as_json: AsJson = False,
) -> None:
    """Score responses. Killed or interrupted, the same command goes on where it stopped.

    [dim]localfact eval[/]                                                                the shipped sample
    [dim]localfact eval --data answers.jsonl --corpus index/mine[/]                       your responses, your corpus
    [dim]localfact eval --data answers.jsonl --corpus index/mine --model llama-3.1-8b[/]  with a language model, in vLLM
    [dim]localfact eval --data answers.jsonl --corpus index/web --provider duckduckgo[/]  evidence from the web, kept
    [dim]localfact eval --data answers.jsonl --corpus index/web --offline[/]              again with the network unplugged
    [dim]localfact eval --data answers.jsonl --plan[/]                                    what that would do
    [dim]localfact eval --data answers.jsonl --fail-under precision=0.8,contradicted=0[/]  exit code 4 below that
    [dim]localfact eval --data answers.jsonl --ray auto --replicas 8[/]                   on the machines of a Ray cluster
    [dim]localfact eval --data answers.jsonl --shards 8 --shard 3[/]                      an eighth; localfact merge joins them
    """
    begin_offline(offline, options)
    from localfact.api import evaluate
    from localfact.api.plan import plan as planned
    from localfact.api.rescore import first_failure
    from localfact.methods.web import privacy_note
    from localfact.report.terminal import machine_line, replay_line, summary_view
    from localfact.runs.assessments import assessments_in_order
    from localfact.runs.run_folder import read_seconds
    from localfact.scoring import KPolicy

    build = Build(how, as_json, fail_under)
    recall = KPolicy.parse(recall_k)
    if (shards is None) != (shard is None):
        raise InputError("--shards says how many there are, and --shard which of them this is: name both.")
    share = Shard(shard, shards) if shard is not None and shards is not None else None
    job = evaluate.prepare(
        data, method=method, options=options, out=out, limit=limit, max_words=max_words, shard=share, planning=plan
    )
    if replicas is not None and ray is None:
        raise InputError("--replicas counts the workers of --ray. Without it, every GPU of this machine is used.")
    open_assessor: evaluate.Opener = evaluate.wire_interruptibly
    if ray is not None:
        from localfact.cluster.evaluate import Cluster, check_shared

        check_shared(job)
        open_assessor = Cluster(ray, replicas, offline).open
    if plan:
        if build.how not in ("terminal", "json"):
            raise InputError(f"--plan runs nothing, so there is no result to print as {build.how}: leave one of them.")
        show(planned(job), as_json=build.how == "json", view=fields_table)
        return
    if job.chosen.facts is not None and job.chosen.facts.machine:
        note(machine_line(job.chosen.facts.machine))
    if job.chosen.facts is not None and job.chosen.options.replay is not None:
        note(replay_line(job.chosen.facts.identity.model, job.chosen.options.replay.name))
    if job.chosen.options.live:
        note(privacy_note(job.chosen.options))
    left = f"What is done is in {job.out}; the same command goes on from there."
    with reporting_interruption(left), TerminalProgress(errors()) as progress:
        summary = evaluate.execute(
            job, recall_k=recall, concurrency=concurrency, force=force, progress=progress, open_assessor=open_assessor
        )
    seconds = read_seconds(job.out) if build.how == "junit" else None
    build.show(summary, lambda: summary_view(summary), lambda: assessments_in_order(job.out), data, seconds=seconds)
    if summary.responses_failed or summary.verdicts["failed"]:
        note("Some responses or claims failed. The same command tries them again; rows that cannot be used must be mended.")
        note(one_line(f"The first of them, {first_failure(job.out)}"))
    build.end(summary)
    if summary.responses_failed or summary.verdicts["failed"] or summary.no_page_read:
        raise typer.Exit(SOME_FAILED)


def merge(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN", help="The run folders of all shards.")],
    out: Annotated[
        Path | None, typer.Option("--out", help="Run folder. Default: where one run of all responses would lie.")
    ] = None,
    recall_k: RecallK = "median",
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Join the shards of a run (`eval --shards K --shard N`) into one: byte by byte what one machine would have written.

    [dim]localfact merge runs/shard-1 runs/shard-2 --out runs/whole[/]
    """
    from localfact.api.merge import merge_runs
    from localfact.report.terminal import summary_view
    from localfact.scoring import KPolicy

    summary = merge_runs(runs, out=out, recall_k=KPolicy.parse(recall_k), force=force)
    show(summary.model_dump(mode="json"), as_json=as_json, view=lambda _: summary_view(summary))
    if summary.responses_failed or summary.verdicts["failed"]:
        note("Some responses or claims failed. Try them again in their shards, and merge those again with --force.")
        raise typer.Exit(SOME_FAILED)


def text_of(file: str) -> str:
    """The text of a file, of standard input, or, where it can be no file's name, what was typed itself.

    Raises:
        InputError: there is no such file, it cannot be read, or it holds no single text but data.
    """
    if not file.strip():
        raise InputError("There is no text to judge: it is empty.")
    if file == "-":
        return sys.stdin.buffer.read().decode("utf-8-sig", "replace")
    if is_there(file):
        from localfact.inputs.plain_texts import check_single_text

        text = read_text(Path(file), lenient=True)
        check_single_text(Path(file), text)
        return text
    if len(file.split()) >= TYPED_TEXT:
        note("There is no such file: what you typed is judged as the text. A longer one goes in by a file, or by - (stdin).")
        return file
    raise InputError(f"There is no file {file}. A text goes in by a file, or by standard input: echo TEXT | localfact check -")


def tell_evidence(options: Options) -> None:
    """Says where evidence for a text comes from, unless it is the user's own corpus.

    Raises:
        InputError: the web cannot be searched with these options.
    """
    from localfact.methods.web import check_web, privacy_note, with_corpus

    if options.live:
        check_web(options)
        note(privacy_note(with_corpus(options)))
    elif options.corpus is None and options.coherence:
        note("No evidence is read: claims are compared with one another alone. For verdicts, too: --corpus DIR")
    elif options.corpus is None:
        note("Evidence: the sample's 60 pages about 20 topics. For your own pages: localfact corpus build, then --corpus DIR")


@options_from(Options, without={"claims", "scope"})
def check(
    options: Options,
    file: Annotated[str, typer.Argument(metavar="FILE|-", help="A text file, or - for standard input; or a sentence.")],
    topic: Annotated[
        str | None, typer.Option("--topic", help="What the text is about; resolves a leading she, he or it.")
    ] = None,
    prompt: Annotated[str | None, typer.Option("--prompt", help="What the text answers.")] = None,
    sources: Annotated[
        Path | None,
        typer.Option("--sources", help="What the text cites, as JSON: a list, or an object of marks and sources; --citations."),
    ] = None,
    method: MethodName = None,
    max_words: MaxWords = MAX_WORDS,
    offline: Offline = False,
    fail_under: FailUnder = None,
    how: ResultFormatOption = "terminal",
    as_json: AsJson = False,
) -> None:
    """Judge one text: a verdict per claim, with the passages that moved it most. Without --corpus, in the sample's pages."""
    begin_offline(offline, options)
    from localfact.api.check import check as check_text
    from localfact.inputs.sources import read_sources_file
    from localfact.report.summary import NO_PAGE_READ, no_page_read
    from localfact.report.terminal import assessment_view
    from localfact.runs.assessments import is_failed

    build = Build(how, as_json, fail_under)
    text = text_of(file)
    cited = None if sources is None else read_sources_file(sources)
    tell_evidence(options)
    with TextProgress(errors()) as progress:
        assessment = check_text(
            text,
            topic=topic,
            prompt=prompt,
            sources=cited,
            method=method,
            options=options,
            max_words=max_words,
            progress=progress,
        )
    read = Path(file) if file != "-" and is_there(file) else None
    build.show(assessment, lambda: assessment_view(assessment), lambda: [assessment], read)
    unread = no_page_read(assessment.counts)
    if unread:
        note(NO_PAGE_READ)
    build.end(assessment)
    if is_failed(assessment) or unread:
        raise typer.Exit(SOME_FAILED)
