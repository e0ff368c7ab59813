"""A row of somebody's collection becomes a page, or says why not."""

import json

import pytest

from localfact.web import pages
from localfact.web.pages import NoPageError, Page, language_code, page_of_row


def page(row: object) -> Page:
    return page_of_row(row if isinstance(row, str) else json.dumps(row), "pages.jsonl#7")


def test_a_row_gives_its_page() -> None:
    row = {"url": "https://a.example/", "title": " A\n page ", "text": "Some text.", "date": "2020"}
    assert page(row) == Page(link="https://a.example/", title="A page", text="Some text.", date="2020", provider="local")


@pytest.mark.parametrize(
    ("stated", "date"),
    [
        (2023, "2023"),
        (20200101, "2020-01-01"),
        ("2018/6/5", "2018-06-05"),
        ("2018.06", "2018-06"),
        ("June 5, 2018", "2018-06-05"),
        ("5 Jun 2018", "2018-06-05"),
        ("2018-06-05T10:00:00Z", "2018-06-05T10:00:00Z"),
        ("5/6/2018", "5/6/2018"),
        (True, None),
    ],
)
def test_a_date_is_read_where_it_can_mean_one_day_alone(stated: object, date: str | None) -> None:
    assert page({"text": "Some text.", "date": stated}).date == date


def test_link_may_be_called_url_and_snippet_stands_in_for_an_empty_text() -> None:
    read = [page({"link": "l", "text": "  ", "snippet": "Short."}), page({"text": "No address."})]
    assert [(one.link, one.text) for one in read] == [("l", "Short."), ("pages.jsonl#7", "No address.")]


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ("{broken", "not JSON"),
        ("[1, 2]", "not a JSON object"),
        ({"url": "u", "text": ""}, "no text"),
        ({"url": "u", "text": 7}, "no text"),
        ("[" * 100_000, "not JSON"),
        ('{"text": %s}' % ("7" * 5_000), "not JSON"),
    ],
)
def test_a_bad_row_says_what_is_wrong_with_it(row: object, why: str) -> None:
    with pytest.raises(NoPageError, match=why):
        page(row)


def test_nul_and_lone_surrogates_are_replaced() -> None:
    read = page('{"url": "u\\u0000", "title": "\\ud800", "text": "a\\u0000b \\udfff c"}')
    assert (read.link, read.title, read.text) == ("u\ufffd", "\ufffd", "a\ufffdb \ufffd c")


def test_characters_that_no_reader_sees_are_dropped() -> None:
    read = page({"url": "u", "title": "a\u200bb", "text": "c\u202ed\U000e0041e"})
    assert (read.title, read.text) == ("ab", "cde")


def test_a_text_beyond_all_bounds_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "MAX_PAGE_CHARACTERS", 10)
    assert page({"url": "u", "text": "longer than ten"}).text == "longer tha"


@pytest.mark.parametrize(("stated", "kept"), [("pt-BR", "pt"), ("DE", "de"), ("German", None), (3, None), (None, None)])
def test_the_language_is_kept_where_it_is_stated(stated: object, kept: str | None) -> None:
    assert language_code(stated) == kept
    assert page({"url": "u", "text": "t", "language": stated}).language == kept
