"""Several people's work side by side: which claims are the same one, where they differ, and what an adjudicator's word does."""

from annotation_projects import FINISH, REDO, REOPEN, UNDO, add, comment, decide, judge, remove, revise, span_of, task

from localfact.annotation.differences import Item, items_of, work_after_adjudication
from localfact.annotation.labels import Label, Removal
from localfact.annotation.steps import Step
from localfact.annotation.work import Draft, Work, work_of

MILL = task("mill")
ALL = tuple(judge(f"c{number}") for number in range(1, 5))


def works(**steps: list[Step]) -> dict[str, Work]:
    return {name: work_of(MILL, [*ALL, *made]) for name, made in steps.items()}


def items(**steps: list[Step]) -> dict[str, Item]:
    return {item.id: item for item in items_of(works(**steps))}


def differing(**steps: list[Step]) -> list[str]:
    return [item.id for item in items_of(works(**steps)) if item.differs]


def test_claims_that_the_machine_found_are_paired_by_their_ids_whatever_became_of_their_words() -> None:
    found = items(ann=[revise("c1", "Something else.")], bo=[revise("c1", "A third thing.")])
    assert list(found) == ["c1", "c2", "c3", "c4"]
    assert {name: claim.text for name, claim in found["c1"].versions.items()} == {
        "ann": "Something else.",
        "bo": "A third thing.",
    }


def test_added_claims_are_paired_by_their_words() -> None:
    found = items(ann=[add("a1", "It had a pond.")], bo=[add("b1", "it had a  POND"), add("b2", "It had a cat.")])
    assert list(found) == ["c1", "c2", "c3", "c4", "a1", "b2"]
    assert set(found["a1"].versions) == {"ann", "bo"}
    assert set(found["b2"].versions) == {"bo"}
    assert found["b2"].annotators == ("ann", "bo")


def test_one_persons_two_claims_in_the_same_words_are_two_items() -> None:
    both = [add("a1", "It had a pond."), add("a2", "It had a cat."), revise("a2", "It had a pond.")]
    found = items(ann=both, bo=[add("b1", "It had a pond.")])
    assert [(name, sorted(item.versions)) for name, item in found.items()][4:] == [("a1", ["ann", "bo"]), ("a2", ["ann"])]


def test_an_added_claim_in_the_words_of_anothers_revised_claim_is_that_claim() -> None:
    words = "Its wheel was cast in Malmo."
    found = items(ann=[revise("c2", words), judge("c2")], bo=[remove("c2"), add("b1", words), judge("b1")])
    assert list(found) == ["c1", "c2", "c3", "c4"]
    assert not found["c2"].differs


def test_an_added_claim_is_paired_with_one_that_stands_before_one_that_was_removed() -> None:
    twice = [add("a1", "It had a pond."), remove("a1"), add("a2", "It had a pond."), judge("a2")]
    assert differing(ann=twice, bo=[add("b1", "It had a pond."), judge("b1")]) == []


def test_items_stand_in_the_order_of_the_response() -> None:
    early = add("b1", "Something of the bay.", span_of(MILL.text, "Ostrava Bay"))
    assert list(items(ann=[], bo=[early])) == ["c1", "b1", "c2", "c3", "c4"]


def test_people_differ_where_label_words_or_standing_differ() -> None:
    assert differing(ann=[], bo=[]) == []
    assert differing(ann=[], bo=[judge("c2", Label.REFUTED)]) == ["c2"]
    assert differing(ann=[], bo=[revise("c2", "Its wheel was cast in Malmo."), judge("c2")]) == ["c2"]
    assert differing(ann=[], bo=[remove("c3")]) == ["c3"]
    assert differing(ann=[], bo=[add("b1", "It had a pond."), judge("b1")]) == ["b1"]


def test_people_do_not_differ_in_case_comments_or_reasons_nor_over_what_both_leave_out() -> None:
    assert differing(ann=[comment("c1", "Sure.")], bo=[revise("c1", MILL.claims[0].text.upper())]) == []
    assert differing(ann=[remove("c3")], bo=[remove("c3", Removal.NO_CLAIM)]) == []
    assert differing(ann=[judge("c1", agreed=True)], bo=[]) == []
    assert differing(ann=[add("a1", "It had a pond."), remove("a1")], bo=[]) == []


def test_three_people_differ_where_one_does() -> None:
    assert differing(ann=[], bo=[], cy=[judge("c4", Label.IRRELEVANT)]) == ["c4"]


