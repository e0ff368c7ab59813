"""The commands about annotation: the server that people annotate with, what comes out of it, and what goes into it."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from localfact.cli.options import AsJson
from localfact.errors import InputError, MissingError
from localfact.report.console import note, show, show_table
from localfact.report.formats import Format, find_format
from localfact.report.tables import fields_table

if TYPE_CHECKING:
    from localfact.annotation.store import AnnotationStore

SERVE = "serve"


class _ServeByDefault(TyperGroup):
    """`annotate RUN` is `annotate serve RUN`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """As the base class, with the name of the command that was left out."""
        if args and args[0] not in (*self.commands, "--help", "-h"):
            args = [SERVE, *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=_ServeByDefault,
    no_args_is_help=True,
    help=(
        "Make gold data: people revise, judge and adjudicate claims in a browser.\n\n"
        "[bold]localfact annotate RUN[/] serves the pages; [bold]annotate export[/] writes the gold data."
    ),
)


@app.command(SERVE)
def serve(
    data: Annotated[
        Path, typer.Argument(metavar="RUN|DATA|PROJECT", help="A run folder, a file of responses, or a project that was begun.")
    ],
    out: Annotated[Path | None, typer.Option("--out", help="The project's folder. Default: annotations/ and a name.")] = None,
    overlap: Annotated[
        float | None,
        typer.Option(
            "--overlap",
            min=0,
            max=1,
            help="Share of responses that two people annotate, which shows how far people agree. Default: 0.2.",
        ),
    ] = None,
    blind: Annotated[
        bool | None,
        typer.Option(
            "--blind/--seen",
            help="Whether what the machine found is hidden from annotators. Default: it is; a project keeps what was chosen.",
        ),
    ] = None,
    adjudicator: Annotated[
        list[str] | None, typer.Option("--adjudicator", help="Who may decide between others; may be repeated. Default: all.")
    ] = None,
    host: Annotated[
        str, typer.Option("--host", help="The address to listen at. Another than loopback asks everybody for a token.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="0: a free one.")] = 8737,
    seed: Annotated[
        int | None, typer.Option("--seed", help="Of the lot that draws which responses two people annotate. Default: 0.")
    ] = None,
) -> None:
    """Serve the annotators' pages until Ctrl-C. Every step is saved as it is made; the same command goes on.

    [dim]localfact annotate runs/4f1c[/]                                 what a run found, for people to judge
    [dim]localfact annotate answers.jsonl --overlap 1[/]                 each response by two people
    [dim]localfact annotate runs/4f1c --seen[/]                          who looks at the machine's verdicts, and may agree
    [dim]localfact annotate runs/4f1c --host 0.0.0.0[/]                  for others in the house; prints a link with a token
    """
    from localfact.annotation.project import OVERLAP, Project, create, default_folder, is_project
    from localfact.annotation.tasks import read_tasks

    folder = data if is_project(data) else out or default_folder(data)
    if is_project(folder):
        if folder != data:
            note(f"{folder} goes on as it was begun; what has changed in {data} since is not looked at.")
    else:
        tasks, unusable = read_tasks(data)
        for said in unusable:
            note(said)
        bare = sum(not task.claims for task in tasks)
        if bare:
            note(f"{bare} responses have no claims to begin with. `localfact extract` finds some.")
        share = OVERLAP if overlap is None else overlap
        create(folder, tasks, made_of=str(data), overlap=share, seed=seed or 0, blind=blind is not False)
    from localfact.annotation.serving import serve_project
    from localfact.annotation.store import SHOWN

    with Project(folder) as project:
        drawn = project.store.facts()
        if any(given not in (None, drawn.get(name)) for name, given in (("overlap", overlap), ("seed", seed))):
            raise InputError(f"{folder} was begun already; whom its responses go to is decided. Name another with --out.")
        if adjudicator is not None:
            project.store.set_fact("adjudicators", adjudicator)
        if blind is not None:
            project.store.set_fact("blind", blind)
        unseen = bool(project.store.facts().get("blind"))
        if not unseen:
            project.store.set_fact(SHOWN, True)
        note_meaning(project.store)
        wanted = list(project.store.annotators_wanted().values())
        note(f"{len(wanted)} responses, {wanted.count(2)} of them for two people each; where these differ, a third decides.")
        note(f"What the machine found is {'hidden from annotators; --seen shows it' if unseen else 'shown to annotators'}.")
        note(f"Project: {folder}; a copy of what was done before is in {folder}/backups.")
        serve_project(project, host, port, blind=unseen, ready=lambda link: note(f"Open {link} in a browser. Ctrl-C stops it."))
        note("Stopped. Everything is saved; the same command goes on.")


@app.command()
def export(
    project: Annotated[Path, typer.Argument(help="A project's folder. Its server need not be stopped.")],
    out: Annotated[Path, typer.Option("--out", help="File of the gold data.")] = Path("gold.jsonl"),
    disagreements: Annotated[
        Path | None, typer.Option("--disagreements", help="File of the claims on which annotators differ.")
    ] = None,
    how: Annotated[
        Format,
        typer.Option(
            "--format", metavar="<str>", parser=find_format, help="Of the figures: terminal, markdown, latex, csv or json."
        ),
    ] = "terminal",
    as_json: AsJson = False,
) -> None:
    """Write gold data that eval, align, calibrate and papers read; print edits, agreement and time.

    [dim]localfact annotate export annotations/4f1c-1c2e30 --out gold.jsonl[/]
    [dim]localfact eval --data gold.jsonl --claims given --corpus index/mine[/]
    """
    from localfact.annotation.gold import disagreements as differing
    from localfact.annotation.gold import gold_rows
    from localfact.annotation.summary import summarise, summary_tables

    if disagreements is not None and disagreements.resolve() == out.resolve():
        raise InputError(f"--out and --disagreements are both {out}: name two files.")
    with open_to_read(project) as store:
        rows = list(gold_rows(store))
        write_lines(out, rows)
        if disagreements is not None:
            write_lines(disagreements, list(differing(store)))
        found = summarise(store)
        note_meaning(store)
    note(f"{len(rows)} responses: {out}")
    if as_json:
        show(found.model_dump(mode="json"), as_json=True)
        return
    for table in summary_tables(found):
        show_table(table, how)


@app.command("import")
def import_command(
    data: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="FastFact-Bench's annotation, FActScore's labelled file, CSV, Label Studio's export, or gold data.",
        ),
    ],
    project: Annotated[
        Path, typer.Option("--into", help="A project's folder; made of the file's responses where there is none.")
    ],
    annotator: Annotated[str, typer.Option("--annotator", help="Whose work it is, where the file names nobody.")] = "imported",
    as_json: AsJson = False,
) -> None:
    """Take labelled claims that were made elsewhere into a project, as somebody's finished work.

    [dim]localfact annotate import labelled.csv --into annotations/mine --annotator ada[/]
    [dim]localfact annotate import label-studio.json --into annotations/mine[/]      each of its annotators by name
    """
    from localfact.annotation.importing import distinct_tasks, import_into, meaning_of_irrelevant
    from localfact.annotation.label_studio import escape_name
    from localfact.annotation.labelled import read_labelled
    from localfact.annotation.project import Project, create, is_project
    from localfact.inputs.annotations import IrrelevantMeaning

    name = escape_name(annotator)
    if not name:
        raise InputError("--annotator takes a name that can be seen.")
    labelled = read_labelled(data)
    if not is_project(project):
        tasks = distinct_tasks(labelled)
        if not tasks:
            raise InputError(f"{data} has no labelled claims that can be used: {labelled[0].problem}")
        meaning = meaning_of_irrelevant(labelled) or IrrelevantMeaning.UNRELATED
        create(project, tasks, made_of=str(data), overlap=1.0, irrelevant=meaning)  # overlap: so that others can be set beside
    with Project(project) as opened:
        found = import_into(opened.store, labelled, name)
    show(found.model_dump(mode="json"), as_json=as_json, view=fields_table)


