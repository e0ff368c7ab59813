"""Sentences with offsets, words, normalised forms and a guess at the language, for all stages.

Markdown structure (headings, items, table rows, blank lines) is cut into blocks here; `sentence_ends.py` finds the sentences
of a block.
"""

import math
import re
import threading
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Annotated

from pydantic import PlainSerializer

from localfact.records import Span
from localfact.sentence_ends import sentence_ends

# The library's time grows with the square of a text outside ASCII, so a long block is read window by window.
WINDOW = 4_000
# A plain line of such a length may continue on the next one, whatever stands around it.
WRAPPED_LINE_WIDTHS = range(50, 101)
# Where lines are wrapped at such a width, the one that had no room for the next word continues.
WRAPPING_WIDTHS = range(20, 141)
# How many characters of a text the guess at its language reads.
LANGUAGE_SAMPLE = 10_000
# py3langid unpacks its model (0.6 s, 70 MB) at the first call, and would in each thread that calls meanwhile.
_UNPACKING = threading.Lock()

# By how much more likely, as a logarithm, a foreign language must be. Claims in English full of foreign names reach 18, short
# sentences of other languages begin at 20.
FOREIGN_NATS = 20.0

# Characters that JSON, SQLite, a tokenizer or a terminal cannot hold: lone surrogates, and controls that are no white space.
_UNREADABLE = re.compile("[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\ud800-\udfff]")
# Bytes of a path that the locale could not decode, as Python hands them on.
_PATH_BYTES = re.compile("[\udc80-\udcff]+")
_ITEM_MARKER = re.compile(r"\s*(?:[-*+•‣◦▪●–—>]|\(?\d{1,3}[.)]|\(?[A-Za-z]\))(?:\s+|$)")
_LINE_OF_ITS_OWN = re.compile(r"\s*(?:#{1,6}\s|\||```|[-*_=]{3,}\s*$|(?P<bold>\*\*|__)[^*_]+(?P=bold):?\s*$)")
_LABELLED = re.compile(r"\s*[^\W_][^:.,;\n]{0,39}: +\S")
_ENDS_BLOCK = (":", "：")
# A line that ends so is in the middle of its sentence.
_OPEN_END = re.compile(
    r"(?:,|\b(?:an?|and|are|as|at|by|for|from|had|has|her|his|in|into|is|its|of|on|or|that|the|their|to|was|were|which|who|with))$",
    re.IGNORECASE,
)
_FINAL_MARK = re.compile(r"[.!?…。！？।۔][\"'”’»)\]*_]*\s*$")

# Words that none of the other five languages has, or only rarely.
_FUNCTION_WORDS = {
    "en": {"the", "of", "and", "was", "is", "that", "with", "his", "for", "he", "she", "by", "it", "from", "at"},
    "es": {"el", "los", "las", "y", "fue", "su", "del", "muy", "nació", "también", "como"},
    "de": {"der", "die", "das", "und", "ist", "mit", "ein", "eine", "von", "dem", "im", "wurde", "er"},
    "fr": {"le", "les", "et", "est", "des", "dans", "une", "elle", "du", "au", "né", "qui"},
    "it": {"il", "gli", "di", "che", "è", "nel", "della", "fu", "sono", "nato", "dei"},
    "pt": {"os", "em", "foi", "uma", "do", "da", "nasceu", "não", "ao", "também"},
}
_SCRIPTS = {
    "ja": re.compile("[\u3040-\u30ff]"),
    "zh": re.compile("[\u3400-\u9fff]"),
    "ko": re.compile("[\uac00-\ud7af]"),
    "hi": re.compile("[\u0900-\u097f]"),
    "ar": re.compile("[\u0600-\u06ff]"),
    "ru": re.compile("[\u0400-\u04ff]"),
    "el": re.compile("[\u0370-\u03ff]"),
    "he": re.compile("[\u0590-\u05ff]"),
    "th": re.compile("[\u0e00-\u0e7f]"),
}
_LATIN = re.compile("[A-Za-z\u00c0-\u024f]")
# Japanese is written mostly in Chinese characters; this share of kana tells the two apart.
_KANA_SHARE = 0.1

