"""The report in a real browser: what a person reads, clicks and types there, and what a hostile run cannot do."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from report_runs import HOSTILE, hostile_assessment, read, small_assessment

from localfact.api.compare import compare_runs
from localfact.api.evaluate import evaluate
from localfact.api.report import write_comparison
from localfact.methods.options import Options
from localfact.report.page.cards import CARDS
from localfact.report.page.run_page import run_page
from scripts.bench.large_runs import large_assessments
from scripts.browser import OpenPage, browser, chromium, opened

pytestmark = [
    pytest.mark.pages,
    pytest.mark.skipif(chromium() is None, reason="no Chromium on this machine: apt-get install chromium"),
]
PHONE, DESK = {"width": 390, "height": 844}, {"width": 1280, "height": 900}


@pytest.fixture(scope="module")
def chrome() -> Iterator[Any]:
    with browser() as started:
        yield started


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("small") / "report.html"
    file.write_text(run_page(read([small_assessment(0, "ada"), small_assessment(1, "grace")])), encoding="utf-8")
    return file


@pytest.fixture
def page(chrome: Any, small: Path) -> Iterator[Any]:
    with opened(chrome, small, viewport=DESK) as found:
        yield found.page
        assert found.asked == found.complaints == []


def text_of(page: Any, selector: str) -> str:
    return " ".join(page.inner_text(selector).split())


def test_a_click_on_a_response_shows_its_text_with_all_claims_marked_or_listed(page: Any) -> None:
    page.click("#list >> text=grace")
    assert "Ada Lovelace was born in London in 1815" in text_of(page, "#response .text")
    assert page.locator(".text mark").count() == 4  # the first claim in three pieces, as the second lies within it
    assert [one.inner_text() for one in page.locator(".text button.number").all()] == ["2 ✓", "1 ✓", "3 ✗"]
    assert "not found verbatim in the text" in text_of(page, ".claims li:last-child")


def test_a_click_on_a_claim_opens_its_verdict_with_the_sentence_that_decided(page: Any) -> None:
    page.click("#list >> text=ada")
    page.click(".text button.number >> text=3 ✗")
    said = text_of(page, "#claim")
    for part in (
        "Claim 3 of 4",
        "clearly contradicted; probability 0.20, given these passages",
        "The annotators call it not supported.",
        "Other sources were found, but only one agrees",
        "It speaks against it with 0.80",
        "Without this passage: 0.50, not enough evidence (it moves the probability by −0.30).",
        "example.org, 2019-01-02, https://example.org/ada",
    ):
        assert part in said
    assert page.inner_text("#claim .excerpt mark.decides") == "She died in London."
    assert page.get_attribute("#claim a", "href") == "https://example.org/ada"
    assert "noopener" in page.get_attribute("#claim a", "rel")
    assert (
        page.get_attribute("#claim svg.graph", "aria-label") == "Claim 3 with 1 passage and 2 other claims that they speak to"
    )


def test_overlapping_marks_open_one_claim_after_the_other(page: Any) -> None:
    page.click("#list >> text=ada")
    mark = page.locator(".text mark.many")
    mark.click()
    assert "Claim 1 of 4" in text_of(page, "#claim")
    mark.click()
    assert "Claim 2 of 4" in text_of(page, "#claim")


def test_the_keys_go_from_finding_to_finding_on_their_cards_and_then_in_their_texts(page: Any) -> None:
    page.keyboard.press("n")
    page.keyboard.press("n")
    assert page.evaluate("document.activeElement.getAttribute('href')") == "#response=2&claim=3"
    page.keyboard.press("p")
    page.keyboard.press("Enter")
    assert text_of(page, "#list [aria-expanded=true] .id") == "ada"
    assert page.evaluate("document.activeElement.id") == "claim-title"
    page.keyboard.press("n")
    assert text_of(page, "#list [aria-expanded=true] .id") == "grace"
    assert "Claim 3 of 4" in text_of(page, "#claim")
    page.keyboard.press("Escape")
    assert page.is_hidden("#claim")
    page.keyboard.press("Escape")
    assert page.locator("#response").count() == 0


def test_claims_are_filtered_by_verdict_flag_source_and_words_and_escape_empties_the_search(page: Any) -> None:
    def claims() -> list[str]:
        return [" ".join(one.split()) for one in page.locator("#cards .claim").all_inner_texts()]

    assert claims() == ["Ada Lovelace died in Paris."] * 2
    page.click("text=Filter claims")
    page.select_option("#verdict", "")
    assert len(claims()) == 8
    page.select_option("#flag", "single_source")
    assert claims() == ["Ada Lovelace died in Paris."] * 2
    page.select_option("#flag", "")
    page.select_option("#source", label="example.org")
    page.keyboard.press("/")
    page.keyboard.type("grace Lóvelace countess")
    assert claims() == ["Ada Lovelace was a countess."]
    assert page.inner_text("#found") == "from 1 of 2 texts"
    assert page.locator("#list li:visible").count() == 1
    page.keyboard.press("Escape")
    assert len(claims()) == 8
    page.click(".legend >> text=2 contradicted")
    assert claims() == ["Ada Lovelace died in Paris."] * 2


def test_the_first_finding_stands_on_the_first_screen_of_a_phone_and_needs_no_script(chrome: Any, small: Path) -> None:
    with opened(chrome, small, viewport=PHONE, java_script_enabled=False) as found:
        assert found.page.is_visible("text=2 of 8 claims are contradicted by your pages; 2 could not be checked.")
        box = found.page.locator("#cards blockquote").first.bounding_box()
        assert "She died in London." in text_of(found.page, "#cards li:first-child")
        assert box["y"] + box["height"] < PHONE["height"]


def test_a_page_printed_with_nothing_open_says_what_is_missing(page: Any) -> None:
    page.emulate_media(media="print")
    assert page.is_visible("text=Texts are printed where they are open")
    assert page.is_visible("#cards blockquote")


def test_back_goes_back_and_an_address_opens_what_it_names(chrome: Any, small: Path) -> None:
    with opened(chrome, small, at="response=2&claim=3") as found:
        assert text_of(found.page, "#list [aria-expanded=true] .id") == "grace"
        assert "Claim 3 of 4" in text_of(found.page, "#claim")
        found.page.click("#claim >> text=Previous")
        found.page.go_back()
        assert "Claim 3 of 4" in text_of(found.page, "#claim")


@pytest.mark.parametrize("at", ["response=99", "response=1&claim=99", "response=-1", "x", "response=1&claim=0"])
def test_an_address_that_names_nothing_does_no_harm(chrome: Any, small: Path, at: str) -> None:
    with opened(chrome, small, at=at) as found:
        assert found.page.locator("#list > li").count() == 2
        assert found.complaints == []


def test_cards_beyond_those_in_the_page_are_the_scripts_and_texts_are_sorted(chrome: Any, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    file.write_text(run_page(read(list(large_assessments(responses=40, claims=4)))), encoding="utf-8")
    with opened(chrome, file, viewport=DESK) as found:
        page = found.page
        first = page.locator("#cards li").first.inner_text()
        assert page.locator("#cards li").count() == CARDS
        page.click("#more")
        assert page.locator("#cards li").count() == 53
        assert page.is_hidden("#more")
        page.click("text=Filter claims")
        page.fill("#search", "statement")
        assert page.locator("#cards li").count() == CARDS
        assert page.locator("#cards li").first.inner_text() == first  # the script's cards are the page's
        page.select_option("#order", "contradicted")
        assert page.locator("#list .id").first.text_content() == "response-1"
        assert found.complaints == []


def test_what_the_browser_shows_of_a_hostile_run_is_its_text_and_nothing_happens(chrome: Any, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    run = [hostile_assessment(index, text) for index, text in enumerate(HOSTILE)]
    file.write_text(run_page(read(run, name=HOSTILE[1], settings={"data": HOSTILE[0]})), encoding="utf-8")
    with opened(chrome, file, viewport=PHONE) as found:
        for number in range(1, len(HOSTILE) + 1):
            found.page.goto(f"{file.as_uri()}#response={number}&claim=1")
            found.page.wait_for_selector("#claim:visible >> text=Claim 1 of 1")
            assert found.page.locator("#response a, #cards .where a").count() == 0
            assert found.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        assert "taken" not in found.page.title().split("–")[-1]
        assert found.asked == found.complaints == []
        shown = found.page.evaluate("document.body.innerText")
        assert HOSTILE[0] in shown
        assert not any(hidden in shown for hidden in "\u202e\u2066\x1b\x00")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [DESK, PHONE], ids=["desk", "phone"])
def test_nobody_is_shut_out(chrome: Any, small: Path, scheme: str, size: dict[str, int]) -> None:
    from axe_playwright_python.sync_playwright import Axe

    with opened(chrome, small, at="response=1&claim=3", viewport=size, color_scheme=scheme) as found:
        found.page.eval_on_selector_all("details", "all => all.forEach(one => one.open = true)")
        results = Axe().run(found.page).response
    assert faults(results) == []
    assert len(results["passes"]) > 20


def faults(results: dict[str, Any]) -> list[str]:
    """What axe finds wrong, each with the first elements that it concerns."""
    return [f"{one['id']}: {[node['html'] for node in one['nodes'][:3]]}" for one in results["violations"]]


@pytest.fixture(scope="module")
def comparison(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs side by side, over hostile texts too: what one supports has no evidence in the other."""
    folder = tmp_path_factory.mktemp("compared")
    texts = ["The mill opened in 1911.", *HOSTILE]
    for name, evidence in (("one", "The mill opened in 1911. {}"), ("other", "The baker of Torsk sells bread.")):
        rows = [
            {"id": str(index), "response": text, "claims": [text], "passages": [{"text": evidence.format(text), "title": text}]}
            for index, text in enumerate(texts)
        ]
        evaluate(rows, options=Options(relations="lexical", embedder="none"), out=folder / name)
    return write_comparison(compare_runs([folder / "one", folder / "other"]), folder / "compared.html")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [DESK, PHONE], ids=["desk", "phone"])
def test_runs_side_by_side_shut_nobody_out_and_take_no_orders(
    chrome: Any, comparison: Path, scheme: str, size: dict[str, int]
) -> None:
    from axe_playwright_python.sync_playwright import Axe

    with opened(chrome, comparison, viewport=size, color_scheme=scheme) as found:
        assert found.page.locator("article.differs").count() >= 1
        assert faults(Axe().run(found.page).response) == []
        assert found.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        assert "taken" not in found.page.title()
        assert found.asked == found.complaints == []


def test_dark_and_light_differ_and_print_has_the_open_claim_without_the_controls(chrome: Any, small: Path) -> None:
    def paper(found: OpenPage) -> str:
        return found.page.evaluate("getComputedStyle(document.body).backgroundColor")

    with opened(chrome, small, color_scheme="dark") as found:
        dark = paper(found)
    with opened(chrome, small, at="response=1&claim=1", color_scheme="light") as found:
        assert paper(found) == "rgb(255, 255, 255)" != dark
        found.page.emulate_media(media="print")
        assert found.page.is_hidden("#controls")
        assert found.page.is_hidden("#list >> text=grace")
        assert found.page.is_visible("#claim .excerpt")
