"""Labelled claims made elsewhere: each kind of file is read, and becomes the steps that somebody would have made."""

import csv
import io
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from annotation_projects import FINISH, add, comment, decide, judge, make_all, make_project, put, remove, revise, span_of, task

from localfact.annotation.gold import final_work, gold_rows
from localfact.annotation.importing import ImportReport, distinct_tasks, import_into, meaning_of_irrelevant, steps_of
from localfact.annotation.labelled import ImportedClaim, Labelled, read_labelled
from localfact.annotation.labels import Label, Removal, label_of
from localfact.annotation.project import DATABASE, create
from localfact.annotation.steps import LONGEST_TEXT, Step, StepKind
from localfact.annotation.store import ADJUDICATE, AnnotationStore
from localfact.annotation.work import Work, work_of
from localfact.errors import InputError
from localfact.inputs.annotations import Edit, IrrelevantMeaning

RIVER = "The river Esk rises in Norby. It is 40 miles long. Otters live in it."
FASTFACT = {
    "question_id": "esk",
    "question": "What is the Esk?",
    "model": "m",
    "prompt_source": "HelloBench",
    "response": RIVER,
    "claims_lst": [
        {"claim_id": "a", "claim": "The Esk rises in Norby.", "annotator_label": "supported", "operation": "unchanged"},
        {
            "claim_id": "b",
            "claim": "It is 40 miles long.",
            "revised_claim": "The Esk is 40 miles long.",
            "annotator_label": "conflicting evidence",
            "operation": "revised",
        },
        {"claim_id": "c", "claim": "Otters live in it.", "human_label": "refuted", "edit": "added"},
        {"claim_id": "d", "claim": "It is it.", "annotator_label": "redundant", "operation": "removed"},
        {"claim_id": "e", "claim": "Norby is a place.", "annotator_label": "not a claim", "operation": "removed"},
        {
            "claim_id": "f",
            "claim": "Esk is nice.",
            "annotator_label": "irrelevant",
            "verification_result": {"verification_label": "supported"},
        },
    ],
}
FACTSCORE = {
    "input": "Question: Tell me of the Esk.",
    "topic": "Esk",
    "output": RIVER,
    "annotations": [
        {"text": "The river Esk rises in Norby.", "human-atomic-facts": [{"text": "The Esk is a river.", "label": "S"}]},
        {"text": "It is 40 miles long.", "human-atomic-facts": [{"text": "The Esk is 40 miles long.", "label": "NS"}]},
        {"text": "Otters live in it.", "human-atomic-facts": [{"text": "Otters are.", "label": "IR"}]},
    ],
}


def json_file(folder: Path, *rows: object, name: str = "file.jsonl") -> Path:
    file = folder / name
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return file


def table_file(folder: Path, *rows: Sequence[str], name: str = "file.csv") -> Path:
    stream = io.StringIO()
    csv.writer(stream, delimiter="\t" if name.endswith("tsv") else ",").writerows(rows)
    (folder / name).write_text(stream.getvalue(), encoding="utf-8")
    return folder / name


@contextmanager
def opened(folder: Path) -> Iterator[AnnotationStore]:
    store = AnnotationStore(folder / DATABASE)
    yield store
    store.close()


def project_of(folder: Path, labelled: Sequence[Labelled]) -> Path:
    """As the command makes one of a file."""
    create(folder, distinct_tasks(labelled), made_of="file", overlap=0.0)
    return folder


def labels(one: Labelled) -> list[tuple[str, Label | None]]:
    return [(claim.text, claim.label) for claim in one.claims]


def work_after(one: Labelled) -> Work:
    return work_of(one.task, steps_of(one, one.task)[0])


# What is in files.


