"""Changes one detail of a sentence so that what it says is contradicted: a number, a date, a name, an opposite.

A rule passes a sentence over where the change could leave both statements true: under a negation, after "more than", in a list.
"""

import random
import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from scripts.training.relation_model import rule_words as lists
from scripts.training.relation_model.passages import has_word

NEGATION = re.compile(
    r"\b(?:not|never|no|nor|neither|none|nobody|nothing|without|cannot|hardly|rarely|unless)\b|n't\b", re.IGNORECASE
)
_UNSURE = re.compile(r"\b(?:if|whether|may|might|could|would|perhaps|possibly|suggests?|unclear|should)\b", re.IGNORECASE)
_ABILITY = re.compile(r"\b(?:can|some|sometimes|often|such as|including|or)\b", re.IGNORECASE)
#: Before a number: what makes another number true as well, or the number no amount.
OPEN_ENDED = re.compile(
    r"(?:more than|less than|fewer than|at least|at most|up to|over|under|above|below|nearly|almost|since|until|after|before"
    r"|by|between|and|to|or|than|from|least|as much as|as many as|just|vs|v|No|number|[-–/:.])\s*$",
    re.IGNORECASE,
)
_YEAR = re.compile(r"(?<![\w.,/–-])(?:1[5-9]\d\d|20[0-2]\d)(?=[ ,.;)])(?!,\d)(?!\.\d)")
_NUMBER = re.compile(r"(?<= )(?:\d{1,3}(?:,\d{3})+|\d{1,4})(?= [a-z%]| percent|%)")
_MONTH = re.compile(rf"\b({'|'.join(lists.MONTHS)})\b(?=,? \d|[.,;])")
_WEEKDAY = re.compile(rf"(?<=[Oo]n )({'|'.join(lists.WEEKDAYS)})\b")
_ORDINAL = re.compile(
    rf"(?<=the )({'|'.join(lists.ORDINALS)})(?= (?!few|couple|{'|'.join(lists.NUMBER_WORDS)}|half)[a-z]+(?<!s)\b)"
)
_WRITTEN_NUMBER = re.compile(rf"(?<= )({'|'.join(lists.NUMBER_WORDS[2:])})(?= [a-z]+(?:s|men|women|people|children)\b)")
_NATIONALITY = re.compile(rf"(?<![A-Z]\w )(?<!and )(?<!\w-)\b({'|'.join(lists.NATIONALITIES)})(?= [a-z]{{3,}})(?! and)(?! or)")
_PERSON = re.compile(
    r"(?<=\b(?:by|of|to) )([A-Z][a-z]+) (?:[A-Z]\. )?([A-Z][a-z]{2,})\b(?! [A-Z])(?! and)(?!, [A-Z])(?!'s? [A-Z])"
)
_PLACE_CONTEXT = re.compile(r"\b(?:in|at|from|to|near|of) $")
_ORGANISATION = re.compile(
    rf"(?<=\b(?:at|of|by|to) )((?:the )?)((?:[A-Z][a-z]+ ){{1,3}}(?:{'|'.join(sorted(lists.ORGANISATIONS))}))\b"
    r"(?! of)(?! [A-Z])(?! and)(?!, [A-Z])"
)

_OPPOSITES: dict[str, list[str]] = {}
for _one, _other in lists.OPPOSITES:
    _OPPOSITES.setdefault(_one, []).append(_other)
    _OPPOSITES.setdefault(_other, []).append(_one)
_OPPOSITES |= {word: [other] for word, other in lists.ONE_WAY_OPPOSITES.items()}
_SISTERS = {word: tuple(other for other in line if other != word) for line in lists.SISTERS for word in line}
_PLACES = {place: group for group in (lists.COUNTRIES, lists.STATES, lists.CITIES, lists.CONTINENTS) for place in group}
_PLACE = re.compile(rf"\b({'|'.join(sorted(_PLACES, key=len, reverse=True))})\b(?! [A-Z])(?!-)(?! and [A-Z])(?! or)(?!'s)")


