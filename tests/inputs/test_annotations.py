"""People's labels and edits: FaStfact's annotated schema, and any file with labelled claims."""

import json
from pathlib import Path

import pytest

from localfact.inputs.annotations import Edit, read_annotations
from localfact.inputs.responses import read_responses
from localfact.vocabulary import GoldLabel, VerdictLabel

ROW = {
    "question": "Who was she?",
    "response": "She was a pilot. She was born in Kansas. She won a prize.",
    "prompt_source": "HelloBench",
    "claims_lst": [
        {"claim_id": "a", "claim": "She was a pilot.", "pre-label": "supported", "operation": "unchanged"},
        {
            "claim_id": "b",
            "claim": "She was born.",
            "revised_claim": "She was born in Kansas.",
            "pre-label": "unsure",
            "verification_result": {"verification_label": "supported"},
            "annotator_label": "conflicting evidence",
            "operation": "revised",
        },
        {"claim_id": "c", "claim": "She won a prize.", "annotator_label": "refuted", "operation": "added"},
        {"claim_id": "d", "claim": "She was she.", "annotator_label": "not a claim", "operation": "removed"},
        {"claim_id": "e", "claim": "She flew.", "annotator_label": "not enough evidence"},
        {"claim_id": "f", "claim": "She is great.", "annotator_label": "irrelevant"},
        {"claim_id": "g", "claim": "She sang.", "pre-label": "unsure", "annotator_label": "n/a"},
    ],
}


def written(folder: Path, *rows: object) -> Path:
    file = folder / "annotated.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return file


def test_five_labels_and_edits_are_read_and_removed_claims_do_not_stand(tmp_path: Path) -> None:
    (row,) = read_annotations(written(tmp_path, ROW))
    assert [(claim.text, claim.label) for claim in row.claims] == [
        ("She was a pilot.", VerdictLabel.SUPPORTED),
        ("She was born in Kansas.", VerdictLabel.CONFLICTING),
        ("She won a prize.", VerdictLabel.CONTRADICTED),
        ("She flew.", VerdictLabel.NOT_ENOUGH_EVIDENCE),
        ("She is great.", VerdictLabel.IRRELEVANT),
        ("She sang.", None),
    ]
    assert row.edits == {Edit.UNCHANGED: 1, Edit.REVISED: 1, Edit.ADDED: 1, Edit.REMOVED: 1}


def test_equal_claims_keep_their_own_labels(tmp_path: Path) -> None:
    labels = ["supported", "refuted", "", "supported"]
    claims = [{"claim": "She flew.", "annotator_label": label, "operation": "unchanged"} for label in labels]
    (row,) = read_annotations(written(tmp_path, {**ROW, "claims_lst": claims}))
    assert [claim.label for claim in row.claims] == [
        VerdictLabel.SUPPORTED,
        VerdictLabel.CONTRADICTED,
        None,
        VerdictLabel.SUPPORTED,
    ]


def test_a_removed_claim_says_nothing_of_one_that_stands_in_the_same_words(tmp_path: Path) -> None:
    claims = [
        {"claim": "She flew.", "annotator_label": "supported", "operation": "unchanged"},
        {"claim": "She flew.", "annotator_label": "refuted", "operation": "removed"},
    ]
    (row,) = read_annotations(written(tmp_path, {**ROW, "claims_lst": claims}))
    assert [(claim.text, claim.label) for claim in row.claims] == [("She flew.", VerdictLabel.SUPPORTED)]
    assert row.edits == {Edit.UNCHANGED: 1, Edit.REMOVED: 1}


def test_an_annotation_beside_claims_is_what_counts(tmp_path: Path) -> None:
    theirs = [{"text": "She flew.", "label": "refuted", "edit": "revised"}]
    given = {"response": "She flew.", "claims": [{"text": "She flies.", "label": "S"}], "annotation": theirs}
    (row,) = read_annotations(written(tmp_path, given))
    assert [(claim.text, claim.label) for claim in row.claims] == [("She flew.", VerdictLabel.CONTRADICTED)]
    assert row.edits == {Edit.REVISED: 1}


def test_the_same_file_is_data_for_an_evaluation_with_what_scores_count(tmp_path: Path) -> None:
    (response,) = read_responses(written(tmp_path, ROW))
    assert response.problem is None
    s, n, i = GoldLabel.SUPPORTED, GoldLabel.NOT_SUPPORTED, GoldLabel.IRRELEVANT
    assert [claim.gold for claim in response.claims or ()] == [s, n, n, n, i, None]


@pytest.mark.parametrize("name", ["HelloBench", "hellobench", "longfact", "longfact_objects", "longfact_concepts"])
def test_a_source_with_several_names_is_one_source(tmp_path: Path, name: str) -> None:
    (response,) = read_responses(written(tmp_path, {**ROW, "prompt_source": name}))
    assert response.source in ("hellobench", "longfact")


def test_labels_of_three_kinds_say_no_more_than_they_do(tmp_path: Path) -> None:
    row = {
        "id": "x",
        "response": "A b c. D e f.",
        "claims": [{"text": "A b c.", "label": "S"}, {"text": "D e f.", "label": "NS"}],
    }
    (found,) = read_annotations(written(tmp_path, row))
    assert [(claim.gold, claim.label) for claim in found.claims] == [
        (GoldLabel.SUPPORTED, VerdictLabel.SUPPORTED),
        (GoldLabel.NOT_SUPPORTED, None),
    ]


def test_a_row_that_cannot_be_used_stops_no_other(tmp_path: Path) -> None:
    bad = {"response": "A b c.", "claims_lst": [{"claim": "A b c.", "annotator_label": "perhaps"}]}
    first, second = read_annotations(written(tmp_path, bad, ROW))
    assert "'perhaps'" in str(first.problem)
    assert second.problem is None


@pytest.mark.parametrize("claims", [[1], [{"claim": 3}], [{"claim": ""}], [{"verification_result": "x", "claim": "A b."}]])
def test_claims_of_another_shape_are_a_problem_of_their_row_or_pass(tmp_path: Path, claims: list[object]) -> None:
    (found,) = read_annotations(written(tmp_path, {"response": "A b c.", "claims_lst": claims}))
    assert found.problem is None or "has no text" in found.problem


def test_the_annotated_answers_that_are_public_have_the_papers_counts(shared: Path) -> None:
    first, second = read_annotations(shared / "data/fastfact_bench/annotation_trial.jsonl")
    golds = [claim.gold for claim in first.claims]
    assert (golds.count(GoldLabel.SUPPORTED), golds.count(GoldLabel.NOT_SUPPORTED)) == (1, 2)  # P = 0.333
    assert [claim.gold for claim in second.claims] == [GoldLabel.SUPPORTED] * 14
