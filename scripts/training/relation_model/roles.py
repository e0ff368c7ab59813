"""Who did what to whom: exchanges the two names of a sentence, and makes sentences about two names of its own.

Swapped roles are rare in the texts at hand, so most are made: two people or places, a relation, and what follows from it.
"""

import random
import re
from collections.abc import Iterator
from typing import NamedTuple

from scripts.training.relation_model.examples import CONTRADICTION, ENTAILMENT, NEUTRAL
from scripts.training.relation_model.rule_words import CITIES, FIRST_NAMES, LAST_NAMES
from scripts.training.relation_model.sentence_edits import NEGATION, Edit

_NAME = r"[A-Z][a-z]+(?: [A-Z][a-z]+){0,2}"
_VERBS = (  # noqa: SIM905
    "defeated beat succeeded replaced preceded taught hired sued acquired bought founded invaded killed "
    "conquered directed wrote painted adopted murdered shot captured produced discovered invented composed "
    "employed mentored coached attacked overthrew"
).split()
_SWAPPABLE = re.compile(
    rf"^(?P<one>{_NAME})(?P<between> (?:{'|'.join(_VERBS)}) | (?:is"
    rf"|was) (?:{'|'.join(verb for verb in _VERBS if verb.endswith('ed'))}|taught|written|beaten) by "
    rf"| (?:is|was) (?:older|younger|taller|larger|smaller|bigger|richer|faster|longer|higher) than | (?:is|lies"
    rf"|was) (?:north|south|east|west) of "
    rf"| (?:is|was) the (?:father|mother|son|daughter|capital|author|director|founder|teacher|pupil|student|successor"
    rf"|predecessor) of )(?P<other>{_NAME})\b(?! [A-Z])(?!'s)"
)


class Relation(NamedTuple):
    """Sentences with {a} and {b}: how it may be said, what says the same, what says the contrary, and what neither."""

    said: tuple[str, ...]
    same: tuple[str, ...]
    contrary: tuple[str, ...]
    open: tuple[str, ...]
    about: str = "persons"


def _one_way(active: str, passive: str, *unrelated: str) -> Relation:
    said = (f"{{a}} {active} {{b}}", f"{{b}} was {passive} by {{a}}")
    contrary = (f"{{b}} {active} {{a}}", f"{{a}} was {passive} by {{b}}", f"It was {{b}} who {active} {{a}}")
    return Relation(said, (*said, f"It was {{a}} who {active} {{b}}"), contrary, unrelated)


def _compared(more: str, less: str, about: str = "persons", verb: str = "was") -> Relation:
    said = (f"{{a}} {verb} {more} {{b}}", f"{{b}} {verb} {less} {{a}}")
    contrary = (f"{{b}} {verb} {more} {{a}}", f"{{a}} {verb} {less} {{b}}")
    unrelated = ("{a} and {b} had the same grandfather",) if about == "persons" else ("{a} has a larger harbour than {b}",)
    return Relation(said, said, contrary, unrelated, about)


def _symmetric(said: str, *unrelated: str) -> Relation:
    """Holds both ways: what swaps the names says the same."""
    return Relation((f"{{a}} {said} {{b}}",), (f"{{a}} {said} {{b}}", f"{{b}} {said} {{a}}"), (), unrelated)


