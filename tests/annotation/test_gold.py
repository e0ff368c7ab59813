"""Gold data: what counts as gold and how it came about, rows that every reader takes, and figures counted by hand."""

import json
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from annotation_projects import (
    FINISH,
    REDO,
    REOPEN,
    UNDO,
    add,
    comment,
    decide,
    judge,
    judge_all,
    make_all,
    make_store,
    put,
    remove,
    restore,
    revise,
    span_of,
    split,
    task,
)
from hypothesis import given
from hypothesis import strategies as st

from localfact.annotation.gold import How, disagreements, final_work, gold_rows
from localfact.annotation.labels import Label, Removal
from localfact.annotation.steps import Step
from localfact.annotation.store import ADJUDICATE, IRRELEVANT, AnnotationStore, MisfitError
from localfact.annotation.summary import summarise, summary_tables
from localfact.inputs.annotations import Edit, IrrelevantMeaning, read_annotations
from localfact.inputs.responses import read_responses, responses_of
from localfact.records import Span
from localfact.report.formats import FORMATS, find_format, render
from localfact.vocabulary import GoldLabel, VerdictLabel

WHEEL = "Its wheel was cast in Malmö."


class Clock:
    """A clock that moves ten seconds at each look."""

    now = 0.0

    def __call__(self) -> float:
        self.now += 10
        return self.now


@pytest.fixture
def store(tmp_path: Path) -> Iterator[AnnotationStore]:
    opened = AnnotationStore(make_store(tmp_path / "annotation.sqlite", (3, 3, 3)), clock=Clock())
    yield opened
    opened.close()


def edited(store: AnnotationStore, name: str = "ada") -> None:
    """Works on the mill: one claim stays, one is revised, one removed, one removed after it was revised, one added."""
    steps = [
        judge("c1"),
        revise("c2", WHEEL),
        judge("c2", Label.REFUTED),
        comment("c2", "The chronicle says Malmö."),
        remove("c3", Removal.NO_CLAIM),
        revise("c4", "It burned."),
        remove("c4"),
        add("new", "The mill stood in Ostrava Bay.", span_of(task().text, "The mill of Ostrava Bay")),
        judge("new", Label.CONFLICTING),
        add("gone", "It was a mill."),
        remove("gone"),
        FINISH,
    ]
    make_all(store, 1, name, *steps)


def written(folder: Path, rows: list[dict[str, Any]]) -> Path:
    file = folder / "gold.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def test_of_a_response_that_nobody_finished_there_is_no_gold(store: AnnotationStore) -> None:
    make_all(store, 1, "ada", judge("c1"))
    assert final_work(store, 1) is None
    assert list(gold_rows(store)) == []
    assert list(disagreements(store)) == []
    assert (summarise(store).finished, summarise(store).edits_a_response) == (0, {})


def test_the_work_of_one_is_gold(store: AnnotationStore) -> None:
    judge_all(store, 1, "ada")
    make_all(store, 1, "ben", judge("c1", Label.REFUTED))
    found = final_work(store, 1)
    assert found is not None
    assert found == (store.work(1, "ada"), How.ONE)
    assert found[1] == "one annotator"


def test_what_several_agree_on_is_gold_and_where_they_differ_a_claim_has_no_label(store: AnnotationStore) -> None:
    judge_all(store, 1, "ada")
    judge_all(store, 1, "ben")
    found = final_work(store, 1)
    assert found is not None
    assert (found[1], [claim.label for claim in found[0].standing]) == (How.AGREED, [Label.SUPPORTED] * 4)
    make_all(store, 1, "ben", REOPEN, judge("c2", Label.REFUTED), FINISH)
    found = final_work(store, 1)
    assert found is not None
    assert (found[1], [claim.label for claim in found[0].standing].count(None)) == (How.UNDECIDED, 1)


