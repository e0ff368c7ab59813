"""Claims by a language model, each labelled in the same call by what the model itself knows (FastFact, section 4.1).

The first stage of the road where an engine is at hand. A chunk that overflows the window, or whose answer is cut, is split and
asked again: nothing of a response is left out.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Literal, NamedTuple

from localfact.claims.answers import LabelledClaim, read_answer
from localfact.claims.chunks import Chunk, Places, Stride, checked_stride, chunks_of, halves
from localfact.errors import InputError, PromptTooLongError
from localfact.llm.engine import Chat, Engine, Generation
from localfact.prompts import Boundary, extraction_chat
from localfact.records import DEFINITE_LABELS, Claim, Extraction, PreVerification, PreVerificationLabel, Response, Span
from localfact.tasks import together
from localfact.text import normalise, readable

#: Tokens that the answer about a single sentence must have room for; with less, the sentence is split.
SMALLEST_ROOM = 128

#: How often a chunk is split for answers that were cut without one claim. One that is too much for the model becomes readable
#: that way; without a limit, a model that talks or loops whatever it is shown would be asked about every single sentence.
SPLITS_WITHOUT_CLAIMS = 2

#: The stages that calls are counted under.
EXTRACT = "extract"
PREVERIFY = "preverify"

#: The labels as the prompt has them written.
WRITTEN = {label.value.upper(): label for label in PreVerificationLabel}


class _Found(NamedTuple):
    text: str
    spans: tuple[Span, ...]
    preverification: PreVerification | None


@dataclass(frozen=True)
class _Reply:
    """What was found in one chunk."""

    found: tuple[_Found, ...]
    unparsed: tuple[str, ...]


class ChunkedExtractor:
    """Asks an engine for the claims of a response, chunk by chunk, all chunks at once."""

    def __init__(
        self,
        engine: Engine,
        *,
        stride: Stride = "max",
        max_tokens: int = 2048,
        confidence: Literal["token", "distribution"] = "token",
        keep_duplicates: bool = False,
        seed: int = 0,
    ) -> None:
        """Takes the engine and how to ask it.

        Args:
            engine: the language model.
            stride: how many sentences a chunk has; "max" for the whole response.
            max_tokens: how long the answer about a chunk may be.
            confidence: "distribution" also asks for the probabilities of all six labels, one prefill a claim.
            keep_duplicates: keeps equal claims apart, as the paper does, instead of merging them.
            seed: of the boundary's markers and of the sampling.

        Raises:
            InputError: a stride or a length below 1.
        """
        if max_tokens < 1:
            raise InputError(f"An answer of {max_tokens} tokens holds no claim: give a whole number from 1.")
        self._engine = engine
        self._stride = checked_stride(stride)
        self._max_tokens = max_tokens
        self._with_distribution = confidence == "distribution"
        self._keep_duplicates = keep_duplicates
        self._seed = seed
        self._boundary = Boundary(seed)

    async def extract(self, response: Response) -> Extraction:
        """Returns the claims in the order of the text, with their pre-verification; none when the model finds none.

        Raises:
            PromptTooLongError: the window is too small even for a piece of a sentence.
            LocalFactError: the engine failed; nothing of this response is kept then.
        """
        tally: Counter[str] = Counter()
        chunks = chunks_of(response.text, self._stride)
        replies = await self._asked(response, chunks, tally)
        found = [claim for reply in replies for claim in reply.found]
        kept = found if self._keep_duplicates else _merged(found, tally)
        claims = tuple(
            Claim(id=f"c{number}", text=claim.text, spans=claim.spans, preverification=claim.preverification)
            for number, claim in enumerate(kept, start=1)
        )
        return Extraction(
            claims=claims,
            unparsed=tuple(line for reply in replies for line in reply.unparsed),
            counts=_counts(chunks, replies, claims, tally),
            warnings=tuple(_warnings(tally)),
        )

    async def _asked(
        self, response: Response, chunks: Iterable[Chunk], tally: Counter[str], splits: int = SPLITS_WITHOUT_CLAIMS
    ) -> list[_Reply]:
        replies = await together(self._reply(response, chunk, tally, splits) for chunk in chunks)
        return list(chain.from_iterable(replies))

    async def _reply(self, response: Response, chunk: Chunk, tally: Counter[str], splits: int) -> list[_Reply]:
        """What is found in a chunk: one reply, or those of its parts where it had to be split.

        Args:
            splits: how often it may still be split for an answer that was cut without one claim.
        """
        chat = self._chat(response, chunk)
        generation = await self._generated(chat, single=len(chunk.spans) == 1)
        if generation is None:
            await self._check_window(response)
            if len(chunk.spans) == 1 and (chunk.before or chunk.after):
                return await self._reply(response, replace(chunk, alone=True), tally, splits)
            return await self._split(response, chunk, tally, splits)
        was_cut = generation.finish == "length"
        tally["answers_cut"] += was_cut
        text = readable(generation.text)
        answer = read_answer(text, cut=was_cut)
        splits -= was_cut and not answer.claims
        if was_cut and splits >= 0 and len(chunk.spans) > 1:
            return await self._split(response, chunk, tally, splits)
        tally["answers_cut_kept"] += was_cut
        tally["answers_unreadable"] += not answer.claims and not answer.nothing
        found = await self._found(chat, chunk, generation.model_copy(update={"text": text}), answer.claims, tally)
        return [_Reply(found, answer.unparsed)]

    def _chat(self, response: Response, chunk: Chunk | None) -> Chat:
        before, text, after = (chunk.before, chunk.text, chunk.after) if chunk else ("", "", "")
        return extraction_chat(response.prompt, response.topic, before, text, after, boundary=self._boundary)

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
        window, asked = self._engine.identity.window, await self._engine.count(self._chat(response, None))
        room = min(self._max_tokens, SMALLEST_ROOM)
        if window - asked <= room:
            raise PromptTooLongError(
                f"Instructions and question take {asked:,} tokens and the answer at least {room:,}; the model's window has "
                f"{window:,}. Take a model with a larger window, or shorten the question."
            )

    async def _split(self, response: Response, chunk: Chunk, tally: Counter[str], splits: int) -> list[_Reply]:
        parts = halves(chunk)
        if parts is None:
            raise PromptTooLongError(
                f"Not one character of the response fits into the model's window of {self._engine.identity.window:,} tokens "
                "beside the instructions. Take a model with a larger window."
            )
        tally["chunks_split"] += 1
        return await self._asked(response, parts, tally, splits)

    async def _found(
        self, chat: Chat, chunk: Chunk, generation: Generation, claims: Sequence[LabelledClaim], tally: Counter[str]
    ) -> tuple[_Found, ...]:
        preverified = await together(self._preverification(chat, generation, claim, tally) for claim in claims)
        places = Places(chunk)
        return tuple(
            _Found(claim.text, places.of(claim.text), preverification)
            for claim, preverification in zip(claims, preverified, strict=True)
        )

    async def _preverification(
        self, chat: Chat, generation: Generation, claim: LabelledClaim, tally: Counter[str]
    ) -> PreVerification:
        span = claim.label_span
        confidence = generation.probability(span.start, span.end)
        token = PreVerification(label=claim.label, confidence=confidence)
        if not self._with_distribution:
            return token
        try:
            choice = await self._engine.choose(chat, tuple(WRITTEN), prefix=generation.text[: span.start], stage=PREVERIFY)
        except PromptTooLongError:
            # Written again as a prefix, an answer that filled the window may take a token more than it did.
            tally["distributions_missing"] += 1
            return token
        distribution = {WRITTEN[label]: probability for label, probability in choice.distribution.items()}
        return token.model_copy(update={"distribution": distribution, "mass": choice.mass})


def _merged(found: Sequence[_Found], tally: Counter[str]) -> list[_Found]:
    """Joins equal claims (after `normalise`): the first one's words, the places of all."""
    groups: dict[str, list[_Found]] = {}
    for claim in found:
        groups.setdefault(normalise(claim.text), []).append(claim)
    tally["duplicates_merged"] = len(found) - len(groups)
    merged = []
    for group in groups.values():
        spans = tuple(dict.fromkeys(span for claim in group for span in claim.spans))
        preverification = _most_doubtful([claim.preverification for claim in group if claim.preverification])
        tally["preverifications_conflicting"] += preverification is None
        merged.append(_Found(group[0].text, spans, preverification))
    return merged