# `\w` leaves out the combining marks that words of Hindi, Arabic or Thai are written with.
_COMBINING = "".join(chr(code) for code in range(0x300, 0x3100) if unicodedata.category(chr(code)).startswith("M"))
_IDEOGRAPH = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_LETTERS = rf"(?:[^\W{_IDEOGRAPH}]|[{_COMBINING}\u200c\u200d])+"
_WORD = re.compile(rf"[{_IDEOGRAPH}]|{_LETTERS}(?:(?:['’.\-]|(?<=\d),(?=\d)){_LETTERS})*")
_OUTER_PUNCTUATION = " .,;:!?…\"'“”„‘’«»。、「」『』*_`"


def readable(text: str) -> str:
    """Replaces lone surrogates and controls (NUL, ESC) one for one: offsets stay, and files and terminals can hold the text."""
    return _UNREADABLE.sub("\N{REPLACEMENT CHARACTER}", text)


def collapse(text: str) -> str:
    """Returns a text on one line, without characters that files cannot hold."""
    return " ".join(readable(text).split())


def path_text(path: str | Path) -> str:
    """A path, or a sentence with paths, as text that any file can hold: a byte that is not UTF-8 is written \\xff."""
    known = _PATH_BYTES.sub(
        lambda found: found[0].encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace"), str(path)
    )
    return known.encode("utf-8", "backslashreplace").decode()


#: A field that names a path: in this process the path itself, in JSON its `path_text`.
PathName = Annotated[str, PlainSerializer(path_text, when_used="json")]


def sentences(text: str) -> list[Span]:
    """Finds the sentences of a text in any language.

    A heading, an item with its marker and a table row are sentences without a full stop. Where `WINDOW` characters hold no
    boundary at all, they are cut.

    Returns:
        Spans in order that never overlap, cover every character but white space, and neither start nor end with white space.
    """
    text = readable(text)
    code = language(text)
    cuts = [0]
    for start, end in _blocks(text):
        cuts += [*_boundaries(text, start, end, code), end]
    return [span for start, end in pairwise(cuts) if (span := _trim(text, start, end))]


def foreign_language(text: str, known: Collection[str]) -> str | None:
    """Says which language a text is in where that is none of the known ones; None where it may be one of them.

    Args:
        known: two-letter codes. What py3langid takes for another language counts only where it is far likelier: a sentence of
            foreign names is not foreign.
    """
    import py3langid  # type: ignore[import-untyped]

    try:
        with _UNPACKING:
            ranked: list[tuple[str, float]] = py3langid.rank(text[:LANGUAGE_SAMPLE])
    except OSError:  # its model is unpacked through a temporary file: on a full disk nobody is told
        return None
    best, likelihood = ranked[0]
    nearest = max((score for code, score in ranked if code in known), default=-math.inf)
    return best if likelihood - nearest >= FOREIGN_NATS else None


def closest_sentences(text: str, claim: str) -> list[Span]:
    """Returns the sentences of a text, those first that share most words with a claim; of equals the earlier.

    Words weigh less the more sentences have them: the name of what a page is about says little.
    """
    found = sentences(text)
    wanted = set(words(claim.casefold()))
    shared = [wanted & set(words(text[span.start : span.end].casefold())) for span in found]
    frequency = Counter(word for some in shared for word in some)
    weights = [sum(1 / frequency[word] for word in sorted(some)) for some in shared]
    return [found[place] for place in sorted(range(len(found)), key=lambda place: -weights[place])]


def words(text: str) -> list[str]:
    """Returns the words as they are written: 3.5, 1,000, don't, well-known; each Chinese or Japanese character is a word."""
    return _WORD.findall(text)


def word_count(text: str) -> int:
    """Returns how many words `words` finds."""
    return sum(1 for _ in _WORD.finditer(text))


def normalise(text: str) -> str:
    """Returns the form in which two texts are compared: NFKC, case folded, white space collapsed, no outer punctuation.

    Signs that carry meaning (-5, 5%, $5) stay.
    """
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return " ".join(folded.split()).strip(_OUTER_PUNCTUATION)


