"""Parses dates as search engines word them ("2 days ago", "Sep 3, 2023", "2023-09-03T08:00:00Z")."""

import re
from datetime import datetime

_ISO = re.compile(r"\d{4}(?:-\d{2}(?:-\d{2})?)?(?=$|[T ])")
#: Longer texts are no dates.
LONGEST = 40


def iso_date(stated: str | None, searched: str) -> str | None:
    """The date as YYYY-MM-DD, YYYY-MM or YYYY; the stated text where it cannot be parsed, None where nothing is stated.

    Args:
        stated: as a provider words it, in English.
        searched: when the search was made, ISO 8601, for "2 days ago".
    """
    if not stated or not stated.strip():
        return None
    stated = " ".join(stated.split())
    iso = _ISO.match(stated)
    if iso:
        return iso.group()
    if len(stated) > LONGEST:
        return stated
    import dateparser

    # A missing day or month is read as the last one, never as the first: a page must not seem older than it is.
    settings = {
        "RELATIVE_BASE": datetime.fromisoformat(searched).replace(tzinfo=None),
        "PREFER_DAY_OF_MONTH": "last",
        "PREFER_MONTH_OF_YEAR": "last",
        "PREFER_DATES_FROM": "past",
    }
    found = dateparser.parse(stated, languages=["en"], settings=settings)
    return found.date().isoformat() if found is not None else stated
