"""The commands that look into a cached corpus and change nothing in it: info, search, verify, export."""

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from localfact.cli.options import AsJson
from localfact.errors import InputError
from localfact.report.console import note, show
from localfact.report.tables import best_sentence, fields_table, hits_view, rows_view

if TYPE_CHECKING:
    from localfact.corpus.corpus import CorpusDescription

Folder = Annotated[Path, typer.Argument(help="A corpus folder.")]
OwnEmbedder = Annotated[
    str | None,
    typer.Option("--embedder", help="Folder of weights, where it is no card. [default: the corpus's own]"),
]

#: What of a corpus is for programs.
HASHES = frozenset({"format", "id", "content"})
#: Pages of which hardly anything is kept that are named.
LINKS_NAMED = 5


class PassageKindName(StrEnum):
    """The values of --passages: what `corpus.passages.PassageKind` allows; Typer takes no list of literals."""

    CHUNKS = "chunks"
    PAGES = "pages"
    SNIPPETS = "snippets"


def info(
    folder: Folder,
    failures: Annotated[bool, typer.Option("--failures", help="List the addresses that gave no page, and why.")] = False,
    pages: Annotated[
        bool, typer.Option("--pages", help="List the pages made of documents: words kept and dropped, lines made of tables.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Say what a corpus holds, what it was built with, and how many pages could not be had for which reason."""
    from localfact.corpus.corpus import read_description
    from localfact.corpus.emptiness import note_on_emptiness
    from localfact.corpus.files import STORE_FILE
    from localfact.corpus.store import PageStore

    if failures and pages:
        raise InputError("--failures and --pages are two lists: type one of them.")
    description = read_description(folder)
    store = PageStore(folder / STORE_FILE, finished=not description.unfinished)
    if failures:
        rows = [
            {"link": fetch.link, "reason": fetch.failure.reason.value, "detail": fetch.failure.detail, "time": fetch.time}
            for fetch in store.fetches()
            if fetch.failure is not None
        ]
        show(rows, as_json=as_json, view=rows_view)
        return
    if pages:
        from localfact.corpus.extents import read_extents

        found = read_extents(folder / STORE_FILE, finished=not description.unfinished)
        show([{"link": link, **extent.model_dump()} for link, extent in found], as_json=as_json, view=rows_view)
        return
    size = sum(mark.bytes for mark in description.files.values())
    there = store.counts() if (folder / STORE_FILE).is_file() else {}
    reasons = store.failures() if there else {}
    fields = fields_of(folder, description.model_copy(update=there), {"bytes": size, "without_page": reasons})
    show(fields, as_json=as_json, view=lambda _: fields_table({name: fields[name] for name in fields if name not in HASHES}))
    note_hardly_kept(folder, description)
    note(f"It takes {size / 1e6:,.1f} MB. Nothing else holds any of it: to delete it, delete the folder {folder}.")
    if empty := note_on_emptiness(folder, description):
        note(empty)
    if description.unfinished:
        note(f"Unfinished: the command that adds to it goes on, or `localfact corpus merge {folder}` finishes it so.")


def search(
    folder: Folder,
    query: Annotated[str, typer.Argument(help="What to look for; a claim, say.")],
    k: Annotated[int, typer.Option("--k", min=1, help="How many passages.")] = 5,
    passages: Annotated[
        PassageKindName | None, typer.Option("--passages", help="Which kind of passages. [default: pages if there]")
    ] = None,
    embedder: OwnEmbedder = None,
    as_json: AsJson = False,
) -> None:
    """Search a corpus as a claim would be searched for: dense and BM25, fused by reciprocal rank.

    Of each passage that sentence is shown which shares most words with the query.
    """
    from localfact.corpus.corpus import Corpus, embedder_name, read_description
    from localfact.corpus.emptiness import refuse_empty
    from localfact.models.embedder import open_embedder

    if not query.strip():
        raise InputError("There is nothing to look for: give some words.")
    description = read_description(folder)
    kinds = list(description.segments)
    kind = (
        passages.value
        if passages is not None
        else (kinds[0] if kinds and PassageKindName.PAGES not in kinds else PassageKindName.PAGES.value)
    )
    refuse_empty(folder, description)
    with Corpus.open(folder, open_embedder(embedder or embedder_name(description))) as corpus:
        found = [
            {"rank": rank, "score": score, "sentence": best_sentence(passage.text, query), **passage.model_dump(mode="json")}
            for rank, (passage, score) in enumerate(corpus.search(query, kind, k), start=1)
        ]
        if corpus.embedder is None:
            note("No embedder: BM25 alone.")
    show(found, as_json=as_json, view=hits_view)


def verify(folder: Folder, as_json: AsJson = False) -> None:
    """Read every file and every archived answer of a corpus, and compare hashes and counts."""
    from localfact.corpus.corpus import Corpus
    from localfact.corpus.emptiness import note_on_emptiness
    from localfact.corpus.verify import verify as verified

    with Corpus.open(folder, None) as corpus:
        problems = verified(corpus)
        empty = note_on_emptiness(folder, corpus.description)
    sound = f"{folder}: every file is the one that was built, and the counts agree."
    show({"corpus": str(folder), "problems": problems}, as_json=as_json, view=lambda _: Text("\n".join(problems) or sound))
    if empty:
        note(empty)
    if problems:
        raise typer.Exit(InputError.exit_code)


def export(
    folder: Folder, out: Annotated[Path, typer.Option("--out", help="The JSONL file to write.")], as_json: AsJson = False
) -> None:
    """Write the pages of a corpus as JSON lines, which `corpus build` and `corpus add` read."""
    from localfact.corpus.corpus import Corpus
    from localfact.corpus.emptiness import refuse_empty
    from localfact.corpus.export import export_pages

    with Corpus.open(folder, None) as corpus:
        refuse_empty(folder, corpus.description)
        count = export_pages(corpus.store.pages(), out)
    show({"corpus": str(folder), "file": str(out), "pages": count}, as_json=as_json, view=fields_table)


COMMANDS = (info, search, verify, export)


def show_description(
    folder: Path,
    description: "CorpusDescription",
    done: dict[str, Any],
    problems: Sequence[str] | None = None,
    *,
    as_json: bool,
) -> None:
    """Prints what was done to a corpus, what could not be read for it, and what it holds; for programs with its hashes."""
    from localfact.report.corpus_line import tell_corpus

    over = {} if problems is None else {"passed_over": len(problems)}
    fields = fields_of(folder, description, {**done, **over})
    show(fields, as_json=as_json, view=lambda _: Text(tell_corpus(str(folder), done, fields, problems or ())))
    note_hardly_kept(folder, description)


def fields_of(folder: Path, description: "CorpusDescription", more: dict[str, Any]) -> dict[str, Any]:
    """What a corpus holds and, where searches are recorded, how many of the addresses found were never asked for."""
    from localfact.corpus.files import STORE_FILE
    from localfact.corpus.store import PageStore

    if description.searches:
        store = PageStore(folder / STORE_FILE, finished=not description.unfinished)
        more = {**more, "never_asked_for": store.count_unfetched()}
    extraction, _ = extents_of(folder, description)
    more = {**more, "extraction": extraction} if extraction["pages"] else more
    return {"corpus": str(folder), **more, **description.model_dump(mode="json", exclude={"files"})}


def note_hardly_kept(folder: Path, description: "CorpusDescription") -> None:
    """Tells of which documents next to nothing was kept."""
    _, hardly = extents_of(folder, description)
    if hardly:
        named = ", ".join(hardly[:LINKS_NAMED]) + (
            "" if len(hardly) <= LINKS_NAMED else f" and {len(hardly) - LINKS_NAMED} more"
        )
        note(f"Hardly anything is kept of {named}. `localfact corpus info {folder} --pages` says how much of each page is.")


def extents_of(folder: Path, description: "CorpusDescription") -> tuple[dict[str, int], list[str]]:
    """What extraction kept and dropped of the corpus's documents, and the links of those of which it kept next to nothing."""
    from localfact.corpus.extents import sum_extents
    from localfact.corpus.files import STORE_FILE

    if not (folder / STORE_FILE).is_file():
        return {"pages": 0}, []
    return sum_extents(folder / STORE_FILE, finished=not description.unfinished)
