"""Imports labelled claims into a project: what a file says is replayed as the steps that an annotator would have made."""

from collections import Counter
from collections.abc import Mapping, Sequence
from heapq import heappop, heappush
from typing import Any

from pydantic import Field

from localfact.annotation.label_studio import escape_name
from localfact.annotation.labelled import ImportedClaim, Labelled
from localfact.annotation.labels import Label, Removal
from localfact.annotation.steps import Step, StepKind
from localfact.annotation.store import SHOWN, AnnotationStore
from localfact.annotation.tasks import AnnotationTask, MachineClaim
from localfact.annotation.work import Draft, work_of
from localfact.errors import InputError
from localfact.inputs.annotations import Edit, IrrelevantMeaning
from localfact.inputs.claims import spans_of
from localfact.records import Record, passage_id
from localfact.scoring.pairing import ALONE, Identity, pair
from localfact.text import normalise


class ImportReport(Record):
    """The result of an import, where a work is what one annotator made of one response.

    Attributes:
        matched: works that were imported.
        finished: how many of them are finished.
        passed_over: works that were left alone, as their annotators had begun in the project.
        without_task: responses that the project does not have.
        refused: why a response belongs to none of the project for certain (`scoring/pairing.py`) -> how many.
        unlabelled: imported claims without a label.
        unknown_labels: label that is not known -> claims that had it.
        problems: sentences about rows and claims that could not be imported.
    """

    matched: int = 0
    finished: int = 0
    passed_over: int = 0
    without_task: int = 0
    refused: Mapping[str, int] = Field(default_factory=dict)
    unlabelled: int = 0
    unknown_labels: Mapping[str, int] = Field(default_factory=dict)
    problems: tuple[str, ...] = ()


def import_into(store: AnnotationStore, labelled: Sequence[Labelled], annotator: str) -> ImportReport:
    """Imports labelled responses into a project as their annotators' work; those imported before are skipped.

    Args:
        annotator: whose work it is where the file names nobody.

    Raises:
        InputError: "irrelevant" means another thing in the file than in the project; nothing is imported.
    """
    ours, theirs = store.irrelevant_means, meaning_of_irrelevant(labelled)
    if theirs is not None and theirs is not ours:
        raise InputError(
            f"By “irrelevant” the file means: {theirs}. The project means: {ours}. These cannot be mixed."
            " Import the file into a project of its own."
        )
    positions, left = _find_places(store, labelled)
    counts: Counter[str] = Counter(without_task=left.pop(ALONE, 0))
    unknown: Counter[str] = Counter()
    problems = []
    for one in labelled:
        if one.problem is not None:
            problems.append(one.problem)
            continue
        position = positions.get((one.task.model, identity_of(one.task)))
        task = None if position is None else store.task(position)
        if position is None or task is None:
            continue
        name = escape_name(one.annotator) or annotator
        store.join(name)
        steps, refused = steps_of(one, task)
        problems += refused
        made = store.make_all(position, name, steps)
        if made is None:
            counts["passed_over"] += 1
            continue
        store.set_fact(SHOWN, True)  # whoever labelled elsewhere may have seen anything
        counts["matched"] += 1
        counts["finished"] += made.finished
        standing = [claim for claim in one.claims if claim.removal is None]
        counts["unlabelled"] += sum(claim.label is None for claim in standing)
        unknown.update(claim.unknown for claim in standing if claim.unknown)
    return ImportReport(**counts, refused=dict(left), unknown_labels=dict(unknown), problems=tuple(problems))


def meaning_of_irrelevant(labelled: Sequence[Labelled]) -> IrrelevantMeaning | None:
    """What a file's annotators meant by "irrelevant"; None where they called nothing so.

    Raises:
        InputError: some meant one thing, and some the other.
    """
    found = {one.irrelevant_means for one in labelled if any(claim.label is Label.IRRELEVANT for claim in one.claims)}
    if len(found) > 1:
        raise InputError(
            "Some rows of the file say that they mean by irrelevant what others do not. Import each kind by itself."
        )
    return next(iter(found), None)


