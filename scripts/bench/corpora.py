"""What an index over many passages costs: to make, to open, to search and to add to, and what searching by codes loses.

Vectors are unit vectors around random centres and texts are short, both made up. Each line of the first table is measured in a
process of its own, so that its memory is its own; the vectors are made before and are mapped from a file.
"""

import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from rich.table import Table

from localfact.corpus.indexing import segments
from localfact.corpus.indexing.dense_segments import DenseSegments
from localfact.models.embedder import InTurn, Vectors
from scripts.bench import measure, synthetic

DIMENSION = 384
#: Passages at --size 1, and at --size large.
PASSAGES = 100_000
LARGE = 1_000_000
#: Passages in a cluster, and how far they lie from its centre: neighbours have a cosine of about 0.67.
CLUSTER = 1_000
SPREAD = 0.7
WORDS = 40
QUERY_WORDS = 12
QUERIES = 50
FOUND = 10
#: How many are added to an index that is there.
ADDED = 1_000


class TableOfVectors(InTurn):
    """Stands for an embedder: a text is the number of its row, then its words."""

    identity, dimension = "table@1", DIMENSION

    def __init__(self, rows: Vectors) -> None:
        self._rows = rows

    def parts(self, text: str) -> list[str]:
        """The text itself."""
        return [text]

    def encode(self, texts: Sequence[str]) -> Vectors:
        """The rows that the texts name."""
        return self._rows[[int(text.partition(" ")[0]) for text in texts]]


