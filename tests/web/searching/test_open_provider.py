"""Opening providers by name: keys, addresses, and the chain that they make.

The answers of the engines are hand-made (tests/support/loopback_search.py); sockets, HTTP clients and ddgs are real.
"""

import json
import logging
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from loopback_search import LoopbackSearch, Misbehaviour, Result, serving
from provider_tests import Hurry

from localfact.errors import InputError, LocalFactError, MissingError, SearchError
from localfact.web.searching.provider_chain import TRIES, Chain
from localfact.web.searching.providers import open_provider


@pytest.mark.parametrize("name", ["serper", "brave"])
async def test_a_refused_key_concerns_all_queries_and_is_shown_to_nobody(
    name: str,
    engines: LoopbackSearch,
    hurry: Hurry,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv(f"{name.upper()}_API_KEY", "wrong-key-87654321")
    chain = open_provider([name], addresses={name: engines.url}, timing=hurry.timing)
    for _ in range(2):
        with pytest.raises(MissingError, match=f"{name.upper()}_API_KEY") as refused:
            await chain.search("curie", 3)
        assert "Unauthorized" in str(refused.value)
        assert "wrong-key-87654321" not in str(refused.value)
    await chain.aclose()
    assert engines.count() == 1
    assert "wrong-key-87654321" not in caplog.text
    assert "wrong-key-87654321" not in repr(chain)


@pytest.mark.parametrize("name", ["serper", "brave"])
@pytest.mark.parametrize("value", [None, "", "  "])
def test_a_missing_key_is_told_before_anything_is_sent(name: str, value: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    variable = f"{name.upper()}_API_KEY"
    monkeypatch.delenv(variable, raising=False)
    if value is not None:
        monkeypatch.setenv(variable, value)
    with pytest.raises(MissingError, match=f"export {variable}="):
        open_provider([name])


def test_a_key_that_cannot_be_one_is_refused_without_being_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SERPER_API_KEY", "abc\ndéf")
    with pytest.raises(InputError, match="SERPER_API_KEY") as refused:
        open_provider(["serper"])
    assert "abc" not in str(refused.value)


@pytest.mark.parametrize(
    ("names", "options", "says"),
    [
        (["duckduckgoo"], {}, "Did you mean 'duckduckgo'?"),
        (["SearXNG"], {}, "Did you mean 'searxng'?"),
        (["altavista"], {}, "There are: duckduckgo, searxng"),
        (["searxng"], {}, "--searxng-url"),
        (["searxng"], {"searxng_url": "localhost"}, "no address of a SearXNG"),
        (["searxng"], {"searxng_url": "http://[::1"}, "no address of a SearXNG"),
        (["wikipedia", "wikipedia"], {}, "twice"),
        ([], {}, "No search provider"),
    ],
)
def test_what_cannot_be_opened_is_told_with_its_cure(names: list[str], options: dict[str, str], says: str) -> None:
    with pytest.raises(InputError) as refused:
        open_provider(names, **options)  # type: ignore[arg-type]
    assert says in str(refused.value)


async def test_a_searxng_with_json_switched_off_stops_the_run_in_one_sentence(engines: LoopbackSearch, hurry: Hurry) -> None:
    engines.always = Misbehaviour(403)
    chain = open_provider(["searxng"], searxng_url=engines.url, timing=hurry.timing)
    with pytest.raises(MissingError, match=r"^No search can be made: [^.]*add json to search\.formats in its settings\.yml\.$"):
        await chain.search("q", 1)
    await chain.aclose()
    assert engines.count() == 1


async def test_providers_are_opened_as_a_chain_that_goes_on_to_the_next(engines: LoopbackSearch, hurry: Hurry) -> None:
    engines.table = {"q": [Result("A", "https://a.example/")]}
    engines.script += [Misbehaviour(500)] * TRIES
    addresses = {"wikipedia": engines.url}
    chain = open_provider(["searxng", "wikipedia"], searxng_url=engines.url, addresses=addresses, timing=hurry.timing)
    assert isinstance(chain, Chain)
    assert (await chain.search("q", 1)).provider == "wikipedia"
    assert (await chain.search("q", 1)).provider == "searxng"
    engines.always = Misbehaviour(500)
    with pytest.raises(SearchError, match=r"searxng: unavailable.*wikipedia: unavailable"):
        await chain.search("q", 1)
    await chain.aclose()


async def test_nobody_at_the_address_is_told_and_is_not_nothing_found(engines: LoopbackSearch, hurry: Hurry) -> None:
    with serving(LoopbackSearch()) as gone:
        address = gone.url
    chain = open_provider(["searxng"], searxng_url=address, timing=hurry.timing)
    with pytest.raises(LocalFactError, match="searxng: unavailable"):
        await chain.search("q", 1)
    await chain.aclose()


@pytest.mark.slow
def test_opening_a_provider_by_name_imports_no_other() -> None:
    program = (
        "import sys; from localfact.web.searching.providers import open_provider; open_provider(['searxng'], searxng_url='http://[::1]:1');"
        "print([n for n in ('ddgs', 'primp', 'lxml', 'trafilatura') if n in sys.modules])"
    )
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert printed.strip() == "[]"


def test_the_engines_run_as_a_process_of_their_own(tmp_path: Path) -> None:
    table, port_file = tmp_path / "table.json", tmp_path / "port"
    table.write_text(json.dumps({"*": [{"title": "T", "link": "https://a.example/", "snippet": "S"}]}))
    script = Path(__file__).parents[2] / "support/loopback_search.py"
    process = subprocess.Popen([sys.executable, str(script), "--port-file", str(port_file), "--table", str(table)])
    try:
        for _ in range(600):
            if port_file.exists():
                break
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(0.05)
        url = f"http://127.0.0.1:{port_file.read_text()}"
        found = json.loads(urllib.request.urlopen(f"{url}/search?q=x&format=json", timeout=10).read())
        assert [entry["url"] for entry in found["results"]] == ["https://a.example/"]
        asked = json.loads(urllib.request.urlopen(f"{url}/asked", timeout=10).read())
        assert asked == [{"provider": "searxng", "query": "x"}]
    finally:
        process.kill()
        process.wait()
