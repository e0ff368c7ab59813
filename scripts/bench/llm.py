"""What vLLM makes of localfact's prompts, measured on a small random model: what the prefix cache saves, what `choose` saves.

Tokens are those of the engine's own usage, and hold for any model with this tokenizer; rates and their ratios are this small
model's. The larger a model, the more a token costs beside a request, and the nearer the ratio comes to that of the tokens.
"""

import asyncio
import importlib.util
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import count
from pathlib import Path as File

from rich.table import Table

from localfact.llm.engine import Chat, Engine
from localfact.llm.tokens.chat import ChatLayout
from localfact.prompts import Boundary, relation_chat
from localfact.runtime.usage import StageUsage, Usage
from scripts.bench import synthetic, tiny_model
from scripts.bench.measure import Path, rates, table_of

MISSING = "language model: left out, vLLM is not installed. `make setup-llm` adds it; then `make bench` measures it too."

#: vLLM's block of cached tokens on a CPU; on a GPU it is asked for, so that shares compare.
BLOCK = 128
WINDOW = 2048
#: Passages of 250 words (FastFact's chunks), and the fewest that still outgrow the cache; claims about each, at most and least.
PASSAGES, LEAST_PASSAGES, PASSAGE_WORDS = 10, 8, 250
CLAIMS, LEAST_CLAIMS, CLAIM_WORDS = 10, 4, 12
#: The prompts that labels are read from, or written out for with so many tokens of reasoning.
LABELLED = 8
#: Calls of which the processor time beside the model is measured.
CLIENT_CALLS = 48
REASONING_TOKENS = 150

#: Below the table of relation prompts.
CAPTION = (
    "Grouped: the passage stands first in the prompt, as localfact asks. Share: of the prompt tokens, cached in whole blocks "
    f"of {BLOCK}."
)

LABELS = ("entailment", "contradiction", "neutral")
STAGE = "relate"
#: Texts that the tokenizer learns its words from.
LEARNED_TEXTS = 100

Ask = Callable[[Engine, Chat], Awaitable[Usage]]
_seeds = count()


class Asking:
    """A set of prompts sent all at once. Each call marks its texts anew, so that nothing of them is cached from an earlier one.

    Attributes:
        things: how many prompts.
        used: what the last call cost.
    """

    def __init__(self, engine: Engine, ask: Ask, chats: Callable[[Boundary], list[Chat]]) -> None:
        """Takes the engine, what each prompt is asked, and the prompts in the order of sending."""
        self._engine, self._ask, self._chats = engine, ask, chats
        self.things = len(chats(Boundary(next(_seeds))))
        self.used = StageUsage()

    def __call__(self) -> None:
        """Sends them."""
        chats, self.used = self._chats(Boundary(next(_seeds))), StageUsage()
        for usage in asyncio.run(self._send(chats)):
            self.used.add(usage)

    async def _send(self, chats: Sequence[Chat]) -> Sequence[Usage]:
        return await asyncio.gather(*(self._ask(self._engine, chat) for chat in chats))


async def choose(engine: Engine, chat: Chat) -> Usage:
    """The label's probability from the prompt alone."""
    return (await engine.choose(chat, LABELS, stage=STAGE)).usage


async def reason(engine: Engine, chat: Chat) -> Usage:
    """An answer of so many tokens, as where a label is looked for in reasoning that the model wrote before."""
    generation = await engine.generate(chat, max_tokens=REASONING_TOKENS, stage=STAGE)
    if generation.usage.output_tokens != REASONING_TOKENS:
        raise AssertionError(
            f"an answer ended after {generation.usage.output_tokens} tokens: it cannot stand for a reasoned one"
        )
    return generation.usage


def by_passage(passages: Sequence[str], claims: Sequence[str], boundary: Boundary) -> list[Chat]:
    """All claims of a passage, then the next passage."""
    return [relation_chat(passage, claim, boundary=boundary) for passage in passages for claim in claims]


def by_claim(passages: Sequence[str], claims: Sequence[str], boundary: Boundary) -> list[Chat]:
    """The same prompts, all passages of a claim, then the next claim."""
    return [relation_chat(passage, claim, boundary=boundary) for claim in claims for passage in passages]


def claim_first(passages: Sequence[str], claims: Sequence[str], boundary: Boundary) -> list[Chat]:
    """The same texts with the claim where the passage stands, in the order that shares most: all passages of a claim."""
    return [relation_chat(claim, passage, boundary=boundary) for claim in claims for passage in passages]


def blocks(layout: ChatLayout, chat: Chat) -> list[tuple[int, ...]]:
    """The beginnings of a prompt that a later one can find cached: whole blocks, and never its last token.

    That one is computed in any case, since what comes next is read from it.
    """
    ids = layout.ids(layout.text(chat))
    return [tuple(ids[:end]) for end in range(BLOCK, len(ids), BLOCK)]


def shared_tokens(layout: ChatLayout, passages: Sequence[str], claim: str) -> int:
    """The tokens that the instructions, once, and all passages take in a cache, in whole blocks."""
    return BLOCK * len({block for chat in by_passage(passages, [claim], Boundary()) for block in blocks(layout, chat)})


