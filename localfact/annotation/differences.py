"""Several people's work on one response side by side: where they agree, and where an adjudicator must decide."""

import hashlib
from collections.abc import Mapping, Sequence

from localfact.annotation.labels import Label
from localfact.annotation.steps import Step, StepKind, live
from localfact.annotation.work import Work, WorkClaim, place
from localfact.records import Record
from localfact.text import normalise


class Item(Record):
    """One claim as several annotators left it. `versions`: annotator -> the claim as they left it, for those who have it."""

    id: str
    versions: Mapping[str, WorkClaim]
    annotators: tuple[str, ...]

    @property
    def differs(self) -> bool:
        """Whether they disagree: not all keep the claim in the same words with the same label, and not all leave it out."""
        outcomes = {outcome(self.versions.get(name)) for name in self.annotators}
        return len(outcomes) > 1

    @property
    def digest(self) -> str:
        """A hash of what each annotator made of the claim: a decision between them counts only while it stays the same."""
        had = [(name, outcome(self.versions.get(name))) for name in self.annotators]
        return hashlib.sha256(repr(had).encode()).hexdigest()[:16]

    @property
    def first(self) -> WorkClaim:
        """The version that is shown: one that was kept before removed ones, and the machine's claim before an added one."""
        return min(self.versions.values(), key=lambda claim: (claim.removal is not None, claim.machine is None))


def outcome(claim: WorkClaim | None) -> tuple[str, Label | None] | None:
    """What is left of a claim: its words and its label; None where there is no such claim."""
    return None if claim is None or claim.removal is not None else (normalise(claim.text), claim.label)


def items_of(works: Mapping[str, Work]) -> list[Item]:
    """The claims of several works, in the order of the response.

    The claims that annotators found are paired by their ids, added ones by their words; an added one whose words are those of
    another's revised claim is that claim.
    """
    known: dict[str, dict[str, WorkClaim]] = {}
    for name, work in works.items():
        for claim in work.claims:
            if claim.machine is not None:
                known.setdefault(claim.id, {})[name] = claim
    for name, work in works.items():
        for claim in work.claims:
            if claim.machine is None:
                known.setdefault(_home(claim, name, known), {})[name] = claim
    items = [Item(id=key, versions=versions, annotators=tuple(works)) for key, versions in known.items()]
    return sorted(items, key=lambda item: place(item.first))


def work_after_adjudication(items: Sequence[Item], steps: Sequence[Step]) -> Work:
    """The work after an adjudicator's steps: what all agree on and what was decided; undecided claims have no label.

    `Work.open` are the claims that still differ.
    """
    counting, undone = live(steps)
    decisions = {step.claim: step for step in counting if step.kind is StepKind.DECIDE}
    claims = []
    for item in items:
        agreed = item.first.model_copy(update={"id": item.id, "comment": ""})
        decision = decisions.get(item.id)
        if decision is not None and decision.of not in ("", item.digest):
            decision = None  # of what an annotator has changed since
        if item.differs and decision is None:
            claims.append(agreed.model_copy(update={"label": None, "removal": None, "agreed": False}))
        elif item.differs and decision is not None:
            words = decision.text.strip() or agreed.text
            decided = {"label": decision.label, "removal": decision.removal, "text": words, "agreed": False, "decided": True}
            claims.append(agreed.model_copy(update=decided))
        else:
            claims.append(agreed)
    last = next((step.kind for step in reversed(counting) if step.kind in (StepKind.FINISH, StepKind.REOPEN)), None)
    found = Work(claims=tuple(claims), version=len(steps), done=len(counting), undone=len(undone))
    return found.model_copy(update={"finished": last is StepKind.FINISH and not found.open})


def _home(claim: WorkClaim, name: str, known: Mapping[str, Mapping[str, WorkClaim]]) -> str:
    """The id under which an added claim stands: that of one in the same words of somebody else's, or its own.

    One that stands is preferred. It may be a claim that was found: then its author removed it, and wrote it anew.
    """
    words = normalise(claim.text)
    fitting = [
        (other.removal is not None, key)
        for key, versions in known.items()
        for author, other in versions.items()
        if author != name and normalise(other.text) == words
        if (mine := versions.get(name)) is None
        or (mine.removal is not None and claim.removal is None and other.removal is None)
    ]
    if fitting:
        return min(fitting, key=lambda one: one[0])[1]
    return f"{name}/{claim.id}" if claim.id in known else claim.id
