"""How many relations a second a real model gives on a CPU: by cores, blocks of the prompt cache, and whether it is compiled.

vLLM decides these when a process starts, so each row is a process of its own:
`python -m scripts.bench.cores MODEL PASSAGES BLOCK EAGER`.
"""

import argparse
import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Iterator

from rich.table import Table

from localfact.errors import MissingError
from localfact.llm.placing.settings import engine_settings
from localfact.models.cards import load_card, weights_folder
from localfact.prompts import Boundary, relation_chat
from scripts.bench import synthetic
from scripts.bench.measure import table_of

#: The first of them whose weights are here is measured.
MODELS = ("qwen2.5-coder-1.5b", "smollm2-135m")
RESERVED = "VLLM_CPU_NUM_OF_RESERVED_CPU"
#: Cores kept back, tokens of a block, and whether nothing is compiled; the last is what localfact has vLLM do on few cores.
SETTINGS = (("1", 128, "true"), ("0", 128, "true"), ("0", 32, "true"), ("0", 32, "false"))
#: So that a pair has some 250 tokens that no pair before it had.
PASSAGES, PASSAGE_WORDS, CLAIMS, CLAIM_WORDS = 32, 90, 2, 12
LABELS = ("entailment", "contradiction", "neutral")


def tables(size: float) -> Iterator[tuple[str, Table]]:
    """One table; none where no such model's weights are on this machine, or it has a GPU."""
    known = [name for name in MODELS if _is_here(name)]
    if not known or engine_settings(load_card(known[0])).machine["device"] != "cpu":
        return
    table = table_of("cores kept back", "block", "compiled", "uncached tokens a pair", "pairs a second", "ratio", names=3)
    passages, first = max(2, int(PASSAGES * size)), 0.0
    for reserved, block, eager in SETTINGS:
        words = [sys.executable, "-m", "scripts.bench.cores", known[0], str(passages), str(block), eager]
        done = subprocess.run(words, env={**os.environ, RESERVED: reserved}, stdout=subprocess.PIPE, text=True, check=True)
        uncached, rate = map(float, done.stdout.split()[-2:])
        first = first or rate
        table.add_row(
            reserved, str(block), "no" if eager == "true" else "yes", f"{uncached:,.0f}", f"{rate:.2f}", f"{rate / first:.2f}"
        )
    yield (
        f"relations by {known[0]} on a CPU, {CLAIMS} claims a passage; ratio to the first",
        table,
    )


def _is_here(name: str) -> bool:
    try:
        return weights_folder(load_card(name)).is_dir()
    except MissingError:
        return False


async def measure(model: str, passages: int, block: int, eager: str) -> tuple[float, float]:
    """Uncached prompt tokens of a pair, and pairs a second, all sent at once to a model that has seen the instructions."""
    from localfact.llm.cores.sharing import start_engine

    engine = start_engine(engine_settings(load_card(model), engine_args={"block_size": str(block), "enforce_eager": eager}))
    texts, claims = synthetic.texts(passages, PASSAGE_WORDS, seed=4), synthetic.texts(passages * CLAIMS, CLAIM_WORDS, seed=5)
    boundary = Boundary(0)
    chats = [relation_chat(texts[number // CLAIMS], claim, boundary=boundary) for number, claim in enumerate(claims)]
    await engine.choose(relation_chat("It rained.", "It was wet.", boundary=boundary), LABELS, stage="warm")
    began = time.perf_counter()
    said = await asyncio.gather(*(engine.choose(chat, LABELS, stage="relate") for chat in chats))
    seconds = time.perf_counter() - began
    await engine.aclose()
    uncached = sum(one.usage.prompt_tokens - one.usage.cached_tokens for one in said)
    return uncached / len(chats), len(chats) / seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("passages", type=int)
    parser.add_argument("block", type=int)
    parser.add_argument("eager", choices=("true", "false"))
    given = parser.parse_args()
    print(*asyncio.run(measure(given.model, given.passages, given.block, given.eager)))


if __name__ == "__main__":
    main()
