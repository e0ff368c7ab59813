"""Key facts from the command line: in a run with its report, in one text, and nowhere unless asked for."""

import json

import pytest
from commands import CommandLine

pytestmark = pytest.mark.slow

TEXT = "The Moss Bridge is a bridge in Torvik. The Moss Bridge opened in 1931."
LEXICAL = ("--relations", "lexical")
PAGE = "The Moss Bridge opened in 1931. The Moss Bridge carries two railway tracks."


def test_a_run_has_the_scores_and_what_is_missing_and_one_that_does_not_ask_has_no_trace_of_it(localfact: CommandLine) -> None:
    passages = [{"id": "p", "title": "The Moss Bridge", "text": PAGE, "link": "https://one.example/bridge"}]
    row = {"id": "a", "topic": "The Moss Bridge", "response": TEXT, "passages": passages}
    (localfact.folder / "answers.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    planned = localfact("eval", "--data", "answers.jsonl", "--key-facts", "20", "--plan", "--json")
    assert json.loads(planned.stdout)["key_fact_pairs_at_most"] == 20
    for folder, asked in (("plain", ()), ("asked", ("--key-facts", "20"))):
        run = localfact("eval", "--data", "answers.jsonl", *asked, *LEXICAL, "--out", f"runs/{folder}", "--json")
        assert run.returncode == 0, run.stderr
    scores = {score["name"]: score["value"] for score in json.loads(run.stdout)["scores"]}
    assert 0 < scores["R@E"] < 1
    assert 0 < scores["F1@E"] < 1
    plain, asked_for = (
        json.loads((localfact.folder / f"runs/{folder}/assessments.jsonl").read_text(encoding="utf-8"))
        for folder in ("plain", "asked")
    )
    assert "recall" not in plain
    assert "recall" not in plain["counts"]
    assert "recall" not in (localfact.folder / "runs/plain/run.yaml").read_text(encoding="utf-8")
    assert plain["verdicts"] == asked_for["verdicts"]
    (missing,) = (fact for fact in asked_for["recall"]["facts"] if fact["verdict"] == "omitted")
    assert missing["text"] == "The Moss Bridge carries two railway tracks."
    assert missing["sources"][0]["quote"] in PAGE
    report = (localfact.folder / "runs/asked/report.html").read_text(encoding="utf-8")
    assert "carries two railway tracks" in report
    shown = localfact("show", "runs/asked", "a")
    assert "omitted: The Moss Bridge carries two railway tracks." in " ".join(shown.stdout.split())
    compared = localfact("compare", "runs/asked", "runs/asked")
    assert "R@E" in compared.stdout, compared.stderr


def test_a_text_of_which_the_pages_say_nothing_is_told_so(localfact: CommandLine) -> None:
    text = "Zorbo Quint is a wizard of Hamblethorpe."
    found = localfact("check", "-", "--key-facts", "20", "--topic", "Zorbo Quint", *LEXICAL, stdin=text)
    assert "no figure, as the pages found state nothing" in " ".join(found.stdout.split()), found.stderr
