"""Finds whom a sentence names, so that a pronoun behind them is not taken for somebody else's.

A name that may be a person's is one: in doubt the pronoun stays.
"""

import re
import unicodedata
from collections.abc import Iterator
from typing import Literal, NamedTuple

from localfact.claims.rules.english import MONTH

#: None where the name does not tell.
Pronoun = Literal["he", "she"] | None


#: Letters by which "Tim" is Timothy.
SHORT_NAME = 3


class Person(NamedTuple):
    """A name that may be a person's, where it begins in its sentence, and the pronoun that may stand for it."""

    name: str
    start: int
    pronoun: Pronoun


_WORD = r"(?:[A-Z\u00c0-\u00de][\w'’-]*[\w]|[A-Z]\.)"
_SMALL = r"(?:of the|of|de la|de|da|del|di|van der|van|von|der|du|le|bin|ibn|al)"
_NAME = re.compile(rf"(?<![\w.-]){_WORD}(?:(?: {_SMALL})? {_WORD}){{0,5}}")
_TITLES = {
    "he": "Mr Sir Lord King Prince Duke Earl Viscount Marquess Count Baron Emperor Father Brother Pope Tsar Sultan Pharaoh "
    "Caliph Shah",
    "she": "Mrs Ms Miss Lady Queen Princess Duchess Countess Baroness Empress Dame Sister Mother Tsarina",
    "": "Dr Prof Professor President Captain General Colonel Admiral Saint St Senator Governor Chancellor Justice Minister Rev",
}
# Frequent given names that are a man's, or a woman's, nearly always.
_GIVEN = {
    "he": "Adam Albert Alexander Alfred Andrew Anthony Antonio Arthur Benjamin Bernard Brian Carl Carlos "
    "Charles Christopher Daniel David Diego Dmitri Donald Edgar Edmund Edward Ernest Fernando Francisco "
    "Franz Frederick Friedrich George Gerald Giovanni Giuseppe Gustav Hans Harold Henri Henry Herbert "
    "Hermann Howard Hugh Ian Isaac Ivan Jack Jacob Jacques James Jeff Jeffrey Johann John Jonathan Jorge "
    "Joseph Juan Karl Keith Kenneth Kevin Konrad Lawrence Leonard Louis Ludwig Luigi Manuel Marco Mario "
    "Mark Martin Matthew Max Michael Miguel Mohammed Muhammad Nicholas Nikolai Oscar Otto Pablo Patrick "
    "Abraham Adolf Alan Allan Barack Bob Boris Calvin Dwight Eric Erik Frank Franklin Fred Harry Heinrich "
    "Immanuel Josef Julius Leonid Mikhail Neil Roy Rudolf Sigmund Stefan Tom Winston Woodrow "
    "Paul Pedro Peter Philip Pierre Ralph Raymond Richard Robert Roger Ronald Samuel Scott Sergei Simon "
    "Stephen Steven Theodore Thomas Timothy Victor Vladimir Walter Werner Wilhelm William Wolfgang",
    "she": "Ada Agatha Alice Amanda Amelia Amy Angela Anna Anne Annie Barbara Beatrice Betty Carol Caroline "
    "Catherine Charlotte Christina Clara Deborah Diana Dorothy Edith Eleanor Elena Eliza Elizabeth Ella "
    "Ellen Emily Emma Esther Eva Florence Frances Gertrude Grace Hannah Harriet Helen Helena Ida Irene "
    "Isabel Isabella Jane Janet Jennifer Jessica Joan Josephine Judith Julia Julie Karen Kate Katherine "
    "Laura Lisa Louise Lucy Lydia Margaret Maria Marie Martha Mary Matilda Michelle Miriam Nancy Natalie "
    "Astrid Benazir Edna Ethel Frida Gloria Greta Indira Ingrid Joanna Kathleen Mabel Maureen Rosalind Simone "
    "Nora Olga Olivia Patricia Pauline Rachel Rebecca Rose Ruth Sally Sarah Sophia Sophie Stella Susan "
    "Sylvia Teresa Ursula Victoria Virginia Vivian Yvonne",
}
_KIN = {
    "he": "father husband son brother grandfather uncle nephew boyfriend stepfather widower",
    "she": "mother wife daughter sister grandmother aunt niece girlfriend stepmother widow",
}


