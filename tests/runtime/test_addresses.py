"""What opens an address is not kept; what says which page it is stays as it is written."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localfact.runtime.addresses import address_without_secrets

H = "https://h.example"


@pytest.mark.parametrize(
    ("address", "kept"),
    [
        ("https://user:secret@h.example/page", f"{H}/page"),
        ("https://user@h.example", H),
        ("https://user:p@ss@h.example/a@b", f"{H}/a@b"),
        (f"{H}/page?access_token=abc", f"{H}/page"),
        (f"{H}/page?id=3&api_key=abc&page=2", f"{H}/page?id=3&page=2"),
        (f"{H}/f?X-Amz-Date=1&X-Amz-Credential=c&x-amz-signature=s&X-Amz-Security-Token=t#top", f"{H}/f#top"),
        (f"{H}/f?GoogleAccessId=a&Expires=1&Signature=ab/c%3D", f"{H}/f?GoogleAccessId=a&Expires=1"),
        (f"{H}/f?sv=2024&sig=a/b+c==", f"{H}/f?sv=2024"),
        (f"{H}/?password=a?b=c/d", f"{H}/"),
        (f"{H}/?url=https://u:p@b.example/?token=a&b=1", f"{H}/?url=https://b.example/&b=1"),
        (f"{H}/?password=&q=x", f"{H}/?q=x"),
        (f"{H}/?a=1;token=abc;b=2", f"{H}/?a=1;b=2"),
        (f"{H}/?a=1&amp;token=abc", f"{H}/?a=1"),
        (f"{H}/?%61ccess%5Ftoken=abc&auth[token]=d", f"{H}/"),
        (f"{H}/page;jsessionid=0A1B?x=1", f"{H}/page?x=1"),
        (f"{H}/a;PHPSESSID=1;v=2/b?ASPSESSIONIDQQAB=1", f"{H}/a;v=2/b"),
        (f"{H}/?session=0123456789abcdef&sid=0123456789abcdef", f"{H}/"),
        (f"{H}/#access_token=abc&state=1", f"{H}/#state=1"),
        (f"{H}/#!/page?token=abc", f"{H}/#!/page"),
        (f"{H}/login?next=%2Fpage%3Fid%3D1%26token%3Dabc", f"{H}/login?next=%2Fpage%3Fid%3D1"),
        (f"{H}/out?to=https%3A%2F%2Fuser%3Apw%40b.example%2F%3Fa%3D1", f"{H}/out?to=https%3A%2F%2Fb.example%2F%3Fa%3D1"),
        ("https://archive.example/2020/https://u:p@h.example/?sig=1", "https://archive.example/2020/https://h.example/"),
        ("//u:p@h.example/page?token=1", "//h.example/page"),
        ("/page?token=1", "/page"),
    ],
)
def test_secrets_are_left_out(address: str, kept: str) -> None:
    assert address_without_secrets(address) == kept
    assert address_without_secrets(kept) == kept


@pytest.mark.parametrize(
    "address",
    [
        f"{H}/?id=1&q=token%3F&page=2&key=AIza&code=4&user=me&s=abc&hash=1&sign=leo&state=ohio&",
        f"{H}/bills?session=118&sid=1421&auth=smith",
        f"{H}/list?pageToken=abc&next_page_token=d&continuation-token=e",
        f"{H}/Token?tokens=3&passage=4&signatures=5&secretary=6&keyword=7&passport=8",
        f"{H}/@author/token=abc?",
        "https://archive.example//@author",
        "notes/2024 token.txt",
        "mailto:someone@h.example?subject=a",
        f"{H}/?q=C%2B%2B%20%3D%20a%3bb&&x=%zz#a=1",
        "",
    ],
)
def test_what_says_which_page_it_is_stays_as_it_is_written(address: str) -> None:
    assert address_without_secrets(address) == address


@given(st.text("a/?#&;=:@%3fF\\ \ntoken", max_size=60))
def test_any_text_may_be_given_and_a_second_time_changes_nothing(address: str) -> None:
    once = address_without_secrets(address)
    assert address_without_secrets(once) == once


@pytest.mark.parametrize("make", [lambda n: "?a=" * n, lambda n: "%25" * n + "=@", lambda n: ";a=1" * n, lambda n: "//@" * n])
def test_an_address_without_end_takes_no_time_without_end(make: Callable[[int], str]) -> None:
    address_without_secrets(make(20_000))
