"""Splits English sentences into clauses where that is safe: each states one thing and repeats its subject.

One rule a function, each from one clause to the clauses in it; whatever a rule is not sure of stays whole.
"""

import re
from collections.abc import Callable
from typing import NamedTuple

from localfact.claims.rules.english import (
    ADVERB,
    BE,
    FINITE,
    HAVE,
    JOINED_VERB,
    NAME,
    PARTICIPLE,
    PASSIVE,
    PAST,
    SUBJECT,
    VERB,
    mask,
    stand_alone,
)

# Longer sentences are not split: the rules were not made for them, and some take quadratic time.
LONGEST_SENTENCE = 1_000


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

    def head(self, end: int) -> "Clause":
        """Returns the clause up to that character."""
        return self._replace(text=self.text[:end].rstrip(" ,;"))

    def part(self, start: int, end: int | None = None, *, prefix: str) -> "Clause":
        """Returns the characters [start, end) of the clause as one of their own, behind `prefix`."""
        own = self.text[start:end].rstrip(" ,;")
        return Clause(f"{prefix} {own}", max(self.start, self.start + start - self.borrowed), len(prefix) + 1)


def split_clauses(sentence: str) -> list[Clause]:
    """Splits an English sentence, with words in it, into clauses; if no rule applies, it is the only clause."""
    clauses = [Clause(sentence.rstrip(" .;"))]
    if len(sentence) <= LONGEST_SENTENCE:
        for rule in _RULES:
            clauses = [part for clause in clauses for part in rule(clause)]
    return clauses


_PREDICATE_AHEAD = rf"(?=,? {ADVERB}?{VERB}|, (?:an?|the|who|which) )"
_INTRODUCTION = re.compile(
    r"(?:Born [^;]{3,120}?, |(?:After|Alongside|Although|Apart|As|Aside|At|Before|Besides|By|Despite|During|Following|For|From|"
    r"In|Later|Like|On|Outside|Over|Overall|Prior|Since|Through|Throughout|Today|Under|Unlike|Until|Upon|When|While|With)\b"
    rf"(?: (?:[A-Z][a-z]+ )?\d{{4}} |[^,]{{0,100}}(?:, (?:\d{{4}}|{NAME})){{0,2}}, ))(?={SUBJECT}{_PREDICATE_AHEAD})"
)
_SUBJECT = re.compile(rf"(?P<subject>{SUBJECT}){_PREDICATE_AHEAD}")
_NO_SUBJECT = re.compile(
    rf"\b(?:that|who|which|when|where|whose|while|if|{BE}|{HAVE})\b|\b(?:an?|the|his|her|its|their|of|in|and|or)$"
)


def _subject(masked: str) -> tuple[int, int] | None:
    """Returns the place of the subject, after an introduction if there is one; None when it is not clear."""
    introduction = _INTRODUCTION.match(masked)
    found = _SUBJECT.match(masked, introduction.end() if introduction else 0)
    if found is None or _NO_SUBJECT.search(found["subject"]):
        return None
    return found.span("subject")


_INDEPENDENT = re.compile(
    r"; (?:however|moreover|also), |; |, (?:and|but|while) (?="
    rf"(?:he|she|it|they|(?:his|her|its|their) [\w'’-]+) {ADVERB}?{VERB}|"
    rf"(?P<subject>{SUBJECT}|(?:many|most|several|some)(?: [\w'’-]+){{1,6}}?)(?:, [^,]{{3,60}},)? {ADVERB}?{FINITE} "
    r"(?!so\b|not(?: so\b|[,;]|$)))"
)
_CLAUSE_START = re.compile(rf"{SUBJECT} {ADVERB}?{VERB}")


def _independent(clause: Clause) -> list[Clause]:
    """A; B. A, and he B. A, while the X B. -> A | B."""
    masked = mask(clause.text)
    for joint in _INDEPENDENT.finditer(masked):
        before, subject, after = masked[: joint.start()], joint["subject"], masked[joint.end() :]
        named = subject and not _NO_SUBJECT.search(subject) and stand_alone(before, subject, after)
        if named or (not subject and _subject(before) and _CLAUSE_START.match(after)):
            rest = clause.text[joint.end() :]
            return [clause.head(joint.start()), *_independent(Clause(rest, clause.start + joint.end(), 0))]
    return [clause]


_BORN = re.compile(r"\(born (?P<details>[^()]{3,100})\)")
_BORN_FIRST = re.compile(r"Born (?P<details>.+), $")
_BORN_LAST = re.compile(rf" {BE} an? [^,]{{3,80}}?(?P<joint>,?) (?:who was )?born (?=on |in )")


