from datetime import UTC, datetime

import pytest

from localfact.runtime.versions import versions
from localfact.web.http_headers import HOMEPAGE, LONGEST_RETRY_AFTER, retry_after_seconds, user_agent

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("120", 120.0),
        (" 0 ", 0.0),
        ("000000000000120", 120.0),
        ("Wed, 01 May 2024 12:00:30 GMT", 30.0),
        ("Wed, 01 May 2024 12:00:30 -0000", 30.0),
        ("Wed, 01 May 2024 11:00:00 GMT", 0.0),
        ("9" * 5000, LONGEST_RETRY_AFTER),
        ("Fri, 31 Dec 9999 23:59:59 GMT", LONGEST_RETRY_AFTER),
        *((value, None) for value in ("", "soon", "-5", "1.5", "\u0663", "Wed, 99 May 2024", "Wed, 99 May 99999 12:00:30 GMT")),
        (None, None),
    ],
)
def test_retry_after_is_read_as_seconds_or_as_a_date_and_anything_else_is_none(
    value: str | None, seconds: float | None
) -> None:
    assert retry_after_seconds(value, NOON) == seconds


def test_who_asks_is_told_with_version_and_address_in_one_header_of_ascii() -> None:
    assert user_agent().startswith(f"localfact/{versions()['localfact']} ")
    assert HOMEPAGE in user_agent()
    assert user_agent().isascii()
    assert user_agent().isprintable()