RELATIONS = (
    _one_way("defeated", "defeated", "{a} had met {b} as a child"),
    _one_way("taught", "taught", "{a} wrote a book with {b}"),
    _one_way("hired", "hired", "{a} admired {b}"),
    _one_way("adopted", "adopted", "{a} travelled abroad with {b}"),
    _one_way("succeeded", "succeeded", "{a} was a cousin of {b}"),
    _one_way("replaced", "replaced", "{a} lived next door to {b}"),
    _one_way("killed", "killed", "{b} once lent money to {a}"),
    _one_way("betrayed", "betrayed", "{a} lived next door to {b}"),
    _one_way("outlived", "outlived", "{a} wrote letters to {b}"),
    _one_way("accused", "accused", "{b} had studied law with {a}"),
    _one_way("trained", "trained", "{a} was related to {b}"),
    _one_way("nominated", "nominated", "{b} shared an office with {a}"),
    _one_way("rescued", "rescued", "{a} later married a sister of {b}"),
    _one_way("raised", "raised", "{a} once painted a portrait of {b}"),
    Relation(
        ("{a} lost to {b}", "{b} won against {a}"),
        ("{b} defeated {a}", "{a} was beaten by {b}"),
        ("{a} defeated {b}", "{b} lost to {a}"),
        ("{a} had played {b} twice before",),
    ),
    Relation(
        ("{a} was the son of {b}", "{b} was the father of {a}"),
        ("{a} was a child of {b}", "{b} had a son named {a}"),
        ("{b} was the son of {a}", "{a} was the father of {b}"),
        ("{a} inherited a house from {b}",),
    ),
    Relation(
        ("{a} sold the company to {b}", "{b} bought the company from {a}"),
        ("{a} sold the company to {b}", "{b} bought the company from {a}"),
        ("{b} sold the company to {a}", "{a} bought the company from {b}"),
        ("{a} later worked for {b} in another company",),
    ),
    Relation(
        ("{a} lent the painting to {b}", "{b} borrowed the painting from {a}"),
        ("{b} borrowed the painting from {a}", "{a} lent the painting to {b}"),
        ("{a} borrowed the painting from {b}", "{b} lent the painting to {a}"),
        ("{a} had studied painting with {b}",),
    ),
    _compared("older than", "younger than"),
    _compared("taller than", "shorter than"),
    _compared("born before", "born after"),
    _compared("richer than", "poorer than"),
    _compared("elected before", "elected after"),
    _compared("north of", "south of", "places", "lies"),
    _compared("east of", "west of", "places", "lies"),
    _compared("larger than", "smaller than", "places", "is"),
    _compared("colder than", "warmer than", "places", "is"),
    _symmetric("married", "{a} was older than {b}"),
    _symmetric("met", "{a} gave {b} a watch"),
    _symmetric("played against", "{a} won against {b}"),
    _symmetric("worked together with", "{a} earned more than {b}"),
    _symmetric("was a cousin of", "{a} was younger than {b}"),
)
_CIRCUMSTANCES = (
    "",
    "",
    " in {year}",
    ", as a letter of {year} shows",
    ", according to a local newspaper",
    ", to the surprise of many",
)


def swapped(sentence: str) -> Edit | None:
    """The sentence with the two names of a relation that holds one way only exchanged."""
    found = _SWAPPABLE.search(sentence)
    if (
        not found
        or NEGATION.search(sentence)
        or found.group("one").split()[0] in ("The", "In", "He", "She", "It", "This", "They")
    ):
        return None
    one, other = found.group("one"), found.group("other")
    return Edit("swapped names", one, other, other + found.group("between") + one + sentence[found.end() :])


def made(chance: random.Random) -> Iterator[tuple[str, str, str, str]]:
    """One made sentence with hypotheses: kind, sentence, hypothesis, label; one of each label that the relation has."""
    relation = chance.choice(RELATIONS)
    a, b = _names(relation.about, chance)
    place = chance.choice(_CIRCUMSTANCES) if relation.about == "persons" else ""
    fact = chance.choice(relation.said).format(a=a, b=b) + place.format(year=chance.randint(1820, 2015)) + "."
    kind = "made: symmetric" if not relation.contrary else "made: one way"
    yield f"{kind} kept", fact, chance.choice(relation.same).format(a=a, b=b) + ".", ENTAILMENT
    if relation.contrary:
        yield f"{kind} swapped", fact, chance.choice(relation.contrary).format(a=a, b=b) + ".", CONTRADICTION
    yield f"{kind}, another relation", fact, chance.choice(relation.open).format(a=a, b=b) + ".", NEUTRAL


def _names(about: str, chance: random.Random) -> list[str]:
    if about == "places":
        return chance.sample(CITIES, 2)
    firsts, lasts = chance.sample(sorted(FIRST_NAMES), 2), chance.sample(LAST_NAMES, 2)
    if chance.random() < 0.2:
        lasts[1] = lasts[0]
    return [f"{first} {last}" for first, last in zip(firsts, lasts, strict=True)]
