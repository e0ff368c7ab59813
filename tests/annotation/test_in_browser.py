"""Annotating in a real browser: by keys alone, by two people and a third, with a server that is killed, in two tabs."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from annotation_projects import task
from annotation_server import Served, killed_and_begun_again, serving
from docs_reader import engine, weights
from typer.testing import CliRunner

from localfact.annotation.project import DATABASE, create
from localfact.annotation.store import AnnotationStore
from localfact.annotation.tasks import AnnotationTask, MachineClaim
from localfact.api.align import align_run
from localfact.api.calibrate import calibrate
from localfact.api.evaluate import evaluate
from localfact.cli.main import app
from localfact.inputs.annotations import read_annotations
from localfact.methods.options import Options
from scripts.browser import browser, chromium

pytestmark = [
    pytest.mark.pages,
    pytest.mark.skipif(chromium() is None, reason="no Chromium on this machine: apt-get install chromium"),
]


@pytest.fixture(scope="module")
def chrome() -> Iterator[Any]:
    with browser() as started:
        yield started


@contextmanager
def person(chrome: Any, served: Served, name: str, **window: Any) -> Iterator[Any]:
    """A browser window in which somebody signed in; what its script complains of is an error."""
    context = chrome.new_context(**window)
    complaints: list[str] = []
    try:
        page = context.new_page()
        page.on("pageerror", lambda one: complaints.append(str(one)))
        page.on("console", lambda one: complaints.append(one.text) if "Content Security" in one.text else None)
        page.goto(served.at)
        page.wait_for_selector("#name:focus")
        page.keyboard.type(name)
        page.keyboard.press("Enter")
        shows(page, f"text=Queue of {name}")
        yield page
        assert complaints == []
    finally:
        context.close()


def shows(page: Any, selector: str) -> None:
    """Waits until the page shows it, and its scripts listen."""
    page.wait_for_selector(selector)
    page.wait_for_load_state()


def said(page: Any, words: str) -> None:
    """Waits until the page says so; a function to wait for would have to be evaluated, which the page's policy forbids."""
    page.locator("#said").filter(has_text=words).wait_for(state="attached")


def stored(folder: Path) -> AnnotationStore:
    return AnnotationStore(folder / DATABASE)


def small_project(folder: Path, *, overlap: float = 1.0) -> Path:
    """One response with three claims."""
    mill = task()
    create(folder, [mill.model_copy(update={"claims": mill.claims[:3]})], made_of="mill.jsonl", overlap=overlap)
    return folder


