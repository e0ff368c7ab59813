"""The passages and minimal pairs that come with the project: well formed, said once, and apart from each other."""

from collections import Counter
from itertools import pairwise

from localfact.text import words
from scripts.training.lexical_pairs import json_lines
from scripts.training.measure_use import MINIMAL_PAIRS, minimal_pairs
from scripts.training.relation_model.written_sets import FIELDS, FOLDER


def test_every_row_has_a_passage_and_two_to_four_statements_of_each_label() -> None:
    rows = [row for file in sorted(FOLDER.glob("*.jsonl")) for row in json_lines(file)]
    assert len(rows) > 1_000
    for row in rows:
        assert set(row) == {"topic", "passage", *FIELDS}
        assert 25 <= len(row["passage"].split()) <= 190
        for field in FIELDS:
            assert 2 <= len(row[field]) <= 4
            assert all(3 <= len(statement.split()) <= 30 for statement in row[field])
    statements = Counter(statement for row in rows for field in FIELDS for statement in row[field])
    assert statements.most_common(1)[0][1] == 1
    assert len({row["passage"] for row in rows}) == len(rows)


def test_minimal_pairs_differ_in_one_claim_and_none_is_learned_from() -> None:
    rows = minimal_pairs(MINIMAL_PAIRS)
    assert len(rows) >= 300
    learned = {name for file in FOLDER.glob("*.jsonl") for row in json_lines(file) for name in names(row["passage"])}
    for row in rows:
        assert set(row) == {"kind", "passage", "true", "false"}
        assert row["true"] != row["false"]
        assert not names(row["passage"]) <= learned or not names(row["passage"])
    assert len({row["passage"] for row in rows}) == len(rows)


def names(text: str) -> set[str]:
    """Runs of two capitalised words."""
    found = words(text)
    return {f"{one} {two}" for one, two in pairwise(found) if one[:1].isupper() and two[:1].isupper()}
