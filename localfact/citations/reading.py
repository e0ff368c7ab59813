"""What is read of a source for a sentence: as many words as a passage of a corpus has, in the parts that speak of it most."""

from functools import lru_cache

from localfact.citations.long_sources import LongSource
from localfact.records import Span
from localfact.relations.lexical.statements import ParsedClaim, idf_table
from localfact.text import readable

#: The words of a window, and how many windows are read of one source: together a passage of a corpus (FastFact, section 4.2).
WINDOW_WORDS = 125
WINDOWS = 2
#: The most characters of a source; what lies beyond is left unread, and said.
LONGEST_SOURCE = 200_000
#: Sources and sentences that are kept parsed: those of one response come together.
PARSED = 64


def read_of(source: str, sentence: str) -> list[Span]:
    """The parts of a source that are read for a sentence, in the order of the text: all of it where it is short.

    Args:
        source: its text; at most LONGEST_SOURCE characters of it are looked at.
    """
    return _parsed_source(source[:LONGEST_SOURCE]).windows(_parsed_sentence(sentence), WINDOWS)


def extract_of(source: str, sentence: str) -> str:
    """Those parts of a source as one text, a line each."""
    return "\n".join(source[part.start : part.end] for part in read_of(source, sentence))


@lru_cache(PARSED)
def _parsed_source(text: str) -> LongSource:
    return LongSource(readable(text), WINDOW_WORDS)


@lru_cache(PARSED)
def _parsed_sentence(text: str) -> ParsedClaim:
    return ParsedClaim(text, idf_table())