def test_the_last_adjudicator_decides_until_somebody_differs_again(store: AnnotationStore) -> None:
    for name, label in (("ada", Label.SUPPORTED), ("ben", Label.REFUTED)):
        make_all(store, 1, name, judge("c1"), judge("c2", label), judge("c3"), judge("c4"), FINISH)
    make_all(store, 1, "cleo", decide("c2", Label.SUPPORTED), FINISH, role=ADJUDICATE)
    make_all(store, 1, "dora", decide("c2", Label.NOT_ENOUGH, WHEEL), FINISH, role=ADJUDICATE)
    found = final_work(store, 1)
    assert found is not None
    claim = found[0].claim("c2")
    assert claim is not None
    assert (found[1], claim.label, claim.text) == (How.ADJUDICATED, Label.NOT_ENOUGH, WHEEL)
    (row,) = gold_rows(store)
    assert (row["adjudicator"], row["annotators"], row["how"]) == ("dora", ["ada", "ben"], "adjudicated")
    (differing,) = disagreements(store)
    assert differing == {
        "response": "mill",
        "claim": "c2",
        "annotators": {
            "ada": {"text": "Its wheel was cast in Lund.", "label": "supported"},
            "ben": {"text": "Its wheel was cast in Lund.", "label": "refuted"},
        },
        "decided": {"by": "dora", "text": WHEEL, "label": "not enough evidence"},
    }
    make_all(store, 1, "ben", REOPEN, judge("c3", Label.REFUTED), FINISH)
    found = final_work(store, 1)
    assert found is not None
    assert found[1] is How.UNDECIDED


def test_a_row_has_what_became_of_each_claim_and_what_was_removed(store: AnnotationStore) -> None:
    edited(store)
    (row,) = gold_rows(store)
    mill = task()
    ids = [passage.id for passage in mill.passages]
    spans = [[span.start, span.end] for claim in mill.claims for span in claim.spans]
    place = span_of(mill.text, "The mill of Ostrava Bay")
    assert {name: row[name] for name in row if name not in ("claims", "passages")} == {
        "id": "mill",
        "prompt": "Tell me of the mill.",
        "response": mill.text,
        "annotators": ["ada"],
        "how": "one annotator",
        "irrelevant_means": "nothing to do with the question",
    }
    assert row["claims"] == [
        {
            "id": "c1",
            "text": mill.claims[0].text,
            "spans": [spans[0]],
            "label": "supported",
            "edit": "unchanged",
            "passages": [ids[0]],
        },
        {
            "id": "new",
            "text": "The mill stood in Ostrava Bay.",
            "spans": [[place.start, place.end]],
            "label": "conflicting evidence",
            "edit": "added",
        },
        {
            "id": "c2",
            "text": WHEEL,
            "spans": [spans[1]],
            "label": "refuted",
            "edit": "revised",
            "original": "Its wheel was cast in Lund.",
            "passages": [ids[1]],
            "comment": "The chronicle says Malmö.",
        },
        {
            "id": "c3",
            "text": mill.claims[2].text,
            "spans": [spans[2]],
            "removal": "not a claim",
            "edit": "removed",
            "passages": [ids[2]],
        },
        {
            "id": "c4",
            "text": "It burned.",
            "spans": [spans[3]],
            "removal": "redundant",
            "edit": "removed",
            "original": "It burned down in 1934.",
            "passages": [ids[3]],
        },
    ]
    assert [passage["id"] for passage in row["passages"]] == ids


def test_what_is_written_is_read_as_responses_and_as_annotations(store: AnnotationStore, tmp_path: Path) -> None:
    edited(store)
    file = written(tmp_path, list(gold_rows(store)))
    (response,) = read_responses(file)
    assert response.problem is None
    assert [(claim.id, claim.gold) for claim in response.claims or ()] == [
        ("c1", GoldLabel.SUPPORTED),
        ("new", GoldLabel.NOT_SUPPORTED),
        ("c2", GoldLabel.NOT_SUPPORTED),
    ]
    assert response.evidence is not None
    assert response.evidence.notes == ()
    assert [len(response.evidence.hits[claim.id]) for claim in response.claims or ()] == [1, 0, 1]
    (annotation,) = read_annotations(file)
    assert [claim.label for claim in annotation.claims] == [
        VerdictLabel.SUPPORTED,
        VerdictLabel.CONFLICTING,
        VerdictLabel.CONTRADICTED,
    ]
    assert annotation.edits == {Edit.UNCHANGED: 1, Edit.REVISED: 1, Edit.ADDED: 1, Edit.REMOVED: 2}