@pytest.mark.parametrize(
    ("said", "label"),
    [
        *((label.value, label) for label in Label),
        ("S", Label.SUPPORTED),
        ("NS", Label.REFUTED),
        ("Not_Supported", Label.REFUTED),
        ("unsupported", Label.REFUTED),
        ("contradicted", Label.REFUTED),
        ("inconclusive", Label.NOT_ENOUGH),
        ("unverifiable", None),
        ("IR", Label.IRRELEVANT),
        ("perhaps", None),
        ("n/a", None),
        (None, None),
        ({"a": 1}, None),
    ],
)
def test_labels_of_all_kinds_are_ours(said: object, label: Label | None) -> None:
    assert label_of(said) is label


def test_fastfacts_annotation_gives_the_machines_claims_and_what_became_of_them(tmp_path: Path) -> None:
    (one,) = read_labelled(json_file(tmp_path, FASTFACT))
    assert (one.task.id, one.task.source, one.task.model, one.task.prompt) == ("esk", "hellobench", "m", "What is the Esk?")
    assert [(claim.id, claim.text) for claim in one.task.claims] == [
        ("a", "The Esk rises in Norby."),
        ("b", "It is 40 miles long."),
        ("d", "It is it."),
        ("e", "Norby is a place."),
        ("f", "Esk is nice."),
    ]
    work = work_after(one)
    assert work.finished
    assert {claim.text: (claim.edit, claim.label, claim.removal) for claim in work.claims} == {
        "The Esk rises in Norby.": (Edit.UNCHANGED, Label.SUPPORTED, None),
        "The Esk is 40 miles long.": (Edit.REVISED, Label.CONFLICTING, None),
        "Otters live in it.": (Edit.ADDED, Label.REFUTED, None),
        "It is it.": (Edit.REMOVED, None, Removal.REDUNDANT),
        "Norby is a place.": (Edit.REMOVED, None, Removal.NO_CLAIM),
        "Esk is nice.": (Edit.UNCHANGED, Label.IRRELEVANT, None),
    }
    (added,) = [claim for claim in work.claims if claim.edit is Edit.ADDED]
    assert added.spans == (span_of(RIVER, "Otters live in it."),)


def test_factscores_facts_are_claims_with_the_places_of_their_sentences(tmp_path: Path) -> None:
    abstained = {"input": "Who?", "output": "I do not know.", "annotations": None}
    one, other = read_labelled(json_file(tmp_path, FACTSCORE, abstained))
    assert labels(one) == [
        ("The Esk is a river.", Label.SUPPORTED),
        ("The Esk is 40 miles long.", Label.REFUTED),
        ("Otters are.", Label.IRRELEVANT),
    ]
    assert [claim.spans for claim in one.task.claims] == [
        (span_of(RIVER, sentence["text"]),)
        for sentence in FACTSCORE["annotations"]  # type: ignore[attr-defined]
    ]
    assert [claim.edit for claim in work_after(one).claims] == [Edit.UNCHANGED] * 3
    assert other.problem == "Row 2: it has no claims with labels."


def test_an_annotation_beside_an_extractors_claims_is_of_those(tmp_path: Path) -> None:
    theirs = ["Otters live in it.", {"id": "c2", "text": "The Esk is long.", "label": "S"}]
    row = {
        "response": RIVER,
        "claims": [{"id": "c1", "text": "The Esk is long."}, {"id": "c2", "text": "It is."}],
        "annotation": theirs,
    }
    (one,) = read_labelled(json_file(tmp_path, row))
    work = work_after(one)
    assert {claim.text: (claim.edit, claim.label) for claim in work.claims} == {
        "The Esk is long.": (Edit.UNCHANGED, Label.SUPPORTED),
        "It is.": (Edit.REMOVED, None),
        "Otters live in it.": (Edit.ADDED, None),
    }
    assert not work.finished


