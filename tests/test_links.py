"""Links between the pages of the documentation lead somewhere, and what they say how to install can be installed."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("models/*/README.md"), ROOT / "index/sample.md"])
LINK = re.compile(r"""\]\((?!https?:)([^)\s]+)\)|(?:src|srcset)="([^"]+)\"""")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


def anchors(page: Path) -> set[str]:
    """The names of a page's headings, as GitHub makes them."""
    words = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in HEADING.findall(page.read_text(encoding="utf-8")))
    return {heading.replace(" ", "-") for heading in words}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_of_a_page_leads_somewhere(page: Path) -> None:
    for hit in LINK.finditer(page.read_text(encoding="utf-8")):
        name, _, anchor = (hit[1] or hit[2]).partition("#")
        target = page.parent / name if name else page
        assert target.exists(), hit[0]
        assert not anchor or anchor in anchors(target), hit[0]


def test_nobody_is_told_to_install_a_package_that_no_index_has() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    for file in [*PAGES, *ROOT.glob("localfact/**/*.py")]:
        text = file.read_text(encoding="utf-8")
        assert not re.search(r"""install (-\S+ )*["']?localfact(\[|["']?$)""", text, re.MULTILINE), file
        named = re.findall(r'pip install "\.\[([\w,-]+)\]"', text)
        assert {extra for group in named for extra in group.split(",")} <= extras.keys(), file


def test_the_readme_names_the_papers_as_they_are_to_be_cited() -> None:
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    papers = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))["references"]
    for paper in papers:
        arxiv = paper["identifiers"][0]["value"].removeprefix("arXiv:")
        assert {part for part in (paper["title"], paper["url"], f"arxiv.org/abs/{arxiv}") if part not in readme} == set()
