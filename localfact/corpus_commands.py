"""The commands about cached corpora: build, info, search, verify."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from localfact.console import errors, note, show
from localfact.errors import InputError
from localfact.report.tables import fields_table, hits_view

app = typer.Typer(no_args_is_help=True, help="Build a cached corpus from pages and look into it.")

Folder = Annotated[Path, typer.Argument(help="A corpus folder.")]
EmbedderName = Annotated[str, typer.Option("--embedder", help="Model card, folder of weights, or none (BM25 alone).")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON alone.")]


class Kind(StrEnum):
    """Kinds of passages."""

    CHUNKS = "chunks"
    PAGES = "pages"


@app.command()
def build(
    sources: Annotated[
        list[Path], typer.Argument(metavar="PAGES...", help="JSONL (url, title, text, date), or folders of HTML, text.")
    ],
    out: Annotated[Path, typer.Option("--out", help="The corpus folder to make.")],
    embedder: EmbedderName = "minilm",
    passages: Annotated[
        list[Kind] | None, typer.Option("--passages", help="Kinds to index; repeat for several. [default: both]")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Build a corpus from pages. A row or file that cannot be read is told and passed over."""
    from rich.progress import Progress

    from localfact.embedding import named_embedder
    from localfact.evidence.building import KINDS, build_corpus
    from localfact.evidence.pages import read_pages

    read = [read_pages(source) for source in sources]
    for problem in (problem for one in read for problem in one.problems):
        note(f"Passed over: {problem}")
    pages = [page for one in read for page in one.pages]
    kinds = [kind for kind in KINDS if passages is None or kind in passages]
    with Progress(console=errors(), transient=True) as bar:
        tasks = {kind: bar.add_task(f"indexing {kind}", total=None) for kind in kinds}
        description = build_corpus(
            pages,
            out,
            named_embedder(embedder),
            kinds=kinds,
            progress=lambda kind, done, total: bar.update(tasks[kind], completed=done, total=total),
        )
    result = {"corpus": str(out), "passed_over": sum(len(one.problems) for one in read)}
    show(result | description.model_dump(mode="json", exclude={"files"}), as_json=as_json, view=fields_table)


@app.command()
def info(folder: Folder, as_json: AsJson = False) -> None:
    """Say what a corpus holds and what it was built with."""
    from localfact.evidence.corpus import read_description

    description = read_description(folder)
    size = sum(mark.bytes for mark in description.files.values())
    fields = {"corpus": str(folder), "bytes": size, **description.model_dump(mode="json", exclude={"files"})}
    show(fields, as_json=as_json, view=fields_table)


@app.command()
def search(
    folder: Folder,
    query: Annotated[str, typer.Argument(help="What to look for; a claim, say.")],
    k: Annotated[int, typer.Option("--k", min=1, help="How many passages.")] = 5,
    passages: Annotated[Kind, typer.Option("--passages", help="Which kind of passages.")] = Kind.PAGES,
    embedder: EmbedderName = "minilm",
    as_json: AsJson = False,
) -> None:
    """Search a corpus as a claim would be searched for: dense and BM25, fused by reciprocal rank."""
    from localfact.embedding import named_embedder
    from localfact.evidence.corpus import Corpus

    corpus = Corpus.open(folder, named_embedder(embedder))
    found = [
        {"rank": rank, "score": score, **passage.model_dump(mode="json")}
        for rank, (passage, score) in enumerate(corpus.search(query, passages.value, k), start=1)
    ]
    if corpus.embedder is None:
        note("No embedder: BM25 alone.")
    show(found, as_json=as_json, view=hits_view)


@app.command()
def verify(folder: Folder, as_json: AsJson = False) -> None:
    """Read every file of a corpus and compare hashes and counts."""
    from localfact.evidence.corpus import Corpus

    problems = Corpus.open(folder, None).verify()
    sound = f"{folder}: every file is the one that was built, and the counts agree."
    show({"corpus": str(folder), "problems": problems}, as_json=as_json, view=lambda _: Text("\n".join(problems) or sound))
    if problems:
        raise typer.Exit(InputError.exit_code)
