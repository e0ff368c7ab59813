"""The topic of a response, and which leading pronouns refer to it. When in doubt, the pronoun stays.

The subject is followed sentence by sentence: once another name was the subject, pronouns stay until the topic is named again.
"""

import re
from collections import Counter
from collections.abc import Sequence

from localfact.claims.rules.clause import subject_of
from localfact.claims.rules.english import ADVERB, AGENT, BE, NAME, VERB, mask
from localfact.claims.rules.people import RELATIVES, Pronoun, given_pronoun, is_topic, people_in, read_surnames

# A pronoun is taken for the topic's if it is at least so many times as frequent as any other.
DOMINANCE = 2

_PROMPT_TOPIC = re.compile(
    rf"\b(?i:(?:bio|biography|history|life|profile|summary|story) of|tell me about|(?:who|what) (?:is|are|was|were)) "
    rf"(?P<topic>{NAME})\W*$"
)
_OPENING_TOPIC = re.compile(rf"(?P<topic>(?:The )?{NAME})(?: \([^()]{{1,200}}\))?(?:, [^,]{{1,100}},)? (?:is|was|are|were)\b")
_NO_NAME = re.compile(
    r"(?:Above|All|Although|And|Another|As|At|Below|Both|But|By|During|Each|First|Following|For|If|Key|Many|Most|My|No|Note|Now|On|"
    r"One|Other|Our|Overall|Several|Since|So|Some|Such|That|Then|Those|To|Today|Two|We|When|While|With|Yes|You|Your)\b|"
    r"(?:An?|He|Her|Here|His|How|In|It|Its|She|The(?! [A-Z])|Their|There|These|They|This|What|Who|Why)\b"
)

# A topic as some inputs have it: a question, or what is asked for.
_NO_TOPIC = re.compile(
    r"\?|^(?i:what|why|how|who|whom|when|where|which|whose|is|are|was|were|do|does|did|can|could|should|would|will|tell|write|explain|"
    r"describe|list|give|create|generate|summarize|compare|find|make|please)\b"
)
LONGEST_TOPIC = 8
_IN_BRACKETS = re.compile(r"\s*\([^()]*\)$")

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
    r"\b[Ii]t (?:(?:is|was|has been|seems|appears|remains) (?:\w+ ){0,2}|wasn['’]t )(?:believed|clear|estimated|important|"
    r"known that|likely|notable|possible|reported|said|that|thought|true|unclear|until|worth)\b"
)
_NAMED_SUBJECT = re.compile(rf"(?P<name>{NAME})(?:['’]s [\w'’-]+)?(?: \([^()]{{1,200}}\))? {ADVERB}?{VERB}")
_DEFINITE = re.compile(rf"The (?P<name>[\w'’-]+(?: [\w'’-]+){{0,4}}?) {ADVERB}?{VERB}")
_WITHIN = re.compile(r"(?<=[a-z,] )[A-Z\u00c0-\u00de][\w'’-]+")
_RELATIVE = re.compile(rf"\b(?i:his|her|their) (?:\w+ )?(?P<relative>{'|'.join(RELATIVES)})\b")
_ASIDE = r"(?: \([^()]{1,200}\))?(?:, [^,.]{1,100},)?"
# What only persons do, what they are, and what no person is or does.
_OF_PERSON = (
    rf"{_ASIDE} (?:(?:was|is) (?:\w+ )?born|was (?:\w+ )?(?:educated|married|raised)|died|"
    r"married|wed|wrote|studied|graduated|taught|grew up|said|thought|lived|retired)\b"
)
_AS_PERSON = rf"{_ASIDE} (?:is|was) (?:an?|the) [^.,]{{0,80}}?\b{AGENT}\b"
_OF_THING = (
    rf"{_ASIDE} (?:lies|flows|(?:is|was) (?:located|situated|spread|built|published|released)|"
    r"(?:is|was) (?:an?|the|one of the) (?:[\w'’-]+ ){0,4}(?:airline|album|bridge|building|cathedral|city|club|company|country|"
    r"county|district|film|island|lake|language|manufacturer|mountain|museum|nation|novel|planet|play|railway|region|river|ship|"
    r"state|tower|town|university|village)(?=[.,;]| (?:and|at|based|between|by|directed|founded|from|in|located|near|of|off|"
    r"on|that|which|with|written)\b))"
)
# After these verbs nothing is acted on that "it" might stand for.
_ACTS_ON_NOTHING = re.compile(
    rf"(?:{BE}|(?:has|have|had) been|stands|stood|lies|lay|rises|rose|opened|closed|began|begins|runs|ran|flows|flowed|extends|"
    r"remains|remained|sits|sat|grew|fell|came|went|depends|refers|means|occurs|occurred|originated|appeared|consists|consisted|"
    r"belongs|belonged|lasted|ended|existed|became|survived|dates|dated|measures|weighs|weighed)\b"
)
_ACTED_ON = re.compile(
    r"\b(?:an?|the|another|its|their|his|her|this|that)\b "
    r"(?!(?:same|late|early|world|time|years?|century|end|beginning|following|centuries|decades|\d+))"
)
_BY = re.compile(r"\bby (?:the|an?|another)\b|\b(?:acquired|bought|purchased|owned|absorbed|operated|run|taken over) by\b")


