"""One person's work on one response, as the steps that led to it: claims revised, removed, added, placed, judged, commented.

Nothing is ever changed but by a further step, undoing included, so that the steps are the whole history, and their number is
the version of the work.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Annotated

from pydantic import Field, model_validator

from localfact.annotation.labels import AGREEING, Label, Removal
from localfact.annotation.tasks import AnnotationTask, MachineClaim
from localfact.inputs.annotations import Edit
from localfact.records import Record, Span
from localfact.text import normalise, readable
from localfact.vocabulary import VerdictLabel

#: The longest text of a claim and of a comment, in characters; the most claims of a response, removed ones included.
LONGEST_TEXT, MOST_CLAIMS = 2_000, 1_000


class StepKind(StrEnum):
    """What a step does. DECIDE is an adjudicator's; FINISH says that the response is done."""

    REVISE = "revise"
    REMOVE = "remove"
    RESTORE = "restore"
    ADD = "add"
    PLACE = "place"
    JUDGE = "judge"
    COMMENT = "comment"
    DECIDE = "decide"
    FINISH = "finish"
    REOPEN = "reopen"
    UNDO = "undo"
    REDO = "redo"


#: Kinds that are about no claim.
WHOLE = frozenset({StepKind.FINISH, StepKind.REOPEN, StepKind.UNDO, StepKind.REDO})
#: Kinds that carry a text.
WITH_TEXT = frozenset({StepKind.REVISE, StepKind.ADD})


class Step(Record):
    """One thing that somebody did.

    Attributes:
        claim: the id of the claim; of an added one its new id; "" for a step about the whole response.
        text: the wording of a revised or added claim, or of a decided one; a comment.
        spans: of a claim that is added or placed.
        removal: why it is removed.
        label: of a claim that is judged or decided.
        agreed: whether the label was given by agreeing with the machine.
        of: what annotators had when an adjudicator decided (`Item.digest`): once they have another thing, it does not count.
    """

    kind: StepKind
    claim: str = ""
    text: Annotated[str, Field(max_length=LONGEST_TEXT)] = ""
    spans: Annotated[tuple[Span, ...], Field(max_length=50)] = ()
    removal: Removal | None = None
    label: Label | None = None
    agreed: bool = False
    of: Annotated[str, Field(max_length=64)] = ""

    @model_validator(mode="after")
    def _is_whole(self) -> "Step":
        if (self.kind in WHOLE) == bool(self.claim):
            raise ValueError("a step is about a claim, or about the whole response")
        if self.kind in WITH_TEXT and not self.text.strip():
            raise ValueError("a claim needs a text")
        if self.kind is StepKind.JUDGE and self.label is None:
            raise ValueError("a judgement needs a label")
        if self.kind is StepKind.REMOVE and self.removal is None:
            raise ValueError("a claim is removed for a reason: redundant, or not a claim")
        if self.kind is StepKind.DECIDE and (self.label is None) == (self.removal is None):
            raise ValueError("a decision is a label, or why there is no such claim")
        if readable(self.text) != self.text:
            raise ValueError("a text has characters that cannot be shown")
        return self


class WorkClaim(Record):
    """A claim as somebody's work leaves it.

    Attributes:
        machine: the claim that annotators found; None for one that was added.
        removal: why it is removed; None for one that stands.
        label: None until it is judged.
        agreed: whether the label was given by agreeing with the machine.
        decided: whether an adjudicator gave it.
    """

    id: str
    text: str
    spans: tuple[Span, ...] = ()
    machine: MachineClaim | None = None
    removal: Removal | None = None
    label: Label | None = None
    agreed: bool = False
    comment: str = ""
    decided: bool = False

    @property
    def edit(self) -> Edit:
        """What became of the claim that annotators found (FastFact, Table 1)."""
        if self.removal is not None:
            return Edit.REMOVED
        if self.machine is None:
            return Edit.ADDED
        return Edit.UNCHANGED if normalise(self.text) == normalise(self.machine.text) else Edit.REVISED

    @property
    def verdict(self) -> VerdictLabel | None:
        """The machine's verdict, where it is about this wording."""
        return self.machine.verdict if self.machine is not None and self.edit is Edit.UNCHANGED else None


class Work(Record):
    """The state of somebody's work.

    Attributes:
        version: how many steps led to it.
        done: how many of them can be undone.
        undone: how many can be redone.
    """

    claims: tuple[WorkClaim, ...]
    version: int = 0
    done: int = 0
    undone: int = 0
    finished: bool = False

    @property
    def standing(self) -> tuple[WorkClaim, ...]:
        """The claims that were not removed."""
        return tuple(claim for claim in self.claims if claim.removal is None)

    @property
    def open(self) -> tuple[WorkClaim, ...]:
        """The claims that were not removed and have no label yet."""
        return tuple(claim for claim in self.standing if claim.label is None)

    @property
    def numbers(self) -> dict[str, int]:
        """Id of a claim -> its number on the pages, from 1."""
        return {claim.id: number for number, claim in enumerate(self.claims, start=1)}

    def claim(self, name: str) -> WorkClaim | None:
        """The claim of that id."""
        return next((claim for claim in self.claims if claim.id == name), None)


def live(steps: Iterable[Step]) -> tuple[list[Step], list[Step]]:
    """The steps that count, and those that were undone and can be redone, the next one last."""
    counting: list[Step] = []
    undone: list[Step] = []
    for step in steps:
        if step.kind is StepKind.UNDO:
            if counting:
                undone.append(counting.pop())
        elif step.kind is StepKind.REDO:
            if undone:
                counting.append(undone.pop())
        else:
            counting.append(step)
            undone.clear()
    return counting, undone


