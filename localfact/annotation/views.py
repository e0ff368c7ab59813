"""What the annotators' pages show, as plain values for their templates."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any
from urllib.parse import quote_plus

from localfact.annotation.steps import Step, StepKind
from localfact.annotation.tasks import AnnotationTask, MachineClaim
from localfact.annotation.work import Work, WorkClaim
from localfact.records import CountedPassage, Passage
from localfact.report.marked_text import pieces
from localfact.report.page.rendering import is_web_address, show
from localfact.vocabulary import RelationLabel

#: Where a claim is searched for.
SEARCH = "https://duckduckgo.com/?q="
#: What a relation between a passage and a claim means, in words.
SAYS: Mapping[RelationLabel, str] = {
    RelationLabel.ENTAILMENT: "speaks for it",
    RelationLabel.CONTRADICTION: "speaks against it",
    RelationLabel.NEUTRAL: "does not decide it",
    RelationLabel.EQUIVALENCE: "says the same",
}
#: Steps in words.
WORDS: Mapping[StepKind, str] = {
    StepKind.REVISE: "revise {claim}: “{text}”",
    StepKind.SPLIT: "split {claim}: “{text}”",
    StepKind.REMOVE: "remove {claim} ({removal})",
    StepKind.RESTORE: "restore {claim}",
    StepKind.ADD: "add a claim: “{text}”",
    StepKind.PLACE: "mark the place of {claim}",
    StepKind.JUDGE: "judge {claim}: {label}",
    StepKind.COMMENT: "comment on {claim}: “{text}”",
    StepKind.DECIDE: "decide {claim}: {decision}",
    StepKind.FINISH: "finish the response",
    StepKind.REOPEN: "open the response again",
    StepKind.UNDO: "undo the last step",
    StepKind.REDO: "redo what was undone",
}
#: A longer passage is shown from around what decided, this many characters on both sides.
AROUND = 400


def text_view(task: AnnotationTask, claims: Sequence[WorkClaim]) -> list[dict[str, Any]]:
    """The response in pieces: where each begins, its text, the claims that cover it, those that end with it.

    A character that would not be seen is a piece of its own, shown as its escape, so that places can be counted in the others.
    """
    parts: list[dict[str, Any]] = []
    place = 0
    for piece in pieces(task.text, [claim.spans for claim in claims]):
        for run in _runs(piece.text):
            text = show(run)
            parts.append({"start": place, "text": text, "escape": text != run, "claims": piece.claims, "ends": ()})
            place += len(run)
        if parts:
            parts[-1]["ends"] = piece.ends
    return parts


def _runs(text: str) -> Iterator[str]:
    """The text in parts: characters that are seen as themselves together, every other character alone."""
    for seen, characters in groupby(text, lambda character: show(character) == character):
        joined = "".join(characters)
        yield from [joined] if seen else joined


def evidence_view(task: AnnotationTask, machine: MachineClaim | None, *, blind: bool) -> list[dict[str, Any]]:
    """The passages of a claim, what decided marked in each."""
    by_id = {passage.id: passage for passage in task.passages}
    counted = machine.passages if machine is not None else ()
    return [_passage(by_id[one.passage_id], one, blind=blind) for one in counted if one.passage_id in by_id]


def others_view(task: AnnotationTask, machine: MachineClaim | None) -> list[Passage]:
    """The passages that were found for other claims of the response: one of them may decide this one too."""
    own = {one.passage_id for one in machine.passages} if machine is not None else set()
    return [one for one in task.passages if one.id not in own]


def search_link(task: AnnotationTask, text: str) -> str:
    """The address of a web search for a claim."""
    topic = task.topic if task.topic and task.topic not in text else ""
    return SEARCH + quote_plus(f"{topic} {text}".strip())


def words_of(step: Step, numbers: Mapping[str, int]) -> str:
    """A step in words, for a person who made it elsewhere. `numbers`: id of a claim -> its number on the pages."""
    claim = f"claim {numbers[step.claim]}" if step.claim in numbers else "a claim"
    return WORDS[step.kind].format(
        claim=claim,
        text="” and “".join(step.wordings) or step.text,
        label=step.label,
        removal=step.removal,
        decision=step.label or step.removal,
    )


def current_claim(
    work: Work, listed: Sequence[WorkClaim], wanted: str, after: str = "", *, judging: bool = True
) -> WorkClaim | None:
    """The claim that a screen is open at.

    Args:
        listed: the claims that the screen has.
        wanted: an id, where one was asked for.
        after: the claim of the step that was made just now.
        judging: whether the next one without a label follows upon that.
    """
    names, places = [claim.id for claim in work.claims], {claim.id: claim for claim in listed}
    begin = names.index(after) if after in names else 0
    turned = [places[name] for name in (*names[begin:], *names[:begin]) if name in places]
    waiting = (claim for claim in turned if judging and claim.label is None and claim.removal is None)
    return places.get(wanted) or next(waiting, None) or next(iter(turned), None)


def neighbours(claims: Sequence[WorkClaim], current: WorkClaim | None) -> tuple[str, str]:
    """The ids of the claims before and after one; "" where there is none."""
    names = [claim.id for claim in claims]
    if current is None or current.id not in names:
        return "", ""
    place = names.index(current.id)
    return (names[place - 1] if place else "", names[place + 1] if place + 1 < len(names) else "")


def _passage(passage: Passage, counted: CountedPassage, *, blind: bool) -> dict[str, Any]:
    decisive = counted.sentence or counted.window
    start, end = (0, 0) if decisive is None else (decisive.start, min(decisive.end, len(passage.text)))
    link = next(filter(is_web_address, passage.links), None)
    said = ""
    if not blind and counted.relation is not None and counted.probability is not None:
        said = f"{SAYS[counted.relation]}, {counted.probability:.2f}"
    return {
        "title": passage.title,
        "host": passage.host or "",
        "date": passage.date or "",
        "link": link,
        "said": said,
        "relation": "" if blind or counted.relation is None else counted.relation.value,
        "excerpt": list(_excerpt(passage.text, start, end)),
        "whole": passage.text if len(passage.text) > end - start + 2 * AROUND else "",
    }


def _excerpt(text: str, start: int, end: int) -> Iterator[tuple[str, bool]]:
    """Parts of a passage around what decided, and whether each is that."""
    first, last = max(0, start - AROUND), min(len(text), max(end, start) + AROUND)
    if first:
        first = text.find(" ", first, start) + 1 or first
        yield "… ", False
    if start > first:
        yield text[first:start], False
    if end > start:
        yield text[start:end], True
    yield text[end:last], False
    if last < len(text):
        yield " …", False
