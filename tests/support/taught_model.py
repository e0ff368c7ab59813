"""Teaches a tiny Llama by heart what it is asked on FastFact's road about three texts, so that the road runs through real vLLM.

The lessons are not written here: the road itself, with a scripted engine that gives the wanted answers, says which prompts are
sent. The model knows nothing else, and its probabilities are known: 1 nearly everywhere, 2/3 for the label of `DOUBTED`.
"""

import asyncio
import fcntl
import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tiny_models
from lessons import (
    DOUBTED,
    DOUBTED_LABEL,
    EXTRACTIONS,
    OTHER_LABEL,
    PAGES,
    RELATIONS,
    RESPONSES,
    SURE,
    VERIFICATIONS,
)
from tiny_models import CHAT_TEMPLATE, MARKS

from localfact.assess.fastfact import FastFact
from localfact.claims.chunked import ChunkedExtractor
from localfact.corpus.build import build_corpus
from localfact.corpus.corpus import Corpus
from localfact.evidence.corpus_retriever import CorpusRetriever, Selection
from localfact.llm.engine import Chat
from localfact.llm.layers.sealing import key_codes, seal
from localfact.llm.scripted import ScriptedEngine
from localfact.llm.tokens.chat import ChatLayout
from localfact.pipeline import Costs, Pipeline
from localfact.prompts.boundary import Boundary
from localfact.prompts.chats import relation_chat
from localfact.records import Response
from localfact.web.pages import Page

if TYPE_CHECKING:
    from torch import Tensor

#: What codes in the lessons are keyed with, as those of every test are: `conftest` keeps it where localfact looks for it.
SECRET = b"known to every test, sixty-four characters long as those that are drawn"
#: How many tokens an answer may have: more than any has. The usual numbers would leave the window no room for the prompt.
EXTRACTION_TOKENS, VERIFICATION_TOKENS = 192, 128
#: As the method retrieves: chunks, ten a claim.
PASSAGES_PER_CLAIM = 10
WINDOW = 2048
#: Stands beside the weights when they are whole.
LEARNED_FILE = "learned"
#: Pre-tokens: breaks of lines, hashes and words in capitals stand alone, so that labels are of several tokens; all else may
#: become one token up to the end of its line, which makes the long prompts short.
PRE_TOKENS = r"\n+|#+|[A-Z]{2,}|[^\n#A-Z]+|[A-Z][^\n#A-Z]*"
VOCABULARY = 4096
LONGEST_TOKEN = 40

HIDDEN, LAYERS = 64, 2
#: Larger than usual, so that few steps are enough.
INITIAL_DEVIATION, LEARNING_RATE = 0.1, 0.015
STEPS, WARM_UP, COOL_DOWN = 120, 10, 60
#: The least probability that a token of an answer may have in the end; one that is given in `share` of the times has less.
LEARNED = 0.998
#: How far the probability of the doubted label may be from its share.
TOLERANCE = 0.1


@dataclass(frozen=True)
class Lesson:
    """An answer to a chat, and the share of the times that it is given."""

    chat: Chat
    answer: str
    share: float = 1.0


@dataclass(frozen=True)
class Taught:
    """The folders of the model and of the corpus that it was asked about, the file of responses, and what it learned."""

    model: Path
    corpus: Path
    data: Path
    lessons: tuple[Lesson, ...]


