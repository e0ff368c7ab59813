"""The benchmark of language models: its draw, its order, its end in time, and tables that are made of cells alone."""

import io
import json
import time
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from run_builders import assessment

from localfact.runs.assessments import ASSESSMENTS_FILE
from localfact.runs.run_folder import TIMINGS_FILE
from scripts.benchmark_cells import Cell, at_pace_of, read_cells, read_run, tables, write_cell
from scripts.benchmark_models import METHODS, SETS, Timed, TimeOverError, draw, in_order


def about(method: str, model: str = "m", **more: Any) -> dict[str, Any]:
    costs = {"calls": 4, "tokens": 600, "asked": 600, "seconds": 60.0, "responses": 2}
    return {"set": "sample", "method": method, "model": model, **costs, **more}


def test_a_smaller_draw_is_part_of_a_larger_one_and_has_labelled_claims_only() -> None:
    rows = [{"id": f"r{number}", "claims": [{"text": "A.", "label": "NS"}]} for number in range(9)]
    unlabelled = [{"id": "none", "claims": []}, {"id": "other", "atoms": [{"text": "A.", "label": None}]}]
    larger = draw([*rows, *unlabelled], 6)
    assert draw(rows[::-1], 4) == larger[:4]
    assert len(draw([*rows, *unlabelled], 60)) == 9


def test_the_first_cells_are_those_of_the_first_methods_on_the_first_sets_and_only_those_that_are_named() -> None:
    order = list(in_order(["/"]))
    assert len(set(order)) == len(METHODS) * len(SETS)
    assert order[:4] == [(METHODS[0], SETS[0]), (METHODS[1], SETS[0]), (METHODS[2], SETS[0]), (METHODS[0], SETS[1])]
    assert list(in_order(["factscore/sample"])) == [("factscore", "sample")]
    assert {method for method, _ in in_order(["safe/", "/flaherty"]) if method != "safe"} == {*METHODS} - {"safe"}


def test_a_run_ends_when_its_time_is_over_and_the_answer_is_kept() -> None:
    progress = Timed(Console(file=io.StringIO()))
    progress.begin(1, 0)
    progress.row_done()
    progress.until = time.monotonic() - 1
    progress.count("model_tokens", 9)  # the model has answered, and the transcript has it not yet
    with pytest.raises(TimeOverError):
        progress.count("output_tokens", 1)
    with pytest.raises(TimeOverError):
        progress.row_done()


def test_a_cell_has_what_a_run_found_and_cost_and_nobody_s_text(tmp_path: Path) -> None:
    usage = {"verify": {"calls": 3, "prompt_tokens": 50, "output_tokens": 7}}
    found = [assessment("SCF", gold="sni", posteriors=[0.9, None, None]), assessment("U", index=1, gold="n")]
    lines = [one.model_copy(update={"usage": usage}).model_dump_json() for one in found]
    (tmp_path / ASSESSMENTS_FILE).write_text("\n".join([*lines, ""]))
    ends = ("2026-01-01T00:00:10+00:00", "2026-01-01T00:00:12+00:00")  # both begin at second 2
    timings = [
        {"index": place, "finished": end, "seconds": {"verify": 8.0 + 2 * place}, "sent": {"model_tokens": 40}}
        for place, end in enumerate(ends)
    ]
    (tmp_path / TIMINGS_FILE).write_text("\n".join([*map(json.dumps, timings), ""]))
    cell = read_run(tmp_path, {"set": "sample", "method": "factscore", "model": "m"})
    costs = {name: cell.about[name] for name in ("responses", "failed", "calls", "tokens", "asked", "seconds")}
    assert costs == {"responses": 2, "failed": 0, "calls": 6, "tokens": 114, "asked": 80, "seconds": 10.0}
    assert [row[2:] for row in cell.rows] == [
        ("supported", "0.9", "supported"),
        ("not_supported", "", "contradicted"),
        ("irrelevant", "", "failed"),
        ("not_supported", "", "undecided"),
    ]
    again = Cell({**cell.about, "asked": 3, "seconds": 0.2, "tokens": 115}, cell.rows)
    assert at_pace_of(again, cell).about == {**cell.about, "tokens": 115}  # most of it came from the transcript
    assert at_pace_of(cell, again) == at_pace_of(cell, None) == cell
    write_cell(tmp_path, cell)
    (read,) = read_cells(tmp_path)
    assert (read.about, [tuple(row) for row in read.rows]) == (cell.about, list(cell.rows))
    assert not {"claim 0", "r0"} & {text for row in cell.rows for text in row}


def test_tables_are_made_of_cells_and_name_those_that_are_not_there() -> None:
    rows = [
        ("r0", "a", "supported", "0.9", "supported"),
        ("r0", "b", "not_supported", "0.2", "contradicted"),
        ("r1", "c", "not_supported", "0.6", "supported"),
        ("r1", "d", "supported", "", "failed"),
    ]
    shared = Cell(about("factreasoner-fr2-calibrated"), rows)
    kept = Cell(about("factreasoner-fr1", tokens=150, calls=1, asked=0, seconds=0.5), [(*row[:3], "", row[4]) for row in rows])
    text = tables([shared, kept], ("sample", "flaherty"), ("builtin-fr2", "factreasoner-fr2-calibrated", "factreasoner-fr1"))
    whole, _, calibrated, published, _, head, _, first, second, _, left = text.splitlines()
    assert whole.endswith("| sample | flaherty | calls a claim | tokens a claim |")
    assert calibrated == "| factreasoner-fr2-calibrated, m | 0.75 (1.00) |  | 1.0 | 150 |"
    assert published == "| factreasoner-fr1, m | 0.75 |  | 0.2 | 38 |"
    assert head.startswith("| sample | responses | claims judged | balanced accuracy |")
    assert first == (
        "| factreasoner-fr2-calibrated, m | 2 | 3 of 4 | 0.750 | 1.000 | 0.50 | 0.50 | 0.14 | 0.30 | 4 | 600 | 1.0 |"
    )
    assert second == "| factreasoner-fr1, m | 2 | 3 of 4 | 0.750 |  | 0.50 | 0.50 |  |  | 1 | 150 | 0.3 |"
    every = "builtin-fr2, factreasoner-fr2-calibrated, factreasoner-fr1"
    assert left == f"Not measured yet: sample by builtin-fr2; flaherty by {every}."
    plain = Cell(about("factscore-calibrated"), [("r9", *rows[0][1:]), *rows[:2], (*rows[2][:4], "contradicted")])
    gained = tables([shared, plain], ("sample",), ("builtin-fr2", "factreasoner-fr2-calibrated", "factscore-calibrated"))
    assert "| factreasoner-fr2-calibrated, m | -0.25 | 1.0 | 150 |" in gained  # 0.75 and 1, over r0 and r1
    assert gained.count("| factscore-calibrated, m |") == 2
    true = Cell(shared.about, [row for row in rows if row[2] == "supported"])
    assert "| - (-) |" in tables([true], ("sample",), ("factreasoner-fr2-calibrated",))  # no false claim: no such figure
    other = Cell({**shared.about, "model": "n"}, rows)
    assert tables([shared, other], ("sample",), ("factreasoner-fr2-calibrated", "safe")).endswith(
        ": sample by safe of m, safe of n."
    )
