"""`localfact correct`: a text against the sample's pages, and a run, whose corrections are evaluated and compared in turn."""

import json
from pathlib import Path

import pytest
from commands import CommandLine

from localfact.api.correct import correct
from localfact.assess.thresholds import settings_behind
from localfact.errors import InputError
from localfact.methods.options import Options
from localfact.runs.record import read_record

QUICK = ("--relations", "lexical", "--embedder", "none")
TEXT = "Marie Curie was born in Warsaw in 1869. She won two Nobel Prizes."
MENDED = TEXT.replace("1869", "1867")
SAID = "Marie Curie was born in Warsaw in 1867. She won two Nobel Prizes."
ROWS = [
    {
        "id": "wrong",
        "topic": "Marie Curie",
        "response": TEXT,
        "passages": [{"text": SAID, "title": "Curie", "link": "https://a.example"}],
    },
    {"id": "right", "topic": "Marie Curie", "response": MENDED, "passages": [{"text": SAID}]},
]


@pytest.mark.slow
def test_a_text_is_corrected_by_the_samples_pages_and_printed_alone(localfact: CommandLine, tmp_path: Path) -> None:
    done = localfact("correct", "-", "--topic", "Marie Curie", *QUICK, stdin=TEXT)
    assert (done.returncode, done.stdout) == (0, f"{MENDED}\n")
    assert "1869 → 1867" in done.stderr
    assert "almanac.example" in done.stderr
    (tmp_path / "old.txt").write_bytes(TEXT.replace(". ", ".\r\n").encode())
    assert localfact("correct", "old.txt", "--out", "new.txt", *QUICK).stdout == ""
    assert (tmp_path / "new.txt").read_bytes() == MENDED.replace(". ", ".\r\n").encode()


@pytest.mark.slow
def test_the_corrections_of_a_run_are_in_its_report_and_are_evaluated_and_compared(
    localfact: CommandLine, tmp_path: Path
) -> None:
    (tmp_path / "data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    assert localfact("eval", "--data", "data.jsonl", *QUICK, "--out", "before").returncode == 0
    planned = localfact("correct", "before", "--plan", "--json")
    assert json.loads(planned.stdout)["contradicted"] == 1, planned.stderr
    refused = localfact("correct", "before", "--corpus", "mine", "--k", "3", "--plan")
    assert "--corpus and --k would change nothing in correcting a run" in " ".join(refused.stderr.split())
    done = localfact("correct", "before", "--json")
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    assert (summary["responses"], summary["edits"], summary["left"]) == (2, 1, {})
    assert summary["precision_before"] < summary["precision_after"] == 1
    wrong, right = map(json.loads, (tmp_path / "before/corrections.jsonl").read_text().splitlines())
    assert (wrong["response"], right["response"], right["edits"]) == (MENDED, MENDED, [])
    page = (tmp_path / "before/report.html").read_text()
    assert '"old": "1869", "new": "1867"' in page or '"old":"1869","new":"1867"' in page
    before = (tmp_path / "before/corrections.jsonl").read_bytes()
    assert localfact("correct", "before").returncode == 0  # nothing is left to do
    assert (tmp_path / "before/corrections.jsonl").read_bytes() == before
    assert localfact("eval", "--data", "before/corrections.jsonl", *QUICK, "--out", "after").returncode == 0
    compared = localfact("compare", "before", "after", "--json")
    assert compared.returncode == 0, compared.stderr
    assert json.loads(compared.stdout)["claims_shared"] == 3  # the fourth is another one now


@pytest.mark.slow
def test_a_run_with_thresholds_is_judged_by_them_after_its_edits_too(localfact: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "data.jsonl").write_text(json.dumps(ROWS[0]) + "\n")
    assert localfact("eval", "--data", "data.jsonl", *QUICK, "--out", "plain").returncode == 0
    limits = {"supported": None, "contradicted": 0.6, "max_risk": 0.1, "delta": 0.1}
    behind = {"settings": settings_behind(read_record(tmp_path / "plain").plain_settings), "data": "", "responses": 1}
    (tmp_path / "limits.json").write_text(json.dumps(limits | behind))
    done = localfact("eval", "--data", "data.jsonl", *QUICK, "--verdict-thresholds", "limits.json", "--out", "bound")
    assert done.returncode == 0, done.stderr
    after = [json.loads(localfact("correct", run, "--json").stdout)["precision_after"] for run in ("plain", "bound")]
    assert after == [1.0, 0.0]


@pytest.mark.slow
def test_what_is_of_a_run_is_refused_for_a_text_and_the_other_way_round(localfact: CommandLine) -> None:
    assert "no run folder" in localfact("correct", "-", "--force", stdin=TEXT).stderr
    localfact.folder.joinpath("rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    localfact("eval", "--data", "rows.jsonl", "--out", "run", *QUICK)
    assert "--max-words are of a text" in " ".join(localfact("correct", "run", "--max-words", "9").stderr.split())
    for name, value in (("undecided-within", "0.2"), ("factors", "soft"), ("tables", "paper")):
        said = localfact("correct", "run", f"--{name}", value, "--plan").stderr
        assert f"judged again now: {name.replace('-', '_')} in" in " ".join(said.split())


def test_what_stands_beside_verdicts_is_refused_as_corrections_would_not_show_it() -> None:
    with pytest.raises(InputError, match="--key-facts would change nothing"):
        correct("The Moss Bridge opened in 1931.", options=Options(key_facts=5))
