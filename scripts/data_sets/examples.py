"""A labelled pair, and how pairs are divided by topic: for training, for choosing, and for measuring only.

The readers beside this file yield examples. What ships learned from the training part; only the test part may measure it.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

from localfact.text import words

SEED = "localfact builtin-nli"
ENTAILMENT, CONTRADICTION, NEUTRAL = "entailment", "contradiction", "neutral"
#: In the order of the model's outputs.
LABELS = (ENTAILMENT, CONTRADICTION, NEUTRAL)
#: Percent of the topics of a set that are never trained on nor looked at while training, and that training is stopped by.
TEST_PERCENT, DEVELOPMENT_PERCENT = 15, 5
#: Sets of few topics need more of them for an interval that says something; sets that are only for measuring, all.
TEST_PERCENT_OF: Mapping[str, int] = {"stance": 25, "answers": 25, "expertqa": 25, "factor_expert": 100}


class Part(StrEnum):
    """What an example may be used for."""

    TRAINING = "training"
    DEVELOPMENT = "development"
    TEST = "test"


class Example(NamedTuple):
    """A labelled pair.

    Attributes:
        set: the data set, by which accuracy is reported and licences are listed.
        kind: what it is within its set ("claim and snippet", "year changed"); rules name theirs here.
        premise: as long as its source has it: up to 4,000 characters.
        label: of LABELS.
        topics: what it is about: the texts it must not share with another part of the division. At least one.
        focus: the sentence of the premise that the label rests on, where the source tells; "" where it does not.
    """

    set: str
    kind: str
    premise: str
    hypothesis: str
    label: str
    topics: tuple[str, ...]
    focus: str = ""


def split_by_topic(examples: Iterable[Example]) -> dict[Part, list[Example]]:
    """The examples of each part, in order.

    Topics that occur in one example belong together, and with them all their examples; the part hangs on a hash of the first of
    them, so it is the same whatever order the examples come in. What shares a topic with a set that is only measured is a test
    example itself.
    """
    examples = list(examples)
    roots = _roots(examples)
    most: dict[str, int] = {}
    for example in examples:
        root = roots[topic_key(example.topics[0])]
        most[root] = max(most.get(root, 0), TEST_PERCENT_OF.get(example.set, TEST_PERCENT))
    parts: dict[Part, list[Example]] = {part: [] for part in Part}
    for example in examples:
        root = roots[topic_key(example.topics[0])]
        place = int(digest(root), 16) % 100
        if place < most[root]:
            parts[Part.TEST].append(example)
        elif place < most[root] + DEVELOPMENT_PERCENT:
            parts[Part.DEVELOPMENT].append(example)
        else:
            parts[Part.TRAINING].append(example)
    return parts


def topic_key(topic: str) -> str:
    """A topic as it is compared: its words in lower case, whatever stands between them."""
    return " ".join(words(topic.casefold())) or topic


def digest(text: str) -> str:
    """A number for a text, in hexadecimal, that depends on the seed."""
    return hashlib.sha256(f"{SEED}\n{text}".encode()).hexdigest()[:16]


def _roots(examples: Sequence[Example]) -> dict[str, str]:
    """For every topic the first, in the alphabet, of those that it is joined with."""
    parent: dict[str, str] = {}

    def root(topic: str) -> str:
        while parent.setdefault(topic, topic) != topic:
            parent[topic] = parent[parent[topic]]
            topic = parent[topic]
        return topic

    for example in examples:
        first, *others = sorted({root(topic_key(topic)) for topic in example.topics})
        for other in others:
            parent[other] = first
    return {topic: root(topic) for topic in parent}
