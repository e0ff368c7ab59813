"""What reading other people's collections gives: pages, pages not yet extracted, and why a row or entry gave none."""

from collections.abc import Callable
from dataclasses import dataclass

from localfact.web.pages import Page

#: Called as (name of the file, how much of it is done, how much it is in all or None where that is not known):
#: in rows, entries, records, files, or for JSON lines bytes.
Progress = Callable[[str, int, int | None], None]


@dataclass(frozen=True)
class Problem:
    """Why one row, entry or file gave no page, and where it stands; it never stops the rest."""

    where: str
    reason: str

    def __str__(self) -> str:
        return f"{self.where}: {self.reason}"


@dataclass(frozen=True)
class RawPage:
    """A document as it was found: bytes whose text a worker still has to extract.

    Attributes:
        where: its place in the collection. media_type: in lower case, without parameters. charset: as stated from outside.
        title: as the collection states it, which the page's own gives way to; "" where it states none.
    """

    where: str
    link: str
    body: bytes
    media_type: str
    charset: str | None = None
    title: str = ""


#: What the whole import gives.
Imported = Page | Problem
