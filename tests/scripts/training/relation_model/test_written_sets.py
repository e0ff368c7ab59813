"""The passages and minimal pairs that come with the project: well formed, said once, and apart from each other."""

from collections import Counter

from scripts.training.lexical_pairs import json_lines
from scripts.training.measure_use import MINIMAL_PAIRS, minimal_pairs
from scripts.training.relation_model.evidence_sets import by_beginning, shares_text
from scripts.training.relation_model.examples import ENTAILMENT, Example
from scripts.training.relation_model.written_sets import FIELDS, FOLDER


def test_every_row_has_a_passage_and_two_to_four_statements_of_each_label() -> None:
    rows = [row for file in sorted(FOLDER.glob("*.jsonl")) for row in json_lines(file)]
    assert len(rows) > 1_000
    for row in rows:
        assert set(row) == {"topic", "passage", *FIELDS}
        assert 25 <= len(row["passage"].split()) <= 190
        for field in FIELDS:
            assert 2 <= len(row[field]) <= 4
            assert all(3 <= len(statement.split()) <= 35 for statement in row[field])
        assert len(row["twins"]) == len(row["contradicted"])
    statements = Counter(statement for row in rows for field in FIELDS for statement in row[field])
    assert statements.most_common(1)[0][1] == 1
    assert len({row["passage"] for row in rows}) == len(rows)


def test_minimal_pairs_differ_in_one_claim_and_share_no_sentence_with_what_is_learned() -> None:
    rows = minimal_pairs(MINIMAL_PAIRS)
    assert len(rows) >= 300
    learned = by_beginning(row["passage"] for file in FOLDER.glob("*.jsonl") for row in json_lines(file))
    for row in rows:
        assert set(row) == {"kind", "passage", "true", "false"}
        assert row["true"] != row["false"]
        pair = Example("minimal", row["kind"], row["passage"], row["true"], ENTAILMENT, (row["passage"],))
        assert not shares_text(pair, learned)
    assert len({row["passage"] for row in rows}) == len(rows)
