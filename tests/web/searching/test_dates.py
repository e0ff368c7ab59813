"""Dates as search engines word them become dates that can be compared."""

import pytest

from localfact.web.searching.dates import iso_date

SEARCHED = "2026-03-10T12:00:00+00:00"


@pytest.mark.parametrize(
    ("stated", "date"),
    [
        ("2019-05-04", "2019-05-04"),
        ("2019-05-04T10:00:00Z", "2019-05-04"),
        ("2019-05", "2019-05"),
        ("2019", "2019"),
        ("Jan 3, 2025", "2025-01-03"),
        ("3 January 2025", "2025-01-03"),
        ("2025/01/03", "2025-01-03"),
        ("2 days ago", "2026-03-08"),
        ("5 hours ago", "2026-03-10"),
        ("Fri, 03 Jan 2025 08:00:00 GMT", "2025-01-03"),
        ("February 2024", "2024-02-29"),
        ("in the reign of Gudrun", "in the reign of Gudrun"),
        ("x" * 400, "x" * 400),
        ("", None),
        ("  ", None),
        (None, None),
    ],
)
def test_a_date_is_read_as_it_is_worded(stated: str | None, date: str | None) -> None:
    assert iso_date(stated, SEARCHED) == date
