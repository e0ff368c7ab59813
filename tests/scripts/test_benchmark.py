"""The figures of the benchmark by hand, and how its sets are read; the tables over public data take minutes."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from run_builders import assessment

from scripts.benchmark import (
    BEGIN,
    END,
    JudgedClaims,
    balanced,
    claims_row,
    expertqa,
    factcheck_gpt,
    of_run,
    share,
    wice,
)
from scripts.labelled_sets import hash_of_topic, held_out_topics
from scripts.tables import put_between


def judged(gold: str, supported: str, groups: str, read: str = "") -> JudgedClaims:
    """A letter a claim: y or n, and the group's digit."""
    return JudgedClaims(
        np.array([one == "y" for one in gold]),
        np.array([one == "y" for one in supported]),
        np.array([int(one) for one in groups]),
        np.array([one == "y" for one in read or "y" * len(gold)]),
    )


def test_balanced_accuracy_is_the_mean_of_both_shares_over_the_groups_that_are_drawn() -> None:
    one = judged("yyynn", "yynny", "00112")
    assert balanced(one)(np.arange(3)) == pytest.approx((2 / 3 + 1 / 2) / 2)
    assert balanced(one)(np.array([0, 1])) == pytest.approx((2 / 3 + 1) / 2)
    assert balanced(one)(np.array([0, 0, 2])) == pytest.approx((1 + 0) / 2)
    assert (share(one, gold=True), share(one, gold=False)) == (pytest.approx(2 / 3), 0.5)


def test_what_was_not_read_counts_nowhere_and_systems_are_compared_on_what_both_read() -> None:
    ours = judged("yynn", "yyny", "0123")
    other = judged("yynn", "ynny", "0123", "ynyy")
    row = claims_row("other", other, ours)
    assert row[:2] == ["other", "3"]
    assert row[2].startswith("0.750 [")
    assert row[3].startswith("+0.000 [")
    assert claims_row("ours", ours, ours)[3] == ""


def test_verdicts_of_a_run_are_put_in_the_order_of_the_rows_and_failed_ones_are_not_judged() -> None:
    rows = [{"response": "r0", "claim": name} for name in ("c1", "c0", "c2")]
    found = of_run([assessment("SCF")], rows, np.array([True, True, False]), np.array([0, 0, 0]))
    assert found.supported.tolist() == [False, True, False]
    assert found.read.tolist() == [True, True, False]


def test_the_tables_are_put_between_the_marks_and_nowhere_else() -> None:
    page = f"Before.\n{BEGIN}\nold\n{END}\nAfter.\n"
    assert put_between(page, "new", BEGIN, END) == f"Before.\n{BEGIN}\nnew\n{END}\nAfter.\n"
    with pytest.raises(ValueError, match="lacks"):
        put_between("Before.", "new", BEGIN, END)


def test_a_claim_is_supported_where_its_document_says_it_whole(tmp_path: Path) -> None:
    (tmp_path / "wice").mkdir()
    (tmp_path / "expertqa").mkdir()
    claims = [
        {"claim": f"{label}.", "label": label, "evidence": ["A page.", "Two."], "meta": {"claim_title": "Topic"}}
        for label in ("supported", "partially_supported")
    ]
    for part in ("claim_dev", "claim_test"):
        content = "\n".join(map(json.dumps, claims if part == "claim_dev" else []))
        (tmp_path / f"wice/{part}.jsonl.gz").write_bytes(gzip.compress(content.encode()))
    assert list(wice(tmp_path)) == [
        ("A page.\nTwo.", "supported.", True, "Topic"),
        ("A page.\nTwo.", "partially_supported.", False, "Topic"),
    ]
    part = {"claim_string": "A.", "evidence": ["It is A."], "support": "Complete"}
    row = {"question": "What?", "answers": {"m": {"claims": [part, part | {"support": "N/A"}]}}}
    (tmp_path / "expertqa/expertqa_answers.jsonl.gz").write_bytes(gzip.compress(json.dumps(row).encode()))
    assert list(expertqa(tmp_path)) == [("It is A.", "A.", True, "What?")]


def test_topics_that_were_learned_are_left_out(shared: Path) -> None:
    claims = {}
    for rows_of in (wice, factcheck_gpt, expertqa):
        held_out = held_out_topics(rows_of.__name__)
        found = [hash_of_topic(topic) in held_out for *_, topic in rows_of(shared / "data")]
        claims[rows_of.__name__] = (sum(found), len(found))
    assert claims == {"wice": (76, 463), "factcheck_gpt": (120, 484), "expertqa": (1371, 1473)}