def _pronouns(*tables: dict[str, str]) -> dict[str, Pronoun]:
    """Each word of the tables with the pronoun that it tells."""
    both: tuple[Pronoun, ...] = ("he", "she")
    return {word: kind for table in tables for kind in both if kind for word in table[kind].split()}


RELATIVES = _pronouns(_KIN)
_PRONOUN_OF = _pronouns(_TITLES, _GIVEN)
_TITLE_WORDS = frozenset(" ".join(_TITLES.values()).split())
# What ends or begins the names of places, bodies and works; and capitalised words that are no name.
_NO_PERSON = re.compile(
    rf"\b(?:Academy|Act|Affairs|Agency|Airport|Album|Army|Association|Avenue|Award|Awards|Bank|Battle|Bay|Board|Book|Bridge|Bureau|"
    r"Castle|Cathedral|Center|Centre|Championship|Championships|Church|City|Club|Coast|College|Commission|Committee|Company|Congress|"
    r"Council|County|Court|Cup|Day|Department|District|Empire|Festival|Film|Force|Foundation|Games|Group|Hall|Hospital|House|Inc|"
    r"Institute|Island|Islands|Journal|Kingdom|Laboratory|Lake|League|Library|Magazine|Medal|Ministry|Mount|Mountain|Museum|Navy|"
    r"Office|Olympic|Olympics|Open|Opera|Orchestra|Order|Organization|Palace|Parliament|Park|Parish|Party|Peninsula|Power|Press|Prizes?|Medals|Oscars|Emmys|Grammys?|"
    r"Project|Province|Records|Republic|Revolution|River|School|Sea|Senate|Series|Service|Society|Square|Star|State|States|Street|"
    r"Studio|Studios|Team|Territory|Theater|Theatre|Times|Tour|Tower|Town|Treaty|Trophy|Union|United|University|Valley|Village|War|"
    rf"World|Year|{MONTH}|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday|American|British|English|French|German|Italian|"
    r"Spanish|Russian|Chinese|Japanese|Indian|European|African|Australian|Canadian|Christian|Catholic|Jewish|Muslim|Roman|Greek|North|"
    r"South|East|West|New|Great|Los|Las|Santa|San|Saint-\w+|Act|PhD|Bachelor|Master|Doctor|Science|Arts|Best|"
    r"Minister|Secretary|Chief|CEO|Director|Chairman|Prime|Deputy|Head|Production|Finance|Health|Development|Studies|Research|Planning|"
    r"Music|News|Radio|Channel|Unit|Number|Things|Home|Cups|Draft|Lawyers|Milan|Madrid|Rico|Plus|Puerto|Rights|Engineering|Law|Medicine|[A-Z]{2,}\d*|"
    r"He|She|It|They|His|Her|Its|Their|The|This|These|In|On|At|After|Before|During|As|When|While|With|From|For|By|Although|However|"
    r"Since|Despite|Born|Throughout|Later|A|An|And|But|One|Some|Many|Most|There|According|If|So|To|Of|Under|Upon|Until|Through)\b"
)
# Before these stand places, times and works: "in Paris", "at Bell Labs", "the Louvre", "titled Ash".
_BEFORE_PLACE = re.compile(
    r"(?:\b(?i:in|at|near|into|across|throughout|outside|the|an?|this|entitled|titled|film|movie|novel|book|album|song|single|series|show|"
    r"magazine|newspaper|city|town|village|language|university|company|team|band|group|club|called|as|born|"
    r"(?:roles?|portrayal|character) of)|[\"“'‘*]|,)\s*$"
)
# Before one capitalised word these say that it is a person's.
_BEFORE_PERSON = re.compile(
    r"\b(?:married|met|wed|loved|befriended|taught|tutored|mentored|succeeded|replaced|defeated|beat|killed|divorced|by|wrote "
    r"to|with|friends?(?: of)?|colleague|teacher|mentor|student of|rival|partner|pupil of|child of|named|"
    rf"{'|'.join(RELATIVES)}|{'|'.join(sorted(_TITLE_WORDS))}\.?)(?: of)?,? $"
)
# What stands behind it is the topic's own name, or where it was born.
_BORN = re.compile(r"\b(?:born|née)(?: as)? $")
# "X-ray", "T-shirt": no name.
_NO_NAME = re.compile(r"[A-Z]-[a-z]")
_RELATIVE_BEFORE = re.compile(rf"\b(?P<relative>{'|'.join(RELATIVES)}),? $")


