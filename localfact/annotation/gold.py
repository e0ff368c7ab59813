"""What comes of a project: gold data that every command reads, figures about the annotation, and where annotators differ."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import combinations
from typing import Any

from pydantic import Field

from localfact.annotation.differences import Item, adjudicated, items_of
from localfact.annotation.labels import AGREEING, Label
from localfact.annotation.store import ADJUDICATE, ANNOTATE, AnnotationStore
from localfact.annotation.work import Work, WorkClaim
from localfact.inputs.annotations import Edit
from localfact.records import Record
from localfact.report.table_data import Cell, Column, Group, Number, Table
from localfact.scoring.agreement import agreement, alpha_of_many
from localfact.text import normalise


class How(StrEnum):
    """How gold data came about. Where nobody decided, claims on which annotators differ stand without a label."""

    ONE = "one annotator"
    AGREED = "agreed"
    ADJUDICATED = "adjudicated"
    UNDECIDED = "not adjudicated"


class Pace(Record):
    """What somebody annotated, finished or not, and the time that it took, without pauses; work that was imported took none."""

    finished: int = 0
    judged: int = 0
    seconds: float = 0.0
    seconds_a_claim: float | None = None


class AnnotationSummary(Record):
    """Figures about a project.

    Attributes:
        responses, finished: of the project, and of those the ones that are gold; how: how the gold came about -> responses.
        claims: that stand in the gold; undecided: on which people differ and nobody decided, in none of the figures here.
            labels: theirs. edits: what became of the machine's claims; edits_a_response: on average
            of a finished response (FastFact, Table 1).
        compared: claims that two or more people kept in the same words and judged; pairs: of their labels; share: of equal
            pairs; alpha: Krippendorff's. kappas: one label against all others -> Cohen's kappa of all pairs, whose first
            is that of the first by name.
        kept_by_some: claims that one kept, and another removed or never had. reworded: claims that people kept in
            different words, whose labels say nothing of one another.
        with_verdict: labels of the gold beside a verdict of the machine on the same words; agreed_with_machine: share of those
            that say the same.
    """

    responses: int
    finished: int
    how: Mapping[How, int] = Field(default_factory=dict)
    annotators: Mapping[str, Pace] = Field(default_factory=dict)
    claims: int = 0
    undecided: int = 0
    labels: Mapping[Label, int] = Field(default_factory=dict)
    edits: Mapping[Edit, int] = Field(default_factory=dict)
    edits_a_response: Mapping[Edit, float] = Field(default_factory=dict)
    compared: int = 0
    pairs: int = 0
    share: float | None = None
    alpha: float | None = None
    kappas: Mapping[Label, float | None] = Field(default_factory=dict)
    kept_by_some: int = 0
    reworded: int = 0
    with_verdict: int = 0
    agreed_with_machine: float | None = None


def final_work(store: AnnotationStore, position: int) -> tuple[Work, How] | None:
    """What counts as gold for a response, and how it came about; None where nobody finished it."""
    works = store.finished_works(position)
    if len(works) < 2:
        return next(((work, How.ONE) for work in works.values()), None)
    deciding = store.adjudicators(position)
    if deciding:
        return store.work(position, deciding[0], ADJUDICATE), How.ADJUDICATED
    work = adjudicated(items_of(works), [])
    return work, How.UNDECIDED if work.open else How.AGREED


def gold_rows(store: AnnotationStore) -> Iterator[dict[str, Any]]:
    """One row a finished response, in our own schema (inputs/responses.py)."""
    for position, task in store.tasks():
        found = final_work(store, position)
        if found is None:
            continue
        work, how = found
        works = store.finished_works(position)
        row = {
            name: value for name in ("id", "prompt", "topic", "model", "source") if (value := getattr(task, name)) is not None
        }
        row |= {"response": task.text, "annotators": list(works), "how": how.value}
        if store.facts().get("blind"):
            row["blind"] = True
        if how is How.ADJUDICATED:
            row["adjudicator"] = store.adjudicators(position)[0]
        passages = {passage.id: passage for passage in task.passages}
        comments = {item.id: _comment(item) for item in items_of(works)}
        row["claims"] = [_claim_row(claim, comments.get(claim.id, ""), passages) for claim in gold_claims(work)]
        row["passages"] = [
            passage.model_dump(mode="json", include={"id", "title", "links", "date", "text"}, exclude_none=True)
            for passage in passages.values()
        ]
        yield row


def gold_claims(work: Work) -> list[WorkClaim]:
    """The claims that stand and those of the machine that were removed; one that was added and removed never was."""
    return [claim for claim in work.claims if claim.removal is None or claim.machine is not None]


def summarise(store: AnnotationStore) -> AnnotationSummary:
    """The figures about a project."""
    finals = [found for position, _ in store.tasks() if (found := final_work(store, position)) is not None]
    # What people differ in and nobody decided is no edit of anybody's yet.
    undecided = sum(len(work.open) for work, how in finals if how is How.UNDECIDED)
    claims = [
        claim
        for work, how in finals
        for claim in gold_claims(work)
        if how is not How.UNDECIDED or claim.label is not None or claim.removal is not None
    ]
    labels = Counter(claim.label for claim in claims if claim.removal is None and claim.label is not None)
    edits = Counter(claim.edit for claim in claims)
    beside = [
        AGREEING[claim.verdict] is claim.label
        for claim in claims
        if claim.label is not None and claim.verdict is not None and claim.verdict in AGREEING
    ]
    return AnnotationSummary(
        responses=store.size(),
        finished=len(finals),
        how=_in_order(How, Counter(how for _, how in finals)),
        annotators=_paces(store),
        claims=sum(claim.removal is None for claim in claims),
        undecided=undecided,
        labels=_in_order(Label, labels),
        edits={edit: edits[edit] for edit in Edit},
        edits_a_response={edit: edits[edit] / len(finals) for edit in Edit} if finals else {},
        with_verdict=len(beside),
        agreed_with_machine=sum(beside) / len(beside) if beside else None,
        **_agreement(_shared_items(store)),
    )


def disagreements(store: AnnotationStore) -> Iterator[dict[str, Any]]:
    """One row a claim on which those who finished a response differ: what each made of it, and what was decided."""
    for position, name, _ in store.finished_by_several():
        deciding = store.adjudicators(position)
        work = store.work(position, deciding[0], ADJUDICATE) if deciding else None
        for item in items_of(store.finished_works(position)):
            if not item.differs:
                continue
            row: dict[str, Any] = {"response": name, "claim": item.id}
            row["annotators"] = {one: _version(item.versions.get(one)) for one in item.annotators}
            claim = work.claim(item.id) if work is not None else None
            if claim is not None and claim.decided:
                row["decided"] = {"by": deciding[0], **_version(claim)}
            yield row


def summary_tables(summary: AnnotationSummary) -> list[Table]:
    """Who annotated what, and the gold; how well people agree, where several finished one response."""
    several = summary.compared or summary.kept_by_some or summary.reworded
    return [_gold_table(summary), *([_agreement_table(summary)] if several else [])]


def _claim_row(claim: WorkClaim, comment: str, passages: Mapping[str, object]) -> dict[str, Any]:
    row: dict[str, Any] = {"id": claim.id, "text": claim.text, "spans": [[span.start, span.end] for span in claim.spans]}
    if claim.removal is not None:
        row["removal"] = claim.removal.value
    elif claim.label is not None:
        row["label"] = claim.label.value
    row["edit"] = claim.edit.value
    if claim.machine is not None:
        # A removed claim may have been revised before.
        if normalise(claim.text) != normalise(claim.machine.text):
            row["original"] = claim.machine.text
        named = [one.passage_id for one in claim.machine.passages if one.passage_id in passages]
        if named:
            row["passages"] = named
    if comment:
        row["comment"] = comment
    return row


def _comment(item: Item) -> str:
    """The comment, or of several annotators a line for each, with the name."""
    said = {name: claim.comment for name, claim in item.versions.items() if claim.comment}
    if len(item.annotators) == 1:
        return next(iter(said.values()), "")
    return "\n".join(f"{name}: {comment}" for name, comment in said.items())


def _version(claim: WorkClaim | None) -> dict[str, str]:
    """What is left of a claim with somebody; nothing of one that they never had."""
    if claim is None:
        return {}
    left = "" if claim.removal is not None or claim.label is None else claim.label.value
    row = {"text": claim.text, "label": left, "removal": claim.removal or "", "comment": claim.comment}
    return {name: str(value) for name, value in row.items() if value}


def _paces(store: AnnotationStore) -> dict[str, Pace]:
    found: dict[str, Pace] = {}
    for one in store.progress():
        if one.role == ANNOTATE:
            before = found.get(one.annotator, Pace())
            judged, seconds = before.judged + one.judged, before.seconds + one.seconds
            found[one.annotator] = Pace(
                finished=before.finished + one.finished,
                judged=judged,
                seconds=seconds,
                seconds_a_claim=seconds / judged if judged and seconds else None,
            )
    return dict(sorted(found.items()))


def _shared_items(store: AnnotationStore) -> list[Item]:
    """The claims of the responses that two or more people finished."""
    places = [position for position, _, _ in store.finished_by_several()]
    return [item for position in places for item in items_of(store.finished_works(position))]


def _agreement(items: Sequence[Item]) -> dict[str, Any]:
    units: list[list[Label]] = []
    kept_by_some = reworded = 0
    for item in items:
        kept = [claim for name in sorted(item.versions) if (claim := item.versions[name]).removal is None]
        kept_by_some += 0 < len(kept) < len(item.annotators)
        wordings: dict[str, list[Label]] = {}
        for claim in kept:
            known = wordings.setdefault(normalise(claim.text), [])
            known += [claim.label] if claim.label is not None else []
        reworded += len(wordings) > 1
        units += [labels for labels in wordings.values() if len(labels) > 1]
    pairs = [pair for labels in units for pair in combinations(labels, 2)]
    used = {label for pair in pairs for label in pair}
    kappas = {label: agreement([(one == label, two == label) for one, two in pairs]).kappa for label in Label if label in used}
    return {
        "compared": len(units),
        "pairs": len(pairs),
        "share": agreement(pairs).share,
        "alpha": alpha_of_many(units),
        "kappas": kappas,
        "kept_by_some": kept_by_some,
        "reworded": reworded,
    }


def _in_order(kinds: type[StrEnum], counts: Counter[Any]) -> dict[Any, int]:
    """Those counts that are not zero, in the order of their kinds."""
    return {kind: counts[kind] for kind in kinds if counts[kind]}


def _gold_table(summary: AnnotationSummary) -> Table:
    def whole(value: float) -> Number:
        return Number(value, decimals=0)

    people: list[tuple[Cell, ...]] = [
        (
            name,
            whole(one.finished),
            whole(one.judged),
            "",
            "" if one.seconds_a_claim is None else Number(one.seconds_a_claim, decimals=1),
        )
        for name, one in summary.annotators.items()
    ]
    edits: list[tuple[Cell, ...]] = [
        (edit.value, whole(summary.finished), whole(summary.edits[edit]), Number(mean), "")
        for edit, mean in summary.edits_a_response.items()
    ]
    labels: list[tuple[Cell, ...]] = [(label.value, "", whole(count), "", "") for label, count in summary.labels.items()]
    how: list[tuple[Cell, ...]] = [(one.value, whole(count), "", "", "") for one, count in summary.how.items()]
    heads = ("responses", "claims", "claims a response", "seconds a claim")
    facts = {"responses finished": f"{summary.finished} of {summary.responses}", "claims that stand": str(summary.claims)}
    if summary.undecided:
        facts["claims on which people differ, not decided"] = str(summary.undecided)
    if summary.agreed_with_machine is not None:
        facts["labels that agree with the machine"] = f"{summary.agreed_with_machine:.3f} of {summary.with_verdict}"
    groups = {"annotators": people, "edits": edits, "labels": labels, "how the gold came about": how}
    return Table(
        "Annotation",
        (Column("", "left"), *map(Column, heads)),
        tuple(Group(heading, tuple(rows)) for heading, rows in groups.items() if rows),
        facts,
        grouped_by="about",
    )


def _agreement_table(summary: AnnotationSummary) -> Table:
    def figure(value: float | None) -> Cell:
        return "" if value is None else Number(value, decimals=3)

    all_labels: tuple[Cell, ...] = ("all", figure(summary.share), figure(summary.alpha), "")
    each: list[tuple[Cell, ...]] = [(label.value, "", "", figure(kappa)) for label, kappa in summary.kappas.items()]
    facts = {
        "claims that two or more people kept and judged": str(summary.compared),
        "pairs of labels": str(summary.pairs),
        "claims that one kept and another did not": str(summary.kept_by_some),
        "claims kept in different words, not compared": str(summary.reworded),
    }
    heads = ("agreement", "Krippendorff's alpha", "Cohen's kappa")
    return Table(
        "Agreement between annotators",
        (Column("label", "left"), *map(Column, heads)),
        (Group("", (all_labels, *each)),),
        facts,
    )
