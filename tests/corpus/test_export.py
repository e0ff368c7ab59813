"""Pages as JSON lines: the same pages again when read, and a file that is whole or not there."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localfact.corpus.export import export_pages
from localfact.corpus.importing.rows import read_rows
from localfact.errors import WriteError
from localfact.web.pages import NoPageError, Page, page_of


def exported(file: Path, pages: list[Page]) -> list[object]:
    assert export_pages(pages, file) == len(pages)
    return list(read_rows(file, file.name, lambda name, done, total: None))


@given(
    rows=st.lists(
        st.fixed_dictionaries(
            {
                "link": st.text(min_size=1).filter(lambda link: link.strip()),
                "title": st.text(),
                "text": st.text(min_size=1),
                "date": st.none() | st.text(),
            }
        ),
        max_size=5,
    ),
    provider=st.sampled_from(["local", "duckduckgo", "serper"]),
)
def test_pages_come_back_as_they_were(
    tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, str]], provider: str
) -> None:
    pages = []
    for row in rows:
        try:
            pages.append(page_of(row).model_copy(update={"provider": provider}))
        except NoPageError:
            continue
    assert exported(tmp_path_factory.mktemp("export") / "pages.jsonl", pages) == pages


def test_a_row_says_what_other_tools_read(tmp_path: Path) -> None:
    page = Page(link="https://a.example/", title="Å title", text="Line one.\nLine two.\u2028Three.", date="2020-01-01")
    export_pages([page], tmp_path / "pages.jsonl")
    (line,) = (tmp_path / "pages.jsonl").read_text(encoding="utf-8").split("\n")[:-1]
    assert json.loads(line) == {"url": page.link, "title": page.title, "text": page.text, "date": page.date}
    assert "Å title" in line


def test_an_export_cut_short_leaves_what_was_there(tmp_path: Path) -> None:
    def broken() -> Iterator[Page]:
        yield Page(link="l", text="t")
        raise KeyboardInterrupt

    file = tmp_path / "pages.jsonl"
    file.write_text("before")
    with pytest.raises(KeyboardInterrupt):
        export_pages(broken(), file)
    assert file.read_text() == "before"
    assert [item.name for item in tmp_path.iterdir()] == ["pages.jsonl"]


def test_a_place_that_cannot_be_written_is_an_error_with_its_name(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(WriteError, match=r"pages\.jsonl cannot be written"):
        export_pages([Page(link="l", text="t")], tmp_path / "file" / "pages.jsonl")


def test_no_pages_make_an_empty_file(tmp_path: Path) -> None:
    assert exported(tmp_path / "new" / "pages.jsonl", []) == []
    assert (tmp_path / "new" / "pages.jsonl").read_bytes() == b""


def test_a_provider_or_language_that_is_none_is_passed_over(tmp_path: Path) -> None:
    file = tmp_path / "pages.jsonl"
    file.write_text('{"url": "u", "text": "t", "provider": "<b>" , "language": 7}\n{"url": "u", "text": "t", "provider": 3}\n')
    assert list(read_rows(file, "pages.jsonl", lambda *_: None)) == [Page(link="u", text="t", provider="local")] * 2


def test_a_link_beside_the_file_is_not_written_through(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    (tmp_path / "pages.jsonl.new").symlink_to(victim)
    export_pages([Page(link="l", text="t")], tmp_path / "pages.jsonl")
    assert victim.read_text() == "precious"
    assert (tmp_path / "pages.jsonl").read_bytes()