def people_in(masked: str, topic: str) -> Iterator[Person]:
    """Yields the names in a sentence that may be those of persons other than the topic.

    Args:
        masked: the sentence, its quotations hidden.
        topic: its name.
    """
    for found in _NAME.finditer(masked):
        name, before = found[0], masked[: found.start()]
        words = [word.rstrip(".") for word in name.split()]
        bare = [word for word in words if word not in _TITLE_WORDS] or words
        if is_topic(" ".join(bare), topic) or _NO_PERSON.search(" ".join(bare)):
            continue
        if _BORN.search(before) or _NO_NAME.match(name):
            continue
        alone = len(words) == 1
        if _BEFORE_PLACE.search(before) and words[0] not in _TITLE_WORDS and words[0] not in _PRONOUN_OF:
            continue
        if alone and (
            not _BEFORE_PERSON.search(before) or re.match(r"[\w-]+ (?:and|or|,) (?:the|an?)\b", masked[found.start() :])
        ):
            continue
        relative = _RELATIVE_BEFORE.search(before)
        yield Person(name, found.start(), RELATIVES[relative["relative"]] if relative else given_pronoun(name))


def read_surnames(text: str) -> dict[str, Pronoun]:
    """Surname -> the pronoun of whom the text calls so beside a given name that tells: "Babbage" -> "he"."""
    found: dict[str, Pronoun] = {}
    for match in _NAME.finditer(text):
        words = match[0].removesuffix("'s").removesuffix("’s").split()
        if len(words) > 1 and words[0] in _PRONOUN_OF:
            kind = _PRONOUN_OF[words[0]]
            found[words[-1]] = kind if found.get(words[-1], kind) == kind else None
    return found


def may_be_person(heading: str) -> bool:
    """Whether a heading has the form of a person's name: two to four capitalised words, none of them a place's or a work's."""
    found = _NAME.fullmatch(heading)
    return bool(found) and 2 <= len(heading.split()) <= 4 and not _NO_PERSON.search(heading)


def given_pronoun(name: str) -> Pronoun:
    """Returns the pronoun of a person by title or given name; None where they do not tell."""
    words = (word.rstrip(".") for word in name.split())
    return next((_PRONOUN_OF[word] for word in words if word in _PRONOUN_OF), None)


def is_topic(name: str, topic: str) -> bool:
    """Whether a name is the topic's: shorter ("Morel"), longer ("Ada Eve Morel"), first and last; no relative's."""
    words, known = words_of(name), words_of(topic)
    if not words or not known:
        return False
    first, last = (_fold(name).split()[place][:SHORT_NAME] for place in (0, -1))
    alike = first == _fold(topic)[:SHORT_NAME] and len(words) > 1 and last == _fold(topic).split()[-1][:SHORT_NAME]
    return words <= known or known <= words or alike


def words_of(name: str) -> frozenset[str]:
    """Returns the words that may stand for a name alone, in lower case: "the tower" is the Eiffel Tower."""
    return frozenset(re.findall(r"\w+", _fold(name.removesuffix("'s").removesuffix("’s")))) - {"the", "of"}


def _fold(name: str) -> str:
    """In lower case and without accents, which people leave out."""
    letters = unicodedata.normalize("NFKD", name.casefold())
    return "".join(letter for letter in letters if not unicodedata.combining(letter))
