"""The steps in which people work on a response, as forms make them and the database keeps them."""

from collections.abc import Iterable
from enum import StrEnum
from typing import Annotated

from pydantic import Field, model_validator

from localfact.annotation.labels import Label, Removal
from localfact.records import Record, Span
from localfact.text import readable

#: The longest text of a claim and of a comment, in characters.
LONGEST_TEXT = 2_000


class StepKind(StrEnum):
    """What a step does. DECIDE is an adjudicator's; FINISH says that the response is done."""

    REVISE = "revise"
    SPLIT = "split"
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
WITH_TEXT = frozenset({StepKind.REVISE, StepKind.SPLIT, StepKind.ADD})


class Step(Record):
    """One thing that somebody did.

    Attributes:
        claim: the id of the claim; of an added one its new id; "" for a step about the whole response.
        text: the wording of a revised or added claim, or of a decided one; of a split one its parts, a line each; a comment.
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
        if self.kind is StepKind.SPLIT and len(self.wordings) < 2:
            raise ValueError("a claim is split into two or more: write each on a line of its own")
        if self.kind is StepKind.JUDGE and self.label is None:
            raise ValueError("a judgement needs a label")
        if self.kind is StepKind.REMOVE and self.removal is None:
            raise ValueError("a claim is removed for a reason: redundant, or not a claim")
        if self.kind is StepKind.DECIDE and (self.label is None) == (self.removal is None):
            raise ValueError("a decision is a label, or why there is no such claim")
        if readable(self.text) != self.text:
            raise ValueError("a text has characters that cannot be shown")
        return self

    @property
    def wordings(self) -> tuple[str, ...]:
        """The wordings that it gives to claims; of a comment none."""
        if self.kind not in (*WITH_TEXT, StepKind.DECIDE):
            return ()
        lines = self.text.splitlines() if self.kind is StepKind.SPLIT else (self.text,)
        return tuple(words for line in lines if (words := line.strip()))


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
