"""What of fifty made pages (`page_kinds.py`) extraction keeps: prose, facts of tables on one line, and words about the site.

python -m scripts.measure_extraction                 the settings beside each other
python -m scripts.measure_extraction --kinds         what ships, by kind of page
"""

import argparse
import logging
from collections import defaultdict
from collections.abc import Callable, Sequence

from localfact.web.extracting.extraction import extract, parse
from localfact.web.extracting.hidden import remove_data, remove_hidden
from localfact.web.extracting.tables import add_missing, squeeze, write_tables
from localfact.web.fetching.failures import PageError
from scripts.page_kinds import MadePage, make_pages

FOCUSES: dict[str, dict[str, bool]] = {
    "recall": {"favor_recall": True},
    "default": {},
    "precision": {"favor_precision": True},
}


def text_of(page: str, *, tables: bool, **focus: bool) -> str:
    """The text of a page by one setting of trafilatura, tables written as lines or not."""
    import trafilatura

    root = parse(page)
    remove_hidden(root)
    remove_data(root)
    blocks = write_tables(root) if tables else []
    document = trafilatura.bare_extraction(root, include_comments=False, **focus)
    text = document.text if document is not None and document.text else ""
    return add_missing(text, blocks) if tables else text


def shipped(page: str) -> str:
    """The text as localfact takes it."""
    try:
        return extract(page.encode(), "text/html", "utf-8", "https://a.example/").text
    except PageError:
        return ""


def share_kept(pages: Sequence[MadePage], read: Callable[[str], str]) -> tuple[float, float, float, float]:
    """Shares of prose, of facts on one line, of facts whose parts are anywhere, and of words about the site, in percent."""
    counts = [[0, 0], [0, 0], [0, 0], [0, 0]]
    for page in pages:
        text = read(page.html)
        lines = [squeeze(line) for line in text.splitlines()]
        for place, facts in ((0, page.prose), (1, page.facts)):
            for fact in facts:
                counts[place][0] += any(all(squeeze(part) in line for part in fact) for line in lines)
                counts[place][1] += 1
        counts[2][0] += sum(all(squeeze(part) in "".join(lines) for part in fact) for fact in page.facts)
        counts[2][1] += len(page.facts)
        counts[3][0] += sum(any(squeeze(words) in line for line in lines) for words in page.site)
        counts[3][1] += len(page.site)
    prose, together, anywhere, site = (100 * kept / max(1, whole) for kept, whole in counts)
    return prose, together, anywhere, site


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kinds", action="store_true")
    parser.add_argument("--seed", type=int, default=7)
    asked = parser.parse_args()
    logging.getLogger("trafilatura").setLevel(logging.CRITICAL)
    pages = make_pages(seed=asked.seed)
    print(f"{'':24} prose  facts on a line  anywhere  site")
    if asked.kinds:
        by_kind = defaultdict(list)
        for page in pages:
            by_kind[page.kind].append(page)
        for kind, some in by_kind.items():
            print(f"{kind:24} {'{:5.1f}  {:15.1f}  {:8.1f}  {:4.1f}'.format(*share_kept(some, shipped))}")
        return
    for name, focus in FOCUSES.items():
        for tables in (False, True):
            shares = share_kept(pages, lambda page, focus=focus, tables=tables: text_of(page, tables=tables, **focus))  # type: ignore[misc]
            print(f"{name + ' + tables' * tables:24} {'{:5.1f}  {:15.1f}  {:8.1f}  {:4.1f}'.format(*shares)}")
    print(f"{'as it ships':24} {'{:5.1f}  {:15.1f}  {:8.1f}  {:4.1f}'.format(*share_kept(pages, shipped))}")


if __name__ == "__main__":
    main()
