"""Evidence from the web through the command line: kept in a corpus, the same with the network unplugged, whole after kills."""

import json
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from commands import CommandLine
from loopback_search import Misbehaviour
from small_web import HOSTS, SmallWeb, small_web

#: Relations that need no model.
LEXICAL = ("--relations", "lexical")
#: Nothing is loaded.
QUICK = (*LEXICAL, "--embedder", "none")


@pytest.fixture
def web(tmp_path: Path) -> Iterator[SmallWeb]:
    with small_web(tmp_path) as web:
        yield web


def content(localfact: CommandLine, corpus: str) -> dict[str, object]:
    """What `corpus info` says that must not depend on how the corpus came about."""
    told = json.loads(localfact("corpus", "info", corpus, "--json").stdout)
    return {name: told[name] for name in ("content", "pages", "searches", "failures", "segments", "without_page", "unfinished")}


def assessments(folder: Path) -> bytes:
    return (folder / "assessments.jsonl").read_bytes()


@pytest.mark.slow
def test_a_run_that_could_read_no_page_says_so_and_does_not_end_well(
    localfact: CommandLine, web: SmallWeb, tmp_path: Path
) -> None:
    for host in HOSTS:
        web.site.robots[host] = b"User-agent: *\nDisallow: /"
    for out, words in (("out", web.words), ("offline", ("--offline",))):
        done = localfact("eval", "--data", web.data, "--corpus", "web", "--out", out, *QUICK, *words)
        assert done.returncode == 1, done.stderr
        assert "None of the web pages that the searches found could be read" in " ".join(done.stdout.split())
    (tmp_path / "text.txt").write_text("The lighthouse was built of red granite.")
    done = localfact("check", "text.txt", "--corpus", "web", *QUICK, *web.words)
    assert done.returncode == 1, done.stderr
    assert "None of the web pages" in " ".join(done.stderr.split())
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["no_page_read"]
    assert summary["usage"]["retrieve"]["pages"] == summary["usage"]["retrieve"]["pages_failed"] > 0


@pytest.mark.slow
@pytest.mark.parametrize("chosen", [QUICK, pytest.param(LEXICAL, marks=pytest.mark.exhaustive)], ids=["words", "and vectors"])
def test_offline_gives_the_assessments_of_the_live_run_that_made_the_corpus(
    localfact: CommandLine, web: SmallWeb, tmp_path: Path, chosen: tuple[str, ...]
) -> None:
    live = localfact("eval", "--data", web.data, "--corpus", "web", "--out", "live", *chosen, *web.words)
    assert live.returncode == 0, live.stderr
    assert "Claims are sent as search queries to searxng" in live.stderr
    searched, fetched = web.engine.count(), len(web.site.paths())
    queries = {asked.query for asked in web.engine.asked}
    assert fetched == len({(asked.host, asked.path) for asked in web.site.asked if asked.path != "/robots.txt"}), (
        "each page once"
    )
    again = localfact("eval", "--data", web.data, "--corpus", "web", "--out", "again", *chosen, *web.words)
    assert again.returncode == 0, again.stderr
    offline = localfact("eval", "--data", web.data, "--corpus", "web", "--out", "offline", *chosen, "--offline")
    assert offline.returncode == 0, offline.stderr
    assert (web.engine.count(), len(web.site.paths())) == (searched, fetched), "nothing was asked for again"
    assert assessments(tmp_path / "live") == assessments(tmp_path / "again") == assessments(tmp_path / "offline")
    verdicts = [json.loads(line) for line in assessments(tmp_path / "live").splitlines()]
    assert {passage["provider"] for row in verdicts for passage in row["passages"]} == {"searxng"}
    assert {passage["host"] for row in verdicts for passage in row["passages"]} >= set(HOSTS)
    sent = [json.loads(line).get("sent", {}) for line in (tmp_path / "live" / "timings.jsonl").read_text().splitlines()]
    assert sum(row.get("searches", 0) for row in sent) == len(queries)
    assert localfact("corpus", "verify", "web").returncode == 0


