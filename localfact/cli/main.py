"""The command line: parses, calls a public function, prints. Results go to standard output, everything else to standard error.

A new command is a function in a file beside this one, and a line in COMMANDS.
"""

import os
import sys
from collections.abc import Callable, Mapping
from importlib.metadata import version as installed_version
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from localfact.cli import (
    about,
    align,
    annotate,
    compare,
    corpus,
    correct,
    evaluate,
    export,
    language_model,
    leaderboard,
    models,
    papers,
    plot,
    prompts,
    reliability,
    report,
    roc,
    run_folders,
    runs,
    serving,
    settings_file,
    single_stages,
    trust,
)
from localfact.cli.debugging import begin_debugging, debug_first, debugging, whole_traceback
from localfact.errors import InputError, LocalFactError, WriteError
from localfact.report.console import SOME_FAILED, note, output, prepare_streams, report_error

#: In the order of --help.
COMMANDS: Mapping[str, Callable[..., None]] = {
    "eval": evaluate.eval_command,
    "merge": evaluate.merge,
    "check": evaluate.check,
    "correct": correct.correct,
    "extract": language_model.extract,
    "generate": language_model.generate,
    "calibrate": language_model.calibrate,
    "choose": language_model.choose,
    "roc": roc.roc,
    "show": runs.show_command,
    "report": report.report,
    "export": export.export,
    "plot": plot.plot,
    "reliability": reliability.reliability,
    "score": runs.score,
    "trust": trust.trust,
    "compare": compare.compare,
    "align": align.align,
    "leaderboard": leaderboard.leaderboard,
    "infer": single_stages.infer,
    "relate": single_stages.relate,
    "serve": serving.serve,
    "mcp": serving.mcp,
    "init": settings_file.init,
    "methods": about.methods,
    "doctor": about.doctor,
}
GROUPS: Mapping[str, typer.Typer] = {
    "runs": run_folders.app,
    "annotate": annotate.app,
    "corpus": corpus.app,
    "models": models.app,
    "prompts": prompts.app,
    "papers": papers.app,
}

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help=(
        "Measure how factual long LLM text is, on your own machines.\n\n"
        "Begin with [bold]localfact eval[/] (the shipped sample), "
        "then [bold]localfact eval --data answers.jsonl --corpus DIR[/].\n\n"
        "Exit codes: 0 done; 1 done with failures; 2 wrong usage or input, or an engine or a disk that failed; 3 something "
        "missing; 4 done, but below the bar of --fail-under; 130 interrupted. What was done is kept, and the same command goes "
        "on from there."
    ),
)
for name, command in COMMANDS.items():
    app.command(name)(command)


def print_version(wanted: bool) -> None:
    """Prints the version, where that is asked for, and ends."""
    if wanted:
        output().print(f"localfact {installed_version('localfact')}")
        raise typer.Exit


Version = Annotated[bool, typer.Option("--version", help="Print the version.", callback=print_version, is_eager=True)]


Config = Annotated[
    Path | None,
    typer.Option("--config", help="Settings, from `localfact init`; none for none. Default: localfact.yaml, if it is here."),
]
Trust = Annotated[
    bool,
    typer.Option(
        "--trust-settings", help="Take from the settings also what sends texts away, opens addresses or names a file to write."
    ),
]
Debug = Annotated[
    bool, typer.Option("--debug", help="Show where an error came from, and what vLLM logs. May stand anywhere in a command.")
]


@app.callback()
def options(
    context: typer.Context, version: Version = False, config: Config = None, trust_settings: Trust = False, debug: Debug = False
) -> None:
    """What may stand before a command."""
    if debug:
        begin_debugging()
    typed = context.invoked_subcommand or ""
    context.default_map = settings_file.settings_for(config, COMMANDS, GROUPS, typed) if typed != "init" else {}


for name, group in GROUPS.items():
    app.add_typer(group, name=name)


def main() -> NoReturn:
    """Runs the command line; an error of the user is printed as one sentence with an exit code, never as a traceback."""
    prepare_streams()
    try:
        try:
            with settings_file.telling_unused_settings():
                app(debug_first(sys.argv[1:]))
        finally:
            sys.stdout.flush()  # so that a full disk is noticed here, not when the interpreter ends
    except LocalFactError as error:
        if debugging():
            note(whole_traceback(error))
        report_error(error)
        sys.exit(error.exit_code)
    except MemoryError:
        note("Error: there is not enough memory. What was done is kept; give the command less at once, or more memory.")
        sys.exit(InputError.exit_code)
    except OSError as error:  # of standard output; our own files have other errors
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # takes what is still buffered
        if isinstance(error, BrokenPipeError):  # the reader has seen enough: `localfact ... | head`
            sys.exit(SOME_FAILED)
        note(f"Error: the output cannot be written: {error.strerror or error}.")
        sys.exit(WriteError.exit_code)
    sys.exit(0)