def taught(folder: Path, cache: Path) -> Taught:
    """Builds the corpus under `folder` and has the model learn its lessons, unless `cache` has one that learned just these."""
    corpus, data = folder / "corpus", folder / "responses.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in RESPONSES), encoding="utf-8")
    build_corpus([Page(**page) for page in PAGES], corpus, None)
    learned = lessons(corpus)
    model = cache / fingerprint(learned) / "taught-llama"
    with (cache / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (model / LEARNED_FILE).exists():
            save_tokenizer(model, learned)
            teach(model, learned)
            (model / LEARNED_FILE).touch()
    return Taught(model, corpus, data, tuple(learned))


def fingerprint(learned: Sequence[Lesson]) -> str:
    """Of everything that makes the model what it is: the lessons, how it learns them, and by which versions of whose code."""
    versions = [f"{name} {version(name)}" for name in ("tokenizers", "torch", "transformers")]
    sources = [Path(file).read_text(encoding="utf-8") for file in (__file__, tiny_models.__file__)]
    return hashlib.sha256(repr((learned, versions, sources)).encode()).hexdigest()[:16]


def lessons(corpus: Path) -> list[Lesson]:
    """What the road and the relation prompt ask, and what shall be answered."""
    engine = ScriptedEngine(answer_to, window=10**6)
    pipeline = Pipeline(
        ChunkedExtractor(engine),
        CorpusRetriever(Corpus.open(corpus, None), Selection("chunks", PASSAGES_PER_CLAIM, merge_near_duplicates=False)),
        None,
        FastFact(engine),
    )

    async def walk() -> None:
        for index, row in enumerate(RESPONSES):
            await pipeline.assess(index, Response(id=row["id"], text=row["response"], prompt=row["prompt"]), Costs(), ignore)

    asyncio.run(walk())
    asked = [Lesson(chat, "".join(piece for piece, _ in answer_to(chat))) for chat in engine.calls]
    related = [Lesson(relation_chat(*pair, boundary=Boundary()), label) for pair, label in RELATIONS.items()]
    code = key_codes(SECRET)
    sent = [replace(lesson, chat=seal(lesson.chat, code)[0]) for lesson in asked + related]
    return [half for lesson in sent for half in halves(lesson)]


def ignore(what: str, number: int) -> None:
    """Watches nothing."""


def answer_to(chat: Chat) -> Sequence[tuple[str, float]]:
    """The answer in the script, each character certain but for the doubted label."""
    asked = chat[-1].content
    answers = {f"\n{text}\n<<end text ": answer for text, answer in EXTRACTIONS.items()}
    answers |= {f"\n{claim}\n<<end claim ": answer for claim, answer in VERIFICATIONS.items()}
    (answer,) = (answer for shown, answer in answers.items() if shown in asked)
    before, doubted, after = answer.partition(f"{DOUBTED} ###{DOUBTED_LABEL}")
    return [(before, 1.0), *([(doubted, SURE), (after, 1.0)] if doubted else [])]


def halves(lesson: Lesson) -> Iterator[Lesson]:
    """The lesson; where it has the doubted label, also with the other one, each with its share."""
    doubted = f"{DOUBTED} ###{DOUBTED_LABEL}"
    if doubted not in lesson.answer:
        yield lesson
        return
    yield Lesson(lesson.chat, lesson.answer, SURE)
    yield Lesson(lesson.chat, lesson.answer.replace(doubted, f"{DOUBTED} ###{OTHER_LABEL}"), 1 - SURE)


def save_tokenizer(folder: Path, learned: Sequence[Lesson]) -> None:
    """Byte-level BPE learnt from the lessons themselves."""
    from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(PRE_TOKENS), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    made.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=["<unk>", "<s>", "</s>", *MARKS],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        max_token_length=LONGEST_TOKEN,
        show_progress=False,
    )
    made.train_from_iterator((text for lesson in learned for text in (lesson.chat[-1].content, lesson.answer)), trainer)
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=made, bos_token="<s>", eos_token="</s>", unk_token="<unk>")
    tokenizer.chat_template = CHAT_TEMPLATE
    tokenizer.save_pretrained(folder)


def teach(folder: Path, learned: Sequence[Lesson], *, steps: int = STEPS) -> None:
    """Trains a Llama on the answers, and keeps it beside its tokenizer.

    Raises:
        AssertionError: it did not learn them.
    """
    layout = ChatLayout(folder)
    model, least = learn(layout, exercise_of(layout, learned, layout.tokenizer.eos_token_id), steps)
    if least < LEARNED:
        raise AssertionError(
            f"The model did not learn its lessons: after {steps} steps it gives a token of an answer {least:.4f} of the "
            f"probability that it should have; {LEARNED} is wanted. Did the prompts grow? Then it needs more steps."
        )
    model.save_pretrained(folder)


def teach_turns(folder: Path, turns: Sequence[tuple[Sequence[int], Sequence[int]]], *, steps: int = STEPS) -> None:
    """Trains a Llama on turns, each with the prompt that it begins with, in tokens; keeps it beside its tokenizer."""
    layout = ChatLayout(folder)
    answers = [(turn[: common(prompt, turn)], turn[common(prompt, turn) :]) for prompt, turn in turns]
    model, _ = learn(layout, exercise_on(answers, [1.0] * len(answers)), steps)
    model.save_pretrained(folder)


