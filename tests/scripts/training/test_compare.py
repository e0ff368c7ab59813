"""Runs of two relation models over the same labelled responses: their scores, the differences, and intervals of both."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from run_builders import assessment, run_of

from localfact.records import Assessment
from localfact.scoring import score
from localfact.scoring.gold_scores import BrierPerClaim, GoldF1, PrecisionError
from localfact.vocabulary import GoldLabel
from scripts.training import compare
from scripts.training.compare import SCORES, compared, run_folder, table_rows, with_claims


def run(*rows: tuple[str, str, list[float]]) -> list[Assessment]:
    return [assessment(verdicts, index=at, gold=gold, posteriors=said) for at, (verdicts, gold, said) in enumerate(rows)]


GOOD = run(("SSC", "ssn", [0.9, 0.8, 0.1]), ("SCC", "snn", [0.9, 0.2, 0.1]), ("SSU", "sss", [0.9, 0.9, 0.5]))
BAD = run(("SUC", "ssn", [0.9, 0.5, 0.4]), ("UCS", "snn", [0.5, 0.2, 0.6]), ("CSU", "sss", [0.3, 0.9, 0.5]))


@pytest.mark.parametrize("measure", SCORES)
def test_values_are_those_of_the_scores_and_differences_are_paired(measure: object) -> None:
    (alone,) = score(GOOD, [measure])
    (other,) = score(BAD, [measure])
    found = compared(BAD, GOOD, measure)
    assert found is not None
    assert found.value == pytest.approx(alone.value)
    assert found.interval == pytest.approx(alone.ci)
    assert found.difference == pytest.approx(alone.value - other.value)
    low, high = found.difference_interval
    assert low < found.difference < high
    same = compared(GOOD, GOOD, measure)
    assert same is not None
    assert (same.difference, same.difference_interval) == (0, (0, 0))


def test_of_one_response_claims_are_drawn() -> None:
    for measure in (GoldF1(), PrecisionError(), BrierPerClaim()):
        found = compared(BAD[1:2], GOOD[1:2], measure)
        assert found is not None
        assert found.value == pytest.approx(score(GOOD[1:2], [measure])[0].value)
    found = compared(GOOD[2:], BAD[2:], GoldF1())
    assert found is not None
    assert found.interval[0] < found.value < found.interval[1]


def test_drawn_claims_bring_their_annotation_along() -> None:
    drawn = with_claims(GOOD[0], np.array([2, 2, 0]))
    assert [claim.id for claim in drawn.claims] == [verdict.claim_id for verdict in drawn.verdicts] == ["c2", "c2", "c0"]
    assert (drawn.gold_supported, drawn.gold_not_supported) == (1, 2)


def test_a_response_without_a_score_in_one_run_counts_in_neither() -> None:
    some = run(("SSC", "ssn", [0.9, 0.8, 0.1]), ("", "", []), ("SSU", "sss", [0.9, 0.9, 0.5]))
    found = compared(GOOD, some, GoldF1())
    assert found is not None
    assert found.value == pytest.approx(score([some[0], some[2]], [GoldF1()])[0].value)
    assert compared(run_of("SC"), run_of("SS"), GoldF1()) is None


def test_a_table_has_a_row_a_relation_model() -> None:
    rows = table_rows("answers", ["plain", "better"], [BAD, GOOD])
    assert [row[:3] for row in rows] == [
        ["answers", "plain", "3 supported, 3 contradicted, 3 undecided"],
        ["", "better", "5 supported, 3 contradicted, 1 undecided"],
    ]
    assert "," not in rows[0][3].partition("]")[2]
    assert rows[1][3].partition("]")[2].startswith(", +")


def test_the_sample_is_assessed_with_each_model_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = []

    def assessed(data: Path | None, relations: str, method: str, out: Path, limit: int | None) -> list[Assessment]:
        asked.append((data, relations, method, out))
        return GOOD

    monkeypatch.setattr(compare, "assessed", assessed)
    given = ["compare", "more.json", "--relations", "one", "--relations", "two", "--work", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", given)
    compare.main()
    assert [(data and data.name, name) for data, name, _, _ in asked] == [
        *((None, "one"), (None, "two"), ("more.json", "one"), ("more.json", "two")),
    ]
    assert len({out for *_, out in asked}) == 4
    assert capsys.readouterr().out.count("| two |") == 2


def test_labelled_claims_are_judged_with_the_relation_model_named(tmp_path: Path) -> None:
    data = tmp_path / "data.json"
    row = {
        "input": "Tell me about the bridge.",
        "output": "The bridge opened in 1932.",
        "atoms": [{"id": "a0", "text": "The bridge opened in 1932.", "label": "S"}],
        "contexts": [{"id": "c0", "title": "Bridge", "text": "The bridge opened in 1932.", "link": "https://x.example/bridge"}],
    }
    data.write_text(json.dumps(row), encoding="utf-8")
    (found,) = compare.assessed(data, "lexical", "builtin-fr2", tmp_path / "run", None)
    assert [claim.gold for claim in found.claims] == [GoldLabel.SUPPORTED]
    assert "relations: lexical@" in (tmp_path / "run/run.yaml").read_text(encoding="utf-8")


def test_a_relation_model_named_by_the_path_of_its_card_has_its_folder_among_the_others() -> None:
    assert run_folder(Path("runs"), "/models/mine.yaml") == Path("runs/models-mine.yaml")
    assert run_folder(Path("runs"), "lexical") == Path("runs/lexical")
