"""Tokenises a text for the lexical relation model: words by stem, numbers by value, names by capitals.

The rules are for English; a script without spaces is read as overlapping pairs of characters, any other script as whole words.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

#: Scripts written without spaces: Thai and Lao, Burmese, Khmer, kana, Han.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_LETTERS = rf"(?:(?![{_UNSPACED}])[^\W_])+"
_TOKEN = re.compile(
    r"(?P<number>\d+(?:[.,]\d+)*(?:st|nd|rd|th|s)?(?![^\W\d_]))"
    rf"|(?P<unspaced>[{_UNSPACED}]+)"
    rf"|(?P<word>{_LETTERS}(?:['’]{_LETTERS})*)"
)
_THOUSANDS_COMMA = re.compile(r",(?=\d{3}(?!\d))")
_POSSESSIVE = re.compile(r"'s?$")
_YEAR = re.compile(r"1\d{3}|20\d{2}")

_NEGATING_WORDS = ("no", "not", "never", "none", "neither", "nor", "nobody", "nothing", "nowhere", "without", "cannot")
_NEGATIONS = frozenset((*_NEGATING_WORDS, "hardly", "fail", "fails", "failed", "lack", "lacks", "lacked", "unable"))
_MONTHS = frozenset(
    ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december")
)
_MONTHS_THAT_ARE_WORDS = frozenset(("march", "may"))
#: "One" is left out: it is a pronoun as often as a number.
_NUMBERS_FROM_TWO = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_NUMBER_WORDS = {word: str(value) for value, word in enumerate(_NUMBERS_FROM_TWO, start=2)}

#: Of longer words only so many characters are compared.
LONGEST_WORD = 64
SHORTEST_STEM = 3
WORDS_KEPT = 100_000


class LexicalToken(NamedTuple):
    """One token: the stem that is compared, and which kind of detail it is. `number` excludes what reads as a year."""

    stem: str
    number: bool = False
    year: bool = False
    month: bool = False
    name: bool = False
    negation: bool = False


def is_detail(token: LexicalToken) -> bool:
    """Whether it is a number, a year or a month."""
    return token.number or token.year or token.month


def tokens(text: str) -> list[LexicalToken]:
    """The tokens of a text, in order. A name is a capitalised word, so a lower-cased text has none."""
    found: list[LexicalToken] = []
    for match in _TOKEN.finditer(text):
        written = match.group()
        if match.lastgroup == "unspaced":
            found += [LexicalToken(written[start : start + 2]) for start in range(max(1, len(written) - 1))]
        elif match.lastgroup == "number":
            found.append(_number(written[:LONGEST_WORD]))
        else:
            found.append(_word(written[:LONGEST_WORD]))
    return found


def stem(word: str) -> str:
    """A lower-case word without its English inflection (plural, -ed, -ing, final -e): rough, but the same for both texts."""
    if word.endswith("ies") and len(word) > SHORTEST_STEM + 1:
        word = word[:-3] + "y"
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > SHORTEST_STEM:
        word = word[:-1]
    for suffix in ("ing", "ed"):
        if word.endswith(suffix) and len(word) >= len(suffix) + SHORTEST_STEM:
            word = word[: -len(suffix)]
            break
    if len(word) > SHORTEST_STEM and word.endswith("e"):
        word = word[:-1]
    if len(word) > SHORTEST_STEM and word[-1] == word[-2]:
        word = word[:-1]
    return word


#: So many words behind a negation are denied: "did not officially open".
REACH = 4
#: What, among them, says that it happened after all.
_UNTIL = frozenset(("until", "till"))
#: What follows a negation that denies nothing: "not only", "no fewer than", "no longer", "no doubt".
_AFTER_NO_DENIAL = ("only", "just", "merely", "simply", "alone", "limited", "least", "more", "less", "fewer", "later")
_NO_DENIAL = frozenset(map(stem, (*_AFTER_NO_DENIAL, "than", "longer", "doubt")))


def negations(sentence: Sequence[LexicalToken]) -> list[int]:
    """The places of the tokens that deny what follows: not of "No. 5", "not only" or "did not open until"."""
    return [place for place, token in enumerate(sentence) if token.negation and _denies(sentence[place : place + 1 + REACH])]


def _denies(words: Sequence[LexicalToken]) -> bool:
    """Whether the first of the words, a negation, denies the others."""
    negation, *behind = words
    counts = negation.stem == "no" and bool(behind) and behind[0].number
    return not (counts or (behind and behind[0].stem in _NO_DENIAL) or any(word.stem in _UNTIL for word in behind))


def _number(written: str) -> LexicalToken:
    value = _THOUSANDS_COMMA.sub("", written)
    year = _YEAR.fullmatch(value) is not None
    return LexicalToken(value, number=not year, year=year)


@lru_cache(maxsize=WORDS_KEPT)
def _word(written: str) -> LexicalToken:
    lower = written.lower().replace("’", "'")
    if lower.endswith("n't"):
        return LexicalToken("not", negation=True)
    lower = _POSSESSIVE.sub("", lower)
    if lower in _NUMBER_WORDS:
        return LexicalToken(_NUMBER_WORDS[lower], number=True)
    capitalised = written[0].isupper()
    if lower in _MONTHS and (capitalised or lower not in _MONTHS_THAT_ARE_WORDS):
        return LexicalToken(stem(lower), month=True)
    return LexicalToken(stem(lower), name=capitalised, negation=lower in _NEGATIONS)
