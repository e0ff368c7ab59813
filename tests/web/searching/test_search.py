"""What all providers share: the query that is sent, the text and links that are kept, and when nothing found is a failure."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localfact.errors import LocalFactError
from localfact.web.searching.results import address
from localfact.web.searching.search import (
    LONGEST_LINK,
    LONGEST_QUERY,
    LONGEST_SNIPPET,
    FailureKind,
    Found,
    ProviderError,
    plain,
    query_of,
    search_of,
    sendable,
    web_link,
)

#: What an order to a search engine is made of.
PIECES = ["!", ":", "<", "-", "a", "ا", "क्", "\u200c", " ", "|", "OR", "\u200b", "!g", "site:", "\ufffd"]
NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)


def test_a_claim_is_sent_as_it_stands() -> None:
    claim = 'Marie Curie won the "Nobel Prize" in 1903, at 10:30; it was Poland\'s well-known first (she was 36).'
    assert sendable(claim) == claim


@pytest.mark.parametrize(
    ("claim", "sent"),
    [
        ("!images cats", "images cats"),
        ("cats !!g dogs", "cats g dogs"),
        (":fr chats <3", "fr chats 3"),
        ("\\wikipedia", "wikipedia"),
        ("site:evil.example paris", "site evil.example paris"),
        ("intitle: paris insource:/a.*b/", "intitle paris insource /a.*b/"),
        ("It fell to -5 degrees -ignore +all", "It fell to 5 degrees ignore all"),
        ("paris OR rome AND NOT berlin | x", "paris or rome and not berlin x"),
        ("one\ntwo\r\n\tthree", "one two three"),
        ("a\u202eb\u200bc\U000e0041\x00 d\x1b[0m", "abc d[0m"),
        ("！bang ：de", "bang de"),
        ("https://a.example/x?format=html&q=other", "https //a.example/x?format=html&q=other"),
    ],
)
def test_a_claim_gives_no_orders_to_a_search_engine(claim: str, sent: str) -> None:
    assert sendable(claim) == sent


def test_a_long_claim_is_cut_between_words() -> None:
    sent = sendable("word " * 200)
    assert len(sent) <= LONGEST_QUERY
    assert set(sent.split()) == {"word"}
    assert len(sendable("x" * 1000)) == LONGEST_QUERY


@given(st.text() | st.lists(st.sampled_from(PIECES)).map("".join))
def test_a_query_is_one_line_without_leading_signs_and_cleaning_it_again_changes_nothing(claim: str) -> None:
    sent = sendable(claim)
    assert sendable(sent) == sent
    assert sent == " ".join(sent.split())
    assert not any(token.startswith(("!", ":", "<", "-", "\\")) for token in sent.split())


def test_a_query_without_a_word_is_refused_and_not_sent() -> None:
    with pytest.raises(ProviderError) as refused:
        query_of("serper", " !!! --- \u200b ")
    assert refused.value.kind is FailureKind.REFUSED
    assert isinstance(refused.value, LocalFactError)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ('<span class="searchmatch">Curie</span> &amp; Joliot&nbsp;&#8211; 1903', "Curie & Joliot – 1903"),
        ("a < b and c > d", "a < b and c > d"),
        ("x<!-- hidden -->y<br/>z</b>", "xyz"),
        ("safe\u202etxt.exe\u2066\u200b\ufeff\u00ad", "safetxt.exe"),
        ("tag\U000e0069\U000e0067block \u3164\ufe0f\U000e0100!", "tagblock !"),
        ("bell\x07 nul\x00 esc\x1b lone\ud800", "bell nul esc lone"),
        ("  many\n\n lines\t here ", "many lines here"),
        ("&lt;b&gt; is a tag", "<b> is a tag"),
        (None, ""),
        ({"a": 1}, ""),
    ],
)
def test_a_snippet_becomes_plain_text(value: object, text: str) -> None:
    assert plain(value) == text


def test_a_snippet_is_bounded_however_long_it_comes() -> None:
    assert len(plain("<" * 3_000_000)) == LONGEST_SNIPPET
    assert plain("<b>" * 1_000_000) == ""


@pytest.mark.parametrize(
    "link",
    [
        "javascript:alert(1)",
        "file:///etc/passwd",
        "ftp://a.example/",
        "//a.example/",
        "http://",
        "https://user:secret@a.example/",
        "https://[::1/",
        "https://a.example:99999/",
        "https://a.example/a b",
        "https://a.example/\u202e",
        "https://a.example/" + "x" * LONGEST_LINK,
        "",
        None,
        7,
    ],
)
def test_what_is_no_web_address_is_no_link(link: object) -> None:
    assert web_link(link) is None


def test_results_are_ranked_from_one_with_each_link_once_and_at_most_as_many_as_asked_for() -> None:
    found = [
        Found("<b>First</b>", "https://a.example/x#one", "s1", "2020-01-02"),
        Found("Mail", "mailto:a@b.example", "dropped"),
        Found("Again", "https://a.example/x#two", "s2"),
        Found(None, "http://b.example/", None),
        Found("Third", "https://c.example/", "s4"),
    ]
    search = search_of("searxng", "q", 2, found, NOON)
    assert [(result.rank, result.link, result.title, result.snippet, result.date) for result in search.results] == [
        (1, "https://a.example/x", "First", "s1", "2020-01-02"),
        (2, "http://b.example/", "", "", None),
    ]
    assert {result.provider for result in search.results} == {"searxng"}
    assert (search.query, search.count, search.provider, search.time) == ("q", 2, "searxng", "2024-05-01T12:00:00+00:00")


def test_results_that_all_lack_an_address_are_a_failure_and_not_nothing_found() -> None:
    with pytest.raises(ProviderError) as failed:
        search_of("searxng", "q", 5, [Found("t", "magnet:?xt=1")], NOON)
    assert failed.value.kind is FailureKind.MALFORMED
    assert search_of("searxng", "q", 5, [], NOON).results == ()


def test_a_link_that_cannot_be_parsed_stays_as_it_is() -> None:
    assert address("http://[oops/#part") == "http://[oops/#part"
    assert address(" HTTPS://A.Example#part") == "https://a.example/"