@pytest.mark.slow
def test_two_queries_a_claim_are_sent_recorded_and_counted(localfact: CommandLine, web: SmallWeb, tmp_path: Path) -> None:
    chosen = ("--queries-per-claim", "2", *QUICK)
    live = localfact("eval", "--data", web.data, "--corpus", "web", "--out", "live", *chosen, *web.words)
    assert live.returncode == 0, live.stderr
    assert len({asked.query for asked in web.engine.asked}) == 48, (
        "each of 24 claims is asked about by its own words and by its key words"
    )
    assert json.loads((tmp_path / "live" / "summary.json").read_text())["accounting"]["queries_per_claim"] == 2
    offline = localfact("eval", "--data", web.data, "--corpus", "web", "--out", "offline", *chosen, "--offline")
    assert offline.returncode == 0, offline.stderr
    assert assessments(tmp_path / "live") == assessments(tmp_path / "offline")
    refused = localfact("eval", "--data", web.data, "--out", "three", "--queries-per-claim", "3", *QUICK, *web.words)
    assert (refused.returncode, "--queries llm" in refused.stderr) == (2, True)


@pytest.mark.slow
def test_a_corpus_fetched_ahead_serves_an_offline_evaluation(localfact: CommandLine, web: SmallWeb, tmp_path: Path) -> None:
    fetched = localfact("corpus", "fetch", "--data", web.data, "--out", "web", "--json", *QUICK[2:], *web.words)
    assert fetched.returncode == 0, fetched.stderr
    told = json.loads(fetched.stdout)
    assert (told["responses"], told["claims"], told["searches_now"]) == (6, 24, 24)
    assert told["without_page"] == {"http_status": 1}
    searched = web.engine.count()
    live = localfact("eval", "--data", web.data, "--corpus", "web", "--out", "live", *QUICK, *web.words)
    assert live.returncode == 0, live.stderr
    assert web.engine.count() == searched, "the live run finds everything there"
    offline = localfact("eval", "--data", web.data, "--corpus", "web", "--out", "offline", *QUICK, "--offline")
    assert offline.returncode == 0, offline.stderr
    assert assessments(tmp_path / "live") == assessments(tmp_path / "offline")


@pytest.mark.slow
def test_killed_in_the_middle_of_fetching_again_and_again_the_corpus_is_the_same(
    localfact: CommandLine, tmp_path: Path, some: Callable[[Sequence[int]], Sequence[int]]
) -> None:
    with small_web(tmp_path, delay=0.15) as web:
        words = ("corpus", "fetch", "--data", web.data, "--embedder", "none", "--concurrency", "1", *web.words)
        assert localfact(*words, "--out", "whole").returncode == 0
        total = len(web.site.asked) + web.engine.count()
        kills = some(range(5))
        for kill in kills:
            before = len(web.site.asked) + web.engine.count()
            process = localfact.start(*words, "--out", "killed")
            # One more request than the last time, in the middle of searching or fetching.
            while len(web.site.asked) + web.engine.count() - before <= kill + 1 and process.poll() is None:
                time.sleep(0.005)
            process.send_signal(signal.SIGKILL)
            process.wait()
            assert process.stderr is not None
            process.stderr.close()
            assert process.returncode == -signal.SIGKILL, "it was killed before its end"
        assert "unfinished" in localfact("corpus", "verify", "killed").stderr
        last = localfact(*words, "--out", "killed")
        assert last.returncode == 0, last.stderr
        assert content(localfact, "killed") == content(localfact, "whole")
        assert len(web.site.asked) + web.engine.count() - total < total + 10 * len(kills), (
            "what was there was not asked for again"
        )
    assert localfact("corpus", "verify", "killed").returncode == 0


