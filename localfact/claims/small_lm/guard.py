"""What a model may not write as a claim: nothing that its sentence, what stood before it, and the topic do not have.

By rule: names, numbers and dates, negations, and words. Whether the sentence says so is asked of a relation model beside these
rules (`extractor.py`).
"""

import re
import unicodedata
from enum import StrEnum

from localfact import text
from localfact.claims.rules.checkworthy import FEWEST_WORDS

#: Words of a claim that its source lacks in every form, at most: people who take sentences apart add "is located" or "exists".
MOST_NEW_WORDS = 2
#: A longer claim may have one more for so many words.
WORDS_FOR_ONE_MORE = 12
#: Letters that two forms of a word share at their beginning.
STEM = 5
#: Shorter words ("of", "has") hold claims together.
SHORTEST_WORD = 4

#: Words behind a negation that it surely denies.
DENIED_WORDS = 2

#: "1970s" is no 1970.
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*(?:s\b)?")
_NAME = re.compile(r"[^\W\d_][\w'’.-]*")
_NEGATION = re.compile(r"(?i:\b(?:no|not|never|none|neither|nor|nobody|nothing|without|cannot)\b|n['’]t\b)")
#: "Not only" denies nothing.
_NOT_ALONE = ("only", "just", "merely", "simply")
#: "One" is left out: it is a pronoun as often as a number.
NUMBERS_FROM_TWO = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_AS_DIGITS = {word: str(value) for value, word in enumerate(NUMBERS_FROM_TWO, start=2)}
#: What a claim may begin with that its text does not have.
_OPENINGS = frozenset(
    (
        *("a", "an", "the", "this", "that", "these", "those", "there", "it", "he", "she", "they", "his", "her", "its", "their"),
        *("one", "some", "all", "both", "many", "several", "each", "someone", "people", "in", "on", "at", "as", "by", "for"),
        *(
            "from",
            "of",
            "to",
            "with",
            "after",
            "before",
            "during",
            "according",
            "about",
            "around",
            "when",
            "if",
            "part",
            "under",
        ),
        *("since", "until", "while", "although", "because", "within", "between", "among", "through", *NUMBERS_FROM_TWO),
    )
)
_POSSESSIVE = re.compile(r"['’]s?$")


class Refusal(StrEnum):
    """Why a claim is thrown away; the keys of what is counted."""

    SHORT = "too_short"
    NUMBER = "number_not_in_text"
    NAME = "name_not_in_text"
    NEGATION = "negation_not_in_text"
    NEGATION_LOST = "negation_lost"
    WORDS = "words_not_in_text"
    NOT_ENTAILED = "not_entailed"


def refusal(claim: str, source: str) -> Refusal | None:
    """The rule by which a claim cannot come from the source; None if none applies.

    Args:
        claim: one line of a model's answer.
        source: the sentence with what stood before it and the topic.
    """
    if text.word_count(claim) < FEWEST_WORDS:
        return Refusal.SHORT
    if not numbers(claim) <= numbers(source):
        return Refusal.NUMBER
    known = {_bare(word) for word in _NAME.findall(source)}
    if any(name not in known and name.removesuffix("s") not in known for name in map(_bare, names(claim))):
        return Refusal.NAME
    first = _bare(found[0]) if (found := _NAME.match(claim.lstrip("\"'“”‘’(["))) else ""
    if first and first not in known and first not in _OPENINGS and first[:STEM] not in {word[:STEM] for word in known}:
        return Refusal.NAME  # every claim begins with a capital, so what is new there may be a name
    if _NEGATION.search(claim):
        if not _NEGATION.search(source):
            return Refusal.NEGATION
    elif find_denied_words(source) & {_bare(word) for word in _NAME.findall(claim)}:
        return Refusal.NEGATION_LOST
    stems = {word[:STEM] for word in known}
    new = [word for word in map(_bare, _NAME.findall(claim)) if len(word) >= SHORTEST_WORD and word[:STEM] not in stems]
    return Refusal.WORDS if len(new) > MOST_NEW_WORDS + text.word_count(claim) // WORDS_FOR_ONE_MORE else None


def find_denied_words(source: str) -> set[str]:
    """Words that occur only directly behind a negation: "soft but not brown" denies "brown". Short words are left out."""
    behind: set[str] = set()
    elsewhere: set[str] = set()
    left = 0
    for found in re.finditer(r"[^\s]+", source):
        if _NEGATION.search(found[0]):
            left = DENIED_WORDS
            continue
        word = _bare(found[0].strip('"“”(),;:!?'))
        (behind if left and len(word) >= SHORTEST_WORD else elsewhere).add(word)
        left = 0 if found[0][-1] in ".,;:!?" or word in _NOT_ALONE else max(0, left - 1)
    return behind - elsewhere


def names(claim: str) -> list[str]:
    """The capitalised words of a claim but for the first, which every claim begins with."""
    return [found[0] for found in _NAME.finditer(claim) if found.start() and found[0][0].isupper()]


def numbers(text_of_it: str) -> set[str]:
    """The numbers of a text, with their digits only; small ones also where they are words."""
    digits = {found.replace(",", "") for found in _NUMBER.findall(text_of_it)}
    return digits | {value for word in _NAME.findall(text_of_it) if (value := _AS_DIGITS.get(_bare(word)))}


def _bare(word: str) -> str:
    """A word as it is compared: in lower case, without accents, a possessive and the punctuation around it."""
    letters = (each for each in unicodedata.normalize("NFKD", word.casefold()) if not unicodedata.combining(each))
    return _POSSESSIVE.sub("", "".join(letters)).strip(".-'’").replace("’", "'")
