"""Pairs made by rule from labelled ones: one detail of a claim changed, its subject exchanged, a negation put in.

The labelled sets have few false claims of the kind that models write: right but for a year, a number, a name. A pair made here
keeps its source's topics, so it stays on that side of the split; the names and words put in come from claims of all topics.
"""

import random
import re
from collections.abc import Iterator, Sequence

from localfact.text import sentences
from scripts.training.lexical_pairs import CONTRADICTION, ENTAILMENT, NEUTRAL, Example

#: Groups whose entailed claims are changed, and groups whose passages lend sentences of their own as claims.
CLAIM_GROUPS = ("factcheck_gpt", "factcheck_gpt_joined", "factcheck_gpt_answers", "wice_supported")
PASSAGE_GROUPS = ("factcheck_gpt", "factcheck_gpt_partial", "wice_elsewhere")
WORDS_OF_A_CLAIM = range(6, 26)
TRIES = 5
NAMESAKES = 0.5  # how many of the exchanged subjects keep their last name

_MONTHS = "January February March April May June July August September October November December".split()  # noqa: SIM905
#: Capitalised words within a sentence; and at its start, where one alone may be any word.
_NAME = re.compile(r"(?<=[a-z,] )[A-Z][a-z]+(?: [A-Z][a-z]+)*")
_NUMBER = re.compile(r"(?<![\w.,])(?:\d{1,3}(?:,\d{3})+|\d{1,4})(?![\w.,]*\d)(?!\w)")
_YEAR = re.compile(r"1[5-9]\d\d|20[0-2]\d")
_SUBJECT = re.compile(r"(?:The )?[A-Z]\w+(?: [A-Z]\w+)+")
_AUXILIARY = re.compile(r"\b(?:is|was|are|were|has|have|had|can|did|does|will)\b")
_NEGATION = re.compile(r"\b(?:not|never|no)\b|n't")
_WORD = re.compile(r"(?<= )[a-z]{5,}\b")


class EditRules:
    """The rules, with the names and words that they put in."""

    def __init__(self, examples: Sequence[Example]) -> None:
        """Takes names and words from the claims of Factcheck-GPT among the examples."""
        claims = sorted({example.hypothesis for example in examples if example.group.startswith("factcheck_gpt")})
        self._names = sorted({name for claim in claims for name in _NAME.findall(claim)} - set(_MONTHS))
        self._full_names = [name for name in self._names if " " in name]
        self._words = sorted({word for claim in claims for word in _WORD.findall(claim)})

    def edited(self, examples: Sequence[Example]) -> Iterator[Example]:
        """The pairs made from the examples, in their order."""
        sentences_of_topic: dict[str, list[str]] = {}
        for example in examples:
            chance = random.Random(example.premise + "\n" + example.hypothesis)
            if example.group in CLAIM_GROUPS and example.label == ENTAILMENT:
                yield from self._claim_edits(example, chance)
            if example.group in PASSAGE_GROUPS:
                known = sentences_of_topic.setdefault(example.topics[0], [])
                yield from self._sentence_pairs(example, known, chance)

    def _claim_edits(self, example: Example, chance: random.Random) -> Iterator[Example]:
        claim, premise = example.hypothesis, example.premise
        if changed := self._detail_changed(claim, premise, chance):
            yield example._replace(group="rule_detail", hypothesis=changed, label=CONTRADICTION)
        yield from self._subject_exchanged(example, claim, chance)
        if (verb := _AUXILIARY.search(claim)) and not _NEGATION.search(claim):
            negated = f"{claim[: verb.end()]} not{claim[verb.end() :]}"
            yield example._replace(group="rule_negation", hypothesis=negated, label=CONTRADICTION)
        if words := list(_WORD.finditer(claim)):
            word, other = chance.choice(words), chance.choice(self._words)
            if other not in premise.lower():
                changed = claim[: word.start()] + other + claim[word.end() :]
                yield example._replace(group="rule_word", hypothesis=changed, label=NEUTRAL)

    def _sentence_pairs(self, example: Example, known: list[str], chance: random.Random) -> Iterator[Example]:
        """A sentence of the passage as its claim, whole and with a detail changed; and one of another passage of the topic."""
        if elsewhere := [sentence for sentence in known if sentence not in example.premise]:
            yield example._replace(group="rule_sentence_elsewhere", hypothesis=chance.choice(elsewhere), label=NEUTRAL)
        own = list(claim_like_sentences(example.premise))
        known += own[:3]
        if own:
            sentence = chance.choice(own)
            yield example._replace(group="rule_sentence", hypothesis=sentence, label=ENTAILMENT)
            yield from self._subject_exchanged(example, sentence, chance)
            if changed := self._detail_changed(sentence, example.premise, chance):
                yield example._replace(group="rule_sentence_detail", hypothesis=changed, label=CONTRADICTION)

    def _subject_exchanged(self, example: Example, claim: str, chance: random.Random) -> Iterator[Example]:
        """The claim said of somebody else, who may share a last name with its subject."""
        if subject := _SUBJECT.match(claim):
            other = chance.choice(self._full_names)
            if chance.random() < NAMESAKES:
                other = f"{other.split()[0]} {subject.group().split()[-1]}"
            if other.lower() not in example.premise.lower():
                yield example._replace(group="rule_subject", hypothesis=other + claim[subject.end() :], label=NEUTRAL)

    def _detail_changed(self, claim: str, premise: str, chance: random.Random) -> str | None:
        """The claim with a number, month or name, but not its first, exchanged for one that the premise lacks."""
        places = [(found, changed_number(found.group(), chance)) for found in _NUMBER.finditer(claim)]
        names = list(_NAME.finditer(claim))
        for found in names if _SUBJECT.match(claim) else names[1:]:
            pool = _MONTHS if found.group() in _MONTHS else self._names
            places.append((found, [chance.choice(pool) for _ in range(TRIES)]))
        lower = premise.lower()
        choices = [(found, new) for found, offers in places for new in offers if new.lower() not in lower and new not in claim]
        if not choices:
            return None
        found, new = chance.choice(choices)
        return claim[: found.start()] + new + claim[found.end() :]


def changed_number(written: str, chance: random.Random) -> list[str]:
    """A few other numbers of the same kind: years near by, other numbers of the same size."""
    value = int(written.replace(",", ""))
    reach = 25 if _YEAR.fullmatch(written) else max(3, value)
    offers = [max(0, value + chance.choice((-1, 1)) * chance.randint(1, reach)) for _ in range(TRIES)]
    return [f"{offer:,}" if "," in written else str(offer) for offer in offers if offer != value]


def claim_like_sentences(text: str) -> Iterator[str]:
    """The sentences of a text that are as long as claims, open with a capital and end with a full stop."""
    for span in sentences(text):
        sentence = text[span.start : span.end]
        if sentence[0].isupper() and sentence.endswith(".") and len(sentence.split()) in WORDS_OF_A_CLAIM:
            yield sentence
