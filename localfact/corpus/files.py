"""The files of a corpus: what they are called, and their sizes and hashes, by which a damaged copy is recognised."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from localfact.corpus.indexing.segments import GENERATION_FILE
from localfact.errors import CorpusError
from localfact.records import Record
from localfact.runtime.files import file_digest

DESCRIPTION_FILE = "corpus.yaml"
STORE_FILE = "corpus.sqlite"
ARCHIVE_FOLDER = "pages"
SEGMENTS_FOLDER = "segments"


class FileMark(Record):
    """Size and SHA-256 of a file: opening compares the size, `corpus verify` the hash."""

    bytes: int
    sha256: str


def cure(folder: Path) -> str:
    """What the user can do about a damaged corpus."""
    return f"Copy it again, or remove it and build it again: localfact corpus build PAGES --out {folder}"


def refuse_missing_files(folder: Path, files: Mapping[str, FileMark], *, unfinished: bool) -> None:
    """Raises CorpusError if a file that the description lists is missing or has another size.

    Of an unfinished corpus only the files that grow are checked: the store, and the archive, which may be larger by now.
    """
    for name, mark in files.items():
        if unfinished and name.startswith(f"{SEGMENTS_FOLDER}/"):
            continue
        file = folder / name
        if not file.is_file():
            raise CorpusError(f"The corpus {folder} lacks its file {name}. {cure(folder)}")
        size = file.stat().st_size
        archived = name.startswith(f"{ARCHIVE_FOLDER}/")
        if size < mark.bytes and archived if unfinished else size != mark.bytes:
            raise CorpusError(
                f"The file {name} of the corpus {folder} has {size:,} bytes instead of {mark.bytes:,}. {cure(folder)}"
            )


def marks_of(folder: Path, files: Iterable[Path], before: Mapping[str, FileMark], kept: Iterable[str]) -> dict[str, FileMark]:
    """Name -> size and hash of these files, by name.

    Args:
        before: the marks when the corpus was finished last.
        kept: names of files that are written once. These, and those of the archive, which only grow, are not hashed again if
            they still have their size.
    """
    marks = {}
    unchanging = frozenset(kept)
    for file in sorted(files):
        name, size, known = (
            file.relative_to(folder).as_posix(),
            file.stat().st_size,
            before.get(file.relative_to(folder).as_posix()),
        )
        same = known is not None and known.bytes == size and (name.startswith(f"{ARCHIVE_FOLDER}/") or name in unchanging)
        marks[name] = known if known is not None and same else FileMark(bytes=size, sha256=file_digest(file))
    return marks


def generation_of(files: Iterable[str], kind: str) -> str:
    """The folder of the index over that kind of passages, from the names of a corpus's files.

    Raises:
        ValueError: there is none.
    """
    for name in files:
        folder, _, file = name.removeprefix(f"{SEGMENTS_FOLDER}/").partition("/")
        if file == GENERATION_FILE and folder.startswith(f"{kind}-index-"):
            return folder
    raise ValueError(f"{DESCRIPTION_FILE} names no {GENERATION_FILE}")
