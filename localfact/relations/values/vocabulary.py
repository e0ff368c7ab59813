"""The words that the room knows: the forms of verbs, words for the same, months, hedges, units; and how a word is compared."""

from functools import cache, lru_cache
from pathlib import Path

from localfact.relations.lexical.tokens import stem

VERBS_FILE = Path(__file__).with_name("verbs.txt")
SYNONYMS_FILE = Path(__file__).with_name("synonyms.txt")
#: Kinds of words that a rule asks about, one a line: "<kind>: <word> ...".
WORDS_FILE = Path(__file__).with_name("words.txt")


def words_of_kind(kind: str) -> frozenset[str]:
    """The words of a kind in WORDS_FILE."""
    lines = (line.split(": ") for line in WORDS_FILE.read_text(encoding="utf-8").splitlines())
    return frozenset(next(words for name, words in lines if name == kind).split())


MONTHS = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
#: Season -> its months in the north; one that spans two years stands for the whole year.
SEASONS = {"spring": (3, 5), "summer": (6, 8), "autumn": (9, 11), "fall": (9, 11), "winter": (1, 12)}

ONES = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
MAGNITUDES = {"hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12}
ORDINALS = (
    *("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh", "twelfth"),
    *("thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth", "twentieth"),
)

#: Verbs that say nothing by themselves: what stands beside them does.
WEAK_VERBS = frozenset(("be", "have", "do", "become", "get", "serve", "work"))
#: Verbs of what the same one may do at other times: another date is then another time.
REPEATED_VERBS = words_of_kind("repeated")
#: Words that a slot is not told by.
STOP_WORDS = words_of_kind("stop")
PRONOUNS = frozenset(("he", "she", "it", "they", "his", "her", "its", "their", "this", "these", "there", "who", "which"))
_NOT_PAST = frozenset(("hundred", "united", "indeed", "sacred", "kindred", "speed", "breed", "hatred", "biped", "aged"))
SHORTEST_PAST = 5


@cache
def _forms() -> dict[str, str]:
    """A verb's form -> the verb."""
    found: dict[str, str] = {}
    for line in VERBS_FILE.read_text(encoding="utf-8").splitlines():
        verb, *forms = line.split()
        found |= dict.fromkeys((verb, *forms), verb)
    return found


@cache
def _classes() -> dict[str, frozenset[int]]:
    """A word as compared -> the numbers of the lines of SYNONYMS_FILE that have it."""
    found: dict[str, set[int]] = {}
    for number, line in enumerate(SYNONYMS_FILE.read_text(encoding="utf-8").splitlines()):
        for word in line.split():
            found.setdefault(base(word), set()).add(number)
    return {word: frozenset(numbers) for word, numbers in found.items()}


@lru_cache(maxsize=50_000)
def base(word: str) -> str:
    """A lower-case word as it is compared: a known verb's form as the verb, any other without its inflection."""
    return stem(_forms().get(word, word))


@lru_cache(maxsize=50_000)
def is_verb(word: str) -> bool:
    """Whether a lower-case word reads as a verb: a known form of one, or one in -ed."""
    return word in _forms() or (word.endswith("ed") and len(word) >= SHORTEST_PAST and word not in _NOT_PAST)


@cache
def repeated_verbs() -> frozenset[str]:
    """REPEATED_VERBS as they are compared."""
    return frozenset(map(base, REPEATED_VERBS))


def is_weak(word: str) -> bool:
    """Whether a lower-case word is a form of one of WEAK_VERBS."""
    return _forms().get(word, word) in WEAK_VERBS


@lru_cache(maxsize=50_000)
def kin(word: str) -> frozenset[str | int]:
    """What a compared word may be matched by: itself, and the classes of words for the same that it is in."""
    return frozenset((word, *_classes().get(word, ())))
