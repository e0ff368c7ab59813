"""Hypotheses that a passage does not speak to although it is about their subject: the neutral rules of hard_pairs."""

import random
import re
from collections.abc import Iterator, Sequence

from scripts.training.relation_model import rule_words as lists
from scripts.training.relation_model.passages import Passage, content_words, has_word, overlap
from scripts.training.relation_model.rewordings import detail_at_end
from scripts.training.relation_model.sentence_edits import NEGATION

#: Above this share of its content words in a passage, a sentence may say what the passage says.
MOST_OVERLAP = 0.5
#: Above this share of its content words in one sentence, that sentence may say the same.
MOST_IN_ONE_SENTENCE = 0.6
#: A text without the sentence that decides has so many others at least.
FEWEST_OTHERS = 4
#: Of a topic's other sentences so many are looked at, and the nearest of them taken.
OTHERS_LOOKED_AT = 12

_PERSON = re.compile(
    r"^(?P<first>[A-Z][a-z]+) (?:[A-Z]\. )?(?P<last>[A-Z][a-z]{2,})\b(?! [A-Z])(?!'s)(?= (?:is|was|has|had|[a-z]+ed|[a-z]+s)\b)"
)
_PRONOUN = re.compile(r"(?:He|She)(?= [a-z]+)")
#: What only one person can have done, so that saying it of another contradicts.
_ONE_ONLY = re.compile(
    r"\b(?:first|last|only|sole|won|winner|defeated|beat|discovered|invented|founded|founder|created|directed|wrote"
    r"|author|president"
    r"|capital|king|queen|champion|elected|appointed|succeeded|replaced|most|\w{3,}est|was the|is the|became the)\b"
)
_TAIL = re.compile(
    r" ((?:because of|after|despite|thanks to|due to|with the help of|together with|on behalf of|in honou?r of"
    r"|in response to) [a-z][^,;.()]{10,60})\.$"
)
_ADDABLE = re.compile(r"\b(?:\d{4}|because|after|despite|due|thanks|since|when|while|if|may|might|could|would|like|known as)\b")
_OWN_DETAILS = (
    "after a long dispute with the neighbours",
    "at the request of a younger brother",
    "despite the protests of many residents",
    "because of a shortage of money",
    "with the help of two friends from school",
    "after a visit to a small island",
    "as part of a bet",
    "in honour of a grandmother",
    "at a cost of about 40,000 dollars a year",
    "with support from a local bank",
    "because of a rule that few people know",
    "after reading about it in a newspaper",
)
_STRENGTHENED = (
    (re.compile(r"\b(?:may|might)(?= (?:also )?[a-z]+\b)(?! (?:have|be able|yet|only|well))"), "will certainly"),
    (re.compile(r"^Some(?= (?!of\b)[a-z]+s\b)"), "All"),
    (re.compile(r"^(?:Many|Most)(?= (?!of\b)[a-z]+s\b)"), "All"),
    (
        re.compile(
            r"(?<!less )(?<!more )(?<!most )(?<!how )\b(?:often|usually|frequently|sometimes|typically|generally)\b(?= [a-z]+)"
        ),
        "always",
    ),
)
_DETAIL_SIGNS = re.compile(r"[A-Z]\w+|\d+|[a-z]{5,}")


class Elsewhere:
    """What other texts lend: details at the ends of their sentences, persons, sentences of the same topic."""

    def __init__(self, passages: Sequence[Passage], persons: Sequence[str]) -> None:
        """Collects the ends of sentences, last names and, by topic, sentences."""
        self._last_names = sorted({*lists.LAST_NAMES, *(person.split()[-1] for person in persons)})
        self.details = sorted(
            {
                found.group(1)
                for passage in passages
                if (found := _TAIL.search(passage.focus)) and not NEGATION.search(found.group())
            }
        )
        self._by_topic: dict[str, list[str]] = {}
        for passage in passages:
            known = self._by_topic.setdefault(passage.topics[0], [])
            if passage.focus not in known:
                known.append(passage.focus)

    def person(self, chance: random.Random) -> str:
        """A name that no text need have: a common first name and a last name seen or made up."""
        return f"{chance.choice(sorted(lists.FIRST_NAMES))} {chance.choice(self._last_names)}"

    def of_topic(self, passage: Passage) -> list[str]:
        """Sentences of the topic, none of them in the passage."""
        text = passage.text
        return [sentence for sentence in self._by_topic.get(passage.topics[0], ()) if sentence not in text]


