"""A text compared with itself: no corpus, no evidence; and claims that speak to one another beside a corpus."""

import json

import pytest
from commands import CommandLine

pytestmark = pytest.mark.slow

TEXT = (
    "Ada Holm was a Norwegian painter. Ada Holm was born in Oslo in 1867. The Moss Bridge opened in 1931. "
    "Ada Holm died in Bergen in 1860. The Moss Bridge opened in 1935."
)


def test_a_text_alone_is_told_its_contradictions_with_both_places(localfact: CommandLine) -> None:
    found = localfact("check", "-", "--coherence", "--json", stdin=TEXT)
    assert found.returncode == 0, found.stderr
    assessment = json.loads(found.stdout)
    coherence = assessment["coherence"]
    assert {one["found_by"] for one in coherence["contradictions"]} == {"times", "values"}
    for one in coherence["contradictions"]:
        for side in (one["first"], one["second"]):
            assert TEXT[side["span"]["start"] : side["span"]["end"]] == side["quoted"]
    assert {verdict["label"] for verdict in assessment["verdicts"]} == {"unverifiable"}
    assert assessment["status"] == "unscored"
    shown = localfact("check", "-", "--coherence", stdin=TEXT)
    assert "2 contradictions inside the text" in shown.stdout
    assert "“1931” against “1935”" in shown.stdout


def test_a_run_has_the_score_and_one_that_does_not_ask_has_no_trace_of_it(localfact: CommandLine) -> None:
    row = {"id": "a", "response": TEXT}
    (localfact.folder / "answers.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    planned = localfact("eval", "--data", "answers.jsonl", "--coherence", "--plan", "--json")
    assert json.loads(planned.stdout)["claim_pairs_given"] == 0
    found = localfact("eval", "--data", "answers.jsonl", "--coherence", "--out", "runs/alone", "--json")
    assert found.returncode == 0, found.stderr
    scores = {score["name"]: score["value"] for score in json.loads(found.stdout)["scores"]}
    assert scores["Pr"] is None
    assert 0 < scores["coherence"] < 1
    report = (localfact.folder / "runs/alone/report.html").read_text(encoding="utf-8")
    assert "“1931” against “1935”" in report
    passages = [{"id": "p", "text": "The Moss Bridge opened in 1931."}]
    (localfact.folder / "given.jsonl").write_text(json.dumps(row | {"passages": passages}) + "\n", encoding="utf-8")
    for folder, asked in (("plain", ()), ("graph", ("--claim-relations",)), ("both", ("--coherence", "--claim-relations"))):
        run = localfact("eval", "--data", "given.jsonl", *asked, "--out", f"runs/{folder}")
        assert run.returncode == 0, run.stderr
    plain, graph, both = (
        (localfact.folder / f"runs/{folder}/assessments.jsonl").read_text(encoding="utf-8")
        for folder in ("plain", "graph", "both")
    )
    assert "compare claims" not in plain
    assert "coherence" not in plain + graph
    assert json.loads(graph)["counts"]["assess"]["claim_relations"] >= 2
    assert len(json.loads(both)["coherence"]["contradictions"]) == 2
    assert json.loads(both)["verdicts"] == json.loads(graph)["verdicts"]
    assert "claim_relations" not in (localfact.folder / "runs/plain/run.yaml").read_text(encoding="utf-8")
