"""Asks a relation model about labelled pairs; what it said before is kept in a folder.

The models are opened as the package opens them; measure_relations.py and benchmark.py make figures of their answers.
"""

import asyncio
import time
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path

from localfact.methods.engine import engine_facts
from localfact.methods.options import Options
from localfact.methods.relation_maps import calibrated_model, shipped_maps
from localfact.methods.relations import LEXICAL, LLM, find_relation_model, open_cached
from localfact.records import Distribution, Failure, Pair
from localfact.relations.calibration import RelationMap
from localfact.report.console import note

#: A relation model's answer to every pair that it was asked.
Answers = Mapping[Pair, Distribution | Failure]

#: Pairs asked at once: what an interruption loses of a model that tells nothing until it has answered them all.
BATCH = 256
#: A line is noted each time so many seconds have passed.
SECONDS_BETWEEN_LINES = 30


def models_of(model: str | None) -> list[Options]:
    """Word overlap, and a language model if it is named."""
    quick = Options(relations=LEXICAL)
    return [quick, Options(relations=LLM, model=model)] if model else [quick]


def name_of(options: Options) -> str:
    """How a relation model is called in a table."""
    return options.model or str(options.relations)


def calibrate(options: Options, answers: Answers) -> Answers:
    """The answers of a language model by the map that ships for it; any other relation model's as they are."""
    if options.model is None:
        return answers
    model = calibrated_model(engine_facts(options))
    found = next((one for one in shipped_maps() if one.model == model), None)
    if found is None:
        raise SystemExit(f"No map of relations ships for {options.model}.")
    return change(answers, found)


def change(answers: Answers, by: RelationMap) -> Answers:
    """The answers by a map."""
    return {pair: by(one) if isinstance(one, Distribution) else one for pair, one in answers.items()}


def asked(options: Options, pairs: Sequence[Pair], folder: Path) -> Answers:
    """What a relation model says of the pairs; notes now and then, on standard error, how far it is.

    Args:
        options: name the relation model, and a language model where that is one. pairs: equal ones are asked once.
        folder: keeps the answers of any number of models.

    Raises:
        InputError: no such relation model. MissingError: its weights are not on this machine.
    """
    return asyncio.run(_asked(options, list(dict.fromkeys(pairs)), folder))


async def _asked(options: Options, pairs: Sequence[Pair], folder: Path) -> Answers:
    answers: dict[Pair, Distribution | Failure] = {}
    started = noted = time.monotonic()
    async with AsyncExitStack() as opened:
        model = find_relation_model(options).open(opened)
        cache = open_cached(model, folder / "relations.sqlite", opened)
        for begin in range(0, len(pairs), BATCH):
            batch = pairs[begin : begin + BATCH]
            answers.update(zip(batch, await cache.relate(batch), strict=True))
            now = time.monotonic()
            if now - noted >= SECONDS_BETWEEN_LINES or len(answers) == len(pairs):
                noted, left = now, round((now - started) / len(answers) * (len(pairs) - len(answers)))
                clock = f"{left // 3600}:{left // 60 % 60:02}:{left % 60:02}"
                note(f"{name_of(options)}: {len(answers):,} of {len(pairs):,} pairs, {clock} left")
    return answers