def normalised_words(text: str) -> set[str]:
    """The words of a text in the form in which they are compared."""
    return {word for found in words(text) if (word := normalise(found))}


def language(text: str) -> str:
    """Guesses the language from its script and, for Latin script, its function words: good enough to choose splitting rules.

    Returns:
        A two-letter code: en, es, de, fr, it, pt, ru, zh, ja, ko, hi, ar, el, he or th; "en" where none of them fits.
    """
    sample = text[:LANGUAGE_SAMPLE]
    letters = {code: len(script.findall(sample)) for code, script in _SCRIPTS.items()}
    script = max(letters, key=lambda code: letters[code])
    if letters[script] > len(_LATIN.findall(sample)):
        return "ja" if script == "zh" and letters["ja"] > _KANA_SHARE * letters["zh"] else script
    tokens = [word.casefold() for word in words(sample)]
    votes = {code: sum(token in known for token in tokens) for code, known in _FUNCTION_WORDS.items()}
    return max(votes, key=lambda code: votes[code])


def _blocks(text: str) -> Iterator[tuple[int, int]]:
    """Yields (start of the prose, end) of every block in order; only space or an item's marker stands before the prose."""
    prose, offset = 0, 0
    for paragraph in _paragraphs(text.splitlines(keepends=True)):
        previous = None
        width = max(len(line.rstrip()) for line in paragraph)
        wrapped = width in WRAPPING_WIDTHS and bool(_FINAL_MARK.search(paragraph[-1]))
        for line in paragraph:
            if previous is None or not _continues(previous, line, width if wrapped else None):
                yield prose, offset
                marker = _ITEM_MARKER.match(line)
                prose = offset + (marker.end() if marker else 0)
            offset += len(line)
            previous = line
    yield prose, offset


def _paragraphs(lines: Sequence[str]) -> Iterator[list[str]]:
    """Yields runs of lines, none empty: no line of a run but its first begins an item or stands by itself."""
    paragraph: list[str] = []
    for line in lines:
        if paragraph and not _may_continue(paragraph[-1], line):
            yield paragraph
            paragraph = []
        paragraph.append(line)
    if paragraph:
        yield paragraph


def _may_continue(previous: str, line: str) -> bool:
    """Whether nothing in the form of two lines forbids that one continues the other."""
    if not previous.strip() or not line.strip() or previous.rstrip().endswith(_ENDS_BLOCK):
        return False
    if _LABELLED.match(previous) and _LABELLED.match(line):
        return False
    return not (_ITEM_MARKER.match(line) or _LINE_OF_ITS_OWN.match(line) or _LINE_OF_ITS_OWN.match(previous))


def _continues(previous: str, line: str, width: int | None) -> bool:
    """Whether the line continues the sentence of the line before it.

    Args:
        width: of the longest line where their paragraph ends as a sentence does; None where it does not.
    """
    previous = previous.rstrip()
    full = width is not None and len(previous) + len(" ") + len(line.split(maxsplit=1)[0]) > width
    in_sentence = line.lstrip()[0].islower() or bool(_OPEN_END.search(previous))
    return full or in_sentence or len(previous) in WRAPPED_LINE_WIDTHS


def _boundaries(text: str, start: int, end: int, code: str) -> list[int]:
    """Returns the offsets inside (start, end) at which one sentence ends and the next begins."""
    found: list[int] = []
    if _LINE_OF_ITS_OWN.match(text, start, end):
        return found
    while start < end:
        window = text[start : min(start + WINDOW, end)]
        inner = sorted({cut for cut in sentence_ends(window, code) if cut > 0 and window[cut:].strip()})
        if start + len(window) < end and not inner:
            inner = [window.rfind(" ") + 1 or len(window)]
        found += [start + cut for cut in inner]
        # The last sentence of a window may continue after it, so the next window begins with that sentence.
        start = found[-1] if start + len(window) < end else end
    return found


def _trim(text: str, start: int, end: int) -> Span | None:
    """Returns the span without the white space at its ends, or None when nothing else is in it."""
    piece = text[start:end]
    if not piece.strip():
        return None
    return Span(start=start + len(piece) - len(piece.lstrip()), end=start + len(piece.rstrip()))
