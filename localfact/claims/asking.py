"""Prompts a model for the claims of a response, chunk by chunk, so that nothing of the response is left out.

A chunk that exceeds the window, or whose answer is cut, is split and asked again. Subclasses say how a chunk is shown and how
an answer is parsed: `chunked.py` (FastFact), `atomizer.py` (FactReasoner).
"""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from itertools import chain
from typing import Generic

from localfact.claims.chunks import AROUND, Chunk, Stride, chunks_of, halves
from localfact.claims.cut_claims import complete_cut_claims
from localfact.claims.example_claims import drop_example_claims
from localfact.claims.lines import ParsedAnswer, Read, excerpt
from localfact.claims.merging import MergedClaims, Merging, merge_within, number_claims
from localfact.claims.rules.extractor import states_something
from localfact.errors import InputError, PromptTooLongError, UnreadableAnswerError
from localfact.llm.engine import Chat, Engine, Generation, Grammar
from localfact.prompts.grammars import LONGEST
from localfact.records import Claim, Extraction, Response
from localfact.runtime.tasks import together
from localfact.runtime.usage import note_window
from localfact.text import readable

#: Tokens of room that the answer about a single sentence needs; with less, the sentence is split.
SMALLEST_ROOM = 128

#: How often a chunk is split because its answer was cut without one claim. That helps if the chunk is too long for the model;
#: without a limit, a model that never answers would be asked about every single sentence.
SPLITS_WITHOUT_CLAIMS = 2

#: The stage that calls are counted under.
EXTRACT = "extract"


@dataclass(frozen=True)
class Reply:
    """The claims, without ids, and unparsed lines of one chunk."""

    claims: tuple[Claim, ...]
    unparsed: tuple[str, ...]


@dataclass(frozen=True)
class Replies:
    """The replies of a response, in the order of its text; `tally` counts splits and unreadable answers."""

    sentences: int
    replies: tuple[Reply, ...]
    tally: Counter[str]

    def merge_claims(self, merging: Merging) -> MergedClaims:
        """The claims of all chunks, equal ones merged."""
        return merge_within([reply.claims for reply in self.replies], merging)

    @property
    def unparsed(self) -> tuple[str, ...]:
        """The unparsed lines of all answers."""
        return tuple(line for reply in self.replies for line in reply.unparsed)

    @property
    def counts(self) -> dict[str, int]:
        """What happened, by name, for `Extraction.counts`; always in the same order, whichever answer came first."""
        names = ("chunks_split", "answers_cut", "answers_cut_kept", "answers_unreadable")
        always = {name: self.tally[name] for name in names}
        seldom = ("answers_repeating", "claims_of_examples", "claims_completed", "claims_cut")
        happened = {name: self.tally[name] for name in seldom if self.tally[name]}
        return {"sentences": self.sentences, "chunks": len(self.replies), **always, **happened}

    def warnings(self) -> Iterator[str]:
        """Sentences for the reader. Without figures, as a run's summary lists each once, with the number of responses."""
        if self.tally["answers_cut_kept"]:
            yield (
                "Some answers of the extractor were cut at their longest, and only whole lines of them were read. "
                "--extraction-tokens says how long they may be, and the card of a model that runs on."
            )
        if self.tally["answers_repeating"]:
            yield "Some answers of the extractor ended where the model only repeated itself: what they left out is not judged."
        if self.tally["claims_of_examples"]:
            yield "Some claims were about somebody of the prompt's own examples, not of the text: they were dropped."
        if self.tally["claims_cut"]:
            yield (
                f"Some claims were cut at {LONGEST} characters, the most that the grammar of a small model's answers allows, "
                "and could not be completed by the text: they are judged as they stand."
            )
        if self.tally["answers_unreadable"]:
            yield (
                "Some answers of the extractor have no claim in the asked format: `localfact show RUN ID` has their lines. A "
                "model that does not keep to the format cannot extract claims."
            )