@pytest.mark.parametrize("name", ["file.csv", "file.tsv"])
def test_a_table_has_a_row_a_claim_and_several_annotators(tmp_path: Path, name: str) -> None:
    head = ["ID", "Response", "Claim", "Label", "Annotator", "Comment", "Prompt"]
    rows = [
        ["esk", "", "Otters live there.", "S", "ada", "", ""],
        ["esk", RIVER, "It is long.", "refuted", "ada", "By far.", "What?"],
        ["esk", "", "Otters live there.", "perhaps", " ben ", "", ""],
        ["", "Another text.", "It is a text.", "redundant", "", "", ""],
        ["", "Another text. ", "It is another.", "supported", "", "", ""],
    ]
    ada, ben, other = read_labelled(table_file(tmp_path, head, *rows, name=name))
    assert (ada.annotator, ben.annotator, other.annotator) == ("ada", "ben", "")
    assert ada.task == ben.task
    assert (ada.task.id, ada.task.text, ada.task.prompt) == ("esk", RIVER, "What?")
    assert [claim.text for claim in ada.task.claims] == ["Otters live there.", "It is long."]
    assert labels(ada) == [("Otters live there.", Label.SUPPORTED), ("It is long.", Label.REFUTED)]
    assert ada.claims[1].comment == "By far."
    assert [(claim.label, claim.unknown) for claim in ben.claims] == [(None, "perhaps")]
    # Nobody said that ben left out the second claim.
    assert [claim.edit for claim in work_after(ben).claims] == [Edit.UNCHANGED] * 2
    assert [claim.removal for claim in other.claims] == [Removal.REDUNDANT, None]
    assert [claim.edit for claim in work_after(other).claims] == [Edit.REMOVED, Edit.UNCHANGED]
    assert [work_after(one).finished for one in (ada, ben, other)] == [True, False, True]


def test_bad_rows_stop_no_other_and_are_told(tmp_path: Path) -> None:
    good = {"response": RIVER, "claims": [{"text": "Otters live in it.", "label": "S"}]}
    rows: list[object] = [
        good,
        "no object",
        {"response": RIVER},
        {"response": RIVER, "claims": 5},
        {"response": RIVER, "claims": [5]},
        {"response": RIVER, "claims": [{"text": " "}]},
        {"response": RIVER, "claims": [{"text": "x" * (LONGEST_TEXT + 1)}]},
        {"response": RIVER, "claims": [{"text": "x", "spans": [[5, 1000]]}]},
        {"response": 5, "claims": []},
        {"claim": "Otters live."},
        {"claim": 5, "response": RIVER},
        {"id": "a", "claim": "Otters live.", "response": RIVER, "label": "S"},
        {"id": "a", "claim": "Otters live.", "response": "Something else.", "label": "S"},
        {"id": "lost", "claim": "Otters live.", "label": "S"},
        {"data": {"other": 1}, "annotations": [{"result": []}]},
        {"data": {"text": RIVER}, "annotations": []},
        {"data": {"claim": "Otters live.", "response": "A river."}},
    ]
    found = read_labelled(json_file(tmp_path, *rows))
    assert [(one.task.text, len(one.claims)) for one in found if one.problem is None] == [(RIVER, 1), (RIVER, 1)]
    problems = " | ".join(one.problem for one in found if one.problem is not None)
    assert len(found) == len(rows)
    for said in (
        "Row 2: The line is not a JSON object",
        "Row 3: it has no claims with labels",
        "Row 4: 'claims' must be a list",
        "Row 5: a claim is neither",
        "row-6: Claim 1 has no text",
        "row-7: Claim 1 is longer than 2,000",
        "row-8: Claim 1 has the span [5, 1000]",
        "row-9: The row has no response",
        "Row 10: there is no 'response'",
        "Row 11: there is no text in 'claim'",
        "Row 13: the id 'a' is that of another",
        "lost: The row has no response",
        "Row 15: its data have no 'response'",
        "Row 16: nobody labelled",
        "Nobody labelled its claims",
    ):
        assert said in problems


def test_a_file_that_is_none_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("hello")
    with pytest.raises(InputError, match="labelled claims"):
        read_labelled(tmp_path / "x.json")


# Label Studio.


def choice(*said: str, **more: object) -> dict[str, Any]:
    return {"type": "choices", "from_name": "label", "to_name": "text", "value": {"choices": list(said)}, **more}


