"""Figures about a project: who annotated how much, what the gold data holds, how well annotators agree; and their tables."""

from collections import Counter
from collections.abc import Mapping, Sequence
from enum import StrEnum
from itertools import combinations
from typing import Any

from pydantic import Field

from localfact.annotation.differences import Item, items_of
from localfact.annotation.gold import How, final_work, gold_claims
from localfact.annotation.labels import AGREEING, Label
from localfact.annotation.store import ANNOTATE, AnnotationStore
from localfact.inputs.annotations import Edit, IrrelevantMeaning
from localfact.records import Record
from localfact.report.table_data import Cell, Column, Group, Table, number
from localfact.scoring.agreement import agreement, alpha_of_many
from localfact.text import normalise
from localfact.vocabulary import VerdictLabel


class Pace(Record):
    """What one annotator did: responses finished, claims judged (of unfinished responses too), and the time without pauses.

    Work that was imported took no time.
    """

    finished: int = 0
    judged: int = 0
    seconds: float = 0.0
    seconds_a_claim: float | None = None


class AnnotationSummary(Record):
    """Figures about a project.

    Attributes:
        responses: of the project.
        finished: how many of them have gold data.
        for_two: responses that two people are wanted for.
        by_two: of all, those that two people or more finished.
        how: way in which it came about -> responses.
        annotators: name -> what they did.
        claims: in the gold data, removed ones not counted.
        undecided: claims on which annotators differ and nobody decided; they enter none of the other figures.
        labels: label -> claims.
        edits: edit -> claims, of what was done to the machine's claims.
        edits_a_response: the mean over finished responses (FastFact, Table 1).
        compared: claims that two or more people kept in the same words and labelled.
        pairs: pairs of labels of one such claim.
        share: of the pairs whose labels are equal.
        alpha: Krippendorff's.
        kappas: label -> Cohen's kappa of that label against all others over the pairs, the annotator who is first by name
            first.
        kept_by_some: claims that one person kept, and another removed or never had.
        reworded: claims that people kept in different words, so that their labels cannot be compared.
        with_verdict: gold labels of claims on which the machine has a verdict in the same words that a label can agree with.
        agreed_with_machine: how many of these say the same.
        irrelevant_means: what the annotators mean by that label.
    """

    responses: int
    finished: int
    for_two: int = 0
    by_two: int = 0
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
    agreed_with_machine: int = 0
    irrelevant_means: IrrelevantMeaning = IrrelevantMeaning.UNRELATED


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
    agreeing = AGREEING
    if store.irrelevant_means is IrrelevantMeaning.UNDECIDABLE:
        agreeing = {**AGREEING, VerdictLabel.UNVERIFIABLE: Label.IRRELEVANT}
    beside = [agreeing[one.verdict] is one.label for one in claims if one.label and one.verdict and one.verdict in agreeing]
    return AnnotationSummary(
        responses=store.size(),
        finished=len(finals),
        for_two=sum(people > 1 for people in store.annotators_wanted().values()),
        by_two=len(store.responses_finished_by_several()),
        how=_in_order(How, Counter(how for _, how in finals)),
        annotators=_paces(store),
        claims=sum(claim.removal is None for claim in claims),
        undecided=undecided,
        labels=_in_order(Label, labels),
        edits={edit: edits[edit] for edit in Edit},
        edits_a_response={edit: edits[edit] / len(finals) for edit in Edit} if finals else {},
        with_verdict=len(beside),
        agreed_with_machine=sum(beside),
        irrelevant_means=store.irrelevant_means,
        **_agreement(_shared_items(store)),
    )


def summary_tables(summary: AnnotationSummary) -> list[Table]:
    """Who annotated what, and the gold; how well people agree, where several finished one response."""
    several = summary.compared or summary.kept_by_some or summary.reworded
    return [_gold_table(summary), *([_agreement_table(summary)] if several else [])]


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
    places = [position for position, _, _ in store.responses_finished_by_several()]
    return [item for position in places for item in items_of(store.works_finished(position))]


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
    """The counts above zero, in the order of their kinds."""
    return {kind: counts[kind] for kind in kinds if counts[kind]}


def _gold_table(summary: AnnotationSummary) -> Table:
    people: list[tuple[Cell, ...]] = [
        (name, number(one.finished, 0), number(one.judged, 0), "", number(one.seconds_a_claim, 1))
        for name, one in summary.annotators.items()
    ]
    edits: list[tuple[Cell, ...]] = [
        (edit.value, number(summary.finished, 0), number(summary.edits[edit], 0), number(mean), "")
        for edit, mean in summary.edits_a_response.items()
    ]
    labels: list[tuple[Cell, ...]] = [(label.value, "", number(count, 0), "", "") for label, count in summary.labels.items()]
    how: list[tuple[Cell, ...]] = [(one.value, number(count, 0), "", "", "") for one, count in summary.how.items()]
    heads = ("responses", "claims", "claims a response", "seconds a claim")
    facts = {"responses finished": f"{summary.finished} of {summary.responses}", "claims that stand": str(summary.claims)}
    if summary.for_two:
        facts["responses for two people, finished by both"] = f"{summary.by_two} of {summary.for_two}"
    if summary.undecided:
        facts["claims on which people differ, not decided"] = str(summary.undecided)
    if summary.with_verdict:
        facts["labels that agree with the machine"] = f"{summary.agreed_with_machine} of {summary.with_verdict}"
    facts["irrelevant means"] = summary.irrelevant_means.value
    groups = {"annotators": people, "edits": edits, "labels": labels, "how the gold came about": how}
    return Table(
        "Annotation",
        (Column("", "left"), *map(Column, heads)),
        tuple(Group(heading, tuple(rows)) for heading, rows in groups.items() if rows),
        facts,
        grouped_by="about",
    )


def _agreement_table(summary: AnnotationSummary) -> Table:
    all_labels: tuple[Cell, ...] = ("all", number(summary.share, 3), number(summary.alpha, 3), "")
    each: list[tuple[Cell, ...]] = [(label.value, "", "", number(kappa, 3)) for label, kappa in summary.kappas.items()]
    facts = {
        "claims that two or more people kept and judged": str(summary.compared),
        "pairs of labels that are equal": f"{round((summary.share or 0) * summary.pairs)} of {summary.pairs}",
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
