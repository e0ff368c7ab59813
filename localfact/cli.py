"""The command line: parses, calls a public function, prints. Results on standard output, everything else on standard error."""

import os
import sys
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from localfact import corpus_commands, llm_commands, models_commands
from localfact.arguments import (
    AsJson,
    Concurrency,
    Confidence,
    CorpusFolder,
    Data,
    EmbedderName,
    EngineArg,
    ExtractionTokens,
    Force,
    KeepDuplicates,
    Limit,
    MaxWords,
    MethodName,
    Model,
    RecallK,
    Relations,
    Replay,
    Seed,
    Solver,
    Stride,
    Tables,
    Theta,
    Transcript,
    VerificationTokens,
)
from localfact.console import errors, note, output, show
from localfact.errors import InputError, LocalFactError, MissingError, WriteError
from localfact.inputs import MAX_WORDS
from localfact.report.tables import fields_table, graph_view, pairs_table, table_of

#: The exit code besides those of errors.py: done, but some responses, rows or graphs failed.
SOME_FAILED = 1

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    add_completion=False,
    help=(
        "Measure how factual long LLM text is, on your own machines.\n\n"
        "Begin with [bold]localfact eval[/] (the shipped sample), "
        "then [bold]localfact eval --data answers.jsonl --corpus DIR[/].\n\n"
        "Exit codes: 0 done; 1 done with failures; 2 wrong usage or input; 3 something missing; 130 interrupted."
    ),
)
for command in (llm_commands.extract, llm_commands.generate, llm_commands.calibrate, llm_commands.choose):
    app.command()(command)
app.add_typer(corpus_commands.app, name="corpus")
app.add_typer(models_commands.app, name="models")


@app.command("eval")
def eval_command(
    data: Data = None,
    method: MethodName = None,
    model: Model = None,
    corpus: CorpusFolder = None,
    out: Annotated[Path | None, typer.Option("--out", help="Run folder. Default: runs/<hash of data and settings>.")] = None,
    limit: Limit = None,
    claims: Annotated[
        str | None,
        typer.Option("--claims", help="given: use claims that come with the data; extract: ignore them. Default: given."),
    ] = None,
    relations: Relations = None,
    embedder: EmbedderName = "minilm",
    tables: Tables = None,
    solver: Solver = "auto",
    k: Annotated[int | None, typer.Option("--k", min=1, help="Passages retrieved per claim. Default: the method's.")] = None,
    passage_prior: Annotated[
        float | None, typer.Option("--passage-prior", min=0, max=1, help="Prior of a passage to be true. Default: 0.99.")
    ] = None,
    hosts: Annotated[Path | None, typer.Option("--hosts", help="YAML, host: prior; lowers the prior of single hosts.")] = None,
    stride: Stride = "max",
    theta: Theta = 0.995,
    confidence: Confidence = "token",
    keep_duplicates: KeepDuplicates = False,
    extraction_tokens: ExtractionTokens = 2048,
    verification_tokens: VerificationTokens = 1024,
    engine_arg: EngineArg = None,
    transcript: Transcript = None,
    replay: Replay = None,
    recall_k: RecallK = "median",
    max_words: MaxWords = MAX_WORDS,
    concurrency: Concurrency = 4,
    seed: Seed = 0,
    force: Force = False,
    plan: Annotated[bool, typer.Option("--plan", help="Show what would be done; run nothing.")] = False,
    as_json: AsJson = False,
) -> None:
    """Score responses. Killed or interrupted, the same command goes on where it stopped.

    [dim]localfact eval[/]                                         the shipped sample
    [dim]localfact eval --data answers.jsonl --corpus index/mine[/]  your responses, your corpus
    [dim]localfact eval --data answers.jsonl --model llama-3.1-8b --corpus index/mine[/]  FastFact, in vLLM
    [dim]localfact eval --data answers.jsonl --plan[/]               what that would do
    """
    from localfact import evaluation
    from localfact.options import options_of, read_engine_args, read_hosts, read_stride
    from localfact.report.progress import TerminalProgress
    from localfact.report.terminal import summary_view
    from localfact.scoring import KPolicy

    recall = KPolicy.parse(recall_k)
    options = options_of(
        corpus=corpus,
        claims=claims,
        relations=relations,
        embedder=embedder,
        tables=tables,
        solver=solver,
        k=k,
        passage_prior=passage_prior,
        hosts=read_hosts(hosts),
        model=model,
        engine_args=read_engine_args(engine_arg or []),
        transcript=transcript,
        replay=replay,
        stride=read_stride(stride),
        theta=theta,
        confidence=confidence,
        keep_duplicates=keep_duplicates,
        extraction_tokens=extraction_tokens,
        verification_tokens=verification_tokens,
        seed=seed,
    )
    job = evaluation.prepare(data, method=method, options=options, out=out, limit=limit, max_words=max_words)
    if plan:
        show(evaluation.plan(job), as_json=as_json, view=fields_table)
        return
    try:
        with TerminalProgress(errors()) as progress:
            summary = evaluation.execute(job, recall_k=recall, concurrency=concurrency, force=force, progress=progress)
    except KeyboardInterrupt:
        note(f"Interrupted. What is done is in {job.out}; the same command goes on from there.")
        raise
    show(summary.model_dump(mode="json"), as_json=as_json, view=lambda _: summary_view(summary))
    if summary.responses_failed or summary.verdicts["failed"]:
        note("Some responses or claims failed. The same command tries them again; rows that cannot be used must be mended.")
        raise typer.Exit(SOME_FAILED)


