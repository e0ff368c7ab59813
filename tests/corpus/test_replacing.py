"""Pages that take the place of others, and pages that are removed: what a corpus holds of them afterwards."""

from pathlib import Path

from puffins import LINK, SEARCH

from localfact.corpus.corpus import Corpus
from localfact.corpus.store import Fetch
from localfact.corpus.verify import verify
from localfact.corpus.writer import CorpusWriter
from localfact.web.archiving.warc_reading import read_warc
from localfact.web.fetching.exchange import Exchange
from localfact.web.fetching.failures import PageFailure, Reason
from localfact.web.pages import WEB, Page


def texts(folder: Path) -> dict[str, str]:
    with Corpus.open(folder, None) as corpus:
        return {f"{page.link} {number}": page.text for number, page in enumerate(corpus.store.pages())}


def add(folder: Path, *pages: Page) -> tuple[int, int]:
    """How many were added, and how many older ones gave way."""
    with CorpusWriter(folder, None) as writer:
        added = writer.add_pages(pages)
        writer.finish(("pages",))
        return added, writer.replaced


def test_a_new_text_of_an_address_replaces_the_page_and_the_older_one_is_in_the_archive(tmp_path: Path) -> None:
    folder = tmp_path / "corpus"
    old, other = Page(link=LINK, text="Puffins nest on cliffs."), Page(link="https://b.example/", text="Herons fish.")
    add(folder, old, other)
    new = Page(link=LINK, text="Puffins nest in burrows.")
    assert add(folder, new) == (1, 1)
    assert list(texts(folder).values()) == ["Herons fish.", "Puffins nest in burrows."]
    (archived,) = list(read_warc(next(folder.glob("*/pages-00001.warc.gz"))))
    assert isinstance(archived, Exchange)
    assert (archived.url, archived.payload.decode()) == (LINK, old.text)
    with Corpus.open(folder, None) as corpus:
        assert [passage.text for passage, _ in corpus.search("Puffins nest", "pages", 5)][:1] == [new.text]
        assert verify(corpus) == []
    assert add(folder, new) == (0, 0)


def test_rows_of_one_address_in_one_go_are_all_kept_and_so_are_pages_without_an_address(tmp_path: Path) -> None:
    folder = tmp_path / "corpus"
    parts = [Page(link=LINK, text=f"Part {number}.") for number in range(3)]
    assert add(folder, *parts) == (3, 0)
    changed = [*parts[:2], Page(link=LINK, text="Another part.")]
    assert add(folder, *changed) == (1, 1)
    assert sorted(texts(folder).values()) == ["Another part.", "Part 0.", "Part 1."]
    add(folder, Page(link="pages.jsonl:1", text="A puffin."))
    assert add(folder, Page(link="pages.jsonl:1", text="A heron, of another file of that name.")) == (1, 0)


def test_a_fetched_page_is_not_replaced_by_an_imported_one(tmp_path: Path) -> None:
    folder = tmp_path / "corpus"
    fetched = Page(link=LINK, text="Puffins nest.", provider=WEB)
    with CorpusWriter(folder, None) as writer:
        writer.add_search(SEARCH)
        writer.add_fetch(Fetch(link=LINK, final_link=LINK, time="now", page=fetched))
        writer.finish(("pages",))
    assert add(folder, Page(link=LINK, text="Puffins do not nest.")) == (1, 0)


def test_an_address_that_is_fetched_again_has_its_new_page_alone(tmp_path: Path) -> None:
    folder = tmp_path / "corpus"
    with CorpusWriter(folder, None) as writer:
        for text in ("Puffins nest.", "Puffins have nested."):
            writer.add_fetch(Fetch(link=LINK, final_link=LINK, time="now", page=Page(link=LINK, text=text, provider=WEB)))
        writer.finish(("pages",))
    assert list(texts(folder).values()) == ["Puffins have nested."]


def test_what_is_removed_is_gone_with_what_searches_show_of_it_and_is_not_asked_for_again(tmp_path: Path) -> None:
    folder = tmp_path / "corpus"
    with CorpusWriter(folder, None) as writer:
        writer.add_search(SEARCH)
        writer.add_fetch(Fetch(link=LINK, final_link=LINK, time="now", page=Page(link=LINK, text="Puffins.", provider=WEB)))
        writer.add_pages([Page(link="https://b.example/", text="Herons fish.")])
        before = writer.finish(("pages", "snippets"))
        both = ["https://b.example/", LINK]
        assert writer.store.links_of(["bird.example", "https://b.example/", "nobody"]) == (both, ["nobody"])
        assert writer.remove([LINK]) == 1
        after = writer.finish(())
    assert list(texts(folder).values()) == ["Herons fish."]
    assert after.id != before.id, "recorded evidence has changed"
    assert after.content != before.content
    with Corpus.open(folder, None) as corpus:
        assert verify(corpus) == []
        assert [passage.text for passage, _ in corpus.search("Puffins or herons", "pages", 5)] == ["Herons fish."]
        fetch, search = corpus.store.fetch(LINK), corpus.store.search("puffins", 5)
    assert fetch is not None
    assert fetch.failure == PageFailure(reason=Reason.WITHDRAWN)
    assert search is not None
    assert [result.snippet for result in search.results] == [""]
