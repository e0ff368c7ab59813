"""Headers that searching and fetching share: who asks (User-Agent), and when to ask again (Retry-After)."""

import importlib.metadata
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache

#: By which sites name the program in robots.txt.
NAME = "localfact"
HOMEPAGE = "https://github.com/localfact/localfact"
#: The largest Retry-After in seconds, some thirty years; larger values are read as this.
LONGEST_RETRY_AFTER = 1e9


@cache
def user_agent() -> str:
    """The User-Agent: the program, its version, its homepage and its purpose."""
    return f"{program()} (+{HOMEPAGE}; research software that checks facts against web pages)"


def program() -> str:
    """The program and its version, "unknown" where it is not installed."""
    try:
        return f"{NAME}/{importlib.metadata.version(NAME)}"
    except importlib.metadata.PackageNotFoundError:
        return f"{NAME}/unknown"


def retry_after_seconds(value: str | None, now: datetime | None = None) -> float | None:
    """The seconds from now that a Retry-After asks for (RFC 9110, section 10.2.3: seconds or a date).

    Returns:
        From 0 to LONGEST_RETRY_AFTER; None without the header, or where it is neither.
    """
    text = (value or "").strip()
    if text.isascii() and text.isdigit():
        return min(float(text), LONGEST_RETRY_AFTER)
    try:
        date = parsedate_to_datetime(text)
    except (ValueError, TypeError, OverflowError):
        return None
    date = date if date.tzinfo else date.replace(tzinfo=UTC)
    return min(max(0.0, (date - (now or datetime.now(UTC))).total_seconds()), LONGEST_RETRY_AFTER)