class Edit(NamedTuple):
    """What was done to a sentence, what stood there, what stands there now, and the sentence after it."""

    kind: str
    old: str
    new: str
    sentence: str


class Names(NamedTuple):
    """Names seen in the texts, to be put in place of others of their kind."""

    persons: tuple[str, ...]
    organisations: tuple[str, ...]

    @classmethod
    def seen_in(cls, sentences: Sequence[str]) -> "Names":
        """The names of these sentences, each once, in the order of the alphabet."""
        persons, organisations = set(), set()
        for sentence in sentences:
            persons |= {found.group() for found in _PERSON.finditer(sentence) if found.group(1) in lists.FIRST_NAMES}
            organisations |= {found.group(2) for found in _ORGANISATION.finditer(sentence)}
        return cls(tuple(sorted(persons)), tuple(sorted(organisations)))


def contradicting_edits(sentence: str, premise: str, names: Names, chance: random.Random) -> Iterator[Edit]:
    """At most one edit of each kind. What is put in is not in the premise, but where a rule confuses two of its details."""
    if NEGATION.search(sentence) or _UNSURE.search(sentence):
        yield from _kept(_frequencies(sentence, chance), sentence, premise)
        return
    rules: tuple[Callable[[], Edit | None], ...] = (
        lambda: _year(sentence, premise, chance),
        lambda: _confused_year(sentence, premise, chance),
        lambda: _number(sentence, chance),
        lambda: _confused_number(sentence, premise, chance),
        lambda: _from_list("month changed", _MONTH, lists.MONTHS, sentence, chance),
        lambda: _from_list("weekday changed", _WEEKDAY, lists.WEEKDAYS, sentence, chance),
        lambda: _from_list("ordinal changed", _ORDINAL, lists.ORDINALS, sentence, chance),
        lambda: _from_list("written number changed", _WRITTEN_NUMBER, lists.NUMBER_WORDS[2:], sentence, chance),
        lambda: _from_list("nationality changed", _NATIONALITY, lists.NATIONALITIES, sentence, chance),
        lambda: _person(sentence, premise, names, chance),
        lambda: _place(sentence, chance),
        lambda: _confused_place(sentence, premise, chance),
        lambda: _organisation(sentence, names, chance),
        lambda: _opposite(sentence, chance),
        lambda: _sister(sentence, chance),
        lambda: _frequencies(sentence, chance),
    )
    for rule in rules:
        yield from _kept(rule(), sentence, premise)


def _kept(edit: Edit | None, sentence: str, premise: str) -> Iterator[Edit]:
    """The edit unless the sentence stayed as it was or the premise has what was put in."""
    if edit and edit.sentence != sentence and (edit.kind.endswith("confused") or not has_word(premise, edit.new)):
        yield edit


def replaced(kind: str, sentence: str, found: re.Match[str], new: str) -> Edit:
    """The edit that puts the new words where the match is; an article before them follows their first letter."""
    before, after = sentence[: found.start()], sentence[found.end() :]
    if (article := re.search(r"\b([Aa])(n?) $", before)) and new[0].isalpha():
        before = before[: article.start()] + article.group(1) + ("n " if new[0].lower() in "aeio" else " ")
    return Edit(kind, found.group(), new, before + new + after)


def _from_list(kind: str, pattern: re.Pattern[str], offers: Sequence[str], sentence: str, chance: random.Random) -> Edit | None:
    places = _closed(sentence, pattern) if offers is lists.NUMBER_WORDS[2:] else list(pattern.finditer(sentence))
    if not places:
        return None
    found = chance.choice(places)
    return replaced(
        kind, sentence, found, chance.choice([offer for offer in offers if not has_word(sentence, offer)] or [found.group()])
    )


