import gzip
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from scripts.training.relation_model.evaluated_sets import Judged, evaluated_sets, never_trained_on
from scripts.training.relation_model.examples import CONTRADICTION, ENTAILMENT, NEUTRAL, Example, clusters
from scripts.training.relation_model.measuring import (
    NOT_ENTAILMENT,
)

E, C, N = ENTAILMENT, CONTRADICTION, NEUTRAL


def example(set_: str, label: str, topic: str, *, kind: str = "pair") -> Example:
    return Example(set_, kind, f"A passage about {topic}.", f"A claim: {label} {topic}.", label, (topic,))


def test_partly_supported_claims_are_left_out_of_stance_and_stay_in_other_sets() -> None:
    partial = [example(name, N, name, kind="partial") for name in ("stance", "wice")]
    whole = [example(name, E, f"{name} whole") for name in ("stance", "wice")]
    found = {one.name: [each.kind for each in one.examples] for one in evaluated_sets([*partial, *whole])}
    assert found == {"stance": ["pair"], "wice": ["partial", "pair"]}


def test_factor_is_measured_on_its_completions_alone() -> None:
    examples = [example("factor_news", E, "one", kind="completion"), example("factor_news", N, "two", kind="text before")]
    (found,) = evaluated_sets(examples)
    assert [each.kind for each in found.examples] == ["completion"]


def test_sets_come_in_the_order_of_the_table_and_unknown_ones_last_by_accuracy() -> None:
    found = evaluated_sets([example(name, E, name) for name in ("novel", "stance", "snli", "mnli")])
    assert [one.name for one in found] == ["mnli", "snli", "stance", "novel"]
    assert found[-1].judged == Judged("novel", "accuracy")


def test_topics_that_another_set_joins_are_drawn_together() -> None:
    joining = Example("cad", "pair", "A premise.", "A claim.", E, ("left", "right"))
    found = {one.name: one for one in evaluated_sets([example("snli", E, "left"), example("snli", C, "Right!"), joining])}
    assert len(set(found["snli"].topics)) == 1


def test_related_examples_are_those_whose_topics_are_joined() -> None:
    examples = [example("snli", E, "a"), Example("snli", "pair", "p", "h", E, ("b", "a")), example("snli", E, "c")]
    assert clusters(examples) == ["a", "a", "c"]


def test_a_limit_takes_whole_topics() -> None:
    examples = [example("snli", label, f"topic {place}") for place in range(10) for label in (E, C, N)]
    (found,) = evaluated_sets(examples, limit=7)
    assert len(found.examples) == 9
    assert len(set(found.topics)) == 3


def test_a_limit_takes_the_same_topics_in_whatever_order_they_come() -> None:
    examples = [example("snli", E, f"topic {place}") for place in range(10)]
    (one,), (other,) = evaluated_sets(examples, limit=4), evaluated_sets(examples[::-1], limit=4)
    assert set(one.topics) == set(other.topics)


def write(file: Path, content: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(gzip.compress(content.encode()) if file.suffix == ".gz" else content.encode())


def write_lines(file: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    write(file, "".join(json.dumps(row) + "\n" for row in rows))


def test_sets_that_are_not_there_are_left_out(tmp_path: Path) -> None:
    assert never_trained_on(tmp_path) == []


def test_evidence_is_labelled_by_the_majority_of_its_votes_and_a_draw_is_left_out(tmp_path: Path) -> None:
    votes = [["SUPPORTS", "SUPPORTS", "REFUTES", None], ["SUPPORTS", "NOT_ENOUGH_INFO"], ["REFUTES", None], [None, None]]
    evidences = [{"evidence": f"Sentence {place}.", "votes": vote} for place, vote in enumerate(votes)]
    write_lines(tmp_path / "fact_verification/climate-fever.jsonl.gz", [{"claim": "Glaciers grow.", "evidences": evidences}])
    (found,) = never_trained_on(tmp_path)
    assert [(each.premise, each.label) for each in found.examples] == [("Sentence 0.", E), ("Sentence 2.", C)]


def test_evidence_that_was_cut_says_what_it_said_before_only_where_it_is_still_enough(tmp_path: Path) -> None:
    rows = [
        {"claim": f"Claim {place} .", "evidence": [["A page", "A sentence ."]], "label_before": before, "label_after": after}
        for place, (before, after) in enumerate([("SUPPORTS", "NOT ENOUGH"), ("REFUTES", "ENOUGH -- IRRELEVANT")])
    ]
    write_lines(tmp_path / "fact_verification/vitaminc_sufficient_facts.jsonl", rows)
    (found,) = never_trained_on(tmp_path)
    assert [(each.premise, each.label) for each in found.examples] == [("A page: A sentence.", N), ("A page: A sentence.", C)]


def test_questions_and_their_answers_make_one_passage_and_conflicting_evidence_is_left_out(tmp_path: Path) -> None:
    questions = [
        {"question": "Was it built?", "answers": [{"answer": "Yes", "boolean_explanation": "In 1862."}]},
        {"question": "Where?", "answers": [{"answer": "On a rock."}, {"answer": "By the sea."}]},
    ]
    labels = ("Refuted", "Conflicting Evidence/Cherrypicking")
    rows = [{"claim": f"It is {label}.", "label": label, "questions": questions} for label in labels]
    write(tmp_path / "averitec/averitec_dev.json", json.dumps(rows))
    (found,) = never_trained_on(tmp_path)
    (only,) = found.examples
    assert (only.premise, only.label) == ("Was it built? Yes In 1862.\nWhere? On a rock. By the sea.", C)


def test_the_other_sets_keep_their_own_labels(tmp_path: Path) -> None:
    pair = {"premise": "A ferry sails.", "hypothesis": "A boat moves."}
    write_lines(tmp_path / "nli/anli_test.jsonl", [pair | {"label": C, "tag": "r2_test"}])
    write_lines(tmp_path / "nli/control_dev.jsonl", [pair | {"label": "n"}])
    write_lines(tmp_path / "nli/scitail_test.jsonl", [pair | {"label": NOT_ENTAILMENT}])
    rows = "evidence,claim,label,question\nA ferry sails.,A boat moves.,Supports,Does it?\n"
    write(tmp_path / "fact_verification/healthver_dev.csv", rows)
    found = {one.name: one.examples[0].label for one in never_trained_on(tmp_path)}
    assert found == {"anli_r2": C, "control": N, "scitail": NOT_ENTAILMENT, "healthver": E}
