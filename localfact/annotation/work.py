"""One person's work on one response, as the steps that led to it: claims revised, split, removed, added, placed, judged.

Nothing is ever changed but by a further step, undoing included, so that the steps are the whole history, and their number is
the version of the work.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import count

from localfact.annotation.labels import AGREEING, Label, Removal
from localfact.annotation.steps import WHOLE, WITH_TEXT, Step, StepKind, live
from localfact.annotation.tasks import AnnotationTask, MachineClaim
from localfact.inputs.annotations import Edit
from localfact.records import Record, Span
from localfact.text import normalise
from localfact.vocabulary import VerdictLabel

#: The most claims of a response, removed ones included.
MOST_CLAIMS = 1_000


class WorkClaim(Record):
    """A claim as somebody's work leaves it.

    Attributes:
        machine: the claim that annotators found; None for one that was added.
        part_of: the claim that annotators found and from which this one was split off.
        removal: why it is removed; None for one that stands.
        label: None until it is judged.
        agreed: whether the label was given by agreeing with the machine.
        decided: whether an adjudicator gave it.
    """

    id: str
    text: str
    spans: tuple[Span, ...] = ()
    machine: MachineClaim | None = None
    part_of: MachineClaim | None = None
    removal: Removal | None = None
    label: Label | None = None
    agreed: bool = False
    comment: str = ""
    decided: bool = False

    @property
    def source(self) -> MachineClaim | None:
        """The claim that annotators found, of which this one is what was left or a part; its evidence is that one's."""
        return self.machine or self.part_of

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
            made = [WorkClaim(id=step.claim, text=step.text.strip(), spans=step.spans)]
        elif step.kind is not StepKind.ADD and before is not None:
            made = [_after(before, step), *self._split_off(before, step)]
        else:
            return
        for claim, change in ((before, -1), *((after, 1) for after in made)):
            if claim is not None and claim.removal is None:
                self._words[normalise(claim.text)] += change
        if len(made) == 1:
            self._claims[step.claim] = made[0]
        else:  # the parts stand where the claim stood
            beside = (made if one.id == step.claim else [one] for one in self._claims.values())
            self._claims = {one.id: one for ones in beside for one in ones}

    def _split_off(self, claim: WorkClaim, step: Step) -> list[WorkClaim]:
        """The claims that a split leaves beside the first part, which remains the claim itself."""
        texts = step.wordings[1:] if step.kind is StepKind.SPLIT else ()
        free = (name for number in count(2) if (name := f"{claim.id}/{number}") not in self._claims)
        return [
            WorkClaim(id=name, text=text, spans=claim.spans, part_of=claim.source)
            for text, name in zip(texts, free, strict=False)
        ]

    def misfit(self, step: Step) -> str | None:
        """Why a step is not possible now, as a sentence; None where it is."""
        if self._finished and step.kind not in (StepKind.COMMENT, StepKind.REOPEN, StepKind.FINISH):
            return "The response is finished. Open it again first."
        if step.kind in WITH_TEXT and len(self._claims) + len(step.wordings) - (step.kind is not StepKind.ADD) > MOST_CLAIMS:
            return f"A response has {MOST_CLAIMS} claims at most."
        if any(not 0 <= span.start < span.end <= len(self._task.text) for span in step.spans):
            return "The marked place is not in the response. Mark it again."
        claim = self._claims.get(step.claim)
        if step.kind not in WHOLE and (claim is None) != (step.kind is StepKind.ADD):
            return "There is no such claim." if claim is None else "There is such a claim already."
        if self._repeats_words(step, claim):
            return "There is such a claim already."
        if step.kind in (StepKind.JUDGE, StepKind.SPLIT) and claim is not None and claim.removal is not None:
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
        own = normalise(claim.text) if claim is not None else ""
        words = [normalise(text) for text in step.wordings] or [own]
        if decides:
            # Which words those have that differ still, nobody knows.
            known = [one for one in self._before.standing if one.label is not None]
            return any(one.id != step.claim and normalise(one.text) in words for one in known)
        stands = claim is not None and claim.removal is None
        return len(set(words)) < len(words) or any(self._words[one] > (stands and one == own) for one in words)


def work_of(task: AnnotationTask, steps: Sequence[Step]) -> Work:
    """The work that results from the steps; a step about a claim that does not exist changes nothing."""
    counting, undone = live(steps)
    found = tuple(WorkClaim(id=claim.id, text=claim.text, spans=claim.spans, machine=claim) for claim in task.claims)
    draft = Draft(task, Work(claims=found))
    for step in counting:
        draft.make(step)
    return draft.work.model_copy(update={"version": len(steps), "done": len(counting), "undone": len(undone)})


def _after(claim: WorkClaim, step: Step) -> WorkClaim:
    if step.kind in (StepKind.REVISE, StepKind.SPLIT):
        # The label was of another wording; who only mends a comma gives it again with one key.
        changed = normalise(step.wordings[0]) != normalise(claim.text)
        kept = {"label": None, "agreed": False} if changed else {}
        return claim.model_copy(update={"text": step.wordings[0], **kept})
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
    """A sort key: claims by their place in the response, those without one last, in their present order."""
    return (not claim.spans, min((span.start for span in claim.spans), default=0))