def _closed(sentence: str, pattern: re.Pattern[str]) -> list[re.Match[str]]:
    """The numbers of a sentence that say one amount or date, not a bound or an end of a range."""
    return [
        found
        for found in pattern.finditer(sentence)
        if not OPEN_ENDED.search(sentence[: found.start()])
        and not re.match(r"\s?(?:[-–/]|to \d|and \d|or )", sentence[found.end() :])
    ]


def _year(sentence: str, premise: str, chance: random.Random) -> Edit | None:
    if not (places := _closed(sentence, _YEAR)):
        return None
    found = chance.choice(places)
    year = int(found.group())
    offers = [str(year + step) for step in (*range(-25, 0), *range(1, 26)) if year + step < 2026]
    return replaced("year changed", sentence, found, chance.choice([offer for offer in offers if offer not in premise]))


def _confused_year(sentence: str, premise: str, chance: random.Random) -> Edit | None:
    """A year that the premise gives for something else."""
    places = _closed(sentence, _YEAR)
    others = sorted({found.group() for found in _YEAR.finditer(premise)} - set(_YEAR.findall(sentence)))
    return replaced("years confused", sentence, chance.choice(places), chance.choice(others)) if places and others else None


def _amounts(sentence: str) -> list[re.Match[str]]:
    """The numbers of a sentence that say how many or how much."""
    places = [found for found in _closed(sentence, _NUMBER) if not re.fullmatch(r"1[5-9]\d\d|20\d\d", found.group())]
    return [found for found in places if not re.search(rf"(?:[A-Z]\w*|{'|'.join(lists.MONTHS)})\s$", sentence[: found.start()])]


def _confused_number(sentence: str, premise: str, chance: random.Random) -> Edit | None:
    """A number that the premise gives for something else, of the same sort: a share for a share."""
    places = _amounts(sentence)
    if not places:
        return None
    found = chance.choice(places)
    share = bool(re.match(r" ?%| percent", sentence[found.end() :]))
    others = sorted(
        other.group()
        for other in _amounts(premise)
        if not has_word(sentence, other.group()) and bool(re.match(r" ?%| percent", premise[other.end() :])) == share
    )
    return replaced("numbers confused", sentence, found, chance.choice(others)) if others else None


