"""Says of a corpus that it has nothing to find: its pages were removed, or it never got any."""

from pathlib import Path

from localfact.corpus.corpus import CorpusDescription
from localfact.corpus.files import STORE_FILE
from localfact.corpus.store import PageStore
from localfact.errors import InputError
from localfact.web.fetching.failures import Reason


def note_on_emptiness(folder: Path, description: CorpusDescription) -> str | None:
    """One sentence for a corpus without passages, with what to do; None for any other.

    Searches that found nothing are evidence, too: a corpus of these is not empty, unless what they found was removed.
    """
    if description.unfinished or description.segments:
        return None
    removed = Reason.WITHDRAWN in PageStore(folder / STORE_FILE).failures()
    if description.searches and not removed:
        return None
    what = f"All pages of the corpus {folder} were removed" if removed else f"The corpus {folder} holds no pages"
    return f"{what}: add some (localfact corpus add {folder} PAGES), or remove the folder and build or fetch it again."


def refuse_empty(folder: Path, description: CorpusDescription) -> None:
    """Raises InputError for a corpus without passages."""
    empty = note_on_emptiness(folder, description)
    if empty is not None:
        raise InputError(empty)
