"""Splits English sentences into clauses where that is safe: each states one thing and repeats its subject.

One rule a function; whatever a rule is not sure of stays whole.
"""

import re
from collections.abc import Callable

from localfact.claims.rules import insertions
from localfact.claims.rules.clause import NO_SUBJECT, SUBORDINATE, Clause, Place, subject_of
from localfact.claims.rules.english import (
    ADVERB,
    AGENT,
    BE,
    FINITE,
    HAVE,
    HEDGE,
    JOINED_VERB,
    NAME,
    OBJECT,
    PARTICIPLE,
    PASSIVE,
    STATE,
    SUBJECT,
    VERB,
    mask,
    stand_alone,
)

#: From a clause, its text with quotations masked, and the place of its subject in it, to the clauses that it is split into.
Rule = Callable[[Clause, str, Place], list[Clause]]

# Longer sentences are not split: the rules were not made for them, and some take quadratic time.
LONGEST_SENTENCE = 1_000


def split_clauses(sentence: str, *, of_person: bool = False) -> list[Clause]:
    """Splits an English sentence, with words in it, into clauses; if no rule applies, it is the only clause.

    Args:
        of_person: whether the text is about a person, so that years behind a name are those of a life.
    """
    whole = Clause(sentence.rstrip(" .;"))
    if len(sentence) > LONGEST_SENTENCE:
        return [whole]
    lives = _apply(insertions.lifetime, whole) if of_person else [whole]
    clauses = [part for clause in lives for part in _independent(clause)]
    for rule in _RULES:
        clauses = [part for clause in clauses for part in _apply(rule, clause)]
    return clauses


def _apply(rule: Rule, clause: Clause) -> list[Clause]:
    masked = mask(clause.text)
    place = subject_of(masked)
    return [clause] if place is None else rule(clause, masked, place)


_INDEPENDENT = re.compile(
    r"; (?:however|moreover|also), |; |, (?:and|but|while) (?="
    rf"(?:in (?:[A-Z][a-z]+ )?\d{{4}},? )?(?:he|she|it|they|(?:his|her|its|their) [\w'’-]+) {ADVERB}?{VERB}|"
    rf"(?P<subject>{SUBJECT}|(?:many|most|several|some)(?: [\w'’-]+){{1,6}}?)(?:, [^,]{{3,60}},)? {ADVERB}?{FINITE} "
    r"(?!so\b|not(?: so\b|[,;]|$)))"
)
_THEY = re.compile(r"[Tt]hey ")
_PLURAL = re.compile(r"^(?!(?:[Tt]hey|[Tt]hese)$).*[^\Wus]s$")
_CLAUSE_START = re.compile(rf"(?:in (?:[A-Z][a-z]+ )?\d{{4}},? )?{SUBJECT} {ADVERB}?{VERB}")


def _independent(clause: Clause) -> list[Clause]:
    """A; B. A, and he B. A, while the X B. -> A | B."""
    masked = mask(clause.text)
    for joint in _INDEPENDENT.finditer(masked):
        before, subject, after = masked[: joint.start()], joint["subject"], masked[joint.end() :]
        # What a colon announces is one list.
        if ":" in before:
            break
        named = subject and not NO_SUBJECT.search(subject) and stand_alone(before, subject, after)
        if named or (not subject and subject_of(before) and _CLAUSE_START.match(after)):
            rest = Clause(clause.text[joint.end() :], clause.start + joint.end() - clause.borrowed, 0)
            if rest.text.startswith("in "):
                rest = rest._replace(text=f"I{rest.text[1:]}")
            place = subject_of(before)
            # "Frogs swim, but they cannot fly": nobody else is meant.
            if place and _THEY.match(rest.text) and _PLURAL.search(before[slice(*place)]):
                rest = rest.part(len("they "), prefix=clause.text[slice(*place)])
            return [clause.head(joint.start()), *_independent(rest)]
    return [clause]


_JOINT = re.compile(
    r"(?:,? (?P<closing>and|but(?! also\b)) (?:then )?|, (?:then )?)"
    rf"(?={ADVERB}?(?!put (?:simply|differently)|aged\b){JOINED_VERB})"
)
_LEADING_VERBS = re.compile(rf" {ADVERB}?(?P<first>{VERB})(?: {ADVERB}?{PARTICIPLE})?")
_NEXT_PARTICIPLE = re.compile(rf"{ADVERB}?{PARTICIPLE}")
_NEXT_PASSIVE = re.compile(rf"{ADVERB}?(?:{PASSIVE}|{STATE}(?!{OBJECT}))")
_NEXT_STATE = re.compile(rf"{ADVERB}?{STATE}(?!{OBJECT})")


# Behind these another clause has a subject of its own.
_AS = re.compile(
    r", (?:as|since|so|after|before|until|than)\b(?! well| a result)|"
    r"\b(?:as|than) (?:[\w'’-]+ ){1,4}?(?:is|are|was|were|feel|felt)\b"
)
# A participle that depends on the auxiliary before it is followed by no object: "won neither" is a predicate of its own.
_WITHOUT_OBJECT = re.compile(
    rf"{ADVERB}?[a-z-]+(?: (?:again|as|at|by|during|for|from|in|into|of|on|over|there|through|to|twice|under|with)\b|[,;]|$)"
)
# These have an object as passives too.
_OF_TWO_OBJECTS = re.compile(rf"{ADVERB}?(?:awarded|appointed|called|considered|elected|given|named)\b")


