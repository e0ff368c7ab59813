"""What the small language model reads of a sentence, and what it answers: one claim a line.

It was trained on this frame, so a change of it needs a training.
"""

from typing import NamedTuple

from localfact import text

#: Words of what stood before a sentence that are read with it.
WORDS_BEFORE = 50
#: Longer sentences are cut here, in words: they are lists, and run on.
LONGEST_SENTENCE = 150
#: Words of a topic.
LONGEST_TOPIC = 30


class Frame(NamedTuple):
    """A sentence as the model reads it.

    Attributes:
        topic: what the text is about; "" where nobody knows.
        before: what stood before the sentence.
        sentence: without markup.
    """

    topic: str
    before: str
    sentence: str

    @property
    def prompt(self) -> str:
        """The text that the model continues."""
        before = " ".join(self.before.split()[-WORDS_BEFORE:])
        return f"Topic: {_line(self.topic, LONGEST_TOPIC)}\nBefore: {before}\nSentence: {self.shown}\nClaims:\n"

    @property
    def shown(self) -> str:
        """The part of the sentence that the model reads."""
        return _line(self.sentence, LONGEST_SENTENCE)

    @property
    def source(self) -> str:
        """All text from which a claim may take its words."""
        return "\n".join((self.topic, self.before, self.sentence))


def _line(text_of_it: str, most: int) -> str:
    return " ".join(text_of_it.split()[:most])


def read_claims(written: str) -> list[str]:
    """The claims of an answer, up to the first that repeats an earlier one: a small model that repeats itself runs on."""
    found: dict[str, str] = {}
    for line in written.splitlines():
        claim = " ".join(line.split())
        if claim and found.setdefault(text.normalise(claim), claim) is not claim:
            break
    return list(found.values())


def repeats(written: str) -> bool:
    """Whether the last whole line of an unfinished answer repeats an earlier one, so that the rest need not be written."""
    *earlier, last = [text.normalise(line) for line in written.splitlines()[: written.count("\n")] if line.strip()] or [""]
    return last in earlier