@contextmanager
def open_to_read(project: Path) -> Iterator["AnnotationStore"]:
    """The database of a project, whether it is served or not.

    Raises:
        MissingError: there is no project there.
    """
    from localfact.annotation.project import DATABASE, is_project, make_private
    from localfact.annotation.store import AnnotationStore
    from localfact.runtime.links import refuse_links

    if not is_project(project):
        raise MissingError(f"There is no annotation project in {project}. `localfact annotate RUN` begins one.")
    refuse_links(project)
    make_private(project)
    store = AnnotationStore(project / DATABASE)
    try:
        yield store
    finally:
        store.close()


def note_meaning(store: "AnnotationStore") -> None:
    """Tells of a project that was begun before "irrelevant" meant what FastFact's appendix I says."""
    from localfact.inputs.annotations import IrrelevantMeaning

    if store.irrelevant_means is not IrrelevantMeaning.UNRELATED:
        note(
            f"In this project “irrelevant” means: {store.irrelevant_means}. FastFact's benchmark, and a new project, mean:"
            f" {IrrelevantMeaning.UNRELATED}."
        )


def write_lines(file: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Writes rows as JSON lines, all or nothing."""
    from localfact.runtime.files import write_file

    write_file(file, (f"{json.dumps(row, ensure_ascii=False)}\n".encode() for row in rows))
