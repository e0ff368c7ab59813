"""The command that corrects the contradicted claims of a text, or of a run's responses."""

from pathlib import Path
from typing import Annotated

import typer

from localfact.cli.evaluate import begin_offline, tell_evidence, text_of
from localfact.cli.options import AsJson, Concurrency, Force, MaxWords, MethodName, Offline, options_from
from localfact.cli.watching import reporting_interruption
from localfact.errors import InputError
from localfact.inputs.responses import MAX_WORDS
from localfact.methods.options import Options
from localfact.report.console import SOME_FAILED, errors, note, show, show_text
from localfact.report.progress import TerminalProgress, TextProgress
from localfact.report.tables import fields_table
from localfact.runs.run_folder import RUN_FILE


@options_from(Options, without={"claims", "scope", "citations", "key_facts", "coherence"})
def correct(
    options: Options,
    what: Annotated[
        str, typer.Argument(metavar="RUN|FILE|-", help="A run folder, a text file, - for standard input; a sentence.")
    ],
    topic: Annotated[str | None, typer.Option("--topic", help="What the text is about; it keeps its name.")] = None,
    prompt: Annotated[str | None, typer.Option("--prompt", help="What the text answers.")] = None,
    method: MethodName = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", help="File of the corrected text; of a run, of its corrections (corrections.jsonl in its folder)."
        ),
    ] = None,
    max_words: MaxWords = MAX_WORDS,
    concurrency: Concurrency = None,
    offline: Offline = False,
    force: Force = False,
    plan: Annotated[bool, typer.Option("--plan", help="Show what would be done for a run; do nothing.")] = False,
    as_json: AsJson = False,
) -> None:
    """Correct contradicted claims: in each the fewest words, by the sentence that contradicts it, and only where that helps.

    The corrected text is assessed again: an edit is made where its claim is then more likely true than not. A --model proposes
    edits where no other number, date, name, place or role is found. The corrected text goes to standard output, the edits with
    their sources to standard error.

    [dim]localfact correct answer.txt --corpus index/mine[/]
    [dim]localfact correct runs/4f1c[/]                           all responses of a run, and its report with the edits
    [dim]localfact correct runs/4f1c --plan[/]                    what that would do
    """
    begin_offline(offline, options)
    if (Path(what) / RUN_FILE).is_file():
        if topic is not None or prompt is not None or method is not None or max_words != MAX_WORDS:
            raise InputError("--topic, --prompt, --method and --max-words are of a text: a run has its own.")
        _correct_run(Path(what), options, out, concurrency, force=force, plan=plan, as_json=as_json)
        return
    if plan or force or concurrency is not None:
        raise InputError(f"{what} is no run folder: --plan, --force and --concurrency are of a run.")
    from localfact.api.correct import correct as correct_text
    from localfact.api.correct import correction_row
    from localfact.report.correction_view import correction_view

    text = text_of(what)
    tell_evidence(options)
    with TextProgress(errors()) as progress:
        done = correct_text(
            text, topic=topic, prompt=prompt, method=method, options=options, max_words=max_words, progress=progress
        )
    if out is not None:
        from localfact.runtime.files import write_file

        write_file(out, [done.text.encode("utf-8", "replace")])
    row = correction_row(done)
    if as_json:
        show({**row, "diff": done.diff}, as_json=True)
        return
    errors().print(correction_view(row))
    if out is None:
        show_text(done.text if done.text.endswith("\n") else f"{done.text}\n")


def _correct_run(
    run: Path, options: Options, out: Path | None, concurrency: int | None, *, force: bool, plan: bool, as_json: bool
) -> None:
    from localfact.api.correct_run import correct_run, plan_corrections
    from localfact.report.correction_view import corrections_view

    if plan:
        show(plan_corrections(run, options), as_json=as_json, view=fields_table)
        return
    left = "What is done is kept; the same command goes on from there."
    with reporting_interruption(left), TerminalProgress(errors()) as progress:
        summary = correct_run(run, options=options, out=out, concurrency=concurrency, force=force, progress=progress)
    show(summary.model_dump(mode="json"), as_json=as_json, view=corrections_view)
    if summary.failed:
        note("The same command tries failed responses again.")
        raise typer.Exit(SOME_FAILED)