def mark(text: str, words: str, label: str, name: str, shift: int = 0) -> dict[str, Any]:
    span = span_of(text, words)
    value = {"start": span.start + shift, "end": span.end + shift, "text": words, "labels": [label]}
    return {"id": name, "type": "labels", "from_name": "label", "to_name": "text", "value": value}


def note(words: str, **more: object) -> dict[str, Any]:
    return {"type": "textarea", "from_name": "note", "to_name": "text", "value": {"text": [words]}, **more}


def test_a_task_of_label_studio_that_is_one_claim(tmp_path: Path) -> None:
    who = {"id": 7, "email": "ben@example.org"}
    tasks = [
        {
            "id": 1,
            "data": {"id": "esk", "prompt": "What?", "claim": "It is long.", "response": RIVER},
            "annotations": [
                {"completed_by": 1, "result": [choice("Supported"), note("Yes.")]},
                {"completed_by": who, "result": [choice("sure", "refuted")]},
                {"completed_by": 3, "was_cancelled": True, "result": []},
            ],
        },
        {
            "id": 2,
            "data": {"id": "esk", "text": "Otters live there.", "response": RIVER},
            "annotations": [{"completed_by": 1, "result": [choice("not a claim")]}],
        },
        {"id": 3, "data": {"id": "esk", "claim": "It rises.", "response": RIVER}, "annotations": []},
    ]
    file = tmp_path / "studio.json"
    file.write_text(json.dumps(tasks))
    ada, ben = read_labelled(file)
    assert (ada.annotator, ben.annotator, ada.task) == ("1", "ben@example.org", ben.task)
    assert (ada.task.id, ada.task.text, ada.task.prompt) == ("esk", RIVER, "What?")
    assert [claim.text for claim in ada.task.claims] == ["It is long.", "Otters live there.", "It rises."]
    assert [(claim.label, claim.removal, claim.comment) for claim in ada.claims] == [
        (Label.SUPPORTED, None, "Yes."),
        (None, Removal.NO_CLAIM, ""),
    ]
    assert labels(ben) == [("It is long.", Label.REFUTED)]


def test_a_task_of_label_studio_that_is_one_response_with_marks(tmp_path: Path) -> None:
    text = f"😀 {RIVER}"
    shared = mark(text, "Otters live in it", "S", "r1", shift=1)  # as JavaScript counts
    mine = [
        shared,
        note("Cute.", id="r1"),
        mark(text, "It is 40 miles long", "Claim", "r2"),
        choice("not enough evidence", id="r2"),
        {"type": "labels", "value": {"labels": ["S"], "start": 3, "end": 3, "text": ""}},
        {"type": "rating", "value": {"rating": 3}},
    ]
    tasks = [
        {
            "data": {"text": text, "id": "esk"},
            "annotations": [{"completed_by": 1, "result": mine}, {"completed_by": 2, "result": [shared]}],
        },
    ]
    one, two = read_labelled(json_file(tmp_path, *tasks))
    place = (span_of(text, "Otters live in it"),)
    assert [(claim.text, claim.spans) for claim in one.task.claims] == [("Otters live in it", place)]
    assert [(claim.text, claim.label, claim.comment) for claim in one.claims] == [
        ("Otters live in it", Label.SUPPORTED, "Cute."),
        ("It is 40 miles long", Label.NOT_ENOUGH, ""),
    ]
    assert [claim.edit for claim in work_after(one).claims] == [Edit.ADDED, Edit.UNCHANGED]
    assert [claim.edit for claim in work_after(two).claims] == [Edit.UNCHANGED]


# Into a project.


def of_mill(*claims: ImportedClaim, whole: bool = True) -> Labelled:
    return Labelled(task=task(), claims=claims, whole=whole)