def guess_topic(prompt: str | None, opening: Sequence[str]) -> str | None:
    """Returns the name that the prompt asks about, else the first that an opening sentence defines ("X is ...")."""
    if asked := _PROMPT_TOPIC.search(prompt or ""):
        return asked["topic"].rstrip(".")
    for sentence in opening:
        if not _NO_NAME.match(sentence) and (named := _OPENING_TOPIC.match(sentence)):
            return named["topic"]
    return None


def usable_topic(topic: str | None) -> str | None:
    """Returns a topic as a claim can have it for its subject: without what only tells it from others; None for a question."""
    if topic is None or _NO_TOPIC.search(topic) or len(topic.split()) > LONGEST_TOPIC:
        return None
    return _IN_BRACKETS.sub("", topic) or None


class Subject:
    """Reads the sentences of one response in order and replaces leading pronouns that refer to its topic.

    "It" never stands for a person; "he" and "she" for nobody once somebody else was named whom they may stand for.

    Args:
        topic: None leaves all pronouns.
        response_text: its most frequent pronoun is taken for the topic's.
    """

    def __init__(self, topic: str | None, response_text: str) -> None:
        self._topic = usable_topic(topic)
        self._names = frozenset(_WITHIN.findall(response_text))
        self._pronoun = dominant_pronoun(response_text)
        self._surnames = read_surnames(response_text)
        self._is_person = _is_person(self._topic or "", response_text)
        self._is_thing = not self._is_person and _is_thing(self._topic or "", response_text)
        # Somebody else was the subject, or was named beside it.
        self._other_person = self._beside = False
        self._relative = self._relative_before = False
        self._other_thing = False
        self._acted_on = False
        self._sentence = ""
        self._named_at: list[int] = []

    def _pronoun_of(self, name: str) -> Pronoun:
        """The pronoun of whom a name names: by itself, or by how the response calls that one elsewhere."""
        surname = re.split(r"['’]s\b", name)[0].split()[-1]
        return given_pronoun(name) or self._surnames.get(surname)

    def begin_item(self) -> None:
        """Begins an item of a list: it speaks of the topic, whatever the item before it spoke of."""
        self._other_person = self._other_thing = self._relative = False
        self.begin_line()

    def begin_line(self) -> None:
        """Begins a paragraph: who was only named beside the topic is no longer spoken of."""
        self._beside = self._acted_on = self._relative = False
        self._named_at = []
        self._sentence = ""

    def read(self, sentence: str) -> None:
        """Notes what else the pronouns of this sentence, and of those after it, may refer to."""
        masked = mask(sentence)
        self._beside = self._beside or bool(self._named_at)
        goes_on = self._acted_on and bool(_LEADING_PRONOUN.match(sentence))
        self._acted_on = goes_on or (bool(self._sentence) and _acts_on_something(mask(self._sentence)))
        self._sentence = sentence
        named = None if _NO_NAME.match(sentence) else _NAMED_SUBJECT.match(sentence)
        if named:
            topical = is_topic(named["name"], self._topic or "")
            self._other_thing = not topical
            # One capitalised word at the beginning may be any noun; two are a person's name, and so is one that is written so
            # within a sentence too.
            person = " " in named["name"] or named["name"] in self._names
            person = person and self._pronoun_of(named["name"]) in (None, self._pronoun)
            self._other_person = not topical and (self._other_person or person)
            self._beside = self._beside and not topical
            self._acted_on = self._acted_on and not topical
        elif definite := _DEFINITE.match(sentence):
            self._other_thing = not is_topic(definite["name"], self._topic or "")
        elif not _LEADING_PRONOUN.match(sentence):
            self._other_thing = True
        people = [
            person.start
            for person in people_in(masked, self._topic or "")
            if (person.pronoun or self._pronoun_of(person.name)) in (None, self._pronoun)
        ]
        kin = [found.start() for found in _RELATIVE.finditer(masked) if RELATIVES[found["relative"]] == self._pronoun]
        self._named_at = [place for place in (*people, *kin) if place]
        # "Her mother was rich. She ...": it goes on until something else is the subject.
        self._relative_before = self._relative
        self._relative = 0 in kin or (self._relative and bool(_LEADING_PRONOUN.match(sentence)))

    def resolve(self, claim: str, start: int = 0) -> str:
        """Returns the claim with the topic in place of its leading pronoun, or unchanged.

        Args:
            claim: a clause of the sentence that was read last.
            start: where in that sentence its subject stands.
        """
        found = _LEADING_PRONOUN.match(claim)
        if self._topic is None or found is None or not self._stands_for_topic(claim, found, start + found.start("pronoun")):
            return claim
        name = _possessive(self._topic) if found["pronoun"].lower() in _POSSESSIVES else self._topic
        before, after = claim[: found.start("pronoun")], claim[found.end("pronoun") :]
        return before + (f"the{name[3:]}" if before and name.startswith("The ") else name) + after

    def _stands_for_topic(self, claim: str, found: re.Match[str], place: int) -> bool:
        kind = _KINDS[found["pronoun"].lower()]
        if (kind != self._pronoun and not (kind == "it" and self._is_thing)) or (
            kind == "they" and not (self._topic or "").endswith("s")
        ):
            return False
        if kind in ("he", "she"):
            relative = self._relative if place else self._relative_before  # whose mother, in "Her mother was rich"
            another = self._other_person or relative or self._beside or any(named < place for named in self._named_at)
            return (self._topic or "")[:1].isupper() and given_pronoun(self._topic or "") in (None, kind) and not another
        acted_on = self._acted_on or _acts_on_something(mask(self._sentence[:place]))
        if self._is_person or self._other_thing or acted_on:
            return False
        return not _EXPLETIVE.match(claim, found.start("pronoun"))


