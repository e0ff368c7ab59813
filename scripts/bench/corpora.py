"""What an index over many passages costs: to make, to open, to search and to add to, and what searching by codes loses.

Vectors are unit vectors around random centres and texts are short, both made up. Each line of the first table is measured in a
process of its own, so that its memory is its own; the vectors are made before and are mapped from a file.
"""

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.table import Table

from localfact.corpus.indexing import segments
from localfact.corpus.indexing.bm25 import BM25
from localfact.corpus.indexing.dense_segments import DenseSegments
from localfact.corpus.indexing.index import best_positions
from localfact.corpus.indexing.lexical_index import terms
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
#: Texts at --size 1 for the comparison of libraries.
COMPARED = 10_000
#: How many of its cells an inverted file reads, for comparison; it has 4 times the root of n.
PROBED = 16


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


def clustered(file: Path, count: int) -> Vectors:
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


def peak() -> float:
    """The most memory that this process had so far, in MB, what it maps from files included."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6


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


def made(folder: Path, count: int, *, dense: bool) -> dict[str, float]:
    """Makes the index over words, and over vectors if asked for, then adds some passages."""
    rows = np.load(folder / "rows.npy", mmap_mode="r")
    embedder = TableOfVectors(rows) if dense else None
    passages = texts(count)
    own = segments.Segments(folder / "segments", "chunks")
    started = time.perf_counter()
    own.add(passages, embedder)
    took = {"made": time.perf_counter() - started, "peak": peak()}
    took["megabytes"] = sum(file.stat().st_size for file in own.files()) / 1e6
    for number in range(count, count + min(ADDED, count // 10)):
        passages[f"{number:016x}"] = f"{number - count} added {number}"
    started = time.perf_counter()
    own.add(passages, embedder)
    return took | {"added": time.perf_counter() - started}


def searched(folder: Path, how: str) -> dict[str, object]:
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


def inverted(folder: Path) -> dict[str, object]:
    """FAISS's inverted file in memory, for comparison: it is made again whenever the cells are."""
    import faiss

    rows: Vectors = np.load(folder / "rows.npy", mmap_mode="r")
    queries = np.load(folder / "queries.npy")
    cells = min(int(4 * len(rows) ** 0.5), len(rows) // 40)
    before, started = resident(), time.perf_counter()
    index: Any = faiss.index_factory(DIMENSION, f"IVF{cells},Flat", faiss.METRIC_INNER_PRODUCT)
    index.cp.niter, index.cp.max_points_per_centroid = 10, 64
    index.train(rows[:: max(1, len(rows) // (64 * cells))])
    for begin in range(0, len(rows), LARGE // 20):
        index.add(rows[begin : begin + LARGE // 20])
    took = time.perf_counter() - started
    index.nprobe = PROBED
    found = [index.search(query[None, :], FOUND)[1][0].tolist() for query in queries]
    each = milliseconds(lambda query: index.search(queries[query][None, :], FOUND))
    return {"made": took, "milliseconds": each, "memory": resident() - before, "found": found}


def multiplied(folder: Path) -> dict[str, object]:
    """One numpy product of all vectors, in memory, for comparison."""
    queries: Vectors = np.load(folder / "queries.npy")
    before, started = resident(), time.perf_counter()
    rows: Vectors = np.load(folder / "rows.npy")
    opened = (time.perf_counter() - started) * 1e3

    def work(query: int) -> list[int]:
        found: list[int] = np.argpartition(rows @ queries[query], -FOUND)[-FOUND:].tolist()
        return found

    took, found = milliseconds(work), [work(query) for query in range(QUERIES)]
    return {"opened": opened, "milliseconds": took, "memory": resident() - before, "found": found}


def alone(task: str, folder: Path, count: int = 0) -> dict[str, Any]:
    """Does a task of `main` in a process of its own."""
    command = [sys.executable, "-m", __name__, task, str(folder), str(count)]
    answer: dict[str, Any] = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    return answer


def recall(found: Sequence[Sequence[int]], exact: Sequence[Sequence[int]]) -> float:
    """The mean share of the exact ten that were found."""
    return float(np.mean([len({*own} & {*best}) / len(best) for own, best in zip(found, exact, strict=True)]))


def growing(count: int) -> Iterator[tuple[str, Table]]:
    """Making, adding to and searching one index."""
    folder = Path(tempfile.mkdtemp(prefix="localfact-bench-"))
    try:
        np.save(folder / "queries.npy", clustered(folder / "rows.npy", count))
        columns = ("made", "seconds", f"seconds to add {min(ADDED, count // 10):,}", "MB at most", "MB on disk")
        table = measure.table_of(*columns, caption="MB at most: of the process, the mapped vectors included")
        for name, task in (("words", "make-words"), ("vectors and words", "make")):
            shutil.rmtree(folder / "segments", ignore_errors=True)
            took = alone(task, folder, count)
            table.add_row(name, *(f"{took[key]:,.1f}" for key in ("made", "added", "peak", "megabytes")))
        yield f"Indexes over {count:,} clustered vectors and texts of {WORDS} words, embedding left out", table
        columns = ("search", "ms a query", "ratio", f"recall at {FOUND}", "ms to open", "MB in memory")
        caption = f"a corpus of more than {segments.FLAT_VECTORS:,} vectors is searched by codes"
        table = measure.table_of(*columns, caption=caption)
        ways = {"flat (FAISS)": alone("flat", folder), "by codes": alone("codes", folder)}
        ways |= {"BM25": alone("words", folder), "fused": alone("fused", folder)}
        # These two know nothing of what was added.
        others = {"for comparison: numpy product": alone("numpy", folder)}
        others[f"for comparison: IVF (FAISS), {PROBED} cells"] = alone("inverted", folder)
        flat, product = (next(iter(found.values())) for found in (ways, others))
        for name, way in (ways | others).items():
            exact = product if name in others else flat
            table.add_row(
                name,
                f"{way['milliseconds']:,.2f}",
                f"{way['milliseconds'] / flat['milliseconds']:.3f}",
                f"{recall(way['found'], exact['found']):.3f}" if way["found"] else "",
                f"{way['opened']:,.1f}" if "opened" in way else f"made in {way['made']:,.1f} s",
                f"{way['memory']:,.1f}",
            )
        yield f"Searches among {count:,} passages; ratio to: flat (FAISS)", table
    finally:
        shutil.rmtree(folder)


def libraries(count: int) -> tuple[str, Table]:
    """Our BM25, bm25s, whose scores it has to the bit, and rank-bm25 as FaStfact uses it, on the same terms."""
    import bm25s
    from rank_bm25 import BM25Okapi

    passages = list(texts(count).values())
    asked = synthetic.texts(QUERIES, QUERY_WORDS, seed=4)

    def by_bm25s() -> tuple[Any, dict[str, int]]:
        split = [list(terms(text)) for text in passages]
        known = {term: place for place, term in enumerate(dict.fromkeys(term for own in split for term in own))}
        made = bm25s.BM25()
        made.index(([[known[term] for term in own] for own in split], known), create_empty_token=False, show_progress=False)
        return made, known

    theirs, (eager, known) = BM25Okapi([list(terms(text)) for text in passages]), by_bm25s()
    ours = BM25.of(passages)

    def top(scores: NDArray[Any]) -> list[int]:
        return [int(position) for position in np.argsort(scores)[::-1][:FOUND]]

    def eager_scores(query: str) -> NDArray[Any]:
        scores: NDArray[Any] = eager.get_scores_from_ids([known[term] for term in terms(query) if term in known])
        return scores

    paths = {
        "index": {
            "rank-bm25": measure.Path(lambda: BM25Okapi([list(terms(text)) for text in passages]), count),
            "bm25s": measure.Path(by_bm25s, count),
            "localfact": measure.Path(lambda: BM25.of(passages), count),
        },
        "search": {
            "rank-bm25": measure.Path(lambda: [top(theirs.get_scores(list(terms(query)))) for query in asked], QUERIES),
            "bm25s": measure.Path(lambda: [best_positions(eager_scores(query), FOUND) for query in asked], QUERIES),
            "localfact": measure.Path(lambda: [best_positions(ours.scores(query), FOUND) for query in asked], QUERIES),
        },
    }
    table = measure.table_of("work", "library", "per second", "ratio", names=2)
    for work, both in paths.items():
        measured = measure.rates(both)
        for name, rate in measured.items():
            table.add_row(work, name, f"{rate:,.1f}", f"{rate / measured['rank-bm25']:.2f}")
    return f"BM25 over {count:,} texts of {WORDS} words; ratio to: rank-bm25, which FaStfact uses", table


def tables(size: float, *, large: bool = False) -> Iterator[tuple[str, Table]]:
    """The titles and their tables; `large` measures a million passages instead of those of the size."""
    yield from growing(LARGE if large else max(1_000, int(PASSAGES * size)))
    try:
        yield libraries(max(100, int(COMPARED * size)))
    except ModuleNotFoundError:
        yield "BM25 against bm25s and rank-bm25: they are not installed (`make setup-dev` installs them)", Table()


def main() -> None:
    """One task in a process of its own; its answer is a line of JSON."""
    task, folder, count = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    output = os.dup(1)
    os.dup2(2, 1)  # what libraries print does not belong to the answer
    if task.startswith("make"):
        answer: object = made(folder, count, dense=task == "make")
    else:
        compared = {"inverted": inverted, "numpy": multiplied}.get(task)
        answer = compared(folder) if compared else searched(folder, task)
    os.write(output, json.dumps(answer).encode())


if __name__ == "__main__":
    main()