def _number(sentence: str, chance: random.Random) -> Edit | None:
    places = _amounts(sentence)
    if not places:
        return None
    found = chance.choice(places)
    value = int(found.group().replace(",", ""))
    factors = (0.3, 0.5, 0.6, 1.5, 1.8, 2, 3)
    offers = sorted({round(value * factor) for factor in factors} - {value, 0}) or [value + 3]
    if re.match(r" ?%| percent", sentence[found.end() :]):
        offers = [offer for offer in offers if offer <= 100 or value > 100]
    new = chance.choice(offers)
    if value >= 100 and value % 10 == 0:
        new = max(10, new // 10 * 10)
    return replaced("number changed", sentence, found, f"{new:,}" if "," in found.group() else str(new))


def _person(sentence: str, premise: str, names: Names, chance: random.Random) -> Edit | None:
    places = [found for found in _PERSON.finditer(sentence) if found.group(1) in lists.FIRST_NAMES]
    if not places or not names.persons:
        return None
    found = chance.choice(places)
    if re.search(
        r"\b(?:such as|like|including|due|according|and|listen\w*|thanks|similar|compared) (?:by|of|to) $",
        sentence[: found.start()],
    ):
        return None
    others = [
        other.group()
        for other in re.finditer(r"\b([A-Z][a-z]+) [A-Z][a-z]{2,}\b(?! [A-Z])", premise)
        if other.group(1) in lists.FIRST_NAMES and other.group(1) not in sentence and other.group().split()[1] not in sentence
    ]
    if others and sentence[found.start() - 3 : found.start()] == "by ":
        return replaced("persons confused", sentence, found, chance.choice(sorted(set(others))))
    namesake = f"{chance.choice(sorted(lists.FIRST_NAMES))} {found.group(2)}"
    return replaced(
        "person changed", sentence, found, chance.choice((namesake, chance.choice(names.persons), chance.choice(names.persons)))
    )


def _place(sentence: str, chance: random.Random) -> Edit | None:
    places = [found for found in _PLACE.finditer(sentence) if _PLACE_CONTEXT.search(sentence[: found.start()])]
    if not places:
        return None
    found = chance.choice(places)
    return replaced(
        "place changed", sentence, found, chance.choice([one for one in _PLACES[found.group()] if one not in sentence])
    )


def _confused_place(sentence: str, premise: str, chance: random.Random) -> Edit | None:
    """A place of the same sort that the premise names for something else."""
    places = [found for found in _PLACE.finditer(sentence) if _PLACE_CONTEXT.search(sentence[: found.start()])]
    if not places:
        return None
    found = chance.choice(places)
    others = sorted(
        {other.group() for other in _PLACE.finditer(premise) if other.group() in _PLACES[found.group()]}
        - {one.group() for one in _PLACE.finditer(sentence)}
    )
    return replaced("places confused", sentence, found, chance.choice(others)) if others else None


def _organisation(sentence: str, names: Names, chance: random.Random) -> Edit | None:
    places = list(_ORGANISATION.finditer(sentence))
    if not places:
        return None
    found = chance.choice(places)
    old = found.group(2)
    others = [name for name in names.organisations if name.split()[-1] == old.split()[-1] and name not in sentence]
    if not others:
        return None
    new = chance.choice(others)
    return Edit("organisation changed", old, new, sentence[: found.start(2)] + new + sentence[found.end(2) :])


def _opposite(sentence: str, chance: random.Random) -> Edit | None:
    if _ABILITY.search(sentence):
        return None
    places = [found for found in re.finditer(r"(?<=[a-z,] )[a-z]+\b(?!-)", sentence) if found.group() in _OPPOSITES]
    if len(places) != 1:  # with two, "older brothers, younger sisters", the sentence may set one against the other
        return None
    found = places[0]
    if found.group() in ("before", "after") and re.match(r" (?:the|a|his|her|\w+ing|\d)", sentence[found.end() :]) is None:
        return None
    return replaced("opposite", sentence, found, chance.choice(_OPPOSITES[found.group()]))


def _sister(sentence: str, chance: random.Random) -> Edit | None:
    places = [
        found
        for found in re.finditer(r"(?<=[a-z,\d] )[A-Za-z]+\b(?!-)(?! and)(?! or)(?!,)", sentence)
        if found.group() in _SISTERS
    ]
    places = [found for found in places if not re.search(r"\b(?:and|or) $", sentence[: found.start()])]
    if not places or _ABILITY.search(sentence):
        return None
    found = chance.choice(places)
    return replaced("sister word", sentence, found, chance.choice(_SISTERS[found.group()]))


def _frequencies(sentence: str, chance: random.Random) -> Edit | None:
    """A word of quantity or frequency, where it stands in the sentence's main clause: at its start, or after its first verb."""
    if NEGATION.search(sentence) and not re.search(r"\b(?:never|rarely)\b", sentence):
        return None
    pattern = (
        r"^(?:Many|Few|Most|Several|Some|Numerous|All|Every)\b(?= (?:of )?[a-z])(?! of (?:it|this))"
        r"|(?<=[a-z] )(?<!less )(?<!more )(?<!most )(?:always|never|often|frequently|usually|rarely)\b"
    )
    places = list(re.finditer(pattern, sentence))
    if len(places) != 1 or len(NEGATION.findall(sentence)) > 1:
        return None
    found = places[0]
    new = lists.QUANTITIES[found.group().lower()]
    of = re.match(r" of\b", sentence[found.end() :])
    new = {"no": "none", "not all": "not all"}.get(new, new) if of else new
    return replaced("quantity word", sentence, found, new.capitalize() if found.start() == 0 else new)
