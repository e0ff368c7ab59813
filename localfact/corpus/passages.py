"""Cuts pages into passages for relation models and verifiers: chunks of 250 words, pages up to 4,000 characters, snippets."""

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from localfact.records import Passage, passage_id
from localfact.runtime.addresses import host_of
from localfact.text import sentences, word_count, words
from localfact.web.pages import Page

#: "chunks" for FastFact (section 4.2), "pages" for FactReasoner (section 3), "snippets" of search engines for comparison with
#: what VeriScore and SAFE see.
PassageKind = Literal["chunks", "pages", "snippets"]

CHUNK_WORDS = 250
OVERLAP_WORDS = 40
#: The most characters of a page as one passage, and of a chunk; the overlap of chunks is limited in proportion. Chunks of prose
#: stay below; the limit is for pages with extremely long words or without any.
PASSAGE_CHARACTERS = 4_000
OVERLAP_CHARACTERS = PASSAGE_CHARACTERS * OVERLAP_WORDS // CHUNK_WORDS


def passages_of(page: Page, kind: PassageKind) -> list[Passage]:
    """The passages of one page, in the order of its text."""
    texts = chunks(page.text) if kind == "chunks" else [cap(page.text)]
    return [
        Passage(
            id=passage_id(text),
            text=text,
            title=page.title,
            links=(page.link,),
            host=host_of(page.link),
            date=page.date,
            provider=page.provider,
        )
        for text in texts
    ]


class Stretch(NamedTuple):
    """A sentence, or a piece of one that is too long: its place [start, end) in the text and its number of words."""

    start: int
    end: int
    words: int


def chunks(text: str) -> list[str]:
    """Cuts a text into chunks of at most CHUNK_WORDS words on sentence boundaries.

    A chunk begins with the last whole sentences of the one before it that fit in OVERLAP_WORDS words, fewer if the next
    sentence would not fit any more. A sentence of more than CHUNK_WORDS words is cut.
    """
    found: list[str] = []
    chunk: list[Stretch] = []
    length = 0
    for stretch in stretches(text):
        if chunk and not fits(chunk[0], stretch, length + stretch.words):
            found.append(text[chunk[0].start : chunk[-1].end])
            chunk = overlap(chunk, stretch)
            length = sum(repeated.words for repeated in chunk)
        chunk.append(stretch)
        length += stretch.words
    return [*found, text[chunk[0].start : chunk[-1].end]] if chunk else found


def cap(text: str) -> str:
    """The text up to PASSAGE_CHARACTERS, cut at the end of a word: half a number would be another number."""
    if len(text) <= PASSAGE_CHARACTERS:
        return text
    beginning = text[: PASSAGE_CHARACTERS + 1]
    end = max((position for position, character in enumerate(beginning) if character.isspace()), default=0)
    return beginning[:end].rstrip() or text[:PASSAGE_CHARACTERS]


def stretches(text: str) -> Iterator[Stretch]:
    """The sentences of the text; a sentence that exceeds a chunk in pieces that do not."""
    for sentence in sentences(text):
        start = sentence.start
        while start < sentence.end:
            piece = leading_piece(text[start : min(sentence.end, start + PASSAGE_CHARACTERS + 1)])
            end = start + len(piece)
            yield Stretch(start, end, word_count(piece))
            start = end
            while start < sentence.end and text[start].isspace():
                start += 1


def leading_piece(text: str) -> str:
    """The beginning of the text, as long as one chunk."""
    beginning = cap(text)
    found = words(beginning)
    if len(found) <= CHUNK_WORDS:
        return beginning
    position = 0
    for word in found[:CHUNK_WORDS]:
        position = beginning.index(word, position) + len(word)
    return beginning[: beginning.index(found[CHUNK_WORDS], position)].rstrip()


def fits(first: Stretch, last: Stretch, length: int) -> bool:
    """Whether the stretches from the first to the last, `length` words in all, fit one chunk."""
    return length <= CHUNK_WORDS and last.end - first.start <= PASSAGE_CHARACTERS


def overlap(chunk: Sequence[Stretch], following: Stretch) -> list[Stretch]:
    """What the next chunk repeats: the last whole sentences within OVERLAP_WORDS words that leave room for `following`."""
    first, length = len(chunk), 0
    while first > 0:
        longer = chunk[first - 1]
        length += longer.words
        if length > OVERLAP_WORDS or chunk[-1].end - longer.start > OVERLAP_CHARACTERS:
            break
        if not fits(longer, following, length + following.words):
            break
        first -= 1
    return list(chunk[first:])
