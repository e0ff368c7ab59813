"""Asks a relation model about labelled pairs: what it said before is kept in a folder, and how quick it is beside it.

The models are opened as the package opens them; measure_relations.py and benchmark.py make figures of their answers.
"""

import asyncio
import json
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

from localfact.methods.options import Options
from localfact.methods.relations import LEXICAL, FoundRelationModel, cached, find_relation_model, relation_card
from localfact.models.cards import weights_folder
from localfact.records import Distribution, Failure, Pair
from localfact.relations.lexical.features import OPPOSITES_FILE
from localfact.relations.lexical.model import COEFFICIENTS_FILE, IDF_FILE
from localfact.relations.store import RelationStore
from localfact.report.console import note
from localfact.runtime.files import replace
from localfact.stages import RelationModel
from scripts.data_sets.examples import digest

#: Called after every batch: how many pairs are done, of how many.
Progress = Callable[[int, int], None]

#: Pairs asked at once: what an interruption loses of a model that tells nothing until it has answered them all.
BATCH = 256
#: Pairs by which models are timed: the same for all, drawn by a hash.
TIMED_PAIRS = 200
PREDICTIONS_FILE, TIMES_FILE = "relations.sqlite", "pairs-per-second.json"
BYTES_OF_A_MEGABYTE = 1_000_000
#: Without a terminal, a line is printed each time so many seconds have passed.
SECONDS_BETWEEN_LINES = 30


@dataclass(frozen=True)
class Model:
    """A relation model and its answers.

    Attributes:
        name: as asked for. identity: name and revision. megabytes: of 10^6 bytes, its files on the disk.
        pairs_per_second: on this machine, as busy as it was. said: its answer to every pair.
    """

    name: str
    identity: str
    megabytes: float
    pairs_per_second: float
    said: Mapping[Pair, Distribution | Failure]


def asked(name: str, pairs: Sequence[Pair], folder: Path, progress: Progress, *, time_again: bool = False) -> Model:
    """The model of that name and its answers to the pairs. It is opened only where something is not in the folder yet.

    Args:
        name: "lexical", a card, a file with one, or a folder of weights. pairs: equal ones are asked once.
        folder: keeps the answers of any number of models. time_again: times the model though it was timed before.

    Raises:
        InputError: no such relation model. MissingError: its weights are not on this machine.
    """
    found = find_relation_model(Options(relations=name))
    unique = list(dict.fromkeys(pairs))
    timed = sorted(unique, key=lambda pair: digest("\n".join(pair)))[:TIMED_PAIRS]
    rates, key = read_rates(folder), f"{found.identity} {digest(repr(timed))}"
    said = kept(found.identity, unique, folder)
    waiting = [pair for pair in unique if pair not in said]
    untimed = time_again or key not in rates
    if waiting or untimed:
        rate, answers = asyncio.run(ask(found, waiting, timed if untimed else None, folder, progress))
        said |= answers
        if rate is not None:
            rates[key] = rate
            replace(folder / TIMES_FILE, (json.dumps(rates, indent=1) + "\n").encode())
    return Model(name, found.identity, megabytes(name), rates[key], said)


def kept(identity: str, pairs: Sequence[Pair], folder: Path) -> dict[Pair, Distribution | Failure]:
    """What a model of that identity said before of those pairs."""
    store = RelationStore(folder / PREDICTIONS_FILE, identity)
    try:
        return {**store.find(pairs)}
    finally:
        store.close()


async def ask(
    found: FoundRelationModel, pairs: Sequence[Pair], timed: Sequence[Pair] | None, folder: Path, progress: Progress
) -> tuple[float | None, dict[Pair, Distribution | Failure]]:
    """Opens the model, times it where there are pairs to time it by, and asks it the others; what it says is kept at once."""
    answers: dict[Pair, Distribution | Failure] = {}
    async with AsyncExitStack() as opened:
        model = found.open(opened)
        cache = cached(model, folder / PREDICTIONS_FILE, opened)
        rate = await pairs_per_second(model, timed) if timed else None
        for begin in range(0, len(pairs), BATCH):
            batch = pairs[begin : begin + BATCH]
            answers.update(zip(batch, await cache.relate(batch), strict=True))
            progress(len(answers), len(pairs))
    return rate, answers


async def pairs_per_second(model: RelationModel, pairs: Sequence[Pair]) -> float:
    """How many pairs a second the model answers, opened and warm, asked all at once; nothing of them is kept."""
    await model.relate([Pair("Two texts warm the model up.", "It is warm.")])
    started = time.perf_counter()
    await model.relate(pairs)
    return round(len(pairs) / (time.perf_counter() - started), 2)


def read_rates(folder: Path) -> dict[str, float]:
    """How quick models were, by identity and by the pairs they were timed with."""
    file = folder / TIMES_FILE
    rates: dict[str, float] = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    return rates


def megabytes(name: str) -> float:
    """The size of a relation model's own files; the embedder that word overlap borrows is not among them."""
    if name == LEXICAL:
        files = [COEFFICIENTS_FILE, IDF_FILE, OPPOSITES_FILE]
    else:
        files = [file for file in weights_folder(relation_card(name)).rglob("*") if file.is_file()]
    return round(sum(file.stat().st_size for file in files) / BYTES_OF_A_MEGABYTE, 2)


def line_reporter(name: str) -> Progress:
    """Notes now and then how far a model is and how long it will take, on standard error."""
    started = printed = time.monotonic()

    def progress(done: int, total: int) -> None:
        nonlocal printed
        now = time.monotonic()
        if now - printed >= SECONDS_BETWEEN_LINES or done == total:
            printed = now
            left = round((now - started) / done * (total - done))
            note(f"{name}: {done:,} of {total:,} pairs, {left // 3600}:{left // 60 % 60:02}:{left % 60:02} left")

    return progress
