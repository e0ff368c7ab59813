"""Annotations for GitHub: where a claim stands, and that no text can give the runner a command."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from report_runs import HOSTILE, TEXT, small_assessment
from run_builders import assessment, run_of

from localfact.integrations.github import FileLine, annotations, command, places_in, places_in_text
from localfact.report.bar import hold, measured_of, parse_bounds

NOWHERE = places_in(None)


def test_contradicted_claims_failures_and_missed_bounds_are_annotations() -> None:
    run = [small_assessment(), assessment("", index=1), assessment("", index=2, failed=True)]
    held = hold(parse_bounds("contradicted=0"), measured_of(run))
    lines = list(annotations(run, held, NOWHERE))
    assert [line.partition(" ")[0] for line in lines] == ["::error", "::warning", "::error", "::error"]
    (contradicted,) = run[0].contradicted
    assert contradicted.sentence is not None
    assert all(text in lines[0] for text in (contradicted.text, contradicted.sentence, str(contradicted.source)))
    assert lines[-1] == "::error title=Below the bar::contradicted is 1, and should be at most 0"


def test_contradictions_that_a_bar_lets_through_are_warnings() -> None:
    run = run_of("SC")
    (line,) = annotations(run, hold(parse_bounds("contradicted=1"), measured_of(run)), NOWHERE)
    assert line.startswith("::warning ")


def test_signs_are_escaped_as_the_runner_reads_them() -> None:
    line = command("error", "50%: a, b", "50%: a, b\nnext", FileLine("in,put:1.jsonl", 3))
    assert line == "::error file=in%2Cput%3A1.jsonl,line=3,title=50%25%3A a%2C b::50%25: a, b%0Anext"


INJECTED = ("\n::error::x", "\r\n::set-env name=A::b", "x::add-mask::y", "##[error]x", "%0A::debug::", "\x85\u2028::error::")


@given(st.text() | st.sampled_from([*HOSTILE, *INJECTED]))
def test_whatever_a_text_holds_it_stays_in_one_command(text: str) -> None:
    whole = small_assessment()
    claims = tuple(claim.model_copy(update={"text": f"{text}\n{claim.text}"}) for claim in whole.claims)
    hostile = whole.model_copy(update={"response_id": text, "claims": claims})
    for line in annotations([hostile], (), lambda found, claim: FileLine(text, 1)):
        assert line.splitlines() == [line]
        assert re.match("::error file=[^:,]*,line=1,title=[^:,]*::", line)


def test_a_row_of_json_lines_has_its_line_and_a_document_has_none(tmp_path: Path) -> None:
    lines, document = tmp_path / "rows.jsonl", tmp_path / "rows.json"
    rows = [{"response": "One."}, {"response": "Two."}]
    lines.write_text("".join(f"\n{json.dumps(row)}\n" for row in rows))
    document.write_text(json.dumps(rows, indent=2))
    first, second = run_of("C", "C")
    assert [places_in(lines)(one, 0) for one in (first, second)] == [FileLine(str(lines), 2), FileLine(str(lines), 4)]
    assert places_in(document)(second, 0) == FileLine(str(document))


def test_a_claim_of_a_text_has_the_line_that_states_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "texts/ada.md"
    file.parent.mkdir()
    file.write_text(f"---\ntopic: Ada Lovelace\n---\n{TEXT}")
    whole = small_assessment()
    number = next(at for at, claim in enumerate(whole.claims) if claim.spans and claim.spans[0].start > TEXT.index("\n"))
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path))
    for places in (places_in_text(file), places_in(file), places_in(file.parent)):
        assert places(whole, number) == FileLine("texts/ada.md", 6)
        assert places(whole, None) == FileLine("texts/ada.md")
