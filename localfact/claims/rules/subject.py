"""The topic of a response, and which leading pronouns refer to it. When in doubt, the pronoun stays.

The subject is followed sentence by sentence: once another name was the subject, pronouns stay until the topic is named again.
"""

import re
from collections import Counter
from collections.abc import Sequence

from localfact.claims.rules.english import ADVERB, NAME, VERB

# A pronoun is taken for the topic's if it is at least so many times as frequent as any other.
DOMINANCE = 2

_PROMPT_TOPIC = re.compile(
    rf"\b(?i:(?:bio|biography|history|life|profile|summary|story) of|tell me about|(?:who|what) (?:is|are|was|were)) "
    rf"(?P<topic>{NAME})\W*$"
)
_OPENING_TOPIC = re.compile(rf"(?P<topic>(?:The )?{NAME})(?: \([^()]{{1,200}}\))?(?:, [^,]{{1,100}},)? (?:is|was|are|were)\b")
_NO_NAME = re.compile(r"(?:An?|He|Her|Here|His|How|In|It|Its|She|The(?! [A-Z])|Their|There|These|They|This|What|Who|Why)\b")

_KINDS = {
    form: forms[0]
    for forms in (("he", "his", "him"), ("she", "her", "hers"), ("it", "its"), ("they", "their", "them"))
    for form in forms
}
_PRONOUN = re.compile(rf"\b(?i:{'|'.join(_KINDS)})\b")
_POSSESSIVES = frozenset({"his", "her", "its", "their"})
_LEADING_PRONOUN = re.compile(
    r"(?:(?:After|As|At|Before|By|Despite|During|Following|From|In|On|Over|Since|Throughout|Unlike|Until|Upon)\b"
    r"(?:[^,]{1,100}, (?:\d{4}, )?| (?:[A-Z][a-z]+ )?\d{4} |(?<=During)(?: [\w'’-]+){1,5} ))?"
    r"(?P<pronoun>(?i:he|his|she|her|it|its|they|their))(?= )"
)
_EXPLETIVE = re.compile(
    r"\b[Ii]t (?:is|was|has been|seems|appears|remains) (?:\w+ ){0,2}(?:believed|clear|estimated|important|known that|likely|"
    r"notable|possible|reported|said|that|thought|true|unclear|worth)\b"
)
_NAMED_SUBJECT = re.compile(rf"(?P<name>{NAME})(?:['’]s [\w'’-]+)?(?: \([^()]{{1,200}}\))? {ADVERB}?{VERB}")
_DEFINITE = re.compile(rf"The (?P<name>[\w'’-]+(?: [\w'’-]+){{0,4}}?) {ADVERB}?{VERB}")
_WITHIN = re.compile(r"(?<=[a-z,] )[A-Z\u00c0-\u00de][\w'’-]+")
_RELATIVE = re.compile(
    r"(?:His|Her) (?:\w+ )?(?:aunt|brother|daughter|father|grandfather|grandmother|husband|mother|partner|sister|son|uncle|"
    r"wife)\b"
)


def guess_topic(prompt: str | None, opening: Sequence[str]) -> str | None:
    """Returns the name that the prompt asks about, else the first that an opening sentence defines ("X is ...")."""
    if asked := _PROMPT_TOPIC.search(prompt or ""):
        return asked["topic"].rstrip(".")
    for sentence in opening:
        if not _NO_NAME.match(sentence) and (named := _OPENING_TOPIC.match(sentence)):
            return named["topic"]
    return None


class Subject:
    """Reads the sentences of one response in order and replaces leading pronouns that refer to its topic.

    Args:
        topic: None leaves all pronouns.
        response_text: its most frequent pronoun is taken for the topic's.
    """

    def __init__(self, topic: str | None, response_text: str) -> None:
        self._topic = topic
        self._words = _words_of(topic or "")
        self._names = frozenset(_WITHIN.findall(response_text))
        self._pronoun = dominant_pronoun(response_text)
        self._other_person = False
        self._relative = False
        self._other_thing = False

    def begin_item(self) -> None:
        """Begins an item of a list: it speaks of the topic, whatever the item before it spoke of."""
        self._other_person = self._other_thing = self._relative = False

    def read(self, sentence: str) -> None:
        """Notes what else the pronouns of this sentence, and of those after it, may refer to."""
        named = None if _NO_NAME.match(sentence) else _NAMED_SUBJECT.match(sentence)
        if named:
            is_topic = not self._words.isdisjoint(_words_of(named["name"]))
            self._other_thing = not is_topic
            # One capitalised word at the beginning may be any noun; two are a person's name, and so is one that is written so
            # within a sentence too.
            person = " " in named["name"] or named["name"] in self._names
            self._other_person = not is_topic and (self._other_person or person)
        elif definite := _DEFINITE.match(sentence):
            self._other_thing = self._words.isdisjoint(_words_of(definite["name"]))
        elif not _LEADING_PRONOUN.match(sentence):
            self._other_thing = True
        self._relative = bool(_RELATIVE.match(sentence)) or (self._relative and bool(_LEADING_PRONOUN.match(sentence)))

    def resolve(self, claim: str) -> str:
        """Returns the claim with the topic in place of its leading pronoun, or unchanged."""
        found = _LEADING_PRONOUN.match(claim)
        if self._topic is None or found is None or not self._stands_for_topic(claim, found):
            return claim
        name = _possessive(self._topic) if found["pronoun"].lower() in _POSSESSIVES else self._topic
        before, after = claim[: found.start("pronoun")], claim[found.end("pronoun") :]
        return before + (f"the{name[3:]}" if before and name.startswith("The ") else name) + after

    def _stands_for_topic(self, claim: str, found: re.Match[str]) -> bool:
        kind = _KINDS[found["pronoun"].lower()]
        if kind != self._pronoun or (kind == "they" and not (self._topic or "").endswith("s")):
            return False
        if kind in ("he", "she"):
            return (self._topic or "")[:1].isupper() and not (self._other_person or self._relative)
        return not self._other_thing and not _EXPLETIVE.match(claim, found.start("pronoun"))


def dominant_pronoun(response_text: str) -> str | None:
    """Returns the pronoun that is by far the most frequent in the response; None if none is."""
    counts = Counter(_KINDS[pronoun.lower()] for pronoun in _PRONOUN.findall(response_text)).most_common(2)
    if not counts or (len(counts) > 1 and counts[0][1] < DOMINANCE * counts[1][1]):
        return None
    return counts[0][0]


def _words_of(name: str) -> frozenset[str]:
    """Returns the words that may stand for a name alone: "the tower" is the Eiffel Tower."""
    return frozenset(re.findall(r"\w+", name.casefold())) - {"the", "of"}


def _possessive(name: str) -> str:
    return f"{name}'" if name.endswith("s") else f"{name}'s"
