"""What an import costs: twice the claims, about twice the work."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from localfact.annotation.importing import import_into
from localfact.annotation.labelled import ImportedClaim, Labelled, read_labelled
from localfact.annotation.labels import Label
from localfact.annotation.project import DATABASE, create
from localfact.annotation.store import AnnotationStore
from localfact.annotation.tasks import AnnotationTask, MachineClaim
from localfact.inputs.annotations import Edit


def calls_of(work: Callable[[], object]) -> int:
    """How many functions are called meanwhile."""
    calls = 0

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
    return calls


def words(number: int) -> str:
    return f"Claim {number} of the list."


def labelled(many: int, how: str) -> Labelled:
    """A response of so many claims, with labels for all of them."""
    found = [MachineClaim(id=f"c{number}", text=words(number)) for number in range(many)]
    task = AnnotationTask(id="list", text="A list.", prompt="List.", claims=tuple(found))
    claims = []
    for number in range(many):
        claim = ImportedClaim(id=f"c{number}", text=words(number), label=Label.SUPPORTED)
        if how == "each in the words of the next":
            claim = claim.model_copy(update={"text": words(number + 1), "original": words(number), "edit": Edit.REVISED})
        elif how == "added":
            claim = claim.model_copy(update={"text": f"Added {number}.", "id": ""})
        claims.append(claim)
    return Labelled(task=task, claims=tuple(claims), whole=how != "added")


@pytest.mark.parametrize("how", ["as they were", "each in the words of the next", "added"])
def test_twice_the_claims_of_a_response_are_imported_with_about_twice_the_work(tmp_path: Path, how: str) -> None:
    costs = []
    for many in (100, 200):
        one = labelled(many, how)
        create(tmp_path / str(many), [one.task], made_of="file")
        store = AnnotationStore(tmp_path / str(many) / DATABASE)
        costs.append(calls_of(lambda store=store, one=one: import_into(store, [one], "ada")))  # type: ignore[misc]
        assert store.progress()[0].judged == many
        store.close()
    assert costs[1] < 2.5 * costs[0]


def test_twice_the_rows_of_a_response_are_read_with_about_twice_the_work(tmp_path: Path) -> None:
    costs = []
    for many in (100, 200):
        file = tmp_path / f"{many}.csv"
        file.write_text("response,claim,label\n" + "".join(f"A list.,{words(number)},S\n" for number in range(many)))
        costs.append(calls_of(lambda file=file: read_labelled(file)))  # type: ignore[misc]
    assert costs[1] < 2.5 * costs[0]
