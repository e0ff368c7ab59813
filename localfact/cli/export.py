"""The command that writes a run in the form of another tool."""

from pathlib import Path
from typing import Annotated

import typer

from localfact.cli.options import AsJson
from localfact.cli.watching import tell_unfinished
from localfact.errors import InputError
from localfact.report.console import note, show


def export(
    run: Annotated[Path | None, typer.Argument(help="A run folder. Default: the latest in runs/.")] = None,
    out: Annotated[Path | None, typer.Option("--out", help="The file.")] = None,
    inspect: Annotated[
        bool, typer.Option("--inspect", help="Scores for inspect_ai's scorer precomputed_scores: JSON lines.")
    ] = False,
    otel: Annotated[bool, typer.Option("--otel", help="OpenTelemetry's events, gen_ai.evaluation.result: JSON lines.")] = False,
    langfuse: Annotated[bool, typer.Option("--langfuse", help="Scores as Langfuse's API takes them: JSON lines.")] = False,
    send: Annotated[
        str | None,
        typer.Option(
            "--send",
            metavar="ADDRESS",
            help="With --langfuse: send them there, with LANGFUSE_PUBLIC_KEY and LANGFUSE_SECRET_KEY of the environment.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Write a run in the form of another tool, which need not be installed. Nothing is sent without --send.

    [dim]localfact export runs/4f1c --inspect --out scores.jsonl[/]   a line an answer: its precision, and all that was found
    [dim]localfact export runs/4f1c --otel --out events.jsonl[/]      an event a score, for a collector of OpenTelemetry
    [dim]localfact export runs/4f1c --langfuse --out scores.jsonl[/]  scores of the traces that the responses' ids name
    [dim]localfact export runs/4f1c --langfuse --send https://cloud.langfuse.com[/]
    """
    from localfact.api.runs import latest_run
    from localfact.integrations.exporting import FORMS, export_run
    from localfact.integrations.langfuse import count_left_out, langfuse_lines, send_scores

    wanted = [form for form, named in {"inspect": inspect, "otel": otel, "langfuse": langfuse}.items() if named]
    if len(wanted) != 1:
        raise InputError(f"Name one form: {' or '.join(f'--{form}' for form in FORMS)}.")
    if send is not None and not langfuse:
        raise InputError("--send goes with --langfuse alone: other forms are files that their tools read.")
    if send is None and out is None:
        raise InputError("Name the file with --out.")
    folder = run if run is not None else latest_run()
    done: dict[str, str | int] = {}
    if langfuse and (left := count_left_out(folder)):
        told = "1 response is" if left == 1 else f"{left:,} responses are"
        note(f"{told} left out, for want of a trace: no id stands in the row, or one that stands in others, too.")
    if out is not None:
        done |= {"file": str(out), "lines": export_run(folder, wanted[0], out)}
    if send is not None:
        note(f"Sending to {send}: scores, and with them contradicted claims, sentences against them and their sources.")
        done |= {"sent": send_scores(list(langfuse_lines(folder)), send), "to": send}
    tell_unfinished([folder])
    show(done, as_json=as_json)