def _most_doubtful(preverifications: Sequence[PreVerification]) -> PreVerification | None:
    """The one that least settles the claim: a claim that the model once doubted belongs before evidence.

    None where it was sure both times but of different labels: then it settled nothing, however sure it was.
    """
    lowest = min(preverifications, key=lambda one: (one.label in DEFINITE_LABELS, one.confidence))
    labels = {one.label for one in preverifications}
    return None if len(labels) > 1 and lowest.label in DEFINITE_LABELS else lowest


def _counts(chunks: Sequence[Chunk], replies: Sequence[_Reply], claims: Sequence[Claim], tally: Counter[str]) -> dict[str, int]:
    """Whole numbers in an order that does not depend on which answer came first."""
    labels = Counter(claim.preverification.label for claim in claims if claim.preverification)
    return {
        "sentences": sum(len(chunk.spans) for chunk in chunks),
        "chunks": len(replies),
        "chunks_split": tally["chunks_split"],
        "answers_cut": tally["answers_cut"],
        "answers_cut_kept": tally["answers_cut_kept"],
        "answers_unreadable": tally["answers_unreadable"],
        "duplicates_merged": tally["duplicates_merged"],
        "preverifications_conflicting": tally["preverifications_conflicting"],
        "distributions_missing": tally["distributions_missing"],
        "claims_unlocated": sum(not claim.spans for claim in claims),
        **{f"preverified_{label.name.lower()}": labels[label] for label in PreVerificationLabel if labels[label]},
    }


def _warnings(tally: Counter[str]) -> Iterable[str]:
    """Without figures, so that a run's summary gives each once, with how many responses it concerns."""
    if tally["answers_cut_kept"]:
        yield (
            "Some answers of the extractor were cut at their longest, and only whole lines of them were read. "
            "--extraction-tokens allows longer ones."
        )
    if tally["answers_unreadable"]:
        yield (
            "Some answers of the extractor have no claim in the asked format: `localfact show RUN ID` has their lines. A model "
            "that does not keep to the format cannot extract claims."
        )
    if tally["distributions_missing"]:
        yield "Some label distributions did not fit the model's window; the claims keep their token confidence."
