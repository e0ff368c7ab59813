"""Pages that behave badly on purpose, fetched by the command line: each leaves its reason, and takes no more than its share."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from commands import CommandLine
from loopback_pages import LoopbackPages, serving
from loopback_search import LoopbackSearch, Result
from loopback_search import serving as searching
from loopback_streams import BAD

from localfact.web.fetching.failures import Reason

pytestmark = pytest.mark.pages

HOST = "127.0.0.9"
#: The command line, with less patience: of the bad pages many would take all the seconds that there are.
COMMAND = """
from localfact.web.fetching.fetch import Fetcher
Fetcher.__init__.__kwdefaults__.update(total_seconds=5.0, read_seconds=1.5)
from localfact.cli.main import main
main()
"""
#: Runs a command and says the memory of the largest of its processes: our own children are those of all tests.
MEASURE = """
import resource, subprocess, sys
code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
print(code, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""
#: What a process of the command needs by itself, and what one page may take on top (in KiB, as Linux tells).
BASE, SHARE = 250_000, 200_000
REASONS = {
    "slow-drip": "timed_out",
    "silent": "timed_out",
    "never-ending": "too_large",
    "large": "too_large",
    "gzip-bomb": "too_large",
    "corrupt-gzip": "unreadable",
    "redirect-loop": "too_many_redirects",
    "login": "login_required",
    "empty": "no_text",
    "header-bomb": "connection_failed",
    "reset": "connection_failed",
}


@pytest.fixture
def site() -> Iterator[LoopbackPages]:
    with serving(LoopbackPages([HOST])) as site:
        yield site


def test_every_bad_page_leaves_its_reason_and_takes_no_more_than_its_share(
    localfact: CommandLine, site: LoopbackPages, tmp_path: Path
) -> None:
    links = [site.url(f"/{name}") for name in BAD]
    good = site.url("/article/1")
    results = [Result(link, link, "A snippet of it.") for link in [*links, good]]
    (tmp_path / "responses.jsonl").write_text(json.dumps({"response": "The lighthouse was first lit in 1862."}) + "\n")
    with searching(LoopbackSearch({"*": results}, page_size=100)) as engine:
        words = ("--provider", "searxng", "--searxng-url", engine.url, "--allow-host", HOST, "--host-delay", "0")
        limits = ("--k", str(len(results)), "--embedder", "none")
        fetch = ("corpus", "fetch", "--data", "responses.jsonl", "--out", "web", *limits, *words)
        command = [sys.executable, "-c", MEASURE, sys.executable, "-c", COMMAND, *fetch]
        done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=localfact.environment)
    code, most = map(int, done.stdout.split())
    assert code == 0, done.stderr
    assert most < BASE + SHARE
    rows = json.loads(localfact("corpus", "info", "web", "--failures", "--json").stdout)
    failed = {row["link"].rsplit("/", 1)[1]: row["reason"] for row in rows}
    assert {name: failed.get(name) for name in REASONS} == REASONS
    assert set(failed.values()) <= set(Reason)
    assert "article/1" not in failed
    told = json.loads(localfact("corpus", "info", "web", "--json").stdout)
    assert told["pages"] + told["failures"] == len(results), "each address has a page or a reason"
    assert told["never_asked_for"] == 0
    assert localfact("corpus", "verify", "web").returncode == 0
