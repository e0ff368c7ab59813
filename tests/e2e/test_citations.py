"""Citations through the command line: one text with its sources, rows of a file, pages of the web, and what is refused."""

import json
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from commands import CommandLine
from loopback_pages import island
from small_web import HOSTS, SmallWeb, small_web

PAGE = Path(__file__).resolve().parents[2] / "docs/citations.md"
#: Nothing is loaded.
QUICK = ("--relations", "lexical", "--embedder", "none")
TEXT = "The harbour bridge at Veldhaven opened in 1889 [1]. It has 18 arches [2]. Its engineer was Ida Molen [3]. It is long."
SOURCES = [
    "The harbour bridge at Veldhaven opened in 1889, to the sound of a brass band.",
    {"title": "The bridge", "url": "https://port.example/bridge", "text": "The bridge has 18 arches of stone."},
]


@pytest.fixture
def answer(tmp_path: Path) -> Path:
    (tmp_path / "answer.txt").write_text(TEXT)
    (tmp_path / "sources.json").write_text(json.dumps(SOURCES))
    return tmp_path


@pytest.mark.slow
def test_a_typed_text_and_a_file_of_sources_are_all_it_takes(localfact: CommandLine, answer: Path) -> None:
    done = localfact("check", "answer.txt", "--sources", "sources.json", *QUICK)
    assert done.returncode == 0, done.stderr
    told = " ".join(done.stdout.split())
    assert "Citations: recall 0.50, precision 0.67; 3 citations: 2 entailed, 1 no target" in told
    assert "[1] says so The harbour bridge at Veldhaven opened in 1889, to the sound of a brass band." in told
    assert "[3] stands for nothing" in told
    assert "Without a citation, 1 of 4 sentences: It is long." in told
    found = json.loads(localfact("check", "answer.txt", "--sources", "sources.json", *QUICK, "--json").stdout)["citations"]
    assert [one["origin"] for one in found["sources"]] == ["given", "given", None]


@pytest.mark.slow
def test_the_first_example_of_the_page_prints_what_the_page_says(localfact: CommandLine, tmp_path: Path) -> None:
    blocks = [block for block in PAGE.read_text(encoding="utf-8").split("\n\n") if block.startswith("    ")]
    *made, command = (line.strip() for line in blocks[0].splitlines())
    for line in made:
        _, text, _, name = shlex.split(line)  # echo TEXT > NAME
        (tmp_path / name).write_text(f"{text}\n")
    done = localfact(*command.split()[1:], "--embedder", "none")
    assert " ".join(blocks[1].split()) in " ".join(done.stdout.split())


@pytest.mark.slow
def test_rows_that_bring_sources_get_scores_a_table_and_their_place_in_the_report(localfact: CommandLine, answer: Path) -> None:
    row = {"id": "bridge", "response": TEXT, "sources": SOURCES, "passages": ["The bridge opened in 1889."]}
    (answer / "rows.jsonl").write_text(json.dumps(row) + "\n" + json.dumps({**row, "id": "bad", "sources": 7}) + "\n")
    words = ("eval", "--data", "rows.jsonl", *QUICK)
    plain = localfact(*words, "--out", "plain")
    asked = localfact(*words, "--citations", "--out", "cited", "--json")
    assert (plain.returncode, asked.returncode) == (0, 1), plain.stderr + asked.stderr
    scores = {one["name"]: one["value"] for one in json.loads(asked.stdout)["scores"]}
    assert (scores["citation recall"], scores["citation precision"]) == (0.5, pytest.approx(2 / 3))
    cited, bad = (json.loads(line) for line in (answer / "cited/assessments.jsonl").read_text().splitlines())
    assert "'sources' must be a list" in bad["error"]
    first, second = (json.loads(line) for line in (answer / "plain/assessments.jsonl").read_text().splitlines())
    cited.pop("citations")
    cited["counts"].pop("cite")
    assert cited == first
    assert second["error"] is None
    table = localfact("show", "cited", "--citations", "--format", "csv").stdout.splitlines()
    assert table[0].startswith("response,sentence,marks,verdict")
    assert ",[3],no_target," in table[3]
    assert ",uncited," in table[4]
    assert "Citations: recall 0.50" in (answer / "cited/report.html").read_text()
    compared = json.loads(localfact("compare", "cited", "plain", "--json").stdout)
    assert "citation recall" in {one["comparison"]["score"] for one in compared["comparisons"]}


def test_a_plan_counts_them_and_files_that_are_no_sources_are_refused(localfact: CommandLine, answer: Path) -> None:
    (answer / "rows.jsonl").write_text(json.dumps({"response": TEXT, "sources": SOURCES, "passages": ["It opened."]}) + "\n")
    planned = json.loads(localfact("eval", "--data", "rows.jsonl", *QUICK, "--citations", "--plan", "--json").stdout)
    assert (planned["citation_sentences"], planned["citation_marks"], planned["citation_pairs_at_most"]) == (4, 3, 3)
    (answer / "sources.json").write_text("[7]")
    refused = localfact("check", "answer.txt", "--sources", "sources.json", *QUICK)
    assert (refused.returncode, "Source 1 is '7'" in refused.stderr) == (2, True)
    missing = localfact("check", "answer.txt", "--sources", "none.json", *QUICK)
    assert (missing.returncode, "none.json cannot be read" in missing.stderr) == (2, True)


@pytest.fixture
def web(tmp_path: Path) -> Iterator[SmallWeb]:
    with small_web(tmp_path) as web:
        yield web


@pytest.mark.slow
def test_links_are_fetched_where_the_web_is_asked_and_read_from_the_corpus_later(
    localfact: CommandLine, web: SmallWeb, tmp_path: Path
) -> None:
    there, gone = web.site.url("/article/2", HOSTS[0]), web.site.url("/gone", HOSTS[0])
    name = island(HOSTS[0], 2)
    (tmp_path / "answer.txt").write_text(f"{name} is an island off the coast of Suderoy ({there}). It has [cliffs]({gone}).")
    words = ("check", "answer.txt", "--citations", "--corpus", "web", *QUICK, "--json")
    live = localfact(*words, *web.words)
    assert live.returncode == 0, live.stderr
    found = json.loads(live.stdout)["citations"]
    assert [(one["state"], one["origin"]) for one in found["sources"]] == [("read", "web"), ("gone", None)]
    assert found["sources"][1]["reason"] == "http status: 404"
    assert "/article/2" in web.site.paths()
    asked = len(web.site.asked)
    later = json.loads(localfact(*words, "--offline").stdout)["citations"]
    assert [one["origin"] for one in later["sources"]] == ["corpus", None]
    assert later["sentences"] == found["sentences"]
    assert len(web.site.asked) == asked
