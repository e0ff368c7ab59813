"""Which pages may be evidence: by host and by date."""

import pytest

from localfact.errors import InputError
from localfact.evidence.admission import EVERYTHING, Admission, admission_of
from localfact.runtime.addresses import host_of


def test_everything_is_admitted_unless_told() -> None:
    assert EVERYTHING.admits("a.example", "2999-01-01")
    assert EVERYTHING.admits(None, None)
    assert EVERYTHING.notes == ()


@pytest.mark.parametrize(
    ("host", "admitted"),
    [
        ("example.com", False),
        ("www.example.com", False),
        ("notexample.com", True),
        ("example.com.evil.org", True),
        (None, True),
    ],
)
def test_a_blocked_host_stands_for_those_below_it_and_no_others(host: str | None, admitted: bool) -> None:
    assert admission_of(["Example.com."], [], None).admits(host, None) is admitted


@pytest.mark.parametrize(
    ("host", "admitted"), [("en.wikipedia.org", True), ("wikipedia.org", True), ("x.org", False), (None, False)]
)
def test_where_hosts_are_allowed_no_other_is(host: str | None, admitted: bool) -> None:
    assert admission_of([], ["wikipedia.org"], None).admits_host(host) is admitted


def test_blocking_is_stronger_than_allowing() -> None:
    assert not admission_of(["bad.wikipedia.org"], ["wikipedia.org"], None).admits_host("bad.wikipedia.org")


@pytest.mark.parametrize(
    ("before", "date", "admitted"),
    [
        ("2023-09-30", "2023-09-29", True),
        ("2023-09-30", "2023-09-30", False),
        ("2023-09-30", "2023-10-01T08:00:00Z", False),
        ("2023-09-30", "2023", False),  # may have been written in December
        ("2023-09-30", "2023-08", True),
        ("2023-09-30", "2023-09", False),
        ("2023", "2022-12-31", True),
        ("2023", "2023-01-01", False),
        ("2023-09-30", None, True),
        ("2023-09-30", "", True),
        ("2023-09-30", "3 days ago", False),
        ("2023-09-30", "20220101", False),
    ],
)
def test_a_page_that_may_be_from_the_future_is_left_out(before: str, date: str | None, admitted: bool) -> None:
    admission = admission_of([], [], before)
    assert admission.admits("a.example", date) is admitted
    assert "no date were kept" in admission.notes[0]


@pytest.mark.parametrize("host", ["https://spam.example/", "spam.example:443", "spam.example/path", "", "a b"])
def test_what_is_no_host_is_refused_instead_of_blocking_nothing(host: str) -> None:
    for hosts in (([host], []), ([], [host])):
        with pytest.raises(InputError, match="take the name of a host"):
            admission_of(*hosts, None)


def test_addresses_are_hosts_too() -> None:
    assert not admission_of(["127.0.0.2", "[::1]"], [], None).admits_host("127.0.0.2")
    assert not admission_of(["[::1]"], [], None).admits_host(host_of("http://[::1]:80/"))


def test_a_dot_at_the_end_of_a_host_is_no_way_around() -> None:
    assert not admission_of(["spam.example"], [], None).admits_host(host_of("https://spam.example./x"))


@pytest.mark.parametrize("before", ["yesterday", "2023-13", "2023-00-01", "23-01-01", ""])
def test_a_date_that_is_none_is_refused(before: str) -> None:
    with pytest.raises(InputError, match="--before takes a date"):
        admission_of([], [], before)


def test_it_survives_the_settings() -> None:
    admission = admission_of(["b.example", "a.example"], [], "2023")
    assert Admission.model_validate(admission.model_dump(mode="json")) == admission
    assert admission.block == ("a.example", "b.example")
