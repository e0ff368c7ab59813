"""Small annotation projects about invented places: three responses with their claims, verdicts and passages."""

from collections.abc import Sequence
from pathlib import Path

from localfact.annotation.labels import Label, Removal
from localfact.annotation.project import create
from localfact.annotation.steps import Step, StepKind
from localfact.annotation.store import IRRELEVANT, AnnotationStore
from localfact.annotation.tasks import AnnotationTask, MachineClaim
from localfact.annotation.work import Work
from localfact.inputs.annotations import IrrelevantMeaning
from localfact.records import CountedPassage, Passage, Span, passage_id
from localfact.vocabulary import RelationLabel, VerdictLabel

#: Response -> its claims with what a method made of each; every claim is a sentence of the response.
RESPONSES = {
    "mill": [
        ("The mill of Ostrava Bay opened in 1911.", VerdictLabel.SUPPORTED),
        ("Its wheel was cast in Lund.", VerdictLabel.CONTRADICTED),
        ("Nine families lived beside it.", VerdictLabel.UNDECIDED),
        ("It burned down in 1934.", VerdictLabel.FAILED),
    ],
    "tower": [
        ("The tower of Halm is built of slate.", VerdictLabel.SUPPORTED),
        ("Its bell weighs two tons.", VerdictLabel.NOT_ENOUGH_EVIDENCE),
        ("It is lovely at dusk.", VerdictLabel.UNVERIFIABLE),
    ],
    "ferry": [
        ("The ferry Brigga was launched in 1952.", VerdictLabel.CONFLICTING),
        ("She carries forty cars.", VerdictLabel.SUPPORTED),
        ("Her captain is Tove Arn.", VerdictLabel.SUPPORTED),
    ],
}


def task(name: str = "mill") -> AnnotationTask:
    """One of the three responses, its claims c1, c2, ... in the order of its text."""
    claims = RESPONSES[name]
    text = " ".join(words for words, _ in claims)
    passages = [Passage(id=passage_id(words), text=f"{words} So the chronicle says.", provider="input") for words, _ in claims]
    return AnnotationTask(
        id=name,
        id_given=True,
        text=text,
        prompt=f"Tell me of the {name}.",
        claims=tuple(
            MachineClaim(
                id=f"c{number}",
                text=words,
                spans=(span_of(text, words),),
                verdict=verdict,
                posterior=0.5,
                passages=(CountedPassage(passage_id=passage_id(words), relation=RelationLabel.ENTAILMENT, probability=0.9),),
            )
            for number, (words, verdict) in enumerate(claims, start=1)
        ),
        passages=tuple(passages),
    )


def tasks() -> list[AnnotationTask]:
    """All three."""
    return [task(name) for name in RESPONSES]


def make_project(folder: Path, *, overlap: float = 0.0, seed: int = 0, many: int | None = None) -> Path:
    """Makes a project of the three responses, or of `many`, which are the mill again and again."""
    chosen = tasks() if many is None else [task().model_copy(update={"id": f"mill-{number}"}) for number in range(many)]
    create(folder, chosen, made_of="invented.jsonl", overlap=overlap, seed=seed)
    return folder


def make_store(file: Path, wanted: Sequence[int] = (1, 1, 1)) -> Path:
    """Writes a database of the three responses, each to be annotated by so many people."""
    AnnotationStore.create(file, tasks(), wanted, {"made_of": "invented.jsonl", IRRELEVANT: IrrelevantMeaning.UNRELATED.value})
    return file


def span_of(text: str, words: str) -> Span:
    """Where words stand in a text."""
    start = text.index(words)
    return Span(start=start, end=start + len(words))


# Steps in one word each.


def judge(claim: str, label: Label = Label.SUPPORTED, *, agreed: bool = False) -> Step:
    return Step(kind=StepKind.JUDGE, claim=claim, label=label, agreed=agreed)


def revise(claim: str, text: str) -> Step:
    return Step(kind=StepKind.REVISE, claim=claim, text=text)


def split(claim: str, *parts: str) -> Step:
    return Step(kind=StepKind.SPLIT, claim=claim, text="\n".join(parts))


def remove(claim: str, removal: Removal = Removal.REDUNDANT) -> Step:
    return Step(kind=StepKind.REMOVE, claim=claim, removal=removal)


def restore(claim: str) -> Step:
    return Step(kind=StepKind.RESTORE, claim=claim)


def add(claim: str, text: str, *spans: Span) -> Step:
    return Step(kind=StepKind.ADD, claim=claim, text=text, spans=spans)


def put(claim: str, *spans: Span) -> Step:
    return Step(kind=StepKind.PLACE, claim=claim, spans=spans)


def comment(claim: str, text: str) -> Step:
    return Step(kind=StepKind.COMMENT, claim=claim, text=text)


def decide(claim: str, outcome: Label | Removal, text: str = "") -> Step:
    if isinstance(outcome, Label):
        return Step(kind=StepKind.DECIDE, claim=claim, label=outcome, text=text)
    return Step(kind=StepKind.DECIDE, claim=claim, removal=outcome, text=text)


FINISH, REOPEN, UNDO, REDO = (Step(kind=kind) for kind in (StepKind.FINISH, StepKind.REOPEN, StepKind.UNDO, StepKind.REDO))


def make_all(store: AnnotationStore, position: int, annotator: str, *steps: Step, role: str = "annotate") -> Work:
    """Makes steps one after the other, as somebody does who sees each before the next."""
    work = store.work(position, annotator, role)
    for step in steps:
        key = f"key-{work.version}"
        work = store.make(position, annotator, step, version=work.version, key=key, role=role)
    return work


def judge_all(store: AnnotationStore, position: int, annotator: str, label: Label = Label.SUPPORTED) -> Work:
    """Gives every open claim that label and finishes."""
    still_open = store.work(position, annotator).open
    return make_all(store, position, annotator, *(judge(claim.id, label) for claim in still_open), FINISH)
