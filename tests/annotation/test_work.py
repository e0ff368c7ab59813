"""Steps fold into the state of somebody's work: each kind does what it says, and undoing is a step too."""

from collections.abc import Sequence

import pytest
from annotation_projects import (
    FINISH,
    REDO,
    REOPEN,
    UNDO,
    add,
    comment,
    judge,
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
from pydantic import ValidationError

from localfact.annotation.labels import AGREEING, LABELS, Label, Removal
from localfact.annotation.steps import LONGEST_TEXT, Step, StepKind
from localfact.annotation.tasks import AnnotationTask, MachineClaim
from localfact.annotation.work import Draft, Work, WorkClaim, work_of
from localfact.inputs.annotations import Edit
from localfact.records import Span
from localfact.vocabulary import VerdictLabel

MILL = task("mill")
WHEEL = "Its wheel was cast in Lund."


def after(*steps: Step) -> Work:
    return work_of(MILL, steps)


def claim_after(name: str, *steps: Step) -> WorkClaim:
    claim = after(*steps).claim(name)
    assert claim is not None
    return claim


def message(step: Step, *before: Step) -> str | None:
    return Draft(MILL, after(*before)).misfit(step)


def content(work: Work) -> tuple[tuple[WorkClaim, ...], bool]:
    """What there is to see of a work, apart from how it came about."""
    return work.claims, work.finished


def test_before_any_step_all_claims_are_as_the_machine_left_them() -> None:
    work = after()
    assert [claim.id for claim in work.claims] == ["c1", "c2", "c3", "c4"]
    assert [claim.edit for claim in work.claims] == [Edit.UNCHANGED] * 4
    assert [claim.verdict for claim in work.claims] == [claim.verdict for claim in MILL.claims]
    assert work.open == work.standing == work.claims
    assert (work.version, work.done, work.undone, work.finished) == (0, 0, 0, False)


def test_a_revised_claim_has_the_new_words_and_no_verdict_of_the_machine() -> None:
    claim = claim_after("c2", revise("c2", "  Its wheel was cast in Malmo. "))
    assert (claim.text, claim.edit, claim.verdict) == ("Its wheel was cast in Malmo.", Edit.REVISED, None)
    assert claim.spans == MILL.claims[1].spans


def test_a_claim_that_is_revised_back_is_unchanged_and_has_its_verdict_again() -> None:
    claim = claim_after("c2", revise("c2", "Another thing."), revise("c2", WHEEL))
    assert (claim.edit, claim.verdict) == (Edit.UNCHANGED, VerdictLabel.CONTRADICTED)


def test_a_revision_takes_the_label_away_which_was_of_other_words() -> None:
    claim = claim_after("c2", judge("c2", Label.REFUTED, agreed=True), revise("c2", "Its wheel was cast in Malmo."))
    assert (claim.label, claim.agreed) == (None, False)


@pytest.mark.parametrize(
    "text", ["ITS WHEEL was cast in Lund.", "Its  wheel was\ncast in Lund", " its wheel was cast in lund. "]
)
def test_a_mere_change_of_case_or_space_keeps_the_label(text: str) -> None:
    claim = claim_after("c2", judge("c2", Label.REFUTED, agreed=True), revise("c2", text))
    assert (claim.label, claim.agreed, claim.edit) == (Label.REFUTED, True, Edit.UNCHANGED)
    assert claim.text == text.strip()


def test_an_added_claim_has_an_edit_of_its_own_even_when_it_is_revised() -> None:
    claim = claim_after("n1", add("n1", " It had a pond. "), revise("n1", "It had two ponds."))
    assert (claim.text, claim.edit, claim.machine, claim.verdict) == ("It had two ponds.", Edit.ADDED, None, None)


def test_a_split_is_one_step_that_leaves_a_claim_for_each_line_where_the_claim_stood() -> None:
    parts = ["Its wheel was cast.", " It was cast in Lund. ", "", "Lund has a foundry."]
    step = split("c2", *parts)
    work = after(judge("c2"), step, judge("c2/3"))
    assert [claim.id for claim in work.claims] == ["c1", "c2", "c2/2", "c2/3", "c3", "c4"]
    first, *rest = (claim for claim in work.claims if claim.id.startswith("c2"))
    assert (first.text, first.edit, first.label) == ("Its wheel was cast.", Edit.REVISED, None)
    assert [(one.text, one.edit, one.spans) for one in rest] == [
        ("It was cast in Lund.", Edit.ADDED, first.spans),
        ("Lund has a foundry.", Edit.ADDED, first.spans),
    ]
    assert {one.source for one in rest} == {MILL.claims[1]}
    assert content(after(step, UNDO)) == content(after())
    again = after(step, split("c2/2", "It was cast.", "Lund is a town."), split("c2", "It has a wheel.", "It was made."))
    assert [claim.id for claim in again.standing] == ["c1", "c2", "c2/4", "c2/2", "c2/2/2", "c2/3", "c3", "c4"]


def test_a_removed_claim_stays_in_the_work_and_no_longer_stands() -> None:
    work = after(remove("c3", Removal.NO_CLAIM))
    assert len(work.claims) == 4
    assert [claim.id for claim in work.standing] == ["c1", "c2", "c4"]
    (claim,) = [one for one in work.claims if one.removal is not None]
    assert (claim.edit, claim.removal, claim.verdict) == (Edit.REMOVED, Removal.NO_CLAIM, None)


def test_a_restored_claim_has_the_words_and_the_label_that_it_had() -> None:
    claim = claim_after("c3", revise("c3", "Ten families."), judge("c3", Label.REFUTED), remove("c3"), restore("c3"))
    assert (claim.text, claim.label, claim.edit) == ("Ten families.", Label.REFUTED, Edit.REVISED)


def test_an_added_claim_can_be_removed_and_restored() -> None:
    assert claim_after("n1", add("n1", "It had a pond."), remove("n1")).edit is Edit.REMOVED
    assert claim_after("n1", add("n1", "It had a pond."), remove("n1"), restore("n1")).edit is Edit.ADDED


def test_a_judgement_can_be_made_anew() -> None:
    claim = claim_after("c1", judge("c1", Label.SUPPORTED, agreed=True), judge("c1", Label.CONFLICTING))
    assert (claim.label, claim.agreed) == (Label.CONFLICTING, False)
    assert [one.id for one in after(judge("c1")).open] == ["c2", "c3", "c4"]


def test_a_comment_is_kept_and_can_be_emptied() -> None:
    assert claim_after("c1", comment("c1", " See the archive. ")).comment == "See the archive."
    assert claim_after("c1", comment("c1", "See the archive."), comment("c1", "")).comment == ""


def test_claims_stand_in_the_order_of_the_response_and_those_without_a_place_after_them() -> None:
    added = [add("n1", "One."), add("n2", "Two.", Span(start=3, end=9)), add("n3", "Three.")]
    assert [claim.id for claim in after(*added).claims] == ["c1", "n2", "c2", "c3", "c4", "n1", "n3"]
    moved = [put("c1", span_of(MILL.text, "burned down"), span_of(MILL.text, "in 1934")), put("n3", span_of(MILL.text, "Lund"))]
    assert [claim.id for claim in after(*added, *moved).claims] == ["n2", "c2", "n3", "c3", "c4", "c1", "n1"]
    assert [claim.id for claim in after(put("c1")).claims] == ["c2", "c3", "c4", "c1"]


def test_finished_is_until_reopened() -> None:
    judged = [judge(f"c{number}") for number in range(1, 5)]
    assert after(*judged, FINISH).finished
    assert not after(*judged, FINISH, REOPEN).finished
    assert not after(*judged, FINISH, UNDO).finished
    assert after(*judged, FINISH, UNDO, REDO).finished


def test_undo_takes_back_the_last_step_and_redo_makes_it_again() -> None:
    steps = [judge("c1"), judge("c2")]
    work = after(*steps, UNDO)
    assert (work.version, work.done, work.undone) == (3, 1, 1)
    assert content(work) == content(after(judge("c1")))
    assert content(after(*steps, UNDO, UNDO)) == content(after())
    assert content(after(*steps, UNDO, UNDO, REDO)) == content(after(judge("c1")))
    assert content(after(*steps, UNDO, UNDO, REDO, REDO)) == content(after(*steps))


def test_undo_after_redo_takes_back_what_was_made_again() -> None:
    work = after(judge("c1"), judge("c2"), UNDO, REDO, UNDO)
    assert content(work) == content(after(judge("c1")))
    assert (work.done, work.undone) == (1, 1)


def test_a_new_step_drops_what_was_undone() -> None:
    work = after(judge("c1"), judge("c2"), UNDO, judge("c3"))
    assert (work.done, work.undone) == (2, 0)
    assert [claim.label for claim in work.claims] == [Label.SUPPORTED, None, Label.SUPPORTED, None]
    assert content(after(judge("c1"), judge("c2"), UNDO, judge("c3"), REDO)) == content(work)


def test_a_step_about_a_claim_that_is_not_there_changes_nothing() -> None:
    work = after(judge("nobody"))
    assert work.version == 1
    assert content(work) == content(after())


NINE = Span(start=0, end=9)


@pytest.mark.parametrize(
    ("before", "step", "said"),
    [
        ([], judge("nobody"), "no such claim"),
        ([], comment("nobody", "Hm."), "no such claim"),
        ([], put("c1", Span(start=0, end=len(MILL.text) + 1)), "not in the response"),
        ([], put("c1", Span(start=9, end=9)), "not in the response"),
        ([], add("n1", "New.", Span(start=9, end=2)), "not in the response"),
        ([], add("c1", "It had a pond."), "such a claim already"),
        ([], add("n1", "its wheel was cast in LUND"), "such a claim already"),
        ([remove("c1")], judge("c1"), "Restore it first"),
        ([remove("c1")], split("c1", "One.", "Two."), "Restore it first"),
        ([], split("c1", "It had a pond.", WHEEL), "such a claim already"),
        ([], split("c1", "It had a pond.", "it had a POND"), "such a claim already"),
        ([], judge("c1", Label.REFUTED, agreed=True), "something else"),
        ([revise("c1", "Another thing.")], judge("c1", Label.SUPPORTED, agreed=True), "something else"),
        ([add("n1", "It had a pond.")], judge("n1", Label.SUPPORTED, agreed=True), "something else"),
        ([], judge("c4", Label.NOT_ENOUGH, agreed=True), "something else"),
        ([judge("c1"), remove("c2")], FINISH, "2 claims have no label"),
        ([], UNDO, "nothing to undo"),
        ([judge("c1"), UNDO], UNDO, "nothing to undo"),
        ([], REDO, "nothing to do again"),
        ([judge("c1")], REDO, "nothing to do again"),
        ([judge("c1"), UNDO, judge("c2")], REDO, "nothing to do again"),
    ],
)
def test_a_step_that_cannot_follow_is_told_why(before: Sequence[Step], step: Step, said: str) -> None:
    assert said in (message(step, *before) or "")


@pytest.mark.parametrize(
    ("before", "step"),
    [
        ([], judge("c1", Label.SUPPORTED, agreed=True)),
        ([], judge("c3", Label.NOT_ENOUGH, agreed=True)),
        ([], judge("c1", Label.REFUTED)),
        ([], put("c1", NINE, Span(start=len(MILL.text) - 1, end=len(MILL.text)))),
        ([remove("c2")], add("n1", WHEEL)),
        ([remove("c2")], restore("c2")),
        ([judge("c1"), judge("c2"), judge("c3"), remove("c4")], FINISH),
        ([judge("c1")], UNDO),
        ([judge("c1"), UNDO], REDO),
    ],
)
def test_a_step_that_can_follow_has_no_misfit(before: Sequence[Step], step: Step) -> None:
    assert message(step, *before) is None


def test_a_response_without_a_claim_that_stands_can_be_finished() -> None:
    assert message(FINISH, *(remove(f"c{number}") for number in range(1, 5))) is None


@pytest.mark.parametrize(
    "wrong",
    [
        {"kind": "judge", "label": "supported"},
        {"kind": "finish", "claim": "c1"},
        {"kind": "undo", "claim": "c1"},
        {"kind": "judge", "claim": "c1"},
        {"kind": "remove", "claim": "c1"},
        {"kind": "revise", "claim": "c1", "text": " \n"},
        {"kind": "add", "claim": "n1"},
        {"kind": "split", "claim": "c1", "text": "One line.\n \n"},
        {"kind": "decide", "claim": "c1"},
        {"kind": "decide", "claim": "c1", "label": "supported", "removal": "redundant"},
        {"kind": "comment", "claim": "c1", "text": "\x00"},
        {"kind": "comment", "claim": "c1", "text": "\ud800"},
        {"kind": "comment", "claim": "c1", "text": "x" * (LONGEST_TEXT + 1)},
        {"kind": "place", "claim": "c1", "spans": [{"start": 0, "end": 1}] * 51},
        {"kind": "place", "claim": "c1", "spans": [{"start": -1, "end": 1}]},
        {"kind": "dance", "claim": "c1"},
    ],
)
def test_a_step_that_is_none_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Step.model_validate(wrong)


def test_every_label_has_a_key_and_a_verdict_of_its_own_and_whoever_agrees_gives_one() -> None:
    assert set(LABELS) == set(Label)
    assert len({shown.key for shown in LABELS.values()}) == len({shown.verdict for shown in LABELS.values()}) == len(Label)
    assert set(AGREEING) == set(VerdictLabel) - {VerdictLabel.FAILED, VerdictLabel.UNVERIFIABLE}


names = st.sampled_from(["c1", "c2", "c3", "c4", "n1", "n2", "nobody"])
wordings = st.sampled_from([WHEEL, WHEEL.upper(), "It had a pond.", "Another thing.", "x"])
spans = st.builds(lambda start, length: Span(start=start, end=start + length), st.integers(0, 120), st.integers(0, 30))
places = st.lists(spans, max_size=3)
any_step = st.one_of(
    st.builds(judge, names, st.sampled_from(Label), agreed=st.booleans()),
    st.builds(revise, names, wordings),
    st.builds(split, names, wordings, wordings),
    st.builds(remove, names, st.sampled_from(Removal)),
    st.builds(restore, names),
    st.builds(lambda name, text, where: add(name, text, *where), names, wordings, places),
    st.builds(lambda name, where: put(name, *where), names, places),
    st.builds(comment, names, wordings),
    st.sampled_from([FINISH, REOPEN, UNDO, REDO, UNDO, REDO]),
)
any_steps = st.lists(any_step, max_size=40)


@pytest.mark.slow
@given(any_steps)
def test_any_steps_fold_and_their_number_is_the_version(steps: list[Step]) -> None:
    work = work_of(MILL, steps)
    assert work.version == len(steps)
    assert work.done + work.undone <= len(steps)
    assert {claim.id for claim in work.claims} >= {"c1", "c2", "c3", "c4"}
    assert len({claim.id for claim in work.claims}) == len(work.claims)
    assert Work.model_validate_json(work.model_dump_json()) == work


@given(any_steps)
def test_after_any_steps_as_many_undos_as_count_lead_back_to_the_beginning_and_redos_to_the_end(steps: list[Step]) -> None:
    work = work_of(MILL, steps)
    if work.done:
        assert content(work_of(MILL, [*steps, UNDO, REDO])) == content(work)
    back = [*steps, *[UNDO] * work.done]
    assert content(work_of(MILL, back)) == content(work_of(MILL, []))
    assert content(work_of(MILL, [*back, *[REDO] * work.done])) == content(work)


@given(any_steps, st.booleans())
def test_steps_that_can_follow_leave_nothing_finished_that_has_open_claims(steps: list[Step], judged: bool) -> None:
    made: list[Step] = []
    for step in [*(judge(f"c{number}") for number in range(1, 5) if judged), FINISH, *steps]:
        if Draft(MILL, work_of(MILL, made)).misfit(step) is None:
            made.append(step)
    work = work_of(MILL, made)
    assert all(0 <= span.start < span.end <= len(MILL.text) for claim in work.claims for span in claim.spans)
    assert not (work.finished and work.open), [step.kind for step in made]


def test_a_finished_response_has_no_claim_without_a_label_until_it_is_reopened() -> None:
    finished = [*(judge(f"c{number}") for number in range(1, 5)), FINISH]
    for step in (add("n1", "It had a pond."), revise("c1", "Another thing.")):
        allowed = message(step, *finished) is None
        assert not allowed or not after(*finished, step).finished
        assert message(step, *finished, REOPEN) is None


def test_every_kind_of_step_is_tried_here_or_is_an_adjudicators() -> None:
    tried = {judge("a").kind, revise("a", "b").kind, remove("a").kind, restore("a").kind, add("a", "b").kind, put("a").kind}
    tried |= {split("a", "b", "c").kind, comment("a", "b").kind, FINISH.kind, REOPEN.kind, UNDO.kind, REDO.kind}
    assert set(StepKind) - tried == {StepKind.DECIDE}


def test_a_claim_whose_id_is_long_can_be_judged() -> None:
    name = "c" * 5_000
    long = AnnotationTask(id="mill", text="A mill.", claims=(MachineClaim(id=name, text="It is a mill."),))
    step = judge(name)
    assert Draft(long, work_of(long, [])).misfit(step) is None
    assert work_of(long, [step]).claims[0].label == Label.SUPPORTED


def test_no_two_claims_that_stand_have_the_same_words() -> None:
    words = task().claims[0].text
    assert message(revise("c2", words.upper())) == "There is such a claim already."
    assert (
        message(Step(kind=StepKind.RESTORE, claim="c1"), remove("c1"), revise("c2", words)) == "There is such a claim already."
    )
    assert message(revise("c1", words.upper())) is None