def _birth(clause: Clause) -> list[Clause]:
    """X (born D) is Y. Born in P, X is Y. X is Y born in P. -> X is Y | X was born ..."""
    masked = mask(clause.text)
    place = _subject(masked)
    if place is None:
        return [clause]
    subject = clause.text[slice(*place)]
    if inside := _BORN.search(subject):
        name = subject[: inside.start()].rstrip()
        start, end = (place[0] + offset for offset in inside.span("details"))
        return [clause.part(place[1] + 1, prefix=name), clause.part(start, end, prefix=f"{name} was born")]
    if first := _BORN_FIRST.match(masked[: place[0]]):
        return [
            clause.part(*first.span("details"), prefix=f"{subject} was born"),
            clause.part(place[1] + 1, prefix=subject),
        ]
    if last := _BORN_LAST.match(masked, place[1]):
        return [clause.head(last.start("joint")), clause.part(last.end(), prefix=f"{subject} was born")]
    return [clause]


_INSERTION = re.compile(
    rf", (?:(?P<relative>who|which) (?={ADVERB}?{VERB})|(?=(?:an?|the) ))(?P<inner>[^,]{{3,150}}), "
    rf"(?={ADVERB}?(?P<verb>{VERB}))"
)


def _insertion(clause: Clause) -> list[Clause]:
    """X, a chemist, did Y. X, who was a chemist, did Y. -> X did Y | X was a chemist."""
    masked = mask(clause.text)
    place = _subject(masked)
    inserted = _INSERTION.match(masked, place[1]) if place else None
    if place is None or inserted is None:
        return [clause]
    subject = clause.text[slice(*place)]
    return [
        clause.part(inserted.end(), prefix=clause.text[: place[1]]),
        clause.part(*inserted.span("inner"), prefix=subject if inserted["relative"] else f"{subject} {_be(inserted['verb'])}"),
    ]


def _be(verb: str) -> str:
    """Returns the form of "be" that has the tense of the verb, and its number where the verb shows it."""
    if re.match(BE, verb):
        return verb
    return "was" if re.match(PAST, verb) else "is"


_RELATIVE = re.compile(
    rf"(?P<name>(?:(?:\bthe )?{NAME}(?: \(_+\))?,|[\"“]_+[\"”](?: \(_+\))?,?)) (?:which|who) (?={ADVERB}?{VERB})"
)
# Where the clause around a relative clause continues.
_GOES_ON = re.compile(rf", {ADVERB}?{VERB}|\b(?:who|which)\b")
_WHO = re.compile(rf" {BE} (?:an?|the) (?P<noun>[^;]{{0,150}}?\b[a-z-]+) (?P<joint>who )(?={ADVERB}?{VERB})")


def _relative(clause: Clause) -> list[Clause]:
    """X is a chemist who did Y. ... in P, which is Z. -> X is a chemist | X did Y; ... in P | P is Z."""
    masked = mask(clause.text)
    place = _subject(masked)
    if place is None:
        return [clause]
    if (who := _WHO.match(masked, place[1])) and not _NO_SUBJECT.search(who["noun"]):
        return [clause.head(who.start("joint")), clause.part(who.end(), prefix=clause.text[slice(*place)])]
    relative = _RELATIVE.search(masked, place[1])
    if relative and not _GOES_ON.search(masked, relative.end()):
        name = clause.text[slice(*relative.span("name"))].rstrip(",").replace(',"', '"').replace(",”", "”")
        return [clause.head(relative.end("name")), clause.part(relative.end(), prefix=name)]
    return [clause]


_JOINT = re.compile(rf"(?:,? (?P<closing>and|but(?! also\b)) (?:then )?|, (?:then )?)(?={ADVERB}?{JOINED_VERB})")
_SUBORDINATE = re.compile(r"\b(?:that|who|whom|whose|which|where|when|while|because|although|if)\b")
_LEADING_VERBS = re.compile(rf" {ADVERB}?(?P<first>{VERB})(?: {ADVERB}?{PARTICIPLE})?")
_NEXT_PARTICIPLE = re.compile(rf"{ADVERB}?{PARTICIPLE}")
_NEXT_PASSIVE = re.compile(rf"{ADVERB}?{PASSIVE}")


def _predicates(clause: Clause) -> list[Clause]:
    """X did Y, did Z and was W. -> X did Y | X did Z | X was W."""
    masked = mask(clause.text)
    place = _subject(masked)
    if place is None:
        return [clause]
    subordinate = _SUBORDINATE.search(masked, place[1])
    joints = list(_JOINT.finditer(masked, place[1], subordinate.start() if subordinate else len(masked)))
    # Without a closing "and", a comma opens a participle, not a predicate.
    while joints and not joints[-1]["closing"]:
        joints.pop()
    begins = [place[1], *(joint.end() - 1 for joint in joints)]
    ends = [*(joint.start() for joint in joints), len(masked)]
    subject = clause.text[slice(*place)]
    parts, auxiliary = [], ""
    for begin, end in zip(begins, ends, strict=True):
        verbs = _LEADING_VERBS.match(masked, begin, end)
        if verbs is None or not masked[verbs.end() : end].strip(" ,"):
            return [clause]
        if carried := _carried(auxiliary, masked[begin + 1 : end]):
            parts.append(clause.part(begin + 1, end, prefix=f"{subject} {carried}"))
            continue
        auxiliary = verbs["first"]
        parts.append(clause.part(begin + 1, end, prefix=subject) if parts else clause.head(end))
    return parts