class Draft:
    """Work while steps are made one after the other: to try and to make one costs the same, however many claims there are."""

    def __init__(self, task: AnnotationTask, work: Work) -> None:
        self._task = task
        self._before = work
        self._claims = {claim.id: claim for claim in work.claims}
        self._finished = work.finished
        #: Words of the claims that stand -> how many have them.
        self._words = Counter(normalise(claim.text) for claim in work.standing)

    @property
    def work(self) -> Work:
        """The work as it is now, without the numbers of its steps."""
        return Work(claims=tuple(sorted(self._claims.values(), key=place)), finished=self._finished)

    def make(self, step: Step) -> None:
        """Makes a step that is neither UNDO nor REDO; one about a claim that does not exist changes nothing."""
        if step.kind in WHOLE:
            self._finished = step.kind is StepKind.FINISH
            return
        before = self._claims.get(step.claim)
        if step.kind is StepKind.ADD and before is None:
            after = WorkClaim(id=step.claim, text=step.text.strip(), spans=step.spans)
        elif step.kind is not StepKind.ADD and before is not None:
            after = _after(before, step)
        else:
            return
        for claim, change in ((before, -1), (after, 1)):
            if claim is not None and claim.removal is None:
                self._words[normalise(claim.text)] += change
        self._claims[step.claim] = after

    def misfit(self, step: Step) -> str | None:
        """Why a step is not possible now, as a sentence; None where it is."""
        if self._finished and step.kind not in (StepKind.COMMENT, StepKind.REOPEN, StepKind.FINISH):
            return "The response is finished. Open it again first."
        if step.kind is StepKind.ADD and len(self._claims) >= MOST_CLAIMS:
            return f"A response has {MOST_CLAIMS} claims at most."
        if any(not 0 <= span.start < span.end <= len(self._task.text) for span in step.spans):
            return "The marked place is not in the response. Mark it again."
        claim = self._claims.get(step.claim)
        if step.kind not in WHOLE and (claim is None) != (step.kind is StepKind.ADD):
            return "There is no such claim." if claim is None else "There is such a claim already."
        if self._repeats_words(step, claim):
            return "There is such a claim already."
        if step.kind is StepKind.JUDGE and claim is not None and claim.removal is not None:
            return "The claim was removed. Restore it first."
        if step.kind is StepKind.JUDGE and step.agreed:
            verdict = claim.verdict if claim is not None else None
            if verdict is None or AGREEING.get(verdict) is not step.label:
                return "The machine says something else, or nothing, of this wording. Give a label."
        if step.kind is StepKind.FINISH and (still_open := self.work.open):
            return f"{len(still_open)} claims have no label yet."
        if step.kind is StepKind.UNDO and not self._before.done:
            return "There is nothing to undo."
        if step.kind is StepKind.REDO and not self._before.undone:
            return "There is nothing to do again."
        return None

    def _repeats_words(self, step: Step, claim: WorkClaim | None) -> bool:
        """Whether a step would give a claim the words of another that stands: labels are known by the words of their claims."""
        decides = step.kind is StepKind.DECIDE and step.removal is None
        if not (step.kind in WITH_TEXT or step.kind is StepKind.RESTORE or decides):
            return False
        words = normalise(step.text.strip() or (claim.text if claim else ""))
        if decides:
            # Which words those have that differ still, nobody knows.
            known = [one for one in self._before.standing if one.label is not None]
            return any(one.id != step.claim and normalise(one.text) == words for one in known)
        own = claim is not None and claim.removal is None and normalise(claim.text) == words
        return self._words[words] > own


def work_of(task: AnnotationTask, steps: Sequence[Step]) -> Work:
    """The work that results from the steps; a step about a claim that does not exist changes nothing."""
    counting, undone = live(steps)
    found = tuple(WorkClaim(id=claim.id, text=claim.text, spans=claim.spans, machine=claim) for claim in task.claims)
    draft = Draft(task, Work(claims=found))
    for step in counting:
        draft.make(step)
    return draft.work.model_copy(update={"version": len(steps), "done": len(counting), "undone": len(undone)})


def misfit(task: AnnotationTask, work: Work, step: Step) -> str | None:
    """Why a step is not possible now, as a sentence; None where it is."""
    return Draft(task, work).misfit(step)


def _after(claim: WorkClaim, step: Step) -> WorkClaim:
    if step.kind is StepKind.REVISE:
        # The label was of another wording; who only mends a comma gives it again with one key.
        changed = normalise(step.text) != normalise(claim.text)
        kept = {"label": None, "agreed": False} if changed else {}
        return claim.model_copy(update={"text": step.text.strip(), **kept})
    if step.kind is StepKind.REMOVE:
        return claim.model_copy(update={"removal": step.removal})
    if step.kind is StepKind.RESTORE:
        return claim.model_copy(update={"removal": None})
    if step.kind is StepKind.PLACE:
        return claim.model_copy(update={"spans": step.spans})
    if step.kind is StepKind.JUDGE:
        return claim.model_copy(update={"label": step.label, "agreed": step.agreed})
    return claim.model_copy(update={"comment": step.text.strip()})


def place(claim: WorkClaim) -> tuple[bool, int]:
    """Claims stand in the order of the response; those without a place keep theirs, after them."""
    return (not claim.spans, min((span.start for span in claim.spans), default=0))
