"""A sentence among its neighbours: what the rules of hard_pairs work on, and which sentences are clean enough for them."""

import random
import re
from collections.abc import Iterator
from typing import NamedTuple

from localfact.text import words

#: How many words a sentence has that a rule edits.
CLEAN_LENGTH = range(6, 36)
#: How many sentences a passage has at most.
LONGEST_PASSAGE = 8
#: Characters of a passage at most.
LONGEST_TEXT = 1_600

_UNCLEAN = re.compile(
    r"[|<>{}\[\]#*=_~@^$\\…“”\"]|https?:|www\.|\.\.\.|\?|!|^\W|\b(?:I|my|we|our|us|you|your)\b|[A-Z]{6,}|\d{5,}"
)
_VERB = re.compile(
    r"\b(?:is|are|was|were|has|have|had|can|could|will|would|may|does|did|do|became|made|won|wrote|took|began|led|held"
    r"|[a-z]{2,}(?:ed|es))\b"
)
#: A full stop behind a word of two small letters at least or a figure, so behind no initial; and behind none of these.
_BOUNDARY = re.compile(
    r" (?=[A-Z\"(\d])(?<=[a-z\d)\"%][a-z\d)][.?!] |[a-z\d)]\.[\")] )(?<!\bMr\. )(?<!\bDr\. )(?<!\bSt\. )"
    r"(?<!\bJr\. )(?<!\bSr\. )(?<!\bMs\. )(?<!\bNo\. )(?<!\bvs\. )"
    r"(?<!\bMrs\. )(?<!\bInc\. )(?<!\bProf\. )(?<!\bapprox\. )"
)
_FUNCTION_WORDS = frozenset(
    (  # noqa: SIM905
        "a an the of in on at by for from to with and or but as is are was were be been has have had it its he his "
        "she her they their this that these those which who not no also than then there when where while into "
        "after before during about more most other one two such can could will would may"
    ).split()
)


class Passage(NamedTuple):
    """Consecutive sentences of a text, and the place of the one that a rule edits; around them the whole text, where known."""

    sentences: tuple[str, ...]
    place: int
    topics: tuple[str, ...]
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()

    @property
    def focus(self) -> str:
        """The sentence in question."""
        return self.sentences[self.place]

    @property
    def text(self) -> str:
        """The sentences joined by spaces."""
        return " ".join(self.sentences)

    @property
    def rest(self) -> str:
        """The passage without the sentence in question."""
        return " ".join((*self.sentences[: self.place], *self.sentences[self.place + 1 :]))

    @property
    def others(self) -> tuple[str, ...]:
        """All sentences of the text but the one in question."""
        return (*self.before, *self.sentences[: self.place], *self.sentences[self.place + 1 :], *self.after)

    @property
    def whole(self) -> str:
        """The whole text."""
        return " ".join((*self.before, *self.sentences, *self.after))

    def with_focus(self, sentence: str) -> "Passage":
        """The passage with another sentence in its place."""
        return self._replace(sentences=(*self.sentences[: self.place], sentence, *self.sentences[self.place + 1 :]))


def is_clean(sentence: str, length: range = CLEAN_LENGTH) -> bool:
    """Whether it is a whole plain statement of so many words: no heading, no question, no quotation, nobody speaking."""
    return (
        sentence[:1].isupper()
        and sentence.endswith(".")
        and len(sentence.split()) in length
        and not _UNCLEAN.search(sentence)
        and bool(_VERB.search(sentence))
        and sum(word[0].isupper() for word in sentence.split()) <= len(sentence.split()) / 2
    )


def passages(text: str, topics: tuple[str, ...], chance: random.Random) -> Iterator[Passage]:
    """For every clean sentence of a text a passage of 1 to 8 sentences around it."""
    parts = plain_sentences(text)
    for place, part in enumerate(parts):
        if not is_clean(part):
            continue
        size = chance.randint(1, LONGEST_PASSAGE)
        start = max(0, place - chance.randrange(size))
        window = parts[start : start + size]
        inside = place - start
        while len(" ".join(window)) > LONGEST_TEXT and len(window) > 1:
            if inside > len(window) // 2:
                window, inside = window[1:], inside - 1
            else:
                window = window[:-1] if inside < len(window) - 1 else window[1:]
                inside = min(inside, len(window) - 1)
        start = place - inside
        yield Passage(tuple(window), inside, topics, tuple(parts[:start]), tuple(parts[start + len(window) :]))


def plain_sentences(text: str) -> list[str]:
    """The sentences of English prose, split at full stops; quicker than `localfact.text`, and only clean ones are used."""
    return [part for line in text.splitlines() for part in _BOUNDARY.split(" ".join(line.split())) if part]


def content_words(text: str) -> set[str]:
    return {word for word in words(text.casefold()) if word not in _FUNCTION_WORDS}


def overlap(hypothesis: str, premise: str) -> float:
    """The share, 0 to 1, of the hypothesis's content words that the premise has."""
    own = content_words(hypothesis)
    return len(own & content_words(premise)) / len(own) if own else 1.0


def has_word(text: str, word: str) -> bool:
    """Whether the text has the word, or run of words, in any case."""
    text, word = text.casefold(), word.casefold()
    start = text.find(word)
    while start >= 0:
        end = start + len(word)
        if not text[start - 1 : start].isalnum() and not text[end : end + 1].isalnum():
            return True
        start = text.find(word, start + 1)
    return False