@pytest.mark.slow
def test_a_search_that_nobody_answers_fails_its_claims_alone_and_is_asked_again(
    localfact: CommandLine, web: SmallWeb, tmp_path: Path
) -> None:
    web.engine.always = Misbehaviour(400)
    words = ("eval", "--data", web.data, "--limit", "2", "--corpus", "web", "--out", "run", *QUICK, *web.words)
    failed = localfact(*words)
    assert failed.returncode == 1, failed.stderr
    rows = [json.loads(line) for line in assessments(tmp_path / "run").splitlines()]
    assert {verdict["label"] for row in rows for verdict in row["verdicts"]} == {"failed"}
    assert "searxng" in rows[0]["verdicts"][0]["rationale"]
    assert "The first of them" in failed.stderr
    assert "HTTP 400" in failed.stderr
    assert any("searches were not answered" in warning for warning in rows[0]["warnings"])
    assert content(localfact, "web")["searches"] == 0, "a failure is no search without results"
    web.engine.always = None
    mended = localfact(*words)
    assert mended.returncode == 0, mended.stderr
    rows = [json.loads(line) for line in assessments(tmp_path / "run").splitlines()]
    assert "failed" not in {verdict["label"] for row in rows for verdict in row["verdicts"]}


@pytest.mark.slow
def test_snippets_in_place_of_pages_fetch_nothing(localfact: CommandLine, web: SmallWeb, tmp_path: Path) -> None:
    words = ("--data", web.data, "--corpus", "web", *QUICK, "--evidence", "snippet")
    live = localfact("eval", *words, "--out", "live", "--provider", "searxng", "--searxng-url", web.engine.url)
    assert live.returncode == 0, live.stderr
    assert web.site.asked == []
    rows = [json.loads(line) for line in assessments(tmp_path / "live").splitlines()]
    assert all("Snippet of" in p["text"] or "islands" in p["text"].lower() for row in rows for p in row["passages"])
    offline = localfact("eval", *words, "--out", "offline", "--offline")
    assert offline.returncode == 0, offline.stderr
    assert assessments(tmp_path / "live") == assessments(tmp_path / "offline")


@pytest.mark.slow
def test_blocked_hosts_are_neither_asked_nor_used(localfact: CommandLine, web: SmallWeb, tmp_path: Path) -> None:
    words = ("--data", web.data, "--corpus", "web", *QUICK, "--block-host", HOSTS[1], "--before", "2019")
    assert localfact("eval", *words, "--out", "live", *web.words).returncode == 0
    assert web.site.paths(HOSTS[1]) == []
    rows = [json.loads(line) for line in assessments(tmp_path / "live").splitlines()]
    assert HOSTS[1] not in {passage["host"] for row in rows for passage in row["passages"]}
    assert any("some hosts were left out" in warning for warning in rows[0]["warnings"])
    assert any("pages from 2019 on were left out" in warning for warning in rows[0]["warnings"])


@pytest.mark.slow
def test_the_corpus_as_a_whole_can_be_searched_once_it_is_finished(localfact: CommandLine, web: SmallWeb) -> None:
    words = ("--data", web.data, "--embedder", "none", "--corpus", "web", *LEXICAL)
    refused = localfact("eval", *words, "--scope", "corpus", *web.words)
    assert refused.returncode == 2
    assert "fetch it first" in refused.stderr
    assert localfact("corpus", "fetch", *words[:4], "--out", "web", *web.words).returncode == 0
    fewer = localfact("eval", *words, "--results", "9", "--offline", "--json")
    assert "recorded with fewer results" in fewer.stdout
    whole = localfact("eval", *words, "--scope", "corpus", "--offline", "--json")
    assert whole.returncode == 0, whole.stderr
    assert "the whole corpus was searched for every claim" in whole.stdout


