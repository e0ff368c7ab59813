"""A statement cut from a sentence, and where its subject stands."""

import re
from typing import NamedTuple

from localfact.claims.rules.english import ADVERB, BE, HAVE, NAME, SUBJECT, VERB

#: [start, end) in a text.
Place = tuple[int, int]


class Clause(NamedTuple):
    """A statement cut from a sentence.

    Attributes:
        text: `borrowed` characters taken from elsewhere in the sentence (its subject, say), then the sentence's from `start`.
        start: where in the sentence the clause's own text stands.
        borrowed: how many leading characters are not its own.
    """

    text: str
    start: int = 0
    borrowed: int = 0

    @property
    def end(self) -> int:
        """Where the clause's own text ends in the sentence."""
        return self.start + len(self.text) - self.borrowed

    def subject_at(self, sentence: str) -> int:
        """Where its subject stands in the sentence that it was cut from, at least nearly."""
        if not self.borrowed:
            return self.start
        return max(sentence.rfind(self.text[: self.borrowed].strip(), 0, self.start), 0)

    def head(self, end: int) -> "Clause":
        """Returns the clause up to that character."""
        return self._replace(text=self.text[:end].rstrip(" ,;"))

    def part(self, start: int, end: int | None = None, *, prefix: str) -> "Clause":
        """Returns the characters [start, end) of the clause as one of their own, behind `prefix`."""
        own = self.text[start:end].rstrip(" ,;")
        return Clause(f"{prefix} {own}", max(self.start, self.start + start - self.borrowed), len(prefix) + 1)


#: A word behind which a clause within the clause begins.
SUBORDINATE = re.compile(r"\b(?:that|who|whom|whose|which|where|when|while|because|although|if)\b")
_PREDICATE_AHEAD = rf"(?=,? {ADVERB}?{VERB}|, (?:an?|the|who|which) )"
_INTRODUCTION = re.compile(
    r"(?:Born [^;]{3,120}?, |(?:After|Alongside|Although|Apart|As|Aside|At|Before|Besides|By|Despite|During|Following|For|From|"
    r"In|Later|Like|On|Outside|Over|Overall|Prior|Since|Through|Throughout|Today|Under|Unlike|Until|Upon|When|While|With)\b"
    rf"(?: (?:[A-Z][a-z]+ )?\d{{4}} |[^,]{{0,100}}(?:, (?:\d{{4}}|{NAME})){{0,2}}, ))(?={SUBJECT}{_PREDICATE_AHEAD})"
)
_SUBJECT = re.compile(rf"(?P<subject>{SUBJECT}){_PREDICATE_AHEAD}")
NO_SUBJECT = re.compile(
    # A verb of no list: "this code creates a list called".
    r"\b[a-z]{2,}[^\Waisu_]s (?:an?|the|his|her|its|their)\b|"
    rf"\b(?:that|who|which|when|where|whose|while|if|{BE}|{HAVE})\b|\b(?:an?|the|his|her|its|their|of|in|and|or)$"
)


def subject_of(masked: str) -> Place | None:
    """Returns the place of the subject, after an introduction if there is one; None when it is not clear."""
    introduction = _INTRODUCTION.match(masked)
    found = _SUBJECT.match(masked, introduction.end() if introduction else 0)
    if found is None or NO_SUBJECT.search(found["subject"]):
        return None
    return found.span("subject")