@dataclass(frozen=True)
class PromptedExtractor(ABC, Generic[Read]):
    """Base of extractors that prompt a model: cuts responses into chunks and splits chunks that are too long.

    Attributes:
        engine: the language model.
        max_tokens: the most tokens of the answer about a chunk, from 1.
        seed: of the boundary's markers and of the sampling.
        merging: which equal claims become one.
        around: how many sentences before and after a chunk are shown as its context.

    Raises:
        InputError: max_tokens below 1.
    """

    engine: Engine
    _: KW_ONLY
    max_tokens: int = 2048
    seed: int = 0
    merging: Merging = "response"
    around: tuple[int, int] = AROUND

    def __post_init__(self) -> None:
        if self.max_tokens < 1:
            raise InputError(f"An answer of {self.max_tokens} tokens holds no claim: give a whole number from 1.")

    @property
    @abstractmethod
    def stride(self) -> Stride:
        """Sentences of a chunk; "max" for the whole response."""

    @abstractmethod
    def _chat(self, response: Response, before: str, text: str, after: str) -> Chat:
        """The prompt for the claims of `text`.

        All three texts are empty when the size of the prompt without them is measured.
        """

    @abstractmethod
    def _grammar(self, text: str, *, claims: bool) -> Grammar:
        """The grammar of an answer about `text`. With `claims`, the answer "no claim" is not allowed."""

    @abstractmethod
    def _read(self, text: str, *, cut: bool) -> ParsedAnswer[Read]:
        """Parses an answer."""

    @abstractmethod
    async def _claims(
        self, chat: Chat, chunk: Chunk, generation: Generation, answer: ParsedAnswer[Read], tally: Counter[str]
    ) -> tuple[Claim, ...]:
        """The claims of a parsed answer about a chunk, without ids."""

    @abstractmethod
    def _counts(self, tally: Counter[str], kept: MergedClaims, claims: Sequence[Claim]) -> dict[str, int]:
        """What an extractor counts besides `Replies.counts`."""

    def _warnings(self, counts: Mapping[str, int]) -> Iterable[str]:
        """What a reader must know of these counts."""
        return ()

    async def extract(self, response: Response) -> Extraction:
        """Returns the claims in the order of the answers, equal ones merged by `merging`; none when the model finds none.

        Raises:
            PromptTooLongError: the window is too small even for a piece of a sentence.
            LocalFactError: the engine failed; the claims of this response are lost.
        """
        replies = await self._replies(response)
        kept = replies.merge_claims(self.merging)
        claims = number_claims(kept.claims)
        counts = {**replies.counts, **self._counts(replies.tally, kept, claims)}
        warnings = (*replies.warnings(), *self._warnings(counts))
        return Extraction(claims=claims, unparsed=replies.unparsed, counts=counts, warnings=warnings)

    async def _replies(self, response: Response) -> Replies:
        """Asks about all chunks of a response at once.

        Raises:
            PromptTooLongError: the window is too small even for a piece of a sentence.
            UnreadableAnswerError: no answer has a claim, and not all say that there is none.
            LocalFactError: the engine failed; the claims of this response are lost.
        """
        tally: Counter[str] = Counter()
        chunks = chunks_of(response.text, self.stride, self.around)
        found = await self._ask_chunks(response, chunks, tally, SPLITS_WITHOUT_CLAIMS)
        replies = Replies(sum(len(chunk.spans) for chunk in chunks), tuple(found), tally)
        if tally["answers_unreadable"] and not any(reply.claims for reply in found):
            raise UnreadableAnswerError(
                f"No claim can be read in the extractor's answer: “{excerpt(' / '.join(replies.unparsed))}”. A model that does "
                "not keep to the format cannot extract claims; a larger one may."
            )
        return replies

    async def _ask_chunks(self, response: Response, chunks: Iterable[Chunk], tally: Counter[str], splits: int) -> list[Reply]:
        replies = await together(self._reply(response, chunk, tally, splits) for chunk in chunks)
        return list(chain.from_iterable(replies))

    async def _reply(self, response: Response, chunk: Chunk, tally: Counter[str], splits: int) -> Sequence[Reply]:
        """Asks about a chunk; returns one reply, or one for each part if the chunk had to be split.

        Args:
            splits: how often it may still be split because its answer was cut without one claim.
        """
        chat = self._chat(response, chunk.before, chunk.text, chunk.after)
        # A small model that may say that there is no claim says so of every text: the rules know better whether there is one.
        grammar = self._grammar(chunk.text, claims=states_something(chunk.text))
        generation = await self._generate(chat, grammar, single=len(chunk.spans) == 1)
        if generation is None:
            await self._check_window(response)
            if len(chunk.spans) == 1 and (chunk.before or chunk.after):
                return await self._reply(response, replace(chunk, alone=True), tally, splits)
            return await self._split(response, chunk, tally, splits)
        text = readable(generation.text)
        answer = self._read(text, cut=generation.finish != "stop")
        # What a model says before it only repeats itself is its answer, if that is anything.
        repeats = generation.finish == "repetition" and bool(answer.claims)
        was_cut = generation.finish != "stop" and not repeats
        tally["answers_cut"] += was_cut
        tally["answers_repeating"] += repeats
        splits -= was_cut and not answer.claims
        if was_cut and splits >= 0 and len(chunk.spans) > 1:
            return await self._split(response, chunk, tally, splits)
        tally["answers_cut_kept"] += was_cut
        tally["answers_unreadable"] += not answer.claims and not answer.nothing
        claims = await self._claims(chat, chunk, generation.model_copy(update={"text": text}), answer, tally)
        claims = drop_example_claims(claims, chat, response, tally)
        if generation.masked:
            claims = complete_cut_claims(claims, chunk, tally)
        return [Reply(claims, answer.unparsed)]

    async def _generate(self, chat: Chat, grammar: Grammar, *, single: bool) -> Generation | None:
        """The answer, or None where prompt and answer do not fit; a single sentence may use less room than `max_tokens`."""
        window = self.engine.identity.window
        room = window - await self.engine.count(chat)
        if room < self.max_tokens:
            note_window(window)
        if room < (min(self.max_tokens, SMALLEST_ROOM) if single else self.max_tokens):
            return None
        try:
            return await self.engine.generate(
                chat, max_tokens=min(self.max_tokens, room), grammar=grammar, seed=self.seed, stage=EXTRACT
            )
        except PromptTooLongError:
            return None

    async def _check_window(self, response: Response) -> None:
        """Raises PromptTooLongError where splitting cannot help: the prompt without text and a short answer fill the window."""
        window, asked = self.engine.identity.window, await self.engine.count(self._chat(response, "", "", ""))
        room = min(self.max_tokens, SMALLEST_ROOM)
        if window - asked <= room:
            raise PromptTooLongError(
                f"Instructions and question take {asked:,} tokens and the answer at least {room:,}; the model's window has "
                f"{window:,}. Take a model with a larger window, or shorten the question."
            )

    async def _split(self, response: Response, chunk: Chunk, tally: Counter[str], splits: int) -> list[Reply]:
        parts = halves(chunk)
        if parts is None:
            raise PromptTooLongError(
                f"Not one character of the response fits into the model's window of {self.engine.identity.window:,} tokens "
                "beside the instructions. Take a model with a larger window."
            )
        tally["chunks_split"] += 1
        return await self._ask_chunks(response, parts, tally, splits)
