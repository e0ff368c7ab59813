"""From generated tokens to the text that they write, with the place of each token in it.

Uses the decode stream that vLLM makes its text with, so that both agree character by character.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from tokenizers import Tokenizer

#: The message of `tokenizers` for bytes that turn out to be no text after part of them was already returned.
_BROKEN_RUN = "Invalid prefix"


class Placed(NamedTuple):
    """Token number `number` of the generated ones stands for the characters [start, end) of the text."""

    number: int
    start: int
    end: int


class Writing(NamedTuple):
    """A text and the places of the tokens that write it, in order; together they cover the text."""

    text: str
    places: tuple[Placed, ...]

    def cut(self, length: int) -> "Writing":
        """The first `length` characters; a token that reaches past the cut is clipped, one that begins there is left out."""
        kept = tuple(Placed(number, start, min(end, length)) for number, start, end in self.places if start < length)
        return Writing(self.text[:length], kept)

    def fit(self, text: str, stop: Sequence[str]) -> "Writing":
        """The writing cut to `text`, the engine's own output; `stop` are the stop strings if one of them ended it.

        Where the tokens write something else than `text`, the tokens' text is taken, cut at the first stop string: places must
        always point into the text that they were made for.
        """
        if self.text == text or (stop and self.text.startswith(text)):
            return self.cut(len(text))
        return self.cut(min((self.text.find(word) for word in stop if word in self.text), default=len(self.text)))


def write(decoder: "Tokenizer", prompt: Sequence[int], tokens: Sequence[int], silent: frozenset[int]) -> Writing:
    """Returns what `tokens` write after `prompt`.

    Where several tokens make one character, each has that character's place. Tokens that write nothing have no place: special
    tokens, the bytes of an unfinished character at the end, and bytes that the decoder dropped because they are no text
    (`tokenizers` does that with a run of byte tokens that breaks off; vLLM leaves them out too).

    Args:
        decoder: the tokenizer, whose decode stream is primed with the prompt.
        prompt: ids before the text; they decide whether a leading space is written.
        tokens: generated ids.
        silent: ids of special tokens.
    """
    from tokenizers.decoders import DecodeStream

    stream = DecodeStream(ids=list(prompt), skip_special_tokens=True)
    context: list[int] = list(prompt)
    waiting: list[int] = []
    text, places = "", []
    for index, token in enumerate(tokens):
        waiting.append(index)
        try:
            chunk = stream.step(decoder, token)
        except Exception as error:
            if not str(error).startswith(_BROKEN_RUN):
                raise
            stream, context, waiting = DecodeStream(skip_special_tokens=True), [], [index]
            chunk = stream.step(decoder, token)
        if chunk:
            members = [(number, tokens[number]) for number in waiting]
            spoken = [number for number, member in members if member not in silent]
            grown = _growth(decoder, context, members, silent) if len(spoken) > 1 else [chunk]
            places += [
                Placed(number, len(text) + start, len(text) + end)
                for number, (start, end) in zip(spoken, spans(grown, chunk), strict=True)
                if start < end
            ]
            text += chunk
            context, waiting = [member for _, member in members], []
    return Writing(text, tuple(places))


def spans(grown: Sequence[str], chunk: str) -> list[tuple[int, int]]:
    """Returns the place in `chunk` of each of the tokens that wrote it together.

    Args:
        grown: the text after the first of them, after the first two, and so on; unfinished characters are whatever the decoder
            shows for them, and change later.
        chunk: the final text.
    """
    places = []
    settled = 0
    for text in grown:
        reached = max(settled, shared_length(text, chunk))
        unfinished = len(text) > reached  # a character is open: this token has a part of it
        # A token that neither finishes nor opens a character only added bytes to the last one.
        start = settled if reached > settled or unfinished else max(0, settled - 1)
        places.append((start, min(len(chunk), reached + unfinished)))
        settled = reached
    return [*places[:-1], (places[-1][0], len(chunk))]


def shared_length(one: Sequence[Any], other: Sequence[Any]) -> int:
    """How many elements two sequences have in common from their beginning on."""
    return next(
        (place for place, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), min(len(one), len(other))
    )


def _growth(decoder: "Tokenizer", context: list[int], members: list[tuple[int, int]], silent: frozenset[int]) -> list[str]:
    """The text of the waiting tokens after each of them, decoded behind the context that the stream itself remembers."""
    before = decoder.decode(context, skip_special_tokens=True)
    ids = list(context)
    grown = []
    for _, member in members:
        ids.append(member)
        if member not in silent:
            after = decoder.decode(ids, skip_special_tokens=True)
            grown.append(after[len(before) :])
    return grown