@pytest.mark.slow
def test_a_claim_that_was_never_searched_for_gets_the_whole_corpus_and_the_output_says_so(
    localfact: CommandLine, web: SmallWeb, tmp_path: Path
) -> None:
    fetch = ("corpus", "fetch", "--data", web.data, "--limit", "2", "--out", "web", *QUICK[2:], *web.words)
    assert localfact(*fetch).returncode == 0
    done = localfact("eval", "--data", web.data, "--corpus", "web", "--out", "run", *QUICK, "--offline")
    assert done.returncode == 0, done.stderr
    first, *_, last = [json.loads(line) for line in assessments(tmp_path / "run").splitlines()]
    assert not any("no search is recorded for" in warning for warning in first["warnings"])
    assert any("no search is recorded for" in warning for warning in last["warnings"])
    assert last["counts"]["retrieve"]["claims_without_search"] == 4
    assert last["counts"]["retrieve"]["passages"] > 0


@pytest.mark.slow
def test_one_text_is_checked_against_the_web_and_a_claim_that_failed_is_an_exit_code(
    localfact: CommandLine, web: SmallWeb, tmp_path: Path
) -> None:
    (tmp_path / "answer.txt").write_text(json.loads(web.data.read_text().splitlines()[0])["response"])
    words = ("check", "answer.txt", "--corpus", "web", *QUICK, "--json", *web.words)
    done = localfact(*words)
    assert done.returncode == 0, done.stderr
    assert {passage["provider"] for passage in json.loads(done.stdout)["passages"]} == {"searxng"}
    web.engine.always = Misbehaviour(400)
    failed = localfact(*words[:2], "--corpus", "other", *words[4:])
    assert failed.returncode == 1, failed.stderr


@pytest.mark.parametrize(
    ("words", "said", "code"),
    [
        (("--provider", "gogle"), "There are:", 2),
        (("--provider", "searxng"), "--searxng-url", 2),
        (("--provider", "serper"), "SERPER_API_KEY", 3),
        (("--provider", "duckduckgo", "--allow-host", "http://x/"), "--allow-host", 2),
    ],
)
def test_what_is_wrong_with_the_options_is_said_before_anything_is_made_or_sent(
    localfact: CommandLine, web: SmallWeb, tmp_path: Path, words: tuple[str, ...], said: str, code: int
) -> None:
    localfact.environment.pop("SERPER_API_KEY", None)
    refused = localfact("corpus", "fetch", "--data", web.data, "--out", "web", *words)
    assert refused.returncode == code, refused.stderr
    assert said in refused.stderr
    assert "are sent" not in refused.stderr
    assert not (tmp_path / "web").exists()


@pytest.mark.slow
def test_the_web_is_not_searched_offline(localfact: CommandLine, web: SmallWeb) -> None:
    refused = localfact("eval", "--data", web.data, "--corpus", "web", "--offline", *web.words)
    assert refused.returncode == 2
    assert "exclude each other" in refused.stderr
    assert web.engine.count() == 0


@pytest.mark.slow
def test_pages_can_be_extracted_again_from_the_archive_and_exported(
    localfact: CommandLine, web: SmallWeb, tmp_path: Path
) -> None:
    assert localfact("corpus", "fetch", "--data", web.data, "--out", "web", "--embedder", "none", *web.words).returncode == 0
    before, asked = content(localfact, "web"), len(web.site.asked)
    again = localfact("corpus", "reextract", "web", "--json")
    assert again.returncode == 0, again.stderr
    told = json.loads(again.stdout)
    assert (told["answers"], told["changed"], told["failed"]) == (7, 0, 0)
    assert content(localfact, "web") == before
    assert len(web.site.asked) == asked
    assert localfact("corpus", "export", "web", "--out", "pages.jsonl").returncode == 0
    pages = [json.loads(line) for line in (tmp_path / "pages.jsonl").read_text().splitlines()]
    assert len(pages) == before["pages"]
    built = localfact("corpus", "build", "pages.jsonl", "--out", "copy", "--embedder", "none", "--json")
    assert json.loads(built.stdout)["pages"] == before["pages"]