@app.command()
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
    engine_arg: EngineArg = None,
    transcript: Transcript = None,
    replay: Replay = None,
    max_words: MaxWords = MAX_WORDS,
    as_json: AsJson = False,
) -> None:
    """Judge one text: a verdict per claim, with what told most. Without --corpus, the sample's pages are searched."""
    from localfact import evaluation
    from localfact.options import options_of, read_engine_args
    from localfact.report.terminal import assessment_view

    text = sys.stdin.read() if file == "-" else read_text(Path(file))
    options = options_of(
        corpus=corpus,
        embedder=embedder,
        model=model,
        engine_args=read_engine_args(engine_arg or []),
        transcript=transcript,
        replay=replay,
    )
    if corpus is None:
        note("Evidence: the sample's 60 pages about 20 topics. For your own pages: localfact corpus build, then --corpus DIR")
    assessment = evaluation.check(text, topic=topic, prompt=prompt, method=method, options=options, max_words=max_words)
    show(assessment.model_dump(mode="json"), as_json=as_json, view=lambda _: assessment_view(assessment))


@app.command("show")
def show_command(
    run: Annotated[Path, typer.Argument(help="A run folder.")],
    response_id: Annotated[str | None, typer.Argument(metavar="[ID]", help="One response of it.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show a run: its scores and responses, or one response with a verdict per claim."""
    from localfact import evaluation
    from localfact.report.terminal import assessment_view, responses_table, summary_view
    from localfact.runfolder import read_assessments

    assessments = read_assessments(run)
    if response_id is None:
        summary = evaluation.finished(run)
        if summary is None:
            note("This run has not ended: these are the responses done so far. The same `localfact eval` goes on with it.")
            summary = evaluation.rescore(run)
        view = summary_view(summary)
        show(summary.model_dump(mode="json"), as_json=as_json, view=lambda _: view)
        if not as_json:
            output().print(responses_table(assessments))
        return
    found = [assessment for assessment in assessments if assessment.response_id == response_id]
    if not found:
        known = ", ".join(assessment.response_id for assessment in assessments[:5])
        raise InputError(
            f"The run {run} has no response '{response_id}'. It has {known}, ... (localfact show {run} lists them)."
        )
    show(found[0].model_dump(mode="json"), as_json=as_json, view=lambda _: assessment_view(found[0]))


@app.command()
def score(
    run: Annotated[Path, typer.Argument(help="A run folder.")], recall_k: RecallK = "median", as_json: AsJson = False
) -> None:
    """Score a run again, perhaps with another K. Nothing is assessed and nothing is written."""
    from localfact import evaluation
    from localfact.report.terminal import summary_view
    from localfact.scoring import KPolicy

    summary = evaluation.rescore(run, KPolicy.parse(recall_k))
    show(summary.model_dump(mode="json"), as_json=as_json, view=lambda _: summary_view(summary))


@app.command()
def infer(
    graphs: Annotated[list[Path], typer.Argument(metavar="GRAPH.json...", help="Fact graphs: atoms, contexts, relations.")],
    solver: Solver = "auto",
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Compute the marginals of fact graphs; with --json one line a graph."""
    from localfact.standalone import infer as infer_files

    failed = 0
    for result in infer_files(graphs, solver=solver, seed=seed):
        failed += "error_message" in result
        show(result, as_json=as_json, view=graph_view)
    if failed:
        raise typer.Exit(SOME_FAILED if failed < len(graphs) else InputError.exit_code)


@app.command()
def relate(
    pairs: Annotated[Path, typer.Argument(metavar="PAIRS.jsonl", help="One object a line with premise and hypothesis.")],
    relations: Relations = "lexical",
    embedder: EmbedderName = "minilm",
    as_json: AsJson = False,
) -> None:
    """Relate pairs of texts: entailment, contradiction, neutral. With --json the rows with the three probabilities added."""
    from localfact.standalone import relate_file

    related = relate_file(pairs, relations=relations or "lexical", embedder=embedder)
    if as_json:
        for row in related:
            show(row, as_json=True)
    else:
        output().print(pairs_table(related))
    if any("error_message" in row for row in related):
        raise typer.Exit(SOME_FAILED)


@app.command()
def methods(as_json: AsJson = False) -> None:
    """List the methods and what each is made of."""
    from localfact.methods import METHODS

    rows = [
        {
            "method": method.name,
            "what": method.description,
            "language model": "yes" if method.needs_model else "no",
            "passages": method.passages,
            "k": method.k,
        }
        for method in METHODS.values()
    ]
    show(rows, as_json=as_json, view=table_of)


@app.command()
def doctor(as_json: AsJson = False) -> None:
    """Say what is installed, which models and corpora are found, what is missing and how to get it."""
    from dataclasses import asdict

    from localfact.doctor import examine, line_of

    findings = list(examine())
    show([asdict(finding) for finding in findings], as_json=as_json, view=lambda _: table_of([line_of(f) for f in findings]))
    if any(finding.needed and not finding.found for finding in findings):
        raise typer.Exit(MissingError.exit_code)


def read_text(file: Path) -> str:
    """A text file; bytes that are no UTF-8 become replacement characters."""
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror}.") from None


def main() -> NoReturn:
    """Runs the command line; an error that the user can mend is one sentence and an exit code, never a traceback."""
    try:
        try:
            app()
        finally:
            sys.stdout.flush()  # buffered output meets its full disk here, not when the interpreter ends
    except LocalFactError as error:
        errors().print(f"Error: {error}", style="red", markup=False, soft_wrap=True)
        sys.exit(error.exit_code)
    except OSError as error:  # of standard output; files of ours have errors of their own
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # takes what is still buffered
        if isinstance(error, BrokenPipeError):  # the reader has seen enough: `localfact ... | head`
            sys.exit(SOME_FAILED)
        note(f"Error: the output cannot be written: {error.strerror or error}.")
        sys.exit(WriteError.exit_code)
    sys.exit(0)
