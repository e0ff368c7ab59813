"""The commands that make and fill cached corpora; `fetch`, and those that look into one, have files of their own."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from localfact.cli import corpus_info
from localfact.cli.corpus_fetch import fetch
from localfact.cli.corpus_info import Folder, OwnEmbedder, PassageKindName, show_description
from localfact.cli.machines import Ray, machines_at
from localfact.cli.options import AsJson, EmbedderName
from localfact.cli.watching import line_for_each, reporting_interruption
from localfact.errors import InputError
from localfact.report.console import note, progress_bar

if TYPE_CHECKING:
    from localfact.corpus.corpus import CorpusDescription
    from localfact.corpus.passages import PassageKind
    from localfact.corpus.writer import CorpusWriter, Progress
    from localfact.methods.machines import Machines
    from localfact.web.pages import Page

app = typer.Typer(no_args_is_help=True, help="Build a cached corpus from pages or from the web, and look into it.")
app.command()(fetch)
for command in corpus_info.COMMANDS:
    app.command()(command)

Sources = Annotated[
    list[Path],
    typer.Argument(
        metavar="PAGES...",
        help="JSONL (url, title, text, date), WARC, FActScore's Wikipedia (SQLite), Kiwix ZIM, HTML, PDF, text; or folders.",
    ),
]
FollowLinks = Annotated[
    bool, typer.Option("--follow-links", help="Read files that symbolic links in a folder have outside of it.")
]

#: The most problems of an import that are listed.
PROBLEMS_SHOWN = 20

Kinds = Annotated[
    list[PassageKindName] | None,
    typer.Option("--passages", help="Kinds of passages; repeat for several. [default: chunks, pages]"),
]


@app.command()
def build(
    sources: Sources,
    out: Annotated[Path, typer.Option("--out", help="The corpus folder to make.")],
    embedder: EmbedderName = "minilm",
    passages: Kinds = None,
    follow_links: FollowLinks = False,
    ray: Ray = None,
    as_json: AsJson = False,
) -> None:
    """Build a corpus from pages. What cannot be read is reported and passed over.

    [dim]localfact corpus build pages.jsonl --out index/mine[/]
    [dim]localfact corpus build saved.warc.gz papers/ --out index/mine[/]
    [dim]localfact corpus build crawl/ --out index/large --ray 10.0.0.1:6379[/]
    """
    from localfact.corpus.build import KINDS, build_corpus, is_occupied

    there = is_occupied(out)
    check_sources(sources, follow_links=follow_links)
    with (
        reporting_interruption("Nothing was built."),
        machines_at(ray) as machines,
        reading(sources, machines, follow_links=follow_links) as (pages, problems),
        indexing() as progress,
    ):
        kinds = kinds_of(passages) or KINDS
        description = build_corpus(pages, out, machines.embedder(embedder), kinds=kinds, progress=progress)
    show_description(out, description, {}, problems, as_json=as_json)
    if there:
        note(f"{out} was built of these pages before, so nothing was left to do.")


@app.command()
def add(
    folder: Folder,
    sources: Sources,
    embedder: OwnEmbedder = None,
    passages: Kinds = None,
    follow_links: FollowLinks = False,
    ray: Ray = None,
    as_json: AsJson = False,
) -> None:
    """Add pages to a corpus. A page that it has already is not taken twice; a new text of an address replaces the older one."""
    from localfact.corpus.corpus import read_description

    read_description(folder)
    check_sources(sources, follow_links=follow_links)
    with (
        reporting_interruption(
            f"What was added is kept; the same command goes on, `localfact corpus merge {folder}` finishes it so."
        ),
        machines_at(ray) as machines,
        writer_of(folder, embedder, machines) as writer,
    ):
        with reading(sources, machines, follow_links=follow_links) as (pages, problems):
            added = writer.add_pages(pages)
        description = finish_corpus(writer, passages)
    show_description(folder, description, {"added": added, "replaced": writer.replaced}, problems, as_json=as_json)
    if not added:
        note("No page was new.")


@app.command()
def remove(
    folder: Folder,
    addresses: Annotated[
        list[str], typer.Argument(metavar="ADDRESSES...", help="Links of pages, as `corpus search` prints them; or hosts.")
    ],
    embedder: OwnEmbedder = None,
    as_json: AsJson = False,
) -> None:
    """Remove pages from a corpus, by their links or by their host, with what searches show of them.

    They are not fetched again; the archive, to which is only added, keeps what was fetched.

    [dim]localfact corpus remove index/web https://mirror.example/copied page.txt[/]
    [dim]localfact corpus remove index/web mirror.example[/]
    """
    from localfact.corpus.corpus import read_description
    from localfact.corpus.files import STORE_FILE
    from localfact.corpus.store import PageStore
    from localfact.runtime.addresses import address_without_secrets

    description = read_description(folder)
    store = PageStore(folder / STORE_FILE, finished=not description.unfinished)
    links, others = store.links_of(map(address_without_secrets, addresses))
    unknown = store.not_withdrawn(others)
    if unknown:
        raise InputError(
            f"{folder} has no page with this link or host: {', '.join(unknown)}. `localfact corpus search` prints links."
        )
    with machines_at(None) as machines, writer_of(folder, embedder, machines) as writer:
        removed = writer.remove(links) if links else 0
        description = finish_corpus(writer, None)
    show_description(folder, description, {"removed": removed}, as_json=as_json)
    if others:
        note(f"Removed before: {', '.join(others)}.")


@app.command()
def merge(
    folder: Folder, embedder: OwnEmbedder = None, passages: Kinds = None, ray: Ray = None, as_json: AsJson = False
) -> None:
    """Finish a corpus that a killed run left unfinished, index further kinds of passages, and merge the segments into one."""
    from localfact.corpus.corpus import read_description

    read_description(folder)
    with machines_at(ray) as machines, writer_of(folder, embedder, machines) as writer:
        description = finish_corpus(writer, passages, merge=True)
    show_description(folder, description, {}, as_json=as_json)


@app.command()
def reextract(folder: Folder, embedder: OwnEmbedder = None, as_json: AsJson = False) -> None:
    """Make the text of fetched pages anew from the archive, as a newer localfact would: nothing is fetched."""
    from dataclasses import asdict

    from localfact.corpus.corpus import read_description
    from localfact.corpus.reextract import reextract as reextract_all
    from localfact.runtime.tasks import complete

    read_description(folder)
    with machines_at(None) as machines, writer_of(folder, embedder, machines) as writer:
        with progress_bar() as bar, closing(machines.extractors()) as workers:
            task = bar.add_task("extracting pages", total=None)
            done = complete(reextract_all(writer, workers, lambda now, total: bar.update(task, completed=now, total=total)))
        description = finish_corpus(writer, None)
    show_description(folder, description, asdict(done), as_json=as_json)


def kinds_of(passages: Sequence[PassageKindName] | None) -> list["PassageKind"]:
    """The kinds of passages that were named."""
    return [kind.value for kind in passages or ()]


def check_sources(sources: Sequence[Path], *, follow_links: bool) -> None:
    """Raises MissingError or InputError for the first source that cannot be read, before anything is changed."""
    from localfact.corpus.importing.collections import check_source

    for source in sources:
        check_source(source, follow_links=follow_links)


@contextmanager
def reading(
    sources: Sequence[Path], machines: "Machines", *, follow_links: bool
) -> Iterator[tuple[Iterable["Page"], list[str]]]:
    """The pages of all sources, one by one behind a progress bar, and the problems so far, the first of which are printed."""
    from localfact.corpus.importing.collections import import_pages
    from localfact.corpus.importing.imported import Problem

    problems: list[str] = []
    with progress_bar() as bar, closing(machines.extractors()) as extractors:
        watch = line_for_each(bar, "reading {}")

        def pages() -> Iterator["Page"]:
            for source in sources:
                for found in import_pages(source, follow_links=follow_links, progress=watch, extractors=extractors):
                    if not isinstance(found, Problem):
                        yield found
                        continue
                    problems.append(str(found))
                    if len(problems) <= PROBLEMS_SHOWN:
                        note(f"Passed over: {found}")

        yield pages(), problems
    if len(problems) > PROBLEMS_SHOWN:
        note(f"Passed over: {len(problems) - PROBLEMS_SHOWN} more.")


@contextmanager
def indexing() -> Iterator["Progress"]:
    """A progress bar for each kind of passages."""
    with progress_bar() as bar:
        yield line_for_each(bar, "indexing {}")


def writer_of(folder: Path, embedder: str | None, machines: "Machines") -> "CorpusWriter":
    """Opens the corpus for adding, with the embedder that made its vectors; none for a corpus without vectors."""
    from localfact.corpus.corpus import embedder_name, read_description
    from localfact.corpus.writer import CorpusWriter
    from localfact.models.embedder import NO_EMBEDDER

    own = embedder_name(read_description(folder))
    if own == NO_EMBEDDER:
        if embedder not in (None, NO_EMBEDDER):
            note(f"{folder} was built without vectors, so {embedder} has nothing to do: BM25 alone.")
        return CorpusWriter(folder, None)
    return CorpusWriter(folder, machines.embedder(embedder or own))


def finish_corpus(
    writer: "CorpusWriter", passages: Sequence[PassageKindName] | None, *, merge: bool = False
) -> "CorpusDescription":
    """Indexes what is not indexed yet: the kinds that the corpus has, and those that are named."""
    from localfact.corpus.build import KINDS

    kinds = kinds_of(passages) or (() if writer.description.segments else KINDS)
    with indexing() as progress:
        return writer.finish(kinds, merge=merge, progress=progress)
