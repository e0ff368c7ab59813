"""What a transcript of a run takes on the disk, and in time: beside a file that has the same texts as they are.

A scripted engine answers, with the prompts that localfact really sends about the sample, so its generated texts are short.
"""

import asyncio
import sqlite3
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from rich.table import Table

from localfact.assess.factreasoner import FactReasoner
from localfact.assess.fastfact import FastFact
from localfact.claims.chunked import ChunkedExtractor
from localfact.claims.given import GivenClaims
from localfact.corpus.corpus import Corpus
from localfact.evidence.corpus_retriever import CorpusRetriever, Selection
from localfact.inputs.responses import read_responses
from localfact.llm.engine import Engine
from localfact.llm.layers.recording import RecordingLayer
from localfact.llm.layers.transcript_store import CallStore
from localfact.llm.scripted import ScriptedEngine
from localfact.pipeline import Costs, Pipeline
from localfact.records import Response
from localfact.relations.llm import LLMRelationModel
from localfact.runtime.locations import data_folder
from scripts.bench.calls import script
from scripts.bench.measure import table_of

#: Responses of the sample at --size 1; it has 20.
RESPONSES = 10
#: The file of format 1.
PLAIN = "CREATE TABLE calls (key TEXT NOT NULL UNIQUE, kind TEXT, stage TEXT, model INTEGER, request TEXT, answer TEXT) STRICT"


class Recorded(NamedTuple):
    """A transcript: calls, bytes of it and of the plain file, seconds of the run with and without it, and to read it all."""

    calls: int
    bytes: int
    plain: int
    recording: float
    alone: float
    reading: float


def tables(size: float) -> Iterator[tuple[str, Table]]:
    responses = read_responses(data_folder("index") / "sample-responses.jsonl", limit=max(2, int(RESPONSES * size)))
    table = table_of("method", "calls", "KB a response", "plain KB", "ratio", "ms a call to record", "to read")
    for method in ("fastfact", "factreasoner-fr2"):
        made = recorded(responses, method)
        each = len(responses) * 1e3
        table.add_row(
            method,
            f"{made.calls:,}",
            f"{made.bytes / each:,.1f}",
            f"{made.plain / each:,.1f}",
            f"{made.bytes / made.plain:.3f}",
            f"{(made.recording - made.alone) / made.calls * 1e3:.2f}",
            f"{made.reading / made.calls * 1e3:.2f}",
        )
    yield f"transcripts of {len(responses)} responses of the sample; ratio to: the same texts as they are", table


def recorded(responses: list[Response], method: str) -> Recorded:
    """Records the calls of a method about the responses."""
    with tempfile.TemporaryDirectory() as folder:
        file, plain = Path(folder) / "calls.sqlite", Path(folder) / "plain.sqlite"
        alone = asyncio.run(seconds(responses, method, None))
        recording = asyncio.run(seconds(responses, method, file))
        started = time.perf_counter()
        with closing(CallStore.to_replay(file)) as store:
            rows = list(store.read_first(1 << 40))
        reading = time.perf_counter() - started
        with closing(sqlite3.connect(plain)) as database, database:
            database.execute(PLAIN)
            insert = "INSERT INTO calls VALUES (?, 'choose', ?, 1, ?, ?)"
            database.executemany(insert, ((f"{number:064x}", *row) for number, row in enumerate(rows)))
        return Recorded(len(rows), file.stat().st_size, plain.stat().st_size, recording, alone, reading)


async def seconds(responses: list[Response], method: str, file: Path | None) -> float:
    """How long the responses take, with a transcript or without."""
    corpus = Corpus.open(data_folder("index") / "sample", None)
    retriever = CorpusRetriever(corpus, Selection("chunks", k=5, merge_near_duplicates=False))
    scripts = {response.id: script(response, "max", None) for response in responses}
    asked = iter(responses)
    started = time.perf_counter()
    for index, response in enumerate(asked):
        engine: Engine = ScriptedEngine(scripts[response.id])
        engine = engine if file is None else RecordingLayer(engine, file)
        try:
            await pipeline(method, engine, retriever).assess(index, response, Costs(), lambda what, more: None)
        finally:
            await engine.aclose()
    return time.perf_counter() - started


def pipeline(method: str, engine: Engine, retriever: CorpusRetriever) -> Pipeline:
    """One of the two methods, with that engine."""
    extractor = ChunkedExtractor(engine)
    if method == "fastfact":
        return Pipeline(extractor, retriever, None, FastFact(engine))
    return Pipeline(GivenClaims(extractor), retriever, LLMRelationModel(engine), FactReasoner(version=2))