def write_vectors(file: Path, count: int) -> Vectors:
    """Writes unit vectors around random centres, shape (count, dimension), and returns queries around some of them."""
    generator = np.random.default_rng(8)
    centres = synthetic.vectors(max(1, count // CLUSTER), DIMENSION, seed=9)
    rows: Vectors = np.lib.format.open_memmap(  # type: ignore[no-untyped-call]
        file, mode="w+", dtype=np.float32, shape=(count, DIMENSION)
    )

    def around(start: Vectors) -> Vectors:
        noise = generator.standard_normal(start.shape, dtype=np.float32) * np.float32(SPREAD / np.sqrt(DIMENSION))
        found: Vectors = (start + noise) / np.linalg.norm(start + noise, axis=1, keepdims=True)
        return found

    for begin in range(0, count, LARGE // 20):
        size = min(LARGE // 20, count - begin)
        rows[begin : begin + size] = around(centres[generator.integers(0, len(centres), size)])
    return around(centres[generator.integers(0, len(centres), QUERIES)])


def texts(count: int) -> dict[str, str]:
    """Passages, id -> the number of its vector and made-up words."""
    generator = np.random.default_rng(2)
    found: dict[str, str] = {}
    while len(found) < count:
        drawn = synthetic.words(generator, WORDS * min(10_000, count - len(found)))
        for begin in range(0, len(drawn), WORDS):
            found[f"{len(found):016x}"] = f"{len(found)} {' '.join(drawn[begin : begin + WORDS])}"
    return found


def resident() -> float:
    """The memory of this process now that no file can give back, in MB."""
    fields = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines() if ":" in line)
    return int(fields["RssAnon"].split()[0]) * 1024 / 1e6


def milliseconds(work: Callable[[int], object]) -> float:
    """The middle of what the queries take, each asked once before."""
    for query in range(QUERIES):
        work(query)
    took = []
    for query in range(QUERIES):
        started = time.perf_counter()
        work(query)
        took.append(time.perf_counter() - started)
    return float(np.median(took)) * 1e3


def make_index(folder: Path, count: int, dense: bool) -> dict[str, float]:
    """Makes the index over words, and over vectors if asked for, then adds some passages."""
    rows = np.load(folder / "rows.npy", mmap_mode="r")
    embedder = TableOfVectors(rows) if dense else None
    passages = texts(count)
    own = segments.Segments(folder / "segments", "chunks")
    started = time.perf_counter()
    own.add(passages, embedder)
    took = {"made": time.perf_counter() - started, "peak": measure.peak() / 1e6}
    took["megabytes"] = sum(file.stat().st_size for file in own.files()) / 1e6
    for number in range(count, count + min(ADDED, count // 10)):
        passages[f"{number:016x}"] = f"{number - count} added {number}"
    started = time.perf_counter()
    own.add(passages, embedder)
    return took | {"added": time.perf_counter() - started}


def search_index(folder: Path, how: str) -> dict[str, object]:
    """Opens the index and searches it in one way."""
    import faiss  # noqa: F401

    queries: Vectors = np.load(folder / "queries.npy")
    asked = synthetic.texts(QUERIES, QUERY_WORDS, seed=4)
    before, started = resident(), time.perf_counter()
    index = segments.Segments(folder / "segments", "chunks").open(dense=how != "words")
    opened = (time.perf_counter() - started) * 1e3
    dense = index.dense
    if isinstance(dense, DenseSegments) and how in ("flat", "codes"):
        dense.by_codes = how == "codes"
    ways: dict[str, Callable[[int], Sequence[object]]] = {
        "words": lambda query: index.search(asked[query], None, FOUND),
        "fused": lambda query: index.search(asked[query], queries[query], FOUND),
    }
    work = ways.get(how, lambda query: dense.best(queries[query], FOUND) if dense is not None else [])
    took = milliseconds(work)
    found = [work(query) for query in range(QUERIES)] if how in ("flat", "codes") else None
    return {"opened": opened, "milliseconds": took, "memory": resident() - before, "found": found}


def recall(found: Sequence[Sequence[int]], exact: Sequence[Sequence[int]]) -> float:
    """The mean share of the exact ten that were found."""
    return float(np.mean([len({*own} & {*best}) / len(best) for own, best in zip(found, exact, strict=True)]))


def tables(size: float, *, large: bool = False) -> Iterator[tuple[str, Table]]:
    """Making, adding to and searching one index; `large` measures a million passages instead of those of the size."""
    count = LARGE if large else max(1_000, int(PASSAGES * size))
    with tempfile.TemporaryDirectory(prefix="localfact-bench-") as name:
        folder = Path(name)
        np.save(folder / "queries.npy", write_vectors(folder / "rows.npy", count))
        columns = ("made", "seconds", f"seconds to add {min(ADDED, count // 10):,}", "MB at most", "MB on disk")
        table = measure.table_of(*columns, caption="MB at most: of the process, the mapped vectors included")
        for name, dense in (("words", False), ("vectors and words", True)):
            shutil.rmtree(folder / "segments", ignore_errors=True)
            took = measure.run_alone(make_index, folder, count, dense)
            table.add_row(name, *(f"{took[key]:,.1f}" for key in ("made", "added", "peak", "megabytes")))
        yield f"Indexes over {count:,} clustered vectors and texts of {WORDS} words, embedding left out", table
        columns = ("search", "ms a query", "ratio", f"recall at {FOUND}", "ms to open", "MB in memory")
        caption = f"a corpus of more than {segments.FLAT_VECTORS:,} vectors is searched by codes"
        table = measure.table_of(*columns, caption=caption)
        hows = {"flat (FAISS)": "flat", "by codes": "codes", "BM25": "words", "fused": "fused"}
        ways = {name: measure.run_alone(search_index, folder, how) for name, how in hows.items()}
        flat = ways["flat (FAISS)"]
        for name, way in ways.items():
            table.add_row(
                name,
                f"{way['milliseconds']:,.2f}",
                f"{way['milliseconds'] / flat['milliseconds']:.3f}",
                f"{recall(way['found'], flat['found']):.3f}" if way["found"] else "",
                f"{way['opened']:,.1f}",
                f"{way['memory']:,.1f}",
            )
        yield f"Searches among {count:,} passages; ratio to: flat (FAISS)", table
