"""Short claims as they are extracted from a response, beside the text that they come from: the form that pairs have at use.

The claims are those that the rules of `localfact` make of a text's sentences: one statement each, with names for pronouns.
"""

import asyncio
import random
import re
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import NamedTuple

from localfact.claims.rules.extractor import RuleExtractor
from localfact.records import Response, Span
from localfact.text import sentences
from scripts.training.relation_model.examples import CONTRADICTION, ENTAILMENT, NEUTRAL, Example
from scripts.training.relation_model.negations import negated
from scripts.training.relation_model.neutral_pairs import nowhere_said
from scripts.training.relation_model.passages import is_clean
from scripts.training.relation_model.rewordings import reworded
from scripts.training.relation_model.sentence_edits import Names, contradicting_edits

#: Words of a claim: "Ada was an engineer" has four, and most that are extracted from responses have fewer than eighteen.
CLAIM_LENGTH = range(4, 19)
#: Of how many claims of one text pairs are made.
CLAIMS_OF_A_TEXT = 3
#: How often a claim is put in other words, where it can be; and how often one is denied whose details could be changed.
REWORDED, DENIED = 0.7, 0.25

#: The name that a claim begins with says what it is about; whether another sentence says the same is told by the rest.
_SUBJECT = re.compile(r"^(?:(?:The |A |An )?(?:[A-Z][\w'’.-]* )+)?")


class Said(NamedTuple):
    """A claim, the sentence that it comes from, and all the others of the text."""

    claim: str
    sentence: str
    others: tuple[str, ...]


def claim_pairs(
    texts: Sequence[Example], set_name: str, names: Names, vocabulary: Mapping[str, int], seed: int
) -> Iterator[list[Example]]:
    """Groups of pairs: a claim and one against it, beside their text and beside that text without the sentence in question.

    Nothing but the sentence tells the labels apart: a text about the same with other details contradicts nothing.

    Args:
        texts: examples whose premises claims are made of; topics are kept.
        set_name: the `set` of the pairs.
        names, vocabulary: what edits put in, and the words that a negation may use.
        seed: for another choice among claims and edits.
    """
    for example, said in zip(texts, asyncio.run(_said_in([text.premise for text in texts])), strict=True):
        chance = random.Random(f"{seed}\n{example.premise}\nclaims")
        for one in chance.sample(said, min(len(said), CLAIMS_OF_A_TEXT)):
            yield list(_group(example, one, set_name, names, vocabulary, chance))


def _group(
    example: Example, said: Said, set_name: str, names: Names, vocabulary: Mapping[str, int], chance: random.Random
) -> Iterator[Example]:
    claim = reworded(said.claim, chance) if chance.random() < REWORDED else said.claim
    edits = list(contradicting_edits(claim, example.premise, names, chance))
    denied = negated(claim, vocabulary, chance) if not edits or chance.random() < DENIED else None
    contrary = denied or (chance.choice(edits) if edits else None)
    rest = " ".join(said.others)
    statements = [(claim, ENTAILMENT), *([(contrary.sentence, CONTRADICTION)] if contrary else [])]
    for statement, label in statements:
        yield Example(set_name, "extracted claim", example.premise, statement, label, example.topics, said.sentence)
        if nowhere_said(_SUBJECT.sub("", statement), said.others):
            yield Example(set_name, "extracted claim, sentence missing", rest, statement, NEUTRAL, example.topics)


async def _said_in(texts: Sequence[str]) -> list[list[Said]]:
    """For each text what it says in clean short claims."""
    return [[said async for said in _claims(text)] for text in texts]


async def _claims(text: str) -> AsyncIterator[Said]:
    places = sentences(text)
    for claim in (await RuleExtractor().extract(Response(id="text", text=text))).claims:
        if is_clean(claim.text, CLAIM_LENGTH) and len(claim.spans) == 1:
            own = [place for place in places if _within(claim.spans[0], place)]
            if own:
                others = (text[place.start : place.end] for place in places if place != own[0])
                yield Said(claim.text, text[own[0].start : own[0].end], tuple(others))


def _within(span: Span, place: Span) -> bool:
    return place.start <= span.start and span.end <= place.end