def test_two_people_differ_a_third_decides_and_the_gold_data_are_read_by_other_commands(
    chrome: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = small_project(tmp_path / "project")
    with serving(folder, "--seen") as served:
        for name, keys in (("ada", "asr"), ("bo", "arr")):  # by keys alone
            with person(chrome, served, name) as page:
                page.keyboard.press("f")
                shows(page, "text=are these its claims?")
                page.keyboard.press("f")
                shows(page, "text=is it so?")
                for number, key in enumerate(keys, start=1):
                    page.keyboard.press(key)
                    said(page, f"Saved: judge claim {number}")
                page.keyboard.press("f")
                shows(page, "text=Nothing is left for you")
        with person(chrome, served, "cy") as page:
            page.goto(f"{served.at}adjudicate/1")
            assert "The annotators agree on 2 claims and differ on 1." in page.inner_text(".head")
            page.keyboard.press("2")  # what bo has
            said(page, "Saved: decide claim 2: refuted.")
            page.keyboard.press("f")
            shows(page, "text=Responses that several people finished")
    gold = tmp_path / "gold.jsonl"
    exported = CliRunner().invoke(app, ["annotate", "export", str(folder), "--out", str(gold), "--json"])
    assert exported.exit_code == 0, exported.output
    (row,) = read_annotations(gold)
    assert [claim.gold for claim in row.claims] == ["supported", "not_supported", "not_supported"]
    evaluate(gold, options=Options(relations="lexical", embedder="none", claims="given"), out=tmp_path / "run")
    aligned = align_run(tmp_path / "run", gold, embedder="none")
    assert aligned.overall.n == 1
    monkeypatch.setattr("localfact.llm.cores.vllm.VLLMEngine", engine)
    monkeypatch.setenv("LOCALFACT_WEIGHTS", str(weights(tmp_path / "weights")))
    calibrated = calibrate(gold, options=Options(model="llama-3.1-8b", embedder="none"))
    assert (calibrated.responses, calibrated.claims) == (1, 3)


def test_kills_of_the_server_between_clicks_lose_nothing_and_make_nothing_twice(
    chrome: Any, tmp_path: Path, some: Callable[[Sequence[int]], Sequence[int]]
) -> None:
    kills = some(range(1, 21))
    folder = tmp_path / "project"
    mill = task()
    claims = tuple(MachineClaim(id=f"c{number}", text=f"The mill has {number} doors.") for number in range(1, 23))
    create(folder, [mill.model_copy(update={"claims": claims})], made_of="mill.jsonl")
    served = Served(folder)
    try:
        with person(chrome, served, "ada") as page:
            page.keyboard.press("f")
            shows(page, "text=are these its claims?")
            page.keyboard.press("f")
            shows(page, "text=is it so?")
            for number in range(1, 21):
                if number not in kills:
                    page.keyboard.press("s")
                elif number % 2:  # killed while nobody waits, the click comes to the new one
                    served = killed_and_begun_again(served, folder)
                    page.keyboard.press("s")
                else:  # killed first, the click fails, the same key again
                    served.process.kill()
                    served.process.wait()
                    page.keyboard.press("s")
                    page.wait_for_selector("#trouble:not([hidden])")
                    served = killed_and_begun_again(served, folder)
                    page.keyboard.press("s")
                said(page, f"Saved: judge claim {number}: supported")
    finally:
        served.process.kill()
        served.process.wait()
    store = stored(folder)
    work = store.work(1, "ada")
    store.close()
    assert work.version == 20
    assert [claim.label for claim in work.claims] == ["supported"] * 20 + [None] * 2


def test_a_tab_that_is_behind_is_told_and_can_do_its_step_after_the_others(chrome: Any, tmp_path: Path) -> None:
    folder = small_project(tmp_path / "project")
    with serving(folder) as served, person(chrome, served, "ada") as first:
        first.goto(f"{served.at}responses/1/judge")
        second = first.context.new_page()
        second.goto(f"{served.at}responses/1/judge")
        first.keyboard.press("s")
        said(first, "claim 1: supported")
        second.keyboard.press("r")
        shows(second, "text=This page is behind")
        assert "judge claim 1: supported" in second.inner_text("ol")
        second.keyboard.press("y")
        said(second, "claim 1: refuted")
        first.keyboard.press("n")
        shows(first, "text=This page is behind")
        first.keyboard.press("n")  # leaves it
        shows(first, "text=is it so?")
    store = stored(folder)
    labels = [claim.label for claim in store.work(1, "ada").claims]
    store.close()
    assert labels == ["refuted", None, None]


def test_keys_that_are_faster_than_the_server_each_count(chrome: Any, tmp_path: Path) -> None:
    folder = small_project(tmp_path / "project")
    with serving(folder) as served, person(chrome, served, "ada") as page:
        page.goto(f"{served.at}responses/1/judge")
        page.keyboard.type("srn", delay=1)
        shows(page, "text=Every claim has its label")
        page.keyboard.press("u")
        said(page, "undo")
        page.keyboard.press("U")
        said(page, "redo")
    store = stored(folder)
    labels = [claim.label for claim in store.work(1, "ada").claims]
    store.close()
    assert labels == ["supported", "refuted", "not enough evidence"]


MARK = """words => {
  const pieces = [...document.querySelectorAll("#text [data-start]")];
  const node = pieces.map((one) => one.firstChild).find((one) => one.data.includes(words));
  const start = node.data.indexOf(words);
  document.getSelection().setBaseAndExtent(node, start, node, start + words.length);
}"""
MARK_ALL_BUT_THE_END = """() => {
  const pieces = [...document.querySelectorAll("#text [data-start]")];
  document.getSelection().setBaseAndExtent(pieces[0].firstChild, 0, pieces.at(-1).firstChild, 1);
}"""


def test_marked_words_are_the_place_of_a_claim_whatever_characters_stand_before_them(chrome: Any, tmp_path: Path) -> None:
    text = "𝔸 mill 🏭 of\u202e stone.\nIts wheel <b>turned</b> in 1911, people say."
    words = "wheel <b>turned</b> in 1911"
    begin, end = text.index(words), text.index(words) + len(words)
    folder = tmp_path / "project"
    create(folder, [AnnotationTask(id="mill", text=text)], made_of="mill.jsonl")
    places = []
    with serving(folder) as served, person(chrome, served, "ada") as page:
        page.goto(f"{served.at}responses/1/claims")
        page.evaluate(MARK, words)
        page.keyboard.press("+")
        page.keyboard.press("End")
        page.keyboard.type(", in the town of Orvale")
        page.click("text=Add +")
        said(page, "Saved: add a claim")
        store = stored(folder)
        (added,) = store.work(1, "ada").claims
        places += added.spans
        page.evaluate(MARK_ALL_BUT_THE_END)  # the response is in pieces now, and a number stands between them
        page.keyboard.press("p")
        said(page, "Saved: mark the place")
        (placed,) = store.work(1, "ada").claims
        places += placed.spans
        store.close()
    assert added.text == f"{words}, in the town of Orvale"
    assert [(place.start, place.end) for place in places] == [(begin, end), (0, end + 1)]


def test_no_screen_shuts_anybody_out(chrome: Any, tmp_path: Path) -> None:
    from axe_playwright_python.sync_playwright import Axe

    folder = small_project(tmp_path / "project")
    found = []
    with serving(folder) as served:
        for name, keys in (("ada", "ssr"), ("bo", "srr")):
            with person(chrome, served, name) as page:
                page.goto(f"{served.at}responses/1/judge")
                for number, key in enumerate(keys, start=1):
                    page.keyboard.press(key)
                    said(page, f"Saved: judge claim {number}")
                page.keyboard.press("f")
                shows(page, "text=Queue of")
        for scheme in ("light", "dark"):
            with person(chrome, served, "ada", color_scheme=scheme) as page:
                for path in ("", "guide", "responses/1/claims", "responses/1/judge", "adjudicate", "adjudicate/1"):
                    page.goto(f"{served.at}{path}")
                    results = Axe().run(page)
                    found += [
                        (path, scheme, one["id"], one["nodes"][0]["html"][:120])
                        for one in results.response["violations"]
                        if one["impact"] in ("serious", "critical")
                    ]
        window = chrome.new_context()
        page = window.new_page()
        page.goto(served.at)
        found += [one["id"] for one in Axe().run(page).response["violations"] if one["impact"] in ("serious", "critical")]
        window.close()
    assert found == []


def test_a_key_that_is_held_is_pressed_once_and_typed_words_are_not_lost_but_split_as_they_stand(
    chrome: Any, tmp_path: Path
) -> None:
    folder = small_project(tmp_path / "project")
    with serving(folder) as served, person(chrome, served, "ada") as page:
        page.goto(f"{served.at}responses/1/judge")
        for _ in range(5):
            page.keyboard.down("s")  # without a release in between: a repetition
        said(page, "claim 1: supported")
        page.keyboard.up("s")
        page.wait_for_timeout(300)
        page.goto(f"{served.at}responses/1/claims")
        page.keyboard.press("e")
        page.keyboard.type("My own words. ")
        page.keyboard.press("Escape")
        page.keyboard.press("j")
        said(page, "not saved yet")
        assert "My own words." in page.input_value("textarea[data-key=e]")
        under_way: list[Any] = []
        page.route("**/*claim=*", lambda route: under_way.append(route))  # these keys come before its answer
        page.keyboard.press("j")
        page.keyboard.press("e")
        page.keyboard.type("The wheel was cast.\nIt was cast in Lund.")
        page.keyboard.press("Escape")
        page.keyboard.press("t")
        while not under_way:
            page.wait_for_timeout(10)
        under_way[0].continue_()
        said(page, "Saved: split claim 2: “The wheel was cast.” and “It was cast in Lund.”")
    store = stored(folder)
    claims = store.work(1, "ada").claims
    assert [claim.label for claim in claims] == ["supported", None, None, None]
    assert [claim.text for claim in claims[1:3]] == ["The wheel was cast.", "It was cast in Lund."]
    store.close()


def test_a_link_with_a_token_on_another_page_opens(chrome: Any, tmp_path: Path) -> None:
    folder = small_project(tmp_path / "project")
    with serving(folder, "--host", "0.0.0.0") as served:
        context = chrome.new_context()
        page = context.new_page()
        page.route(
            "http://elsewhere.example/",
            lambda route: route.fulfill(
                content_type="text/html", body=f"<a href='http://127.0.0.1:{served.port}/{served.query}'>annotate</a>"
            ),
        )
        page.goto("http://elsewhere.example/")
        page.click("a")
        shows(page, "text=Who annotates?")
        context.close()
