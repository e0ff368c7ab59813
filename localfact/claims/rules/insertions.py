"""Rules for what a sentence says beside its predicate (births, appositions, relative clauses): see `clauses.Rule`."""

import re

from localfact.claims.rules.clause import NO_SUBJECT, SUBORDINATE, Clause, Place
from localfact.claims.rules.english import ADVERB, BE, MONTH, NAME, PAST, VERB

_BORN = re.compile(r"\(born (?P<details>(?![^()]*\d{4} ?[–-] ?\d{4})[^()]{3,100})\)")
_BORN_FIRST = re.compile(r"Born (?P<details>.+), $")
_BORN_LAST = re.compile(rf" {BE} an? [^,]{{3,80}}?(?P<joint>,?) (?:who was )?born (?=on |in )")


def birth(clause: Clause, masked: str, place: Place) -> list[Clause]:
    """X (born D) is Y. Born in P, X is Y. X is Y born in P. -> X is Y | X was born ..."""
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


_YEARS = re.compile(r"\((?:c\. )?(?P<born>\d{4}) ?[–-] ?(?P<died>\d{4})\)")


def lifetime(clause: Clause, masked: str, place: Place) -> list[Clause]:
    """X (1880-1930) is Y, of a person. -> X is Y | X was born in 1880 | X died in 1930."""
    years = _YEARS.search(clause.text, *place)
    if years is None:
        return [clause]
    name = clause.text[place[0] : years.start()].rstrip()
    return [
        clause.part(place[1] + 1, prefix=clause.text[: place[0]] + name),
        clause.part(*years.span("born"), prefix=f"{name} was born in"),
        clause.part(*years.span("died"), prefix=f"{name} died in"),
    ]


_DATE = rf"(?:on (?:{MONTH} \d{{1,2}}, \d{{4}}|\d{{1,2}} {MONTH} \d{{4}}|{MONTH} \d{{1,2}})|in (?:{MONTH} )?\d{{4}})"
# No verb of another clause stands within a place.
_PLACE = rf"in [A-Z](?:(?!\b(?:{VERB}|and [a-z]|who|where|which|when|while|then)\b|\(\d)[^;:]){{1,80}}?"
_LIFE_EVENT = re.compile(
    rf"(?P<event>(?:{BE} (?:born|buried)|died|married)) (?:(?P<date>{_DATE}),? (?P<place>{_PLACE})|"
    rf"(?P<place_first>{_PLACE}),? (?P<date_last>{_DATE}))$"
)


def date_and_place(clause: Clause, masked: str, place: Place) -> list[Clause]:
    """X was born on D in P. -> X was born on D | X was born in P."""
    found = _LIFE_EVENT.match(masked, place[1] + 1)
    if found is None:
        return [clause]
    first = "date" if found["date"] else "place_first"
    second = "place" if found["date"] else "date_last"
    head = f"{clause.text[slice(*place)]} {found['event']}"
    return [clause.head(found.end(first)), clause.part(*found.span(second), prefix=head)]


_INSERTION = re.compile(
    rf", (?:(?P<relative>who|which) (?={ADVERB}?{VERB})|(?=(?:an?|the) ))(?P<inner>[^,]{{3,150}}), "
    rf"(?={ADVERB}?(?P<verb>{VERB}))"
)


def insertion(clause: Clause, masked: str, place: Place) -> list[Clause]:
    """X, a chemist, did Y. X, who was a chemist, did Y. -> X did Y | X was a chemist."""
    inserted = _INSERTION.match(masked, place[1])
    if inserted is None:
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


def relative(clause: Clause, masked: str, place: Place) -> list[Clause]:
    """X is a chemist who did Y. ... in P, which is Z. -> X is a chemist | X did Y; ... in P | P is Z."""
    if (who := _WHO.match(masked, place[1])) and not NO_SUBJECT.search(who["noun"]):
        return [clause.head(who.start("joint")), clause.part(who.end(), prefix=clause.text[slice(*place)])]
    relative = _RELATIVE.search(masked, place[1])
    if relative and not _GOES_ON.search(masked, relative.end()):
        name = clause.text[slice(*relative.span("name"))].rstrip(",").replace(',"', '"').replace(",”", "”")
        return [clause.head(relative.end("name")), clause.part(relative.end(), prefix=name)]
    return [clause]


_MAIN_VERB = re.compile(rf" {ADVERB}?(?P<verb>{VERB})")
# What follows the comma is then what was said, not the name.
_EVENT = (
    r"(?:\w+ )?(?:achievement|change|claim|decision|event|feat|first|marriage|milestone|moment|move|position|post|practice|"
    r"process|record|result|role|step|time|title|victory|win|year)\b"
)
_APPOSITION = re.compile(
    rf"(?<!,)(?<! and)(?<! a)(?<! an)(?<! the) (?P<name>{NAME}), (?P<noun>an? (?!{_EVENT})[^,;]{{3,100}})$"
)
# A verb in -ing behind the last comma has the subject of the clause; others than these may have another.
_PASTS = {
    "becoming": "became",
    "defeating": "defeated",
    "earning": "earned",
    "graduating": "graduated",
    "joining": "joined",
    "playing": "played",
    "receiving": "received",
    "serving": "served",
    "winning": "won",
    "working": "worked",
}
_FOLLOWING = re.compile(
    rf",(?: (?:also|eventually|later|subsequently|then))? (?P<verb>{'|'.join(_PASTS)}) "
    r"(?P<rest>(?![^,;]* and (?:\w+ly |later |then )?\w+ing\b)[^,;]{3,120})$"
)


# Another clause, or more items of a list.
_NO_NOUN = re.compile(rf"{VERB}| and (?:an?|the|his|her|its) ")


def apposition(clause: Clause, masked: str, place: Place) -> list[Clause]:
    """X married Y, a chemist. -> X married Y | Y was a chemist."""
    found = _APPOSITION.search(masked, place[1])
    verb = _MAIN_VERB.match(masked, place[1])
    if found is None or verb is None or re.search(rf"\d|{MONTH}", found["name"]) or _NO_NOUN.search(found["noun"]):
        return [clause]
    name = clause.text[slice(*found.span("name"))]
    return [clause.head(found.end("name")), clause.part(*found.span("noun"), prefix=f"{name} {_be(verb['verb'])}")]


def split_participle(clause: Clause, masked: str, place: Place) -> list[Clause]:
    """Splits off a final "-ing" phrase: "X did Y, becoming the first." -> "X did Y" | "X became the first".

    Args:
        clause: the clause to split.
        masked: its text with what stands in quotation marks and parentheses replaced by underscores.
        place: where the subject X stands in the text, [start, end).

    Returns:
        The two clauses; the given clause alone where the rule does not apply.
    """
    found = _FOLLOWING.search(masked, place[1])
    if found is None or SUBORDINATE.search(masked, place[1], found.start()):
        return [clause]
    verb = _MAIN_VERB.match(masked, place[1])
    if verb is None or not re.match(PAST, verb["verb"]):
        return [clause]
    prefix = f"{clause.text[slice(*place)]} {_PASTS[found['verb']]}"
    return [clause.head(found.start()), clause.part(*found.span("rest"), prefix=prefix)]