def common(one: Sequence[int], other: Sequence[int]) -> int:
    """How many tokens two sequences begin with alike."""
    return next(
        (place for place, (left, right) in enumerate(zip(one, other, strict=False)) if left != right), min(len(one), len(other))
    )


def learn(layout: ChatLayout, exercise: "Exercise", steps: int) -> tuple[Any, float]:
    """Trains a Llama; returns it with what is `least_learned`."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        vocab_size=layout.decoder.get_vocab_size(),
        hidden_size=HIDDEN,
        intermediate_size=2 * HIDDEN,
        num_hidden_layers=LAYERS,
        num_attention_heads=HIDDEN // 32,
        num_key_value_heads=HIDDEN // 32,
        max_position_embeddings=WINDOW,
        bos_token_id=layout.tokenizer.bos_token_id,
        eos_token_id=layout.tokenizer.eos_token_id,
        pad_token_id=None,
        tie_word_embeddings=False,
        initializer_range=INITIAL_DEVIATION,
        dtype="float32",
    )
    with torch.random.fork_rng(devices=[]), one_thread():
        torch.manual_seed(0)
        model = LlamaForCausalLM(config)
        train(model, exercise, steps)
        return model, least_learned(model, exercise)


@contextmanager
def one_thread() -> Iterator[None]:
    """Torch in one thread: the same sums on any number of cores, and on busy ones no thread that waits for another."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@dataclass(frozen=True)
class Exercise:
    """All lessons as tensors.

    Attributes:
        inputs: token ids, a lesson a row, prompt and answer, filled up behind it (lessons, longest).
        rows, columns: where in `inputs` an answer's tokens are predicted (answer tokens).
        targets: those tokens. shares: of their lessons.
    """

    inputs: "Tensor"
    rows: "Tensor"
    columns: "Tensor"
    targets: "Tensor"
    shares: "Tensor"


def exercise_of(layout: ChatLayout, learned: Sequence[Lesson], end: int) -> Exercise:
    """Writes the lessons as the engine will: a prompt's tokens and an answer's do not merge."""
    written = [(layout.ids(layout.text(lesson.chat)), [*layout.ids(lesson.answer), end]) for lesson in learned]
    return exercise_on(written, [lesson.share for lesson in learned])


def exercise_on(written: Sequence[tuple[Sequence[int], Sequence[int]]], shares: Sequence[float]) -> Exercise:
    """Prompts and answers, in tokens, as tensors."""
    import torch

    places = [
        (row, len(prompt) - 1 + number, token, shares[row])
        for row, (prompt, answer) in enumerate(written)
        for number, token in enumerate(answer)
    ]
    rows = [torch.tensor([*prompt, *answer]) for prompt, answer in written]
    inputs = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)  # what stands behind an answer is never looked at
    return Exercise(inputs, *map(torch.tensor, zip(*places, strict=True)))


def log_probs(model: Any, exercise: Exercise) -> "Tensor":
    """The log-probability of every target (answer tokens)."""
    hidden = model.model(exercise.inputs, use_cache=False).last_hidden_state[exercise.rows, exercise.columns]
    spoken: Tensor = model.lm_head(hidden).log_softmax(-1).gather(1, exercise.targets[:, None])[:, 0]
    return spoken


def train(model: Any, exercise: Exercise, steps: int) -> None:
    """Descends, all lessons at every step, each weighing its share."""
    import torch

    optimizer = torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE, weight_decay=0.0, betas=(0.9, 0.98))
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min(1.0, (step + 1) / WARM_UP, (steps - step) / COOL_DOWN)
    )
    for _ in range(steps):
        loss = -(log_probs(model, exercise) * exercise.shares).sum() / exercise.shares.sum()
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()


def least_learned(model: Any, exercise: Exercise) -> float:
    """The smallest probability of a target, less what another share of its lesson takes of it (within TOLERANCE)."""
    import torch

    with torch.no_grad():
        probabilities = log_probs(model, exercise).exp()
    divided = (probabilities - exercise.shares).abs() <= TOLERANCE
    return float(probabilities[~(divided & (exercise.shares < 1))].min())
