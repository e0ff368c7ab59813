"""The plan of Table 10's rows: pairs, tokens and hours before any weights are here; nothing is asked twice."""

import json
from contextlib import nullcontext
from pathlib import Path

import pytest

from localfact.errors import InputError
from localfact.llm.placing.hardware import Hardware
from localfact.methods.options import Options
from localfact.papers.table10 import read_versions, row_jobs, run_rows
from localfact.papers.table10_plan import plan_rows
from localfact.runs.progress import SILENT

#: Two claims with two passages each, four passages in all.
ROW = {
    "input": "Who ran the mill?",
    "output": "Ann ran the mill. It burnt in 1911.",
    "atoms": [
        {"id": "a0", "text": "Ann ran the mill.", "label": "S", "contexts": ["c0", "c1"]},
        {"id": "a1", "text": "The mill burnt in 1911.", "label": "NS", "contexts": ["c2", "c3"]},
    ],
    "contexts": [{"id": f"c{at}", "title": "Mill", "text": f"Page {at} is about the mill. " * 40} for at in range(4)],
}


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.delenv("LOCALFACT_WEIGHTS", raising=False)
    monkeypatch.setattr("localfact.llm.placing.settings.detect", lambda: Hardware(memory_gib=16))
    (tmp_path / "data.jsonl").write_text(json.dumps(ROW) + "\n")
    return tmp_path / "data.jsonl"


def test_rows_of_models_without_weights_are_planned_and_the_machine_that_is_assumed_is_named(data: Path) -> None:
    planned = plan_rows(data, relations=(), options=Options(model="llama-3.1-70b", embedder="none"))
    rows = [(one.relations, one.version, one.pairs, one.asked) for one in planned.rows]
    # FR1: 2 claims x 2 passages; FR2: 2 x 4; FR3: and 4 x 3 of passages.
    assert rows == [(name, *counts) for name in ("albert-vitaminc", "llm") for counts in ((1, 4, 4), (2, 8, 4), (3, 20, 12))]
    assert all(one.tokens > 0 and one.hours > 0 for one in planned.rows)
    assert planned.rows[4].on.startswith("2 of 2 x NVIDIA A100 80GB")
    notes = " ".join(planned.notes)
    for said in ("nothing was measured", "too big for this machine", "on 4 GPU(s) of 80 GB as it is stored"):
        assert said in notes
    assert not list(Path().glob("runs"))


def test_what_a_response_does_not_bring_is_assumed_and_said() -> None:
    planned = plan_rows(None, relations=("albert-vitaminc",), options=Options(embedder="none"), versions=(1, 2), limit=1)
    first, second = planned.rows
    claims = first.pairs // 3
    assert (first.pairs, second.pairs, second.asked) == (claims * 3, claims * claims * 3, claims * claims * 3 - claims * 3)
    assert any("3 a claim are assumed" in note for note in planned.notes)


@pytest.mark.slow
def test_pairs_that_were_kept_are_not_planned_again(data: Path) -> None:
    options, out = Options(embedder="none", tables="paper"), Path("out")
    jobs = row_jobs(data, relations=("lexical",), versions=(1,), options=options, out=out)
    assert [row.run.version for row in run_rows(jobs, lambda name: nullcontext(SILENT))] == [1]
    planned = plan_rows(data, relations=("lexical", "albert-vitaminc"), options=options, out=out)
    assert [one.asked for one in planned.rows] == [0, 4, 12, 4, 4, 12]


def test_versions_are_read_from_a_text() -> None:
    assert (read_versions("fr3,FR1"), read_versions("2")) == ([1, 3], [2])
    for typed in ("fr4", "", "fr1;fr2"):
        with pytest.raises(InputError, match="Take fr1, fr2 and fr3"):
            read_versions(typed)
