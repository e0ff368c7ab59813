"""What a retriever found is kept in a transcript, and a replay gives it back without searching."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from localfact.errors import InputError, MissingError
from localfact.evidence.recorded import RecordingRetriever, ReplayingRetriever
from localfact.records import Claim, Evidence, Hit, Passage, Response, passage_id
from localfact.stages import Retriever

TEXT = "The bridge of Varno has six arches. \ud800"
RESPONSE = Response(id="r", text="The bridge of Varno has five arches.")
CLAIMS = (Claim(id="a", text="The bridge has five arches."),)


class Found:
    """A retriever that finds the same passage for every claim, with one more failure than the last time."""

    def __init__(self, failing: bool = False) -> None:
        self.failing, self.asked = failing, 0

    async def retrieve(self, response: Response, claims: Sequence[Claim]) -> Evidence:
        self.asked += 1
        hits = {claim.id: (Hit(passage_id=passage_id(TEXT), rank=1, score=1 / 3),) for claim in claims}
        passage = Passage(id=passage_id(TEXT), text=TEXT, links=("https://varno.example/",))
        return Evidence(
            passages=(passage,),
            hits=hits,
            affinity={claim.id: {passage.id: 0.1 + 0.2} for claim in claims},
            failures={"a": "no provider answered"} if self.failing else {},
        )


def unopened() -> Retriever:
    raise MissingError("nothing is searched in a replay")


async def record(file: Path, retriever: Found) -> Evidence:
    recording = RecordingRetriever(retriever, file, "settings")
    found = await recording.retrieve(RESPONSE, CLAIMS)
    recording.close()
    return found


async def test_a_replay_gives_what_was_found_and_opens_nothing(tmp_path: Path) -> None:
    found = await record(tmp_path / "calls.sqlite", Found())
    replaying = ReplayingRetriever(tmp_path / "calls.sqlite", "settings", unopened)
    assert await replaying.retrieve(RESPONSE, CLAIMS) == found
    replaying.close()


@pytest.mark.parametrize("other", ["settings", "response", "claims"])
async def test_what_was_not_recorded_is_searched_for_with_one_retriever(tmp_path: Path, other: str) -> None:
    await record(tmp_path / "calls.sqlite", Found())
    opened: list[Found] = []

    def open_retriever() -> Retriever:
        opened.append(Found())
        return opened[-1]

    replaying = ReplayingRetriever(tmp_path / "calls.sqlite", "other" if other == "settings" else "settings", open_retriever)
    response = RESPONSE.model_copy(update={"prompt": "How many?"}) if other == "response" else RESPONSE
    claims = (*CLAIMS, Claim(id="b", text="It stands in Varno.")) if other == "claims" else CLAIMS
    for _ in range(2):
        assert set((await replaying.retrieve(response, claims)).hits) == {claim.id for claim in claims}
    assert [one.asked for one in opened] == [2]


async def test_evidence_with_a_failure_is_not_kept_and_later_evidence_takes_the_place_of_older(tmp_path: Path) -> None:
    file = tmp_path / "calls.sqlite"
    for retriever, rows in ((Found(failing=True), 0), (Found(), 1), (Found(), 1)):
        await record(file, retriever)
        with closing(sqlite3.connect(file)) as database:
            assert database.execute("SELECT count(*) FROM evidence").fetchone() == (rows,)


@pytest.mark.parametrize("stored", [b"\x00damage", "text"])
async def test_damaged_evidence_is_told_and_never_taken_for_none(tmp_path: Path, stored: object) -> None:
    file = tmp_path / "calls.sqlite"
    await record(file, Found())
    with closing(sqlite3.connect(file)) as database, database:
        database.execute("UPDATE evidence SET evidence = CAST(? AS BLOB)", (stored,))
    with pytest.raises(InputError, match=r"calls\.sqlite is damaged"):
        await ReplayingRetriever(file, "settings", unopened).retrieve(RESPONSE, CLAIMS)
