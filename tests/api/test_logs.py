"""A log of another tool is evaluated as any data, and what comes of it says which sample it is of."""

import json
from pathlib import Path

from eval_logs import sample, write_archive

from localfact import claim_rows
from localfact.api.data import read_data
from localfact.api.evaluate import execute, prepare
from localfact.api.extract import response_row
from localfact.inputs.responses import read_responses
from localfact.methods.options import Options
from localfact.records import Sample

VENICE = "Venice lies in Italy. It stands on many small islands."


def write_log(folder: Path) -> Path:
    metadata = {"contexts": ["Venice, in Italy, stands on many small islands in a lagoon."], "topic": "Venice"}
    samples = [sample("venice", VENICE, epoch, metadata=metadata) for epoch in (2, 1)]
    return write_archive(folder / "log.eval", [*samples, sample(7, None)])


def test_scores_of_a_log_go_back_to_task_sample_and_epoch(tmp_path: Path) -> None:
    options = Options(relations="lexical", embedder="none")
    summary = execute(prepare(write_log(tmp_path), method="builtin-fr2", options=options, out=tmp_path / "run"))
    assert summary.responses == 3
    rows = claim_rows(tmp_path / "run")
    assert [(row["task"], row["sample"], row["epoch"]) for row in rows] == [("towns", "venice", 1)] * 2 + [
        ("towns", "venice", 2)
    ] * 2
    lines = (tmp_path / "run/assessments.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["sample"] for line in lines] == [
        {"id": "venice", "task": "towns", "epoch": 1},
        {"id": "venice", "task": "towns", "epoch": 2},
        {"id": "7", "task": "towns", "epoch": 1},
    ]


def test_what_extraction_writes_of_a_log_keeps_the_sample_and_all_of_a_log_is_read(tmp_path: Path) -> None:
    found = read_data(write_log(tmp_path))
    assert found.warnings == ()
    (tmp_path / "rows.jsonl").write_text(
        "".join(json.dumps(response_row(one)) + "\n" for one in found.responses), encoding="utf-8"
    )
    again = read_responses(tmp_path / "rows.jsonl")
    assert [one.sample for one in again] == [one.sample for one in found.responses]
    assert again[1].sample == Sample(id="venice", task="towns", epoch=2)