def _names_of(topic: str) -> str:
    """A pattern of the names that a topic may have in a text: all of it, its first and its last word."""
    words = topic.split() or [""]
    return rf"\b(?:{'|'.join(sorted(map(re.escape, {topic, words[0], words[-1]}), key=len, reverse=True))})"


def _is_person(topic: str, response_text: str) -> bool:
    """Whether the topic is surely or perhaps a person, by what the text says of it."""
    if not topic[:1].isupper() or topic.startswith("The "):
        return False
    names = _names_of(topic)
    if re.search(f"{names}{_OF_PERSON}", response_text):
        return True
    if _is_thing(topic, response_text):
        return False
    if given_pronoun(topic) or re.search(f"{names}{_AS_PERSON}", response_text):
        return True
    if re.search(rf"\b{re.escape(topic)}(?: \([^()]{{1,200}}\))? {BE} (?:an?|the|one of)\b", response_text):
        return False
    return any(_KINDS[pronoun.lower()] in ("he", "she") for pronoun in _PRONOUN.findall(response_text))


def _is_thing(topic: str, response_text: str) -> bool:
    """Whether the text says of its topic what it would say of no person, and speaks of no person for the most part."""
    return dominant_pronoun(response_text) not in ("he", "she") and bool(
        re.search(f"{_names_of(topic)}{_OF_THING}", response_text)
    )


def _acts_on_something(masked: str) -> bool:
    """Whether a sentence names a thing beside its subject that "it" may stand for behind it: what its subject has or does."""
    place = subject_of(masked)
    if place is None:
        return False
    predicate = re.sub(rf"^{ADVERB}", "", masked[place[1] :].lstrip(" ,"))
    if _ACTS_ON_NOTHING.match(predicate) and not re.match(rf"{BE} \w+ing\b", predicate):
        return bool(_BY.search(predicate))
    return bool(_ACTED_ON.search(predicate))


def dominant_pronoun(response_text: str) -> str | None:
    """Returns the pronoun that is by far the most frequent in the response; None if none is."""
    counts = Counter(_KINDS[pronoun.lower()] for pronoun in _PRONOUN.findall(response_text)).most_common(2)
    if not counts or (len(counts) > 1 and counts[0][1] < DOMINANCE * counts[1][1]):
        return None
    return counts[0][0]


def _possessive(name: str) -> str:
    return f"{name}'" if name.endswith("s") else f"{name}'s"
