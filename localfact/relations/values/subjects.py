"""Which words of a clause are its subject, and which of these only say what sort of thing a name is."""

from collections.abc import Sequence

from localfact.relations.values.names import Name
from localfact.relations.values.segments import OPENING, Word
from localfact.relations.values.vocabulary import PRONOUNS, STOP_WORDS, words_of_kind

PREPOSITIONS = words_of_kind("preposition")
PLACE_KINDS = words_of_kind("place-kind")
_ARTICLES = ("the", "a", "an")


def find_head(words: Sequence[Word], verb_at: int | None, opening: int) -> Sequence[Word]:
    """The words of the subject: those before the verb; in a clause without one, what begins it as a subject would.

    The first `opening` words are none of it.
    """
    if verb_at is None:
        starts = bool(words) and (words[0].lower in _ARTICLES or words[0].capital)
        end = next((place for place, word in enumerate(words) if word.lower in PREPOSITIONS - {"of"}), len(words))
        return words[:end] if starts else words[:0]
    begin = opening
    if not opening and words[0].lower in OPENING:  # "In June the club moved": the subject begins behind the time
        begin = max((place for place in range(1, verb_at) if _begins_subject(words, place)), default=int(verb_at == 1))
    return words[begin:verb_at]


def _begins_subject(words: Sequence[Word], place: int) -> bool:
    """Whether a subject may begin there: at an article, a pronoun or a name, not behind a preposition."""
    word, before = words[place], words[place - 1]
    if before.lower in PREPOSITIONS and place > 1:
        return False
    return word.lower in (*_ARTICLES, *PRONOUNS) or (word.capital and not before.capital and before.lower not in _ARTICLES)


def find_described_name(head: Sequence[Word], names: Sequence[Name]) -> int:
    """Where the name begins that a subject ends in, if what stands before it only says what sort of thing it is; or 0.

    "The old port of Lervika", "the Danish painter Lettice Crane"; not "the mayor of Lervika" or "Lund and Lettice Crane".
    """
    name = next((one for one in names if head and one.span.end == head[-1].end), None)
    begin = next((place for place, word in enumerate(head) if name is not None and word.start == name.span.start), 0)
    end = begin - 1 if begin > 1 and head[begin - 1].lower == "of" and head[begin - 2].lower in PLACE_KINDS else begin
    kinds = head[:end]
    if not kinds or kinds[-1].capital or any(word.verb or word.lower in PREPOSITIONS for word in kinds):
        return 0
    capitals = [place for place, word in enumerate(kinds) if word.capital and word.lower not in _ARTICLES]
    another = len(capitals) > 1 or capitals[:1] == [0]  # a name, and not "Danish"
    return 0 if another or not content_of(kinds) else begin


def is_owned(head: Sequence[Word]) -> bool:
    """Whether the subject is of something: "Lund's wife", "the mayor of Lund"."""
    return any(word.lower == "of" or word.end - word.start > len(word.lower) for word in head[:-1])


def content_of(words: Sequence[Word]) -> frozenset[str]:
    """The compared words, without those that say nothing."""
    return frozenset(word.base for word in words if word.lower not in STOP_WORDS)
