"""Which pages may be used as evidence: not those of blocked hosts, nor those dated on or after a given day."""

import re
from collections.abc import Sequence

from localfact.errors import InputError
from localfact.records import Record

_DATE = re.compile(r"(\d{4})(?:-(0[1-9]|1[0-2])(?:-(0[1-9]|[12]\d|3[01]))?)?(?=$|[T ])")

_HOST = re.compile(r"[^\s/:@?#\[\]]+|\[?[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*\]?")


class Admission(Record):
    """Rules for which pages may be used as evidence; by default all may.

    Attributes:
        block: hosts whose pages are never used; subdomains are included ("example.com" blocks "www.example.com").
        allow: where not empty, the only hosts whose pages are used, with their subdomains.
        before: "2023", "2023-09" or "2023-09-30": pages that may date from that day or later are left out. A page without a
            date stays; one whose date cannot be parsed is left out.
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
        """Sentences about these rules for the reader of the results."""
        notes = []
        if self.before is not None:
            left_out = f"pages from {self.before} on were left out, and pages whose date cannot be read"
            notes.append(f"Evidence: {left_out}; pages that state no date were kept.")
        if self.block or self.allow:
            notes.append("Evidence: pages of some hosts were left out (--block-host, --only-host).")
        return tuple(notes)


#: Admits every page.
EVERYTHING = Admission()


def admission_of(block: Sequence[str], allow: Sequence[str], before: str | None) -> Admission:
    """The rules that a user typed.

    Raises:
        InputError: a host or a date that is invalid.
    """
    strange = next((host for host in (*block, *allow) if not _HOST.fullmatch(host)), None)
    if strange is not None:
        raise InputError(f"--block-host and --only-host take the name of a host, such as example.com, not {strange!r}.")
    if before is not None and first_day(before) is None:
        raise InputError(f"--before takes a date such as 2023-09-30, 2023-09 or 2023, not {before!r}.")
    names = [tuple(sorted({host.lower().strip(".[]") for host in hosts})) for hosts in (block, allow)]
    return Admission(block=names[0], allow=names[1], before=before)


def is_within(host: str | None, name: str) -> bool:
    """Whether the host is the named one or a subdomain of it."""
    return host is not None and (host == name or host.endswith(f".{name}"))


def first_day(date: str | None) -> str | None:
    """The earliest day that the date may mean, YYYY-MM-DD; None where it cannot be parsed."""
    return _day(date, "01", "01")


def last_day(date: str | None) -> str | None:
    """The latest day that the date may mean, YYYY-MM-DD (with day 31 for every month); None where it cannot be parsed."""
    return _day(date, "12", "31")


def _day(date: str | None, month: str, day: str) -> str | None:
    found = _DATE.match(date.strip()) if date else None
    return f"{found[1]}-{found[2] or month}-{found[3] or day}" if found else None