def _carried(auxiliary: str, predicate: str) -> str:
    """Returns the auxiliary of the predicate before if this one is a bare participle that depends on it, else ""."""
    if re.match(BE, auxiliary) and _NEXT_PASSIVE.match(predicate):
        return auxiliary
    if re.match(HAVE, auxiliary) and _NEXT_PARTICIPLE.match(predicate):
        return auxiliary
    return ""


_NOUN = r"(?:(?!(?:and|or|of|in|at|on|for|from|to|with|by|who|that|known|best|born)\b)[\w'’/-]+)"
_ROLE = rf"(?:an? )?{_NOUN}(?: {_NOUN}){{0,3}}"
_ROLES = re.compile(
    rf" (?P<be>{BE}) (?:also )?(?P<roles>(?=an? ){_ROLE}(?:, {_ROLE}){{0,8}},? and {_ROLE})"
    r"(?:,? (?P<fame>(?:best |well |widely )?known (?:for|as) .+))?$"
)
_ONE_ROLE = re.compile(rf"\b{_ROLE}")


def _roles(clause: Clause) -> list[Clause]:
    """X is a French actor and poet known for Y. -> X is a French actor | X is a poet | X is known for Y."""
    masked = mask(clause.text)
    place = _subject(masked)
    found = _ROLES.match(masked, place[1]) if place else None
    if place is None or found is None:
        return [clause]
    first, *others = [role.span() for role in _ONE_ROLE.finditer(masked, *found.span("roles"))]
    subject = f"{clause.text[slice(*place)]} {found['be']}"
    parts = [clause.head(first[1])]
    parts += [clause.part(start, end, prefix=subject + _article(masked[start:end])) for start, end in others]
    if found["fame"]:
        parts.append(clause.part(*found.span("fame"), prefix=subject))
    return parts


def _article(role: str) -> str:
    """Returns the article that the role lacks, after a space."""
    if role.startswith(("a ", "an ")):
        return ""
    return " an" if role[0] in "aeiouAEIOU" else " a"


_TITLE = rf"(?:(?:the |The )?{NAME}(?: \(_+\))?|[\"“'‘]_+[\"”'’](?: \(_+\))?)"
_ITEMS = re.compile(
    rf"(?P<items>{_TITLE}(?:(?:,|(?<=[\"”])) {_TITLE}){{1,40}}(?:,|(?<=[\"”]))? and {_TITLE})(?:,? among others)?$"
)
_QUOTED = r"[\"“]_+[\"”](?: \(_+\))?"
_TWO_ITEMS = re.compile(rf"(?P<items>the {NAME} and the {NAME}|{_QUOTED} and {_QUOTED}|{NAME} \(_+\) and {NAME} \(_+\))$")
_ITEM = re.compile(_TITLE)
# Before these lists that mean one thing: places and pairs (in Paris, Texas; between A and B).
_NO_LIST_HEAD = re.compile(r"\b(?:in|at|from|near|of|between|both|to|among|on|under|(?<!such )as)$")


def _items(clause: Clause) -> list[Clause]:
    """X won the A, the B, and the C. -> X won the A | X won the B | X won the C."""
    masked = mask(clause.text)
    place = _subject(masked)
    found = (_ITEMS.search(masked, place[1]) or _TWO_ITEMS.search(masked, place[1])) if place else None
    if found is None:
        return [clause]
    head = clause.text[: found.start()].rstrip()
    quoted = masked[found.start()] in "\"“'‘"
    if not re.search(VERB, head) or (_NO_LIST_HEAD.search(head) and not quoted):
        return [clause]
    items = list(_ITEM.finditer(masked, *found.span("items")))
    # Minister of Health, Education, and Welfare: what follows the first "of" is the list.
    if " of " in items[0][0] and not any(" of " in item[0] for item in items[1:]):
        return [clause]
    return [clause.head(items[0].end()), *(clause.part(*item.span(), prefix=head) for item in items[1:])]


_RULES: tuple[Callable[[Clause], list[Clause]], ...] = (
    _independent,
    _birth,
    _insertion,
    _relative,
    _predicates,
    _roles,
    _items,
)