def test_a_response_without_passages_brings_no_evidence_of_its_own_to_where_it_is_judged(tmp_path: Path) -> None:
    claims = tuple(claim.model_copy(update={"passages": ()}) for claim in task().claims)
    bare = task().model_copy(update={"passages": (), "claims": claims})
    file = tmp_path / "annotation.sqlite"
    AnnotationStore.create(file, [bare], [1], {"made_of": "invented.jsonl", IRRELEVANT: IrrelevantMeaning.UNRELATED.value})
    with closing(AnnotationStore(file)) as opened:
        judge_all(opened, 1, "ada")
        (response,) = read_responses(written(tmp_path, list(gold_rows(opened))))
    assert response.claims
    assert response.evidence is None


def test_removed_claims_are_passed_over_with_their_ids(tmp_path: Path) -> None:
    """Also where a claim that stands has the id, or the label of the removed one is none that is known."""
    claims = [{"id": "a", "text": "A b.", "edit": "removed", "label": "whatever"}, {"id": "a", "text": "C d.", "label": "S"}]
    (response,) = read_responses(written(tmp_path, [{"response": "A b. C d.", "claims": claims}]))
    assert [claim.text for claim in response.claims or ()] == ["C d."]
    beside = {"response": "A b. C d.", "claims": ["A b."], "annotation": claims}
    (response,) = read_responses(written(tmp_path, [beside]))
    assert [claim.text for claim in response.annotation or ()] == ["C d."]


def test_comments_of_several_have_their_names(store: AnnotationStore) -> None:
    for name in ("ada", "ben"):
        make_all(store, 2, name, comment("c1", f"I am {name}."))
        judge_all(store, 2, name)
    (row,) = gold_rows(store)
    assert row["claims"][0]["comment"] == "ada: I am ada.\nben: I am ben."


def test_the_figures_are_those_counted_by_hand(store: AnnotationStore) -> None:
    edited(store)
    s, r, n = Label.SUPPORTED, Label.REFUTED, Label.NOT_ENOUGH
    # The tower: c1 s s s, c2 s r -, c3 n n n; ben removes c2's like, cleo has one claim more.
    make_all(store, 2, "ada", judge("c1", s), judge("c2", s), judge("c3", n), FINISH)
    make_all(store, 2, "ben", judge("c1", s), judge("c2", r), judge("c3", n), FINISH)
    make_all(store, 2, "cleo", judge("c1", s), remove("c2"), judge("c3", n), add("x", "It has a bell."), judge("x", s), FINISH)
    # The ferry: c1 in two wordings, c2 and c3 alike, and c3 revised by all in the same words.
    make_all(store, 3, "ada", judge("c1", s), judge("c2", s), revise("c3", "Tove Arn is captain."), judge("c3", r), FINISH)
    make_all(store, 3, "ben", revise("c1", "She sails."), judge("c1", r), judge("c2", s))
    make_all(store, 3, "ben", revise("c3", "Tove Arn is captain"), judge("c3", r), FINISH)
    found = summarise(store)
    assert (found.responses, found.finished, found.how) == (3, 3, {How.ONE: 1, How.UNDECIDED: 2})
    # Mill 3, tower 4 of which two are open, ferry 3 of which one is open.
    assert (found.claims, found.undecided, found.labels) == (7, 3, {s: 3, r: 2, Label.CONFLICTING: 1, n: 1})
    assert found.edits == {Edit.UNCHANGED: 4, Edit.REVISED: 2, Edit.ADDED: 1, Edit.REMOVED: 2}
    assert found.edits_a_response[Edit.UNCHANGED] == pytest.approx(4 / 3)
    # Units: s s s, s r, n n n, s s, r r: nine pairs, eight of which are equal.
    assert (found.compared, found.pairs, found.share) == (5, 9, pytest.approx(8 / 9))
    # 12 labels: 6 s, 3 r, 3 n. Expected: 1 - (30 + 6 + 6) / 132; observed: 2 of 12.
    assert found.alpha == pytest.approx(1 - (2 / 12) / (1 - 42 / 132))
    # s against the rest: 5 yes of the first, 4 of the second, 4 of both.
    chance = (5 * 4 + 4 * 5) / 81
    assert found.kappas == {
        s: pytest.approx((8 / 9 - chance) / (1 - chance)),
        r: pytest.approx((8 / 9 - (1 * 2 + 8 * 7) / 81) / (1 - (1 * 2 + 8 * 7) / 81)),
        n: pytest.approx(1.0),
    }
    assert (found.kept_by_some, found.reworded) == (2, 1)
    # Supported: mill c1, tower c1, ferry c2. With the tower's c3, which the machine found unverifiable, no label can agree.
    assert (found.with_verdict, found.agreed_with_machine) == (3, 3)
    store.set_fact(IRRELEVANT, IrrelevantMeaning.UNDECIDABLE.value)
    assert (summarise(store).with_verdict, summarise(store).agreed_with_machine) == (4, 3)
    assert summary_tables(summarise(store))[0].facts["labels that agree with the machine"] == "3 of 4"