def neutral_hypotheses(passage: Passage, elsewhere: Elsewhere, chance: random.Random) -> Iterator[tuple[str, str]]:
    """Kind and hypothesis, at most one of each kind, for the passage as it is."""
    sentence = passage.focus
    if found := _PERSON.search(sentence):
        yield from _subject_exchanged(passage, found, elsewhere, chance)
    if (found := _PRONOUN.match(sentence)) and not _ONE_ONLY.search(sentence):
        other = elsewhere.person(chance)
        if not has_word(passage.text, other.split()[-1]):
            yield "name for a pronoun", other + sentence[found.end() :]
    if not NEGATION.search(sentence) and not _ADDABLE.search(sentence) and len(sentence.split()) < 26:
        yield from _detail_added(passage, elsewhere, chance)
    if not NEGATION.search(sentence) and not re.search(r"\bif\b", sentence):
        for pattern, new in _STRENGTHENED:
            if len(pattern.findall(sentence)) == 1:
                stronger = pattern.sub(new, sentence)
                yield "claim strengthened", stronger[0].upper() + stronger[1:]
                break
    others = elsewhere.of_topic(passage)
    others = [
        other for other in chance.sample(others, min(len(others), OTHERS_LOOKED_AT)) if speaks_of_else(other, passage.text)
    ]
    if others:
        nearest = sorted(others, key=lambda other: (-overlap(other, passage.text), other))[:4]
        yield "sentence of the topic", chance.choice(nearest)


def _subject_exchanged(
    passage: Passage, found: re.Match[str], elsewhere: Elsewhere, chance: random.Random
) -> Iterator[tuple[str, str]]:
    if found.group("first") not in lists.FIRST_NAMES or _ONE_ONLY.search(passage.focus):
        return
    rest = passage.focus[found.end() :]
    namesake = f"{chance.choice(sorted(lists.FIRST_NAMES))} {found.group('last')}"
    if not has_word(passage.text, namesake.split()[0]):
        yield "namesake as subject", namesake + rest
    other = elsewhere.person(chance)
    if not has_word(passage.text, other.split()[-1]):
        yield "another subject", other + rest


def _detail_added(passage: Passage, elsewhere: Elsewhere, chance: random.Random) -> Iterator[tuple[str, str]]:
    before = passage.focus[:-1]
    detail = chance.choice(elsewhere.details if elsewhere.details and chance.random() < 0.6 else _OWN_DETAILS)
    if overlap(detail, passage.text) <= 0.34:
        yield "detail added", f"{before} {detail}."
    if not re.search(r"\d", passage.text) and re.search(r"\b(?:[a-z]+ed|was|were|became|made|wrote|won|took|began)\b", before):
        yield "year added", f"{before} in {chance.randint(1850, 2019)}."
    group = chance.choice((lists.CITIES, lists.CITIES, lists.COUNTRIES))
    named = any(has_word(passage.text, place) for places in (lists.CITIES, lists.COUNTRIES, lists.STATES) for place in places)
    if (
        not named
        and re.search(r"\b(?:was|were) [a-z]+ed\b|\b(?:studied|worked|met|married|performed|taught|lived|died)\b", before)
        and " in " not in before
    ):
        yield "place added", f"{before} in {chance.choice(group)}."


def detail_missing(passage: Passage) -> tuple[Passage, str] | None:
    """The passage with the end of its sentence taken away, and the whole sentence, which it no longer gives."""
    short = detail_at_end(passage.focus)
    if short is None:
        return None
    without = passage.with_focus(short.sentence)
    signs = set(_DETAIL_SIGNS.findall(short.old))
    given = sum(has_word(without.text, sign) for sign in signs)
    return (without, passage.focus) if signs and given <= len(signs) / 2 else None


def sentence_missing(passage: Passage) -> Passage | None:
    """The passage without its sentence; None where what remains is short or may still say it."""
    if len(passage.sentences) < 3 or not speaks_of_else(passage.focus, passage.rest):
        return None
    sentences = (*passage.sentences[: passage.place], *passage.sentences[passage.place + 1 :])
    return Passage(sentences, min(passage.place, len(sentences) - 1), passage.topics)


def nowhere_said(statement: str, others: Sequence[str]) -> bool:
    """Whether no one of the sentences may say the statement, however much of its subject they speak together."""
    return len(others) >= FEWEST_OTHERS and all(overlap(statement, one) <= MOST_IN_ONE_SENTENCE for one in others)


def speaks_of_else(hypothesis: str, premise: str) -> bool:
    """Whether half of the hypothesis's words, and of its names and numbers, are not in the premise."""
    signs = set(re.findall(r"(?<=[a-z,] )[A-Z][a-z]+|\d+", hypothesis))
    known = sum(has_word(premise, sign) for sign in signs)
    return (
        overlap(hypothesis, premise) <= MOST_OVERLAP
        and (not signs or known <= len(signs) / 2)
        and len(content_words(hypothesis)) >= 4
    )
