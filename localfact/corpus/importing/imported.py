"""What reading a collection gives: pages, pages not yet extracted, and problems."""

from collections.abc import Callable
from dataclasses import dataclass

from localfact.web.pages import Page

#: Called as (name of the file, done, total or None where that is not known), in rows, entries, records or files; for JSON lines
#: in bytes.
Progress = Callable[[str, int, int | None], None]


@dataclass(frozen=True)
class Problem:
    """Why one row, entry or file gave no page, and where it is; it does not stop the others."""

    where: str
    reason: str

    def __str__(self) -> str:
        return f"{self.where}: {self.reason}"


@dataclass(frozen=True)
class RawPage:
    """A document as it was found: bytes from which a worker extracts the text.

    Attributes:
        where: its place in the collection.
        media_type: in lower case, without parameters.
        charset: as stated outside the bytes.
        title: as the collection states it; used where the document has none. "" where nothing is stated.
    """

    where: str
    link: str
    body: bytes
    media_type: str
    charset: str | None = None
    title: str = ""


#: One result of an import.
Imported = Page | Problem
