"""The command line: parses, calls a public function, prints. Results on standard output, everything else on standard error."""

import os
import sys
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from localfact.cli import corpus, evaluate, language_model, models, papers, roc
from localfact.cli.options import AsJson, EmbedderName, EngineArg, Model, RecallK, Relations, Replay, Seed, Solver, Transcript
from localfact.errors import InputError, LocalFactError, MissingError, WriteError
from localfact.report.console import SOME_FAILED, errors, note, output, show
from localfact.report.tables import graph_view, graphs_table, pairs_table, table_of

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    add_completion=False,
    help=(
        "Measure how factual long LLM text is, on your own machines.\n\n"
        "Begin with [bold]localfact eval[/] (the shipped sample), "
        "then [bold]localfact eval --data answers.jsonl --corpus DIR[/].\n\n"
        "Exit codes: 0 done; 1 done with failures; 2 wrong usage or input, or an engine or a disk that failed; 3 something "
        "missing; 130 interrupted. What was done is kept, and the same command goes on from there."
    ),
)
app.command("eval")(evaluate.eval_command)
app.command()(evaluate.check)
for command in (language_model.extract, language_model.generate, language_model.calibrate, language_model.choose):
    app.command()(command)
app.command()(roc.roc)
app.add_typer(corpus.app, name="corpus")
app.add_typer(models.app, name="models")
app.add_typer(papers.app, name="papers")


@app.command("show")
def show_command(
    run: Annotated[Path, typer.Argument(help="A run folder.")],
    response_id: Annotated[str | None, typer.Argument(metavar="[ID]", help="One response of it.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show a run: its scores and responses, or one response with a verdict per claim."""
    from localfact.api.rescore import finished, rescore
    from localfact.report.terminal import assessment_view, responses_table, summary_view
    from localfact.runs.run_folder import read_assessments

    assessments = read_assessments(run)
    if response_id is None:
        summary = finished(run)
        if summary is None:
            note("This run has not ended: these are the responses done so far. The same `localfact eval` goes on with it.")
            summary = rescore(run)
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
    from localfact.api.rescore import rescore
    from localfact.report.terminal import summary_view
    from localfact.scoring import KPolicy

    summary = rescore(run, KPolicy.parse(recall_k))
    show(summary.model_dump(mode="json"), as_json=as_json, view=lambda _: summary_view(summary))


@app.command()
def infer(
    graphs: Annotated[
        list[Path], typer.Argument(metavar="GRAPH.json...", help="Fact graphs (atoms, contexts, relations), or UAI files.")
    ],
    solver: Solver = "auto",
    write_uai: Annotated[
        Path | None, typer.Option("--write-uai", help="Also write each graph into this folder, for other solvers.")
    ] = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Compute the marginals of fact graphs; with --json one line a graph.

    Several graphs are a table: how exact, how long, and, where a file carries reference marginals, how far off over its claims.
    """
    from localfact.api.relate import infer as infer_files

    failed, rows = 0, []
    for result in infer_files(graphs, solver=solver, seed=seed, write_uai=write_uai):
        failed += "error_message" in result
        if as_json or len(graphs) == 1:
            show(result, as_json=as_json, view=graph_view)
        else:
            rows.append(result)
            if "error_message" in result:
                note(result["error_message"])
    if rows:
        output().print(graphs_table(rows))
    if failed:
        raise typer.Exit(SOME_FAILED if failed < len(graphs) else InputError.exit_code)


@app.command()
def relate(
    pairs: Annotated[Path, typer.Argument(metavar="PAIRS.jsonl", help="One object a line with premise and hypothesis.")],
    relations: Relations = "builtin-nli",
    embedder: EmbedderName = "minilm",
    model: Model = None,
    engine_arg: EngineArg = None,
    transcript: Transcript = None,
    replay: Replay = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Relate pairs of texts: entailment, contradiction, neutral. With --json the rows with the three probabilities added."""
    from localfact.api.relate import relate_file
    from localfact.methods.options import options_of

    options = options_of(
        relations=relations,
        embedder=embedder,
        model=model,
        engine_arg=engine_arg,
        transcript=transcript,
        replay=replay,
        seed=seed,
    )
    related = relate_file(pairs, options=options)
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
    from localfact.methods.registry import METHODS, FactReasonerMethod

    rows = [
        {
            "method": method.name,
            "what": method.description,
            "language model": {"none": "no", "required": "yes", "optional": "if named"}[method.model],
            "relations": method.relations if isinstance(method, FactReasonerMethod) else None,
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

    from localfact.api.doctor import examine, line_of

    findings = list(examine())
    show([asdict(finding) for finding in findings], as_json=as_json, view=lambda _: table_of([line_of(f) for f in findings]))
    if any(finding.needed and not finding.found for finding in findings):
        raise typer.Exit(MissingError.exit_code)


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