def test_claims_are_the_same_by_words_and_by_id_only_where_they_were_revised() -> None:
    mill = task()
    steps, _ = steps_of(
        of_mill(
            ImportedClaim(id="c9", text="the mill of Ostrava Bay opened in 1911", label=Label.SUPPORTED),
            ImportedClaim(id="c2", text="The wheel is Swedish.", edit=Edit.REVISED, label=Label.REFUTED),
            ImportedClaim(id="c3", text="Nobody was hurt.", label=Label.SUPPORTED, comment="Who says so?"),
            ImportedClaim(id="c4", text="It burned.", original="It burned down in 1934.", removal=Removal.REDUNDANT),
            ImportedClaim(id="c5", text="Nothing.", removal=Removal.NO_CLAIM),
        ),
        mill,
    )
    new = next(step.claim for step in steps if step.kind is StepKind.ADD)
    assert steps == [
        remove("c3", Removal.NO_CLAIM),
        remove("c4", Removal.REDUNDANT),
        revise("c1", "the mill of Ostrava Bay opened in 1911"),
        revise("c2", "The wheel is Swedish."),
        revise("c4", "It burned."),
        judge("c1", Label.SUPPORTED),
        judge("c2", Label.REFUTED),
        add(new, "Nobody was hurt."),
        judge(new, Label.SUPPORTED),
        comment(new, "Who says so?"),
        FINISH,
    ]


def test_what_nobody_looked_at_stays_and_keeps_the_response_open() -> None:
    steps, _ = steps_of(of_mill(ImportedClaim(text=task().claims[0].text, label=Label.SUPPORTED), whole=False), task())
    assert steps == [judge("c1", Label.SUPPORTED)]


def test_of_two_claims_in_the_same_words_the_second_is_told_and_the_response_stays_open() -> None:
    twice = ImportedClaim(text="It had a door.", label=Label.SUPPORTED)
    steps, refused = steps_of(of_mill(twice, twice.model_copy(update={"label": Label.REFUTED})), task())
    assert [step.label for step in steps if step.kind is StepKind.JUDGE] == [Label.SUPPORTED]
    assert FINISH not in steps
    assert [said.split("\u201c")[1] for said in refused] == [
        "It had a door.\u201d conflicts with the claims of the project; its label was not imported."
    ]


def test_a_claim_takes_the_words_of_one_that_is_removed_or_reworded_with_it() -> None:
    first, second, third = (claim.text for claim in task().claims[:3])
    told = of_mill(
        ImportedClaim(id="c1", text=second, original=first, edit=Edit.REVISED, label=Label.REFUTED),
        ImportedClaim(id="c2", text=third, original=second, edit=Edit.REVISED, label=Label.SUPPORTED),
        ImportedClaim(id="c3", text=third, removal=Removal.REDUNDANT, edit=Edit.REMOVED),
        ImportedClaim(id="c4", text=task().claims[3].text, label=Label.IRRELEVANT),
    )
    steps, refused = steps_of(told, task())
    work = work_of(task(), steps)
    assert (refused, work.finished) == ([], True)
    assert [(claim.text, claim.label) for claim in work.standing[:2]] == [(second, Label.REFUTED), (third, Label.SUPPORTED)]


def test_the_places_of_another_spelling_of_a_response_are_looked_for_anew() -> None:
    mill = task()
    other = mill.model_copy(update={"text": "  " + mill.text})
    claim = ImportedClaim(text="The mill", spans=(span_of(other.text, "The mill"),), placed=True, label=Label.SUPPORTED)
    (step,) = [one for one in steps_of(Labelled(task=other, claims=(claim,)), mill)[0] if one.kind is StepKind.ADD]
    assert step.spans == (span_of(mill.text, "The mill"),)


