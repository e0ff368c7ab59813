"""The two texts of a pair, each parsed once for the lexical relation model, and the words' weights.

A premise is compared with many claims and a claim with many premises: what depends on one text alone is computed here.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import pairwise
from pathlib import Path

from localfact.relations.assertions import blank_notes, is_question, strip_answer
from localfact.relations.lexical.tokens import LexicalToken, is_detail, negations, tokens
from localfact.text import sentences

IDF_FILE = Path(__file__).with_name("idf.txt")
#: A capitalised word at the beginning of a claim with a lower idf is no name ("The", "In", "She").
OPENING_NAME_IDF = 3.5
#: A missing word with a lower idf ("was", "the") is no gap.
CONTENT_IDF = 2.5

#: Positions of neighbouring sentences of a premise.
Window = tuple[int, ...]


class IdfTable:
    """Inverse document frequencies. A file has "documents <number>", then a line a stem: "<stem> <texts that hold it>".

    Args:
        documents: number of texts.
        counts: stem -> how many of the texts hold it; 0 for one that is not listed.
    """

    def __init__(self, documents: int, counts: Mapping[str, int]) -> None:
        self._documents = documents
        self._counts = counts

    @classmethod
    def read(cls, file: Path) -> "IdfTable":
        """Reads the table from a file."""
        first, *rows = (line.rsplit(" ", 1) for line in file.read_text(encoding="utf-8").splitlines())
        return cls(int(first[1]), {stem: int(count) for stem, count in rows})

    def weight(self, stem: str) -> float:
        """ln((documents + 1) / (texts with the stem + 1)): 0 for a word of every text."""
        return math.log((self._documents + 1) / (self._counts.get(stem, 0) + 1))


@cache
def idf_table() -> IdfTable:
    """The shipped table, read once."""
    return IdfTable.read(IDF_FILE)


class Premise:
    """A parsed premise of any length: its sentences as tokens, and which of them hold each stem and each pair of neighbours.

    A question is none of its sentences: it says nothing.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.written = [sentence for sentence in _sentences(text) if not is_question(sentence)]
        self.sentences = [tokens(sentence) for sentence in self.written]
        self.length = sum(map(len, self.sentences))
        self.places: dict[str, list[int]] = {}
        self._neighbours: dict[tuple[str, str], set[int]] = {}
        for index, sentence in enumerate(self.sentences):
            stems = [token.stem for token in sentence]
            for stem in dict.fromkeys(stems):
                self.places.setdefault(stem, []).append(index)
            for pair in pairwise(stems):
                self._neighbours.setdefault(pair, set()).add(index)

    def holds(self, window: Window, stem: str) -> bool:
        """Whether a sentence of the window has the stem."""
        places = self.places.get(stem, ())
        return any(index in places for index in window)

    def holds_pair(self, window: Window, left: str, right: str) -> bool:
        """Whether a sentence of the window has the stem `left` directly before `right`."""
        places = self._neighbours.get((left, right), ())
        return any(index in places for index in window)

    def details(self, window: Window, kind: Callable[[LexicalToken], bool]) -> frozenset[str]:
        """The stems of the window's tokens of one kind."""
        return frozenset(token.stem for index in window for token in self.sentences[index] if kind(token))


def _sentences(text: str) -> Iterator[str]:
    """The sentences of a text, without the marks of notes and a "No," before one."""
    text = blank_notes(text)
    return (strip_answer(text[span.start : span.end]) for span in sentences(text))


class ParsedClaim:
    """A parsed claim.

    Attributes:
        text: as it was given.
        weights: stem -> idf, in the order of the text; 0 for a negation, which is compared by itself.
        total: their sum.
        subject: the stems of its first run of capitalised words.
        names: those of all later ones.
        content: for each token, whether it weighs enough to be a gap where it is missing.
        governors: for each token, the last such word before it that is no date or number; "" before the first.
    """

    def __init__(self, text: str, idf: IdfTable) -> None:
        self.text = text
        self.tokens = tokens(blank_notes(text))
        self.weights = {token.stem: 0.0 if token.negation else idf.weight(token.stem) for token in self.tokens}
        self.total = sum(self.weights.values())
        self.content = [self.weights[token.stem] >= CONTENT_IDF for token in self.tokens]
        self.governors = self._governors()
        self.negated = bool(negations(self.tokens))
        names = self._names()
        start = names.index(True) if True in names else len(names)
        end = names.index(False, start) if False in names[start:] else len(names)
        self.subject = frozenset(token.stem for token in self.tokens[start:end])
        self.names = frozenset(token.stem for token, name in zip(self.tokens, names, strict=True) if name) - self.subject

    def details(self, kind: Callable[[LexicalToken], bool]) -> frozenset[str]:
        """The stems of the claim's tokens of one kind."""
        return frozenset(token.stem for token in self.tokens if kind(token))

    def _governors(self) -> list[str]:
        found = [""]
        for token, content in zip(self.tokens, self.content, strict=True):
            found.append(token.stem if content and not is_detail(token) else found[-1])
        return found[:-1]

    def _names(self) -> list[bool]:
        """For each token, whether it is a name: capitalised, and not only because it begins the claim."""
        names = [token.name for token in self.tokens]
        if names[:1] == [True] and names[1:2] != [True] and self.weights[self.tokens[0].stem] < OPENING_NAME_IDF:
            names[0] = False
        return names