def test_time_is_summed_by_annotator(store: AnnotationStore) -> None:
    judge_all(store, 2, "ada")
    make_all(store, 1, "ada", judge("c1"))
    make_all(store, 1, "ben", comment("c1", "Hm."))
    found = summarise(store).annotators
    assert list(found) == ["ada", "ben"]
    assert (found["ada"].finished, found["ada"].judged) == (1, 4)
    assert found["ada"].seconds_a_claim == pytest.approx(found["ada"].seconds / 4)
    assert (found["ben"].judged, found["ben"].seconds_a_claim) == (0, None)


@pytest.mark.parametrize("how", FORMATS)
def test_the_tables_can_be_had_in_every_format(store: AnnotationStore, how: str) -> None:
    for table in summary_tables(summarise(store)):
        assert render(table, find_format(how))
    edited(store)
    judge_all(store, 1, "ben")
    gold, agreement = (render(table, find_format(how)) for table in summary_tables(summarise(store)))
    if how == "csv":
        assert "annotators,ada,1,3,," in str(gold)
        assert "edits,removed,1,0,0.0" in str(gold)
        assert ",all," in str(agreement)


SPANS = (Span(start=0, end=8), Span(start=4, end=30))
CLAIMS = st.sampled_from(["c1", "c2", "c3", "x", "y"])
TEXTS = st.sampled_from(["It is so.", "it is so", "Halm has a tower.", "Its bell weighs two tons.", "“”", "\N{BELL}"])
STEPS = st.one_of(
    st.builds(judge, CLAIMS, st.sampled_from(Label)),
    st.builds(revise, CLAIMS, TEXTS),
    st.builds(split, CLAIMS, TEXTS, TEXTS),
    st.builds(remove, CLAIMS, st.sampled_from(Removal)),
    st.builds(restore, CLAIMS),
    st.builds(add, st.sampled_from(["x", "y"]), TEXTS),
    st.builds(put, CLAIMS, st.sampled_from(SPANS)),
    st.builds(comment, CLAIMS, TEXTS),
    st.sampled_from([UNDO, REDO, FINISH, REOPEN]),
)


@pytest.mark.slow
@given(st.lists(STEPS, max_size=12), st.lists(STEPS, max_size=12))
def test_whatever_is_done_the_rows_are_read_again(one: list[Step], other: list[Step]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = AnnotationStore(make_store(Path(folder) / "annotation.sqlite", (2, 2, 2)))
        for name, steps in (("ada", one), ("ben", other)):
            for step in steps:
                try:
                    make_all(store, 2, name, step)
                except MisfitError:
                    continue
            judge_all(store, 2, name)
            (row,) = gold_rows(store)
            (response,) = responses_of([json.loads(json.dumps(row))])
            assert response.problem is None
            found = final_work(store, 2)
            assert found is not None
            read = [(claim.id, claim.text, claim.spans) for claim in response.claims or ()]
            assert read == [(claim.id, claim.text, claim.spans) for claim in found[0].standing]
            figures = summarise(store)
            assert figures.claims + figures.undecided == len(read)
            assert figures.how == {found[1]: 1}
            assert summary_tables(figures)
            differing = list(disagreements(store))
            assert (found[1] is How.UNDECIDED) == bool(differing)
        store.close()