def test_importing_twice_changes_nothing_and_is_counted(tmp_path: Path) -> None:
    found = read_labelled(json_file(tmp_path, FASTFACT, {**FACTSCORE, "output": "Otters are. " + RIVER}, {"response": "x"}))
    with opened(project_of(tmp_path / "project", found)) as store:
        report = import_into(store, found, "ada")
        assert report == ImportReport(matched=2, finished=2, problems=("Row 3: it has no claims with labels.",))
        before = [store.work(position, "ada") for position in (1, 2)]
        assert import_into(store, found, "ada") == ImportReport(passed_over=2, problems=report.problems)
        assert [store.work(position, "ada") for position in (1, 2)] == before
        assert store.annotators() == ["ada"]
        assert import_into(store, found, "ben").matched == 2
        assert [final_work(store, position)[1] for position in (1, 2)] == ["agreed", "agreed"]  # type: ignore[index]


def test_work_that_was_begun_is_left_alone(tmp_path: Path) -> None:
    found = read_labelled(json_file(tmp_path, FASTFACT))
    with opened(project_of(tmp_path / "project", found)) as store:
        make_all(store, 1, "ben", comment("a", "Mine."))
        assert import_into(store, found, "ben") == ImportReport(passed_over=1)
        assert store.work(1, "ben").version == 1


def test_what_one_side_calls_irrelevant_is_not_mixed_with_what_the_other_does(tmp_path: Path) -> None:
    exported = {"response": RIVER, "how": "agreed", "annotators": ["cleo"], "claims": [{"text": "It is nice.", "label": "IR"}]}
    said = {**exported, "irrelevant_means": IrrelevantMeaning.UNRELATED}
    earlier, ours = (read_labelled(json_file(tmp_path, row)) for row in (exported, said))
    for means, taken, refused in (
        (IrrelevantMeaning.UNDECIDABLE, earlier, ours),
        (IrrelevantMeaning.UNRELATED, ours, earlier),
    ):
        folder = tmp_path / means
        create(folder, distinct_tasks(taken), made_of="file", irrelevant=means)
        with opened(folder) as store:
            with pytest.raises(InputError, match="Import the file into a project of its own"):
                import_into(store, refused, "ada")
            assert store.progress() == []
            assert import_into(store, taken, "ada").finished == 1
            (row,) = gold_rows(store)
        assert row["irrelevant_means"] == means
        assert read_labelled(json_file(tmp_path, row))[0].irrelevant_means is means
    with pytest.raises(InputError, match="Import each kind by itself"):
        meaning_of_irrelevant([*earlier, *ours])


def test_what_a_file_calls_unverifiable_is_removed_as_no_claim(tmp_path: Path) -> None:
    claims = [{"text": "It is nice.", "label": "unverifiable"}, {"text": "It is long.", "label": "S"}]
    (one,) = read_labelled(json_file(tmp_path, {"response": RIVER, "claims": claims}))
    assert [(claim.removal, claim.label) for claim in one.claims] == [(Removal.NO_CLAIM, None), (None, Label.SUPPORTED)]
    assert meaning_of_irrelevant([one]) is None


MILL_PROMPT, MILL_TEXT = task("mill").prompt, task("mill").text


@pytest.mark.parametrize(
    ("row", "found"),
    [
        ({"id": "mill", "prompt": MILL_PROMPT, "response": "It was written anew."}, "mill"),
        ({"id": "mill", "response": MILL_TEXT.upper()}, "mill"),
        ({"prompt": MILL_PROMPT, "response": "It was written anew."}, "mill"),
        ({"prompt": MILL_PROMPT, "response": MILL_TEXT, "model": "m"}, "mill"),
        ({"response": f" {MILL_TEXT} "}, "mill"),
        ({"id": "other", "response": MILL_TEXT}, "mill"),
        ({"id": "mill", "prompt": "Another?", "response": MILL_TEXT}, "another prompt under the same id"),
        ({"id": "tower", "response": MILL_TEXT}, "another prompt under the same id"),
        ({"id": "mill", "response": "It was written anew."}, "another prompt under the same id"),
        ({"prompt": "Another?", "response": MILL_TEXT}, None),
        ({"id": "row-1", "response": "Something."}, None),
        ({"response": "Something."}, None),
    ],
)
def test_a_response_belongs_to_one_of_the_project_as_those_of_two_runs_do(
    tmp_path: Path, row: dict[str, str], found: str | None
) -> None:
    make_project(tmp_path / "project")
    claims = [{"text": "A b.", "label": "S"}, {"text": "B c.", "label": "odd"}]
    with opened(tmp_path / "project") as store:
        report = import_into(store, read_labelled(json_file(tmp_path, {**row, "claims": claims})), "ada")
        if found == "mill":
            assert report == ImportReport(matched=1, unlabelled=1, unknown_labels={"odd": 1})
            assert [one.id for one in store.progress()] == ["mill"]
        else:
            assert report == (ImportReport(refused={found: 1}) if found else ImportReport(without_task=1))
            assert store.progress() == []


