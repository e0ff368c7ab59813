"""Reads pages from collections: JSON lines, HTML, PDF and text, WARC, FActScore's Wikipedia, Kiwix ZIM.

Everything is streamed, so a collection of millions of pages is never in memory. Unusable entries are reported with their place.
"""

from collections import Counter
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING

from localfact.corpus.importing.archived import read_archived
from localfact.corpus.importing.factscore_database import check_factscore, read_factscore
from localfact.corpus.importing.imported import Imported, Problem, Progress, RawPage
from localfact.corpus.importing.kinds import CollectionKind, kind_of
from localfact.corpus.importing.rows import read_rows
from localfact.corpus.importing.workers import extract_in_order
from localfact.corpus.importing.zim_reader import check_zim, read_zim
from localfact.errors import InputError, LocalFactError, MissingError
from localfact.web.pages import MAX_FILE_BYTES, clean_text

if TYPE_CHECKING:
    from localfact.web.extracting.extractors import PageExtractors

KNOWN = ", ".join(CollectionKind)
#: So many suffixes of files of no known kind are named.
MOST_SUFFIXES = 5
MEDIA_TYPES = {CollectionKind.HTML: "text/html", CollectionKind.PDF: "application/pdf", CollectionKind.TEXT: "text/plain"}


def import_pages(
    source: Path,
    *,
    follow_links: bool = False,
    progress: Progress = lambda name, done, total: None,
    extractors: "PageExtractors | None" = None,
) -> Generator[Imported, None, None]:
    """Yields the pages of a file, or of all files of known kinds below a folder in the order of their paths.

    The kind of a file is recognised by its content first and by its name second. Pages come in the order of the collection,
    whichever is extracted first. Closing the iterator, or an interrupt, closes files and ends the workers.

    Args:
        source: a file, or a folder of files. A `Problem` counts those of other kinds in a folder; hidden ones are ignored.
        follow_links: read files outside of the folder that a link in it leads to; else a `Problem` is yielded for each.
        progress: called as (name of the file or folder, done, total or None).
        extractors: extract documents, and are closed by the caller; None starts processes here, which end with the iterator.

    Raises:
        MissingError: there is no such file or folder, or it needs a package that is not installed.
        InputError: a file of no known kind or that cannot be read, or a folder without a file of a known kind.
    """
    try:
        if not source.exists():
            raise MissingError(f"There is no file or folder {source}. Known are {KNOWN}, and folders of these.")
        if source.is_dir():
            return extract_in_order(folder_entries(source, files_in(source), progress, follow_links=follow_links), extractors)
        return extract_in_order(file_entries(source, kind_of_one(source), clean_text(source.name), progress), extractors)
    except OSError as error:
        raise InputError(f"{error.filename or source} cannot be read: {error.strerror}.") from error


def files_in(folder: Path) -> list[Path]:
    """The files at any depth of a folder, in the order of their paths; hidden ones, as of version control, are left out."""
    return [file for file in sorted(folder.rglob("*")) if file.is_file() and not _is_hidden(file.relative_to(folder))]


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def leads_outside(file: Path, folder: Path) -> bool:
    """Whether the path of a file in a folder goes through a symbolic link to a place that is not in the folder."""
    return not file.resolve().is_relative_to(folder.resolve())


def check_source(source: Path, *, follow_links: bool = False) -> None:
    """Checks that `import_pages` can begin with that file or folder, before anything is written.

    Raises:
        MissingError, InputError: as `import_pages`, and those that it would raise for a named file later.
    """
    try:
        if source.is_dir():
            own = (file for file in files_in(source) if follow_links or not leads_outside(file, source))
            if not any(map(kind_of_any, own)):
                raise no_pages(source)
            return
        import_pages(source).close()
        check = {CollectionKind.FACTSCORE: check_factscore, CollectionKind.ZIM: check_zim}.get(kind_of_one(source))
        if check is not None:
            check(source)
    except OSError as error:
        raise InputError(f"{error.filename or source} cannot be read: {error.strerror}.") from error


def kind_of_any(file: Path) -> CollectionKind | None:
    """The kind of a file in a folder; None also for a file that cannot be read."""
    try:
        return kind_of(file)
    except OSError:
        return None


def no_pages(folder: Path) -> InputError:
    """The error for a folder without a file of a known kind."""
    return InputError(f"{folder} holds no pages. Known are {KNOWN}.")


def kind_of_one(file: Path) -> CollectionKind:
    """The kind of the file that the user named.

    Raises:
        InputError: it is of no known kind. OSError: it cannot be read.
    """
    kind = kind_of(file) if file.is_file() else None
    if kind is None:
        raise InputError(f"{file} is of no known kind. Known are {KNOWN}, and folders of these.")
    return kind


def folder_entries(
    folder: Path, files: list[Path], progress: Progress, *, follow_links: bool
) -> Generator[RawPage | Imported, None, None]:
    """Yields the entries of the folder's files; a file that cannot or may not be read gives a problem, and so do those of no
    known kind together.

    Raises:
        InputError: none of them is of a known kind.
    """
    known, others = False, Counter[str]()
    for done, file in enumerate(files, start=1):
        name = clean_text(file.relative_to(folder).as_posix())
        try:
            if not follow_links and leads_outside(file, folder):
                yield Problem(name, "A symbolic link that leads out of the folder; --follow-links reads such files.")
                continue
            kind = kind_of(file)
            if kind is None:
                others[file.suffix.lower() or "no suffix"] += 1
            else:
                known = True
                yield from file_entries(file, kind, name, progress)
        except OSError as error:
            yield Problem(name, f"The file cannot be read: {error.strerror}.")
        except LocalFactError as error:
            yield Problem(name, str(error))
        progress(folder.name, done, len(files))
    if not known:
        raise no_pages(folder)
    if others:
        told = ", ".join(f"{count:,} {clean_text(suffix)}" for suffix, count in others.most_common(MOST_SUFFIXES))
        more = " and others" if len(others) > MOST_SUFFIXES else ""
        yield Problem(clean_text(folder.name), f"{others.total():,} files are of no known kind ({told}{more}).")


def file_entries(file: Path, kind: CollectionKind, name: str, progress: Progress) -> Generator[RawPage | Imported, None, None]:
    """Yields the entries of one file; where reading fails in the middle, a problem ends it.

    Args:
        name: the file's path below what the user named; the link of a page that has no other address.
    """
    readers = {
        CollectionKind.FACTSCORE: read_factscore,
        CollectionKind.ZIM: read_zim,
        CollectionKind.WARC: read_archived,
        CollectionKind.ROWS: read_rows,
    }
    try:
        if kind in readers:
            yield from readers[kind](file, name, progress)
        else:
            yield read_document(file, kind, name)
    except OSError as error:
        yield Problem(name, f"The file cannot be read on: {error.strerror}.")


def read_document(file: Path, kind: CollectionKind, name: str) -> RawPage | Problem:
    """Reads a file that is one document."""
    with file.open("rb") as stream:
        body = stream.read(MAX_FILE_BYTES + 1)
    if len(body) > MAX_FILE_BYTES:
        return Problem(name, f"The file is larger than {MAX_FILE_BYTES:,} bytes.")
    return RawPage(where=name, link=name, body=body, media_type=MEDIA_TYPES[kind])
