"""Which pages may be evidence: not those of blocked hosts, nor those written on or after a date that the future begins with."""

import re
from collections.abc import Sequence

from localfact.errors import InputError
from localfact.records import Record

_DATE = re.compile(r"(\d{4})(?:-(0[1-9]|1[0-2])(?:-(0[1-9]|[12]\d|3[01]))?)?(?=$|[T ])")

_HOST = re.compile(r"[^\s/:@?#\[\]]+|\[?[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*\]?")


class Admission(Record):
    """What a user admits as evidence; everything, unless told.

    Attributes:
        block: hosts whose pages are never used; a host stands for those below it too ("example.com" for "www.example.com").
        allow: the only hosts whose pages are used, if any are named.
        before: "2023", "2023-09" or "2023-09-30": a page that may have been written on that date or after it is left out.
            A page that states no date stays; one that states a date that cannot be read is left out.
    """

    block: tuple[str, ...] = ()
    allow: tuple[str, ...] = ()
    before: str | None = None

    def admits_host(self, host: str | None) -> bool:
        """Whether pages of that host may be used."""
        if any(is_within(host, blocked) for blocked in self.block):
            return False
        return not self.allow or any(is_within(host, allowed) for allowed in self.allow)

    def admits(self, host: str | None, date: str | None) -> bool:
        """Whether a page of that host and date may be used."""
        if not self.admits_host(host):
            return False
        if self.before is None or not date:
            return True
        written = last_day(date)
        return written is not None and written < (first_day(self.before) or "")

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of the results must know."""
        notes = []
        if self.before is not None:
            notes.append(f"Evidence: pages from {self.before} on were left out; pages that state no date were kept.")
        if self.block or self.allow:
            notes.append("Evidence: pages of some hosts were left out (--block-host, --only-host).")
        return tuple(notes)


#: Admits every page.
EVERYTHING = Admission()


def admission_of(block: Sequence[str], allow: Sequence[str], before: str | None) -> Admission:
    """An admission from what a user typed.

    Raises:
        InputError: a date or a host that is none.
    """
    strange = next((host for host in (*block, *allow) if not _HOST.fullmatch(host)), None)
    if strange is not None:
        raise InputError(f"--block-host and --only-host take the name of a host, such as example.com, not {strange!r}.")
    if before is not None and first_day(before) is None:
        raise InputError(f"--before takes a date such as 2023-09-30, 2023-09 or 2023, not {before!r}.")
    names = [tuple(sorted({host.lower().strip(".[]") for host in hosts})) for hosts in (block, allow)]
    return Admission(block=names[0], allow=names[1], before=before)


def is_within(host: str | None, name: str) -> bool:
    """Whether the host is the named one or below it."""
    return host is not None and (host == name or host.endswith(f".{name}"))


def first_day(date: str | None) -> str | None:
    """The first day that the date may mean, YYYY-MM-DD; None for what is no date."""
    return _day(date, "01", "01")


def last_day(date: str | None) -> str | None:
    """The last day that the date may mean, YYYY-MM-DD (some months get a 31st); None for what is no date."""
    return _day(date, "12", "31")


def _day(date: str | None, month: str, day: str) -> str | None:
    found = _DATE.match(date.strip()) if date else None
    return f"{found[1]}-{found[2] or month}-{found[3] or day}" if found else None
