"""Relation models in use: the counts behind each figure, and the whole table for word overlap."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from run_builders import assessment

from localfact.records import Distribution, Failure, Pair
from localfact.vocabulary import RelationLabel
from scripts import measure_relations
from scripts.measure_relations import balanced_accuracy, posterior_area, ratio, right, said, silent_pairs, true_contradicted

RUN = [
    assessment("SSC", index=0, gold="ssn", posteriors=[0.9, 0.8, 0.1]),
    assessment("CSU", index=1, gold="snn", posteriors=[0.2, 0.7, 0.5]),
]
ALL = np.arange(2)


def test_true_and_false_claims_count_alike_in_the_balanced_accuracy() -> None:
    # true ones: two of three supported; false ones: two of three not supported
    assert balanced_accuracy(RUN)(ALL) == pytest.approx((2 / 3 + 2 / 3) / 2)
    assert true_contradicted(RUN)(ALL) == pytest.approx(1 / 3)
    assert true_contradicted(RUN)(np.array([1, 1])) == 1
    # of nine pairs of a true and a false claim the true one is ahead in six
    assert posterior_area(RUN)(ALL) == pytest.approx(7 / 9)


def test_a_failed_answer_is_no_label() -> None:
    one, two = Pair("A page.", "A claim."), Pair("A page.", "Another.")
    answers = {one: Distribution(entailment=0.8, contradiction=0.1, neutral=0.1), two: Failure(reason="-")}
    assert ratio(said(answers, [one, two], RelationLabel.ENTAILMENT))(ALL) == 0.5
    assert ratio(said(answers, [one, two], RelationLabel.CONTRADICTION))(ALL) == 0


def test_what_is_called_a_contradiction_is_right_where_people_call_it_so() -> None:
    pairs = [Pair("A page.", claim) for claim in "abc"]
    answers = dict.fromkeys(pairs, Distribution(entailment=0.1, contradiction=0.8, neutral=0.1))
    labels = dict(zip(pairs, (RelationLabel.CONTRADICTION, RelationLabel.NEUTRAL, RelationLabel.CONTRADICTION), strict=True))
    assert ratio(right(answers, labels, RelationLabel.CONTRADICTION))(np.arange(3)) == pytest.approx(2 / 3)


def responses(file: Path) -> None:
    rows = [
        {
            "id": f"r{place}",
            "input": f"Tell me about bridge {place}.",
            "output": f"Bridge {place} opened in 19{place}0.",
            "atoms": [{"id": "a0", "text": f"Bridge {place} opened in 19{place}0.", "label": "S" if place % 2 else "NS"}],
            "contexts": [{"id": "c0", "title": "", "text": f"Bridge {place} opened in 19{place - place % 2}0.", "link": ""}],
        }
        for place in range(1, 5)
    ]
    file.parent.mkdir(parents=True)
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def test_silent_snippets_are_those_of_other_responses(tmp_path: Path) -> None:
    file = tmp_path / "openfactcheck/responses.jsonl"
    responses(file)
    pairs = silent_pairs(file)
    assert len(pairs) == 4 * measure_relations.SILENT_SNIPPETS
    assert all(pair.premise.split()[1] != pair.hypothesis.split()[1] for pair in pairs)


@pytest.mark.slow
def test_one_command_prints_every_figure_with_target_and_interval(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    responses(few := tmp_path / "openfactcheck/responses.jsonl")
    run = measure_relations.run
    # The sample takes minutes; that it can be evaluated is the business of other tests.
    monkeypatch.setattr(measure_relations, "run", lambda data, name, work: run(data or few, name, work))
    pairs = [{"kind": "date", "passage": "The mill opened in 1911.", "true": "The mill is open.", "false": "It is shut."}]
    (tmp_path / "pairs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in pairs), encoding="utf-8")
    monkeypatch.setattr(measure_relations, "MINIMAL_PAIRS", tmp_path / "pairs.jsonl")
    labels = {
        Pair("The mill opened in 1911.", "The mill opened in 1911."): RelationLabel.ENTAILMENT,
        Pair("The mill did not open in 1911.", "The mill opened in 1911."): RelationLabel.CONTRADICTION,
    }
    monkeypatch.setattr(measure_relations, "labelled_pairs", lambda data: labels.items())
    given = [str(tmp_path), "--relations", "lexical", "--work", str(tmp_path / "work")]
    monkeypatch.setattr(sys, "argv", ["measure_relations", *given])
    measure_relations.main()
    out = capsys.readouterr().out
    assert [line.split("|")[1].strip() for line in out.splitlines()[2:]] == [
        "openfactcheck: area under the ROC",
        "openfactcheck: balanced accuracy",
        "openfactcheck: true claims called contradicted",
        "openfactcheck: false claims called supported",
        "openfactcheck: true claims called supported",
        "minimal pairs: false ones entailed",
        "minimal pairs: true ones contradicted",
        "silent passages: called contradiction",
        "labelled pairs: entailed ones contradicted",
        "labelled pairs: called entailment, right",
        "labelled pairs: called contradiction, right",
        "sample: area under the ROC",
        "sample: balanced accuracy",
        "sample: true claims called contradicted",
        "sample: false claims called supported",
        "sample: true claims called supported",
    ]