def steps_of(labelled: Labelled, task: AnnotationTask) -> tuple[list[Step], list[str]]:
    """The steps that bring a project's task to what a file says of it, and a sentence about each claim that does not fit.

    FINISH is the last step if every claim has a label and none is left out.

    Args:
        task: the response in the project, with the same claims or others. Claims are the same by id and words, else by words.
    """
    steps: list[Step] = []
    draft = Draft(task, work_of(task, []))
    refused: list[str] = []

    def make(kind: StepKind, claim: str, **what: Any) -> bool:
        step = Step(kind=kind, claim=claim, **what)
        fits = draft.misfit(step) is None
        if fits:
            draft.make(step)
            steps.append(step)
        return fits

    def refuse(claim: ImportedClaim) -> None:
        refused.append(f"{task.id}: “{claim.text}” conflicts with the claims of the project; its label was not imported.")

    def judge(name: str, claim: ImportedClaim) -> None:
        if claim.removal is None and claim.label is not None:
            make(StepKind.JUDGE, name, label=claim.label)
        if claim.comment:
            make(StepKind.COMMENT, name, text=claim.comment)

    same_text = task.text == labelled.task.text
    pairs = _pairs(task.claims, labelled.claims)
    found = {machine.id: labelled.claims[place] for machine in task.claims if (place := pairs.get(machine.id)) is not None}
    # Removed first, and then reworded as often as that frees words for another: no two claims may stand in the same words.
    for machine in task.claims:
        if labelled.whole and machine.id not in found:
            make(StepKind.REMOVE, machine.id, removal=Removal.NO_CLAIM)
        elif machine.id in found and (removal := found[machine.id].removal) is not None:
            make(StepKind.REMOVE, machine.id, removal=removal)
    reworded = [machine.id for machine in task.claims if machine.id in found and found[machine.id].text != machine.text.strip()]
    texts = {machine.id: machine.text for machine in task.claims}
    # Turn after turn in the order of the task; whose words another still has is tried again once these are free.
    waiting: dict[str, list[int]] = {}
    turns = [(0, at) for at in range(len(reworded))]
    while turns:
        turn, at = heappop(turns)
        words = found[reworded[at]].text
        if make(StepKind.REVISE, reworded[at], text=words):
            for other in waiting.pop(normalise(texts[reworded[at]]), ()):
                heappush(turns, (turn + (other < at), other))
        else:
            waiting.setdefault(normalise(words), []).append(at)
    left = {reworded[at] for places in waiting.values() for at in places}
    for machine in task.claims:
        if machine.id in left:
            refuse(found[machine.id])
        elif machine.id in found:
            claim = found[machine.id]
            if claim.placed and same_text and claim.spans != machine.spans:
                make(StepKind.PLACE, machine.id, spans=claim.spans)
            judge(machine.id, claim)
    taken = set(pairs.values())
    for place, claim in enumerate(labelled.claims):
        if place in taken or claim.removal is not None:
            continue
        # Two people's claims are one where their ids are: a number would make one of two different claims.
        name = f"import-{passage_id(normalise(claim.text))}"
        spans = claim.spans if same_text else spans_of({"text": claim.text}, task.text)
        if make(StepKind.ADD, name, text=claim.text, spans=spans):
            judge(name, claim)
        else:
            refuse(claim)
    if not refused:
        make(StepKind.FINISH, "")
    return steps, refused


def _pairs(machines: Sequence[MachineClaim], claims: Sequence[ImportedClaim]) -> dict[str, int]:
    """Id of a task's claim -> the place of the claim that a file has of it.

    An id alone means the same claim only where the file says that it was revised: "c1" is in every file.
    """
    texts = [normalise(machine.text) for machine in machines]
    names = [machine.id for machine in machines]
    words = [normalise(claim.text) for claim in claims]
    before = [normalise(claim.original or claim.text) for claim in claims]
    ids = [claim.id for claim in claims]
    revised = [claim.id if claim.edit is Edit.REVISED and claim.original is None else None for claim in claims]
    found: dict[str, int] = {}
    taken: set[int] = set()
    ways: tuple[tuple[Sequence[object], Sequence[object]], ...] = (
        (list(zip(names, texts, strict=True)), list(zip(ids, before, strict=True))),
        (texts, before),
        (texts, words),
        (names, revised),
    )
    for ours, theirs in ways:
        places: dict[object, list[int]] = {}
        for place in reversed(range(len(theirs))):
            if place not in taken:
                places.setdefault(theirs[place], []).append(place)
        for name, key in zip(names, ours, strict=True):
            if name not in found and places.get(key):
                found[name] = places[key].pop()
                taken.add(found[name])
    return found


def _find_places(
    store: AnnotationStore, labelled: Sequence[Labelled]
) -> tuple[dict[tuple[str | None, Identity], int], Counter[str]]:
    """The project's response for each imported one, paired as the responses of two runs are, separately for each model.

    Returns model and identity -> the response's position in the project, of those that are there for certain; and why a
    response, which may stand in the import several times, is nowhere -> how many.
    """
    theirs, ours = distinct_tasks(labelled), list(store.tasks())
    left: Counter[str] = Counter()
    positions: dict[tuple[str | None, Identity], int] = {}
    for model in sorted({task.model for task in theirs}, key=lambda name: (name is None, name or "")):
        given = [identity_of(task) for task in theirs if task.model == model]
        free = [one for one in ours if None in (model, one[1].model) or one[1].model == model]
        pairing = pair(given, [identity_of(task) for _, task in free])
        left += pairing.left[0]
        placed = {free[other][0]: given[at] for at, other in pairing.pairs}
        positions |= {(model, identity): position for position, identity in placed.items()}
        ours = [one for one in ours if one[0] not in placed]
    return positions, left


def identity_of(task: AnnotationTask) -> Identity:
    """What tells a response from others, however its words are spelt."""
    return Identity(task.id if task.id_given else None, task.prompt, normalise(task.text))


def distinct_tasks(labelled: Sequence[Labelled]) -> list[AnnotationTask]:
    """The responses of an import, each once: one that several people annotated may stand there several times."""
    found: dict[tuple[str | None, Identity], AnnotationTask] = {}
    for one in labelled:
        if one.problem is None:
            found.setdefault((one.task.model, identity_of(one.task)), one.task)
    return list(found.values())