@contextmanager
def started(folder: File, cache_tokens: int) -> Iterator[Engine]:
    """vLLM with the small model, in a process of its own as for any run, and a cache of so many tokens."""
    from localfact.llm.cores.vllm import VLLMEngine
    from localfact.llm.placing.hardware import detect
    from localfact.llm.placing.settings import engine_settings
    from localfact.models.cards import load_card

    hardware = detect()
    arguments = {
        "kv_cache_memory_bytes": (cache_tokens + BLOCK) * tiny_model.CACHE_BYTES,  # vLLM keeps one block for itself
        "block_size": BLOCK,
        "enforce_eager": not hardware.gpus,  # compiling takes longer than all of this
    }
    engine = VLLMEngine(engine_settings(load_card(str(folder)), engine_args=arguments, hardware=hardware))
    try:
        yield engine
    finally:
        asyncio.run(engine.aclose())


def installed() -> bool:
    """Whether vLLM is; it is not imported for that."""
    return importlib.util.find_spec("vllm") is not None


def tables(size: float) -> Iterator[tuple[str, Table]]:
    """Each title with its table; nothing where vLLM is not installed."""
    if not installed():
        return
    passages = synthetic.texts(max(LEAST_PASSAGES, int(PASSAGES * size)), PASSAGE_WORDS, seed=20)
    claims = synthetic.texts(min(CLAIMS, max(LEAST_CLAIMS, int(CLAIMS * size))), CLAIM_WORDS, seed=21)
    with tempfile.TemporaryDirectory() as temporary:
        folder = File(temporary) / "small-random-llama"
        folder.mkdir()
        wording = [chat[0].content for chat in by_passage(passages[:1], claims, Boundary())]
        tiny_model.save_model(folder, [*wording, *synthetic.texts(LEARNED_TEXTS, PASSAGE_WORDS, seed=22)], window=WINDOW)
        layout = ChatLayout(folder)
        shared = shared_tokens(layout, passages, claims[0])
        cache_tokens = max(2 * WINDOW, shared // 2 // BLOCK * BLOCK)
        with started(folder, cache_tokens) as engine:
            yield relations(engine, passages, claims, f"{shared:,} tokens to share, cache of {cache_tokens:,}")
            yield labels(engine, passages[0], synthetic.texts(LABELLED, CLAIM_WORDS, seed=23))
            yield client(engine, passages[0], synthetic.texts(CLIENT_CALLS, CLAIM_WORDS, seed=24))


def relations(engine: Engine, passages: Sequence[str], claims: Sequence[str], cache: str) -> tuple[str, Table]:
    """Three ways of asking every claim about every passage.

    A prompt behind another of its passage finds instructions and passage cached, but for the block that the claim begins in. By
    claim, each passage comes round only after all others, and a cache that does not hold them all has dropped it by then: the
    instructions are left. With the claim first, little more than the instructions is the same in any two prompts.
    """
    yardstick = "claim first"
    orders = {yardstick: claim_first, "grouped by claim": by_claim, "grouped by passage": by_passage}
    paths = {name: Asking(engine, choose, partial(order, passages, claims)) for name, order in orders.items()}
    measured = measure(paths)
    columns = ("path", "per second", "ratio", "prompt tokens", "cached tokens", "share")
    table = table_of(*columns, caption=CAPTION)
    for name, path in paths.items():
        sent, cached = path.used.prompt_tokens, path.used.cached_tokens
        rate, ratio = measured[name], measured[name] / measured[yardstick]
        table.add_row(name, f"{rate:,.1f}", f"{ratio:.2f}", f"{sent:,}", f"{cached:,}", f"{cached / sent:.1%}")
    return f"relation prompts ({len(passages)} passages x {len(claims)} claims, {cache}); ratio to: {yardstick}", table


def labels(engine: Engine, passage: str, claims: Sequence[str]) -> tuple[str, Table]:
    """A relation's probability read by `choose`, one prefill, and looked for at the end of reasoning that is decoded first."""
    yardstick = f"{REASONING_TOKENS} tokens decoded"
    asks = {yardstick: reason, "choose": choose}
    paths = {name: Asking(engine, ask, partial(by_passage, [passage], claims)) for name, ask in asks.items()}
    measured = measure(paths)
    table = table_of("path", "per second", "seconds", "ratio", "prompt tokens", "cached tokens", "decoded tokens")
    for name, path in paths.items():
        used, rate, ratio = path.used, measured[name], measured[name] / measured[yardstick]
        tokens = (f"{used.prompt_tokens:,}", f"{used.cached_tokens:,}", f"{used.output_tokens:,}")
        table.add_row(name, f"{rate:,.1f}", f"{path.things / rate:.2f}", f"{ratio:.2f}", *tokens)
    return f"label probabilities ({len(claims)} prompts, one passage); ratio to: {yardstick}", table


def client(engine: Engine, passage: str, claims: Sequence[str]) -> tuple[str, Table]:
    """What this process itself computes for a call beside the model, which runs in another: templates, tokens, results."""
    table = table_of("call", "processor ms a call", "target", "prompt tokens")
    for name, ask, target in (("a relation", choose, 3.5), (f"{REASONING_TOKENS} tokens of reasoning", reason, 25.0)):
        path = Asking(engine, ask, partial(by_passage, [passage], claims))
        path()  # what is loaded or cached with the first call
        started = time.process_time()
        path()
        spent = 1000 * (time.process_time() - started) / path.things
        table.add_row(name, f"{spent:.2f}", f"{target:g}", f"{path.used.prompt_tokens / path.things:,.0f}")
    return f"processor time beside the model ({len(claims)} calls at once)", table


def measure(paths: Mapping[str, Asking]) -> dict[str, float]:
    """Prompts per second."""
    return rates({name: Path(path, path.things) for name, path in paths.items()})