def test_equal_responses_are_told_apart_by_ids_alone_and_refused_without(tmp_path: Path) -> None:
    twice = [task().model_copy(update={"id": name}) for name in ("one", "two")]
    create(tmp_path / "project", twice, made_of="file")
    claims = [{"text": "A b.", "label": "S"}]
    unnamed = {"prompt": MILL_PROMPT, "response": MILL_TEXT, "claims": claims}
    with opened(tmp_path / "project") as store:
        # However many people annotated it, it is one response.
        assert import_into(store, read_labelled(json_file(tmp_path, unnamed, unnamed)), "ada") == ImportReport(
            refused={"ambiguous": 1}
        )
        named = read_labelled(json_file(tmp_path, {"id": "two", **unnamed}))
        assert import_into(store, named, "ada").matched == 1
        assert [one.id for one in store.progress()] == ["two"]


def test_answers_to_one_prompt_are_told_apart_by_their_models_and_by_their_words(tmp_path: Path) -> None:
    answers = [
        task().model_copy(update={"id": one, "id_given": False, "model": one, "text": f"Said by {one}."}) for one in "mn"
    ]
    create(tmp_path / "project", answers, made_of="file")
    claims = [{"text": "A b.", "label": "S"}]
    rows = [
        {"prompt": MILL_PROMPT, "response": "Said by n.", "claims": claims},
        {"prompt": MILL_PROMPT, "response": "In other words.", "model": "m", "claims": claims},
        {"prompt": MILL_PROMPT, "response": "Said by m.", "model": "o", "claims": claims},
    ]
    with opened(tmp_path / "project") as store:
        report = import_into(store, read_labelled(json_file(tmp_path, *rows)), "ada")
        assert report == ImportReport(matched=2, finished=2, without_task=1)
        assert sorted(one.id for one in store.progress()) == ["m", "n"]


def test_a_response_that_stands_twice_in_a_file_is_one_in_the_project_that_is_made_of_it(tmp_path: Path) -> None:
    row = {"response": RIVER, "claims": [{"text": "Otters live in it.", "label": "S"}]}
    found = read_labelled(json_file(tmp_path, row, row))
    (only,) = distinct_tasks(found)
    create(tmp_path / "project", [only], made_of="file")
    with opened(tmp_path / "project") as store:
        assert import_into(store, found, "ada") == ImportReport(matched=1, finished=1, passed_over=1)


def test_the_annotators_of_a_file_are_paired_by_words_not_by_numbers(tmp_path: Path) -> None:
    head = ["response", "claim", "label", "annotator", "edit"]
    rows = [
        [RIVER, "It is long.", "S", "ada", ""],
        [RIVER, "Otters bark.", "S", "ada", "added"],
        [RIVER, "It is long.", "S", "ben", ""],
        [RIVER, "Pike bark.", "S", "ben", "added"],
        [RIVER, "Otters bark.", "S", "ben", "added"],
    ]
    found = read_labelled(table_file(tmp_path, head, *rows))
    with opened(project_of(tmp_path / "project", found)) as store:
        assert import_into(store, found, "nobody") == ImportReport(matched=2, finished=2)
        assert store.annotators() == ["ada", "ben"]
        work, how = final_work(store, 1)  # type: ignore[misc]
        assert how == "not adjudicated"
        assert {claim.text: claim.label for claim in work.claims} == {
            "It is long.": Label.SUPPORTED,
            "Otters bark.": Label.SUPPORTED,
            "Pike bark.": None,
        }


