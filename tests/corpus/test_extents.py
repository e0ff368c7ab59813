"""What extraction kept and dropped is told of each page, and is no part of what the corpus is."""

import json
from pathlib import Path

from commands import QuickCommandLine

from localfact.corpus.build import build_corpus
from localfact.corpus.extents import read_extents, sum_extents
from localfact.web.extracting.extraction import extract
from localfact.web.pages import Extent, Page

PAGES = [
    Page(link="https://a.example/1", text="Puffins nest on the cliff.", extent=Extent(kept=5, dropped=3, table_lines=1)),
    Page(link="https://a.example/2", text="Herons fish.", extent=Extent(kept=2, dropped=90)),
    Page(link="https://a.example/3", text="Given as text."),
]
ROOT = Path(__file__).resolve().parents[2]


def test_a_document_tells_how_many_words_it_lost_and_how_many_lines_are_of_tables() -> None:
    table = "<table><tr><th>Rocket</th><td>Ariane 5</td></tr><tr><th>Weight</th><td>3 t</td></tr></table>"
    prose = "The crossing was planned for decades before the council of Velin voted for it in 1911."
    page = f"<body><nav><ul><li>Start here</li></ul></nav><main><p>{prose}</p>{table}</main><footer>All rights</footer></body>"
    found = extract(page.encode(), "text/html", None, "https://a.example/")
    assert found.extent == Extent(kept=16 + 3 + 3, dropped=2 + 2, table_lines=2)
    assert extract(prose.encode(), "text/plain", None, "a.txt").extent == Extent(kept=16, dropped=0)


def test_info_tells_what_was_kept_of_each_page(tmp_path: Path) -> None:
    localfact = QuickCommandLine(tmp_path)
    description = build_corpus(PAGES, tmp_path / "corpus", None)
    without = build_corpus([page.model_copy(update={"extent": None}) for page in PAGES], tmp_path / "other", None)
    assert description.content == without.content
    told = localfact("corpus", "info", "corpus", "--json")
    assert json.loads(told.stdout)["extraction"] == {
        "pages": 2,
        "words_kept": 7,
        "words_dropped": 93,
        "table_lines": 1,
        "hardly_kept": 1,
    }
    assert "Hardly anything is kept of https://a.example/2." in " ".join(told.stderr.split())
    rows = json.loads(localfact("corpus", "info", "corpus", "--pages", "--json").stdout)
    assert rows[0] == {"link": "https://a.example/1", "kept": 5, "dropped": 3, "table_lines": 1}


def test_a_corpus_from_before_it_was_counted_is_read() -> None:
    assert list(read_extents(ROOT / "index/sample/corpus.sqlite")) == []
    assert sum_extents(ROOT / "index/sample/corpus.sqlite")[0]["pages"] == 0