def _predicates(clause: Clause, masked: str, place: Place) -> list[Clause]:
    """X did Y, did Z and was W. -> X did Y | X did Z | X was W."""
    subordinate = SUBORDINATE.search(masked, place[1]) or _AS.search(masked, place[1])
    joints = list(_JOINT.finditer(masked, place[1], subordinate.start() if subordinate else len(masked)))
    # Without a closing "and", a comma opens a participle, not a predicate.
    while joints and not joints[-1]["closing"]:
        joints.pop()
    begins = [place[1], *(joint.end() - 1 for joint in joints)]
    ends = [*(joint.start() for joint in joints), len(masked)]
    subject = clause.text[slice(*place)]
    parts: list[Clause] = []
    auxiliary = ""
    for begin, end in zip(begins, ends, strict=True):
        verbs = _LEADING_VERBS.match(masked, begin, end)
        if (
            verbs is None
            or not masked[verbs.end() : end].strip(" ,")
            or (not parts and HEDGE.search(verbs[0] + masked[verbs.end() : end]))
        ):
            return [clause]
        carried = _carry_auxiliary(auxiliary, masked[begin + 1 : end])
        if not carried and _NEXT_STATE.match(masked, begin + 1):
            return [clause]
        if carried:
            parts.append(clause.part(begin + 1, end, prefix=f"{subject} {carried}"))
            continue
        auxiliary = masked[verbs.start("first") : verbs.end()]
        parts.append(clause.part(begin + 1, end, prefix=subject) if parts else clause.head(end))
    return parts


def _carry_auxiliary(before: str, predicate: str) -> str:
    """Returns the auxiliary of the verb before if this predicate is a bare participle that depends on it, else ""."""
    auxiliary, _, participle = before.partition(" ")
    if re.match(BE, auxiliary) and _NEXT_PASSIVE.match(predicate):
        # "Was a painter and won the prize" won it.
        passive = bool(_WITHOUT_OBJECT.match(predicate)) or (participle and _OF_TWO_OBJECTS.match(predicate))
        return auxiliary if passive else ""
    if re.match(HAVE, auxiliary) and _NEXT_PARTICIPLE.match(predicate):
        return auxiliary
    return ""


_NOUN = r"(?:(?!(?:and|or|of|in|at|on|for|from|to|with|by|who|that|known|best|born)\b)[\w'’/-]+)"
_ROLE = rf"(?:an? )?{_NOUN}(?: {_NOUN}){{0,3}}"
_ROLES = re.compile(
    rf" (?P<be>{BE}) (?:also )?(?P<roles>(?=an? ){_ROLE}(?:, {_ROLE}){{0,8}},? and {_ROLE})"
    r"(?:,? (?P<fame>(?:best |well |widely )?known (?:for|as) .+))?$"
)
_AGENT_LAST = re.compile(rf"\b{AGENT}$")
_ONE_ROLE = re.compile(rf"\b{_ROLE}")


def _roles(clause: Clause, masked: str, place: Place) -> list[Clause]:
    """X is a French actor and poet known for Y. -> X is a French actor | X is a poet | X is known for Y."""
    found = _ROLES.match(masked, place[1])
    if found is None:
        return [clause]
    first, *others = [role.span() for role in _ONE_ROLE.finditer(masked, *found.span("roles"))]
    # "A loud and messy town": what ends in no noun for a person may be an adjective.
    if not all(_AGENT_LAST.search(masked[start:end]) for start, end in (first, *others[:-1])):
        return [clause]
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


# "Two daughters, A and B" are two; "Snakes on a" is half a name.
_COUNTED = re.compile(
    r"\b(?:both|two|three|four|five|six|seven|eight|nine|ten|\d+|pair|couple|trio|duo|neither|either|only)\b[^,.;]{0,60}[,:]?$|"
    r"\b(?:an?|the|his|her|its|their)$"
)


def _items(clause: Clause, masked: str, place: Place) -> list[Clause]:
    """X won the A, the B, and the C. -> X won the A | X won the B | X won the C."""
    found = _ITEMS.search(masked, place[1]) or _TWO_ITEMS.search(masked, place[1])
    if found is None:
        return [clause]
    head = clause.text[: found.start()].rstrip()
    quoted = masked[found.start()] in "\"“'‘"
    if _COUNTED.search(head) or not re.search(VERB, head) or (_NO_LIST_HEAD.search(head) and not quoted):
        return [clause]
    items = list(_ITEM.finditer(masked, *found.span("items")))
    # Minister of Health, Education, and Welfare: what follows the first "of" is the list.
    if " of " in items[0][0] and not any(" of " in item[0] for item in items[1:]):
        return [clause]
    return [clause.head(items[0].end()), *(clause.part(*item.span(), prefix=head) for item in items[1:])]


_RULES: tuple[Rule, ...] = (
    insertions.birth,
    insertions.insertion,
    insertions.relative,
    insertions.split_participle,
    insertions.apposition,
    _predicates,
    insertions.date_and_place,
    _roles,
    _items,
)