# There and back.

STEPS: list[Step] = [
    judge("c1"),
    revise("c2", "Its wheel was cast in Malmö."),
    judge("c2", Label.CONFLICTING),
    comment("c2", "See the chronicle."),
    remove("c3", Removal.REDUNDANT),
    revise("c4", "It burned."),
    remove("c4", Removal.NO_CLAIM),
    add("n1", "The mill stood by a bay."),
    judge("n1", Label.NOT_ENOUGH),
    put("n1", span_of(task().text, "The mill of Ostrava Bay")),
    put("c2", span_of(task().text, "wheel was cast")),
    FINISH,
]


def without_names(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Gold rows without what an import cannot keep: who annotated, and the ids of added claims."""
    return [
        {
            **{
                key: value for key, value in row.items() if key not in ("annotators", "adjudicator", "how", "blind", "passages")
            },
            "claims": [
                {key: value for key, value in claim.items() if key != "passages" and (key != "id" or claim["edit"] != "added")}
                for claim in row["claims"]
            ],
        }
        for row in rows
    ]


@pytest.mark.parametrize("into", ["the same tasks", "tasks of the file"])
def test_an_import_of_an_export_gives_the_same_gold(tmp_path: Path, into: str) -> None:
    with opened(make_project(tmp_path / "first")) as store:
        make_all(store, 1, "ada", *STEPS)
        for name, label in (("ada", Label.SUPPORTED), ("ben", Label.REFUTED)):
            make_all(store, 2, name, judge("c1"), judge("c2", label), remove("c3"), FINISH)
        make_all(store, 2, "cleo", decide("c2", Label.NOT_ENOUGH, "Its bell is heavy."), FINISH, role=ADJUDICATE)
        gold = list(gold_rows(store))
    assert {claim["edit"] for row in gold for claim in row["claims"]} == {edit.value for edit in Edit}
    found = read_labelled(json_file(tmp_path, *gold))
    second = make_project(tmp_path / "second") if into == "the same tasks" else project_of(tmp_path / "second", found)
    with opened(second) as store:
        assert import_into(store, found, "dora") == ImportReport(matched=2, finished=2)
        again = list(gold_rows(store))
    assert [row.get("blind") for row in (*gold, *again)] == [True, True, None, None]  # nobody here knows how these were made
    assert without_names(again) == without_names(gold)
    third = read_labelled(json_file(tmp_path, *again))
    with opened(project_of(tmp_path / "third", third)) as store:
        import_into(store, third, "dora")
        # The ids of added claims are made of their words.
        assert [[claim["id"] for claim in row["claims"]] for row in gold_rows(store)] == [
            [claim["id"] for claim in row["claims"]] for row in again
        ]
        assert without_names(list(gold_rows(store))) == without_names(gold)


def test_the_public_answers_of_fastfact_are_imported(shared: Path, tmp_path: Path) -> None:
    found = read_labelled(shared / "data/fastfact_bench/annotation_trial.jsonl")
    assert [claim.label for claim in found[0].claims] == [None] * 3  # a verifier's labels, or the extractor's, are nobody's
    with opened(project_of(tmp_path / "project", found)) as store:
        report = import_into(store, found, "public")
        assert (report.matched, report.finished, report.unlabelled) == (2, 0, 17)
        assert len(store.work(2, "public").standing) == 14


def test_the_public_biographies_of_factscore_are_read(shared: Path) -> None:
    found = read_labelled(shared / "data/factscore_bios/ChatGPT.jsonl")
    usable = [one for one in found if one.problem is None]
    counts = [label for one in usable for _, label in labels(one)]
    assert (counts.count(Label.SUPPORTED), counts.count(Label.REFUTED)) == (1998, 1136)
    assert all(len(one.task.claims) == len(one.claims) for one in usable)
    assert work_after(usable[0]).finished