def test_what_all_agree_on_is_kept_and_the_rest_is_open_until_it_is_decided() -> None:
    found = items_of(works(ann=[comment("c1", "Sure."), remove("c3")], bo=[judge("c2", Label.REFUTED), remove("c3")]))
    work = work_after_adjudication(found, [])
    assert [claim.id for claim in work.open] == ["c2"]
    assert [(claim.label, claim.removal) for claim in work.claims] == [
        (Label.SUPPORTED, None),
        (None, None),
        (Label.SUPPORTED, Removal.REDUNDANT),
        (Label.SUPPORTED, None),
    ]
    assert work.claims[0].comment == ""
    assert Draft(MILL, work).misfit(FINISH) == "1 claims have no label yet."
    decided = work_after_adjudication(found, [decide("c2", Label.REFUTED)])
    assert (decided.open, decided.version) == ((), 1)
    assert (decided.claims[1].label, decided.claims[1].decided, decided.claims[1].agreed) == (Label.REFUTED, True, False)
    assert Draft(MILL, decided).misfit(FINISH) is None
    assert work_after_adjudication(found, [decide("c2", Label.REFUTED), FINISH]).finished
    assert not work_after_adjudication(found, [decide("c2", Label.REFUTED), FINISH, REOPEN]).finished


def test_a_claim_that_one_removed_and_another_kept_is_open_in_the_words_of_who_kept_it() -> None:
    found = items_of(works(ann=[remove("c1")], bo=[revise("c1", "Another thing."), judge("c1")]))
    claim = work_after_adjudication(found, []).claim("c1")
    assert claim is not None
    assert (claim.text, claim.removal, claim.label) == ("Another thing.", None, None)


def test_a_decision_may_have_other_words_or_remove_the_claim_and_the_last_one_counts() -> None:
    found = items_of(works(ann=[], bo=[judge("c2", Label.REFUTED)]))
    worded = work_after_adjudication(found, [decide("c2", Label.CONFLICTING, " Its wheel was cast somewhere. ")]).claim("c2")
    assert worded is not None
    assert (worded.text, worded.label) == ("Its wheel was cast somewhere.", Label.CONFLICTING)
    removed = work_after_adjudication(found, [decide("c2", Label.REFUTED), decide("c2", Removal.NO_CLAIM)])
    claim = removed.claim("c2")
    assert claim is not None
    assert (claim.removal, claim.label, claim.decided) == (Removal.NO_CLAIM, None, True)
    assert "c2" not in [one.id for one in removed.standing]
    assert removed.open == ()


def test_an_undone_decision_is_the_one_before_it_again() -> None:
    found = items_of(works(ann=[], bo=[judge("c2", Label.REFUTED)]))
    first, second = decide("c2", Label.REFUTED), decide("c2", Label.CONFLICTING)
    labels = []
    for steps in ([first, second], [first, second, UNDO], [first, second, UNDO, UNDO], [first, second, UNDO, UNDO, REDO]):
        claim = work_after_adjudication(found, steps).claim("c2")
        assert claim is not None
        labels.append(claim.label)
    assert labels == [Label.CONFLICTING, Label.REFUTED, None, Label.REFUTED]
    work = work_after_adjudication(found, [first, second, UNDO])
    assert (work.version, work.done, work.undone) == (3, 1, 1)


def test_a_decision_about_what_all_agree_on_changes_nothing() -> None:
    found = items_of(works(ann=[], bo=[judge("c2", Label.REFUTED)]))
    assert (
        work_after_adjudication(found, [decide("c1", Label.REFUTED, "Other words.")]).claims
        == work_after_adjudication(found, []).claims
    )


def test_a_decision_about_a_claim_that_is_not_there_changes_nothing_and_cannot_be_made() -> None:
    found = items_of(works(ann=[], bo=[judge("c2", Label.REFUTED)]))
    work = work_after_adjudication(found, [decide("nobody", Label.REFUTED)])
    assert work.claims == work_after_adjudication(found, []).claims
    assert Draft(MILL, work).misfit(decide("nobody", Label.REFUTED)) == "There is no such claim."


def test_an_adjudication_is_open_again_where_an_annotator_went_on_afterwards() -> None:
    all_of_them = [judge(f"c{number}") for number in range(1, 5)]
    bo = [*all_of_them, judge("c2", Label.REFUTED)]
    steps = [decide("c2", Label.REFUTED), FINISH]
    before, after = (
        list(items(ada=ada, bo=bo).values()) for ada in (all_of_them, [*all_of_them, judge("c1", Label.IRRELEVANT)])
    )
    assert work_after_adjudication(before, steps).finished
    assert not work_after_adjudication(after, steps).finished


def test_a_claim_that_one_removed_and_wrote_anew_is_the_machines_where_another_kept_it() -> None:
    words = task().claims[0].text
    item = items(ada=[remove("c1"), add("n1", words), judge("n1")], bo=[judge("c1")])["c1"]
    assert not item.differs
    assert item.first.machine is not None


def test_two_peoples_added_claims_of_one_id_are_two_items() -> None:
    found = items(ada=[add("n1", "The mill is tall.")], bo=[add("n1", "The mill is wide.")])
    assert {item.first.text for item in found.values()} >= {"The mill is tall.", "The mill is wide."}
