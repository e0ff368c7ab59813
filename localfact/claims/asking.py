"""Asks a model for the claims of a response, chunk by chunk, so that nothing of the response is left out.

A chunk that overflows the window, or whose answer is cut, is split and asked again. Who asks says how a chunk is shown and how
an answer is read: `chunked.py` (FastFact), `atomizer.py` (FactReasoner).
"""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Generic

from localfact.claims.chunks import Chunk, Stride, chunks_of, halves
from localfact.claims.lines import ParsedAnswer, Read
from localfact.errors import InputError, PromptTooLongError
from localfact.llm.engine import Chat, Engine, Generation
from localfact.prompts import Boundary
from localfact.records import Claim, Response
from localfact.runtime.tasks import together
from localfact.text import readable

#: Tokens that the answer about a single sentence must have room for; with less, the sentence is split.
SMALLEST_ROOM = 128

#: How often a chunk is split for answers that were cut without one claim. One that is too much for the model becomes readable
#: that way; without a limit, a model that talks or loops whatever it is shown would be asked about every single sentence.
SPLITS_WITHOUT_CLAIMS = 2

#: The stage that calls are counted under.
EXTRACT = "extract"


@dataclass(frozen=True)
class Reply:
    """What was found in one chunk; the claims have no ids yet."""

    claims: tuple[Claim, ...]
    unparsed: tuple[str, ...]


@dataclass(frozen=True)
class Replies:
    """What was found in a response, in the order of its text; `tally` counts what happened on the way."""

    sentences: int
    replies: tuple[Reply, ...]
    tally: Counter[str]

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The claims of all chunks, repetitions included."""
        return tuple(claim for reply in self.replies for claim in reply.claims)

    @property
    def unparsed(self) -> tuple[str, ...]:
        """The lines that are no claim."""
        return tuple(line for reply in self.replies for line in reply.unparsed)

    @property
    def counts(self) -> dict[str, int]:
        """Whole numbers in an order that does not depend on which answer came first."""
        names = ("chunks_split", "answers_cut", "answers_cut_kept", "answers_unreadable")
        return {"sentences": self.sentences, "chunks": len(self.replies), **{name: self.tally[name] for name in names}}

    def warnings(self) -> Iterator[str]:
        """Without figures, so that a run's summary gives each once, with how many responses it concerns."""
        if self.tally["answers_cut_kept"]:
            yield (
                "Some answers of the extractor were cut at their longest, and only whole lines of them were read. "
                "--extraction-tokens allows longer ones."
            )
        if self.tally["answers_unreadable"]:
            yield (
                "Some answers of the extractor have no claim in the asked format: `localfact show RUN ID` has their lines. A "
                "model that does not keep to the format cannot extract claims."
            )


class PromptedExtractor(ABC, Generic[Read]):
    """What extractors that ask a model have in common: how a response is cut up, and what is done with too much."""

    def __init__(self, engine: Engine, *, max_tokens: int, seed: int) -> None:
        """Takes the engine, how long the answer about a chunk may be, and the seed of the boundary's markers and the sampling.

        Raises:
            InputError: a length below 1.
        """
        if max_tokens < 1:
            raise InputError(f"An answer of {max_tokens} tokens holds no claim: give a whole number from 1.")
        self._engine = engine
        self._max_tokens = max_tokens
        self._seed = seed
        self._boundary = Boundary(seed)

    @abstractmethod
    def _chat(self, response: Response, before: str, text: str, after: str) -> Chat:
        """The prompt for the claims of `text`; all three texts are empty when only the frame is measured."""

    @abstractmethod
    def _read(self, text: str, *, cut: bool) -> ParsedAnswer[Read]:
        """Reads an answer."""

    @abstractmethod
    async def _claims(
        self, chat: Chat, chunk: Chunk, generation: Generation, answer: ParsedAnswer[Read], tally: Counter[str]
    ) -> tuple[Claim, ...]:
        """The claims of an answer about a chunk, without ids."""

    async def _replies(self, response: Response, stride: Stride) -> Replies:
        """Asks about all chunks of a response at once.

        Raises:
            PromptTooLongError: the window is too small even for a piece of a sentence.
            LocalFactError: the engine failed; nothing of this response is kept then.
        """
        tally: Counter[str] = Counter()
        chunks = chunks_of(response.text, stride)
        replies = await self._asked(response, chunks, tally, SPLITS_WITHOUT_CLAIMS)
        return Replies(sum(len(chunk.spans) for chunk in chunks), tuple(replies), tally)

    async def _asked(self, response: Response, chunks: Iterable[Chunk], tally: Counter[str], splits: int) -> list[Reply]:
        replies = await together(self._reply(response, chunk, tally, splits) for chunk in chunks)
        return list(chain.from_iterable(replies))

    async def _reply(self, response: Response, chunk: Chunk, tally: Counter[str], splits: int) -> Sequence[Reply]:
        """What is found in a chunk: one reply, or those of its parts where it had to be split.

        Args:
            splits: how often it may still be split for an answer that was cut without one claim.
        """
        chat = self._chat(response, chunk.before, chunk.text, chunk.after)
        generation = await self._generated(chat, single=len(chunk.spans) == 1)
        if generation is None:
            await self._check_window(response)
            if len(chunk.spans) == 1 and (chunk.before or chunk.after):
                return await self._reply(response, replace(chunk, alone=True), tally, splits)
            return await self._split(response, chunk, tally, splits)
        was_cut = generation.finish == "length"
        tally["answers_cut"] += was_cut
        text = readable(generation.text)
        answer = self._read(text, cut=was_cut)
        splits -= was_cut and not answer.claims
        if was_cut and splits >= 0 and len(chunk.spans) > 1:
            return await self._split(response, chunk, tally, splits)
        tally["answers_cut_kept"] += was_cut
        tally["answers_unreadable"] += not answer.claims and not answer.nothing
        claims = await self._claims(chat, chunk, generation.model_copy(update={"text": text}), answer, tally)
        return [Reply(claims, answer.unparsed)]

    async def _generated(self, chat: Chat, *, single: bool) -> Generation | None:
        """The answer, or None where prompt and answer do not fit; a single sentence makes do with the room that is left."""
        room = self._engine.identity.window - await self._engine.count(chat)
        if room < (min(self._max_tokens, SMALLEST_ROOM) if single else self._max_tokens):
            return None
        try:
            return await self._engine.generate(chat, max_tokens=min(self._max_tokens, room), seed=self._seed, stage=EXTRACT)
        except PromptTooLongError:
            return None

    async def _check_window(self, response: Response) -> None:
        """Ends the splitting where it cannot help: instructions, question and a short answer alone fill the window."""
        window, asked = self._engine.identity.window, await self._engine.count(self._chat(response, "", "", ""))
        room = min(self._max_tokens, SMALLEST_ROOM)
        if window - asked <= room:
            raise PromptTooLongError(
                f"Instructions and question take {asked:,} tokens and the answer at least {room:,}; the model's window has "
                f"{window:,}. Take a model with a larger window, or shorten the question."
            )

    async def _split(self, response: Response, chunk: Chunk, tally: Counter[str], splits: int) -> list[Reply]:
        parts = halves(chunk)
        if parts is None:
            raise PromptTooLongError(
                f"Not one character of the response fits into the model's window of {self._engine.identity.window:,} tokens "
                "beside the instructions. Take a model with a larger window."
            )
        tally["chunks_split"] += 1
        return await self._asked(response, parts, tally, splits)
