"""The gold data of a project, which every command reads, and the claims on which annotators differ, as rows."""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any

from localfact.annotation.differences import Item, items_of, work_after_adjudication
from localfact.annotation.store import ADJUDICATE, SHOWN, AnnotationStore
from localfact.annotation.work import Work, WorkClaim
from localfact.text import normalise


class How(StrEnum):
    """How gold data came about. Where nobody decided, claims on which annotators differ stand without a label."""

    ONE = "one annotator"
    AGREED = "agreed"
    ADJUDICATED = "adjudicated"
    UNDECIDED = "not adjudicated"


def final_work(store: AnnotationStore, position: int) -> tuple[Work, How] | None:
    """The work that counts as gold for a response, and its origin; None if nobody finished the response."""
    works = store.works_finished(position)
    if len(works) < 2:
        return next(((work, How.ONE) for work in works.values()), None)
    deciding = store.adjudicators(position)
    if deciding:
        return store.work(position, deciding[0], ADJUDICATE), How.ADJUDICATED
    work = work_after_adjudication(items_of(works), [])
    return work, How.UNDECIDED if work.open else How.AGREED


def gold_rows(store: AnnotationStore) -> Iterator[dict[str, Any]]:
    """One row a finished response, in our own schema (inputs/responses.py)."""
    for position, task in store.tasks():
        found = final_work(store, position)
        if found is None:
            continue
        work, how = found
        works = store.works_finished(position)
        row = {
            name: value for name in ("id", "prompt", "topic", "model", "source") if (value := getattr(task, name)) is not None
        }
        row |= {"response": task.text, "annotators": list(works), "how": how.value}
        row["irrelevant_means"] = store.irrelevant_means.value
        facts = store.facts()
        if facts.get("blind") and not facts.get(SHOWN):
            row["blind"] = True
        if how is How.ADJUDICATED:
            row["adjudicator"] = store.adjudicators(position)[0]
        passages = {passage.id: passage for passage in task.passages}
        comments = {item.id: _comment(item) for item in items_of(works)}
        row["claims"] = [_claim_row(claim, comments.get(claim.id, ""), passages) for claim in gold_claims(work)]
        # Without any, the key is left out: an empty list would say that the response brings its own evidence.
        if passages:
            row["passages"] = [
                passage.model_dump(mode="json", include={"id", "title", "links", "date", "text"}, exclude_none=True)
                for passage in passages.values()
            ]
        yield row


def gold_claims(work: Work) -> list[WorkClaim]:
    """The claims that stand and those of the machine that were removed; one that was added and removed never was."""
    return [claim for claim in work.claims if claim.removal is None or claim.machine is not None]


def disagreements(store: AnnotationStore) -> Iterator[dict[str, Any]]:
    """One row a claim on which those who finished a response differ: what each made of it, and what was decided."""
    for position, name, _ in store.responses_finished_by_several():
        deciding = store.adjudicators(position)
        work = store.work(position, deciding[0], ADJUDICATE) if deciding else None
        for item in items_of(store.works_finished(position)):
            if not item.differs:
                continue
            row: dict[str, Any] = {"response": name, "claim": item.id}
            row["annotators"] = {one: _version(item.versions.get(one)) for one in item.annotators}
            claim = work.claim(item.id) if work is not None else None
            if claim is not None and claim.decided:
                row["decided"] = {"by": deciding[0], **_version(claim)}
            yield row


def _claim_row(claim: WorkClaim, comment: str, passages: Mapping[str, object]) -> dict[str, Any]:
    row: dict[str, Any] = {"id": claim.id, "text": claim.text, "spans": [[span.start, span.end] for span in claim.spans]}
    if claim.removal is not None:
        row["removal"] = claim.removal.value
    elif claim.label is not None:
        row["label"] = claim.label.value
    row["edit"] = claim.edit.value
    # A removed claim may have been revised before.
    if claim.machine is not None and normalise(claim.text) != normalise(claim.machine.text):
        row["original"] = claim.machine.text
    named = [one.passage_id for one in claim.source.passages if one.passage_id in passages] if claim.source is not None else []
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
