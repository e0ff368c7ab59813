"""Dates as search engines word them ("2 days ago", "Sep 3, 2023", "2023-09-03T08:00:00Z"), as dates that can be compared."""

import re
from datetime import datetime

_ISO = re.compile(r"\d{4}(?:-\d{2}(?:-\d{2})?)?(?=$|[T ])")
#: A longer text is no date.
LONGEST = 40


def iso_date(stated: str | None, searched: str) -> str | None:
    """The date as YYYY-MM-DD, YYYY-MM or YYYY; what cannot be read stays as it is stated, None where nothing is.

    Args:
        stated: as a provider words it, in English. searched: when it was asked, ISO 8601: "2 days ago" counts from there.
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

    # A missing day or month is taken for the last, never for the first: a page must not seem older than it is.
    settings = {
        "RELATIVE_BASE": datetime.fromisoformat(searched).replace(tzinfo=None),
        "PREFER_DAY_OF_MONTH": "last",
        "PREFER_MONTH_OF_YEAR": "last",
        "PREFER_DATES_FROM": "past",
    }
    found = dateparser.parse(stated, languages=["en"], settings=settings)
    return found.date().isoformat() if found is not None else stated
