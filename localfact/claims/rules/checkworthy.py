"""Separates sentences that state something checkable from headings, questions, advice, opinion and talk about the answer.

A sentence is judged as a whole with its quotations masked, so that words inside a quotation or a title never decide.
"""

import re
from collections.abc import Mapping
from enum import StrEnum

from localfact import text
from localfact.claims.rules.english import VERB, mask
from localfact.claims.rules.filler import FILLER
from localfact.claims.rules.refusals import START, refuses
from localfact.prose import instead_of_prose


class DropReason(StrEnum):
    """Why a sentence is no claim; the keys of `Extraction.dropped`."""

    ABSTENTION = "abstention"
    NO_WORDS = "no words"
    NO_PROSE = "no prose"
    HEADING = "heading"
    TABLE = "table row"
    REFERENCE = "reference"
    CODE = "code"
    QUESTION = "question"
    INTRODUCTION = "introduces a list"
    FRAGMENT = "fragment"
    TALK = "talk about the answer"
    ADVICE = "advice"
    SPECULATION = "speculation"
    OPINION = "opinion"


#: What was said in a form that no rule reads.
_UNREAD = (DropReason.TABLE, DropReason.FRAGMENT, DropReason.NO_PROSE, DropReason.CODE, DropReason.REFERENCE)
# The least number of words of a claim.
FEWEST_WORDS = 3

# More of its words than these are commands of a formula in LaTeX.
MOST_COMMANDS = 0.3
_FORMULA = re.compile(r"\\[A-Za-z]{2,}")
_TABLE = re.compile(r"\s*\|")
_HEADING = re.compile(r"\s*(?:#{1,6}\s|(?:(?:[-*+•]|\d{1,3}[.)])\s+)?(?P<bold>\*\*|__)[^*_]+(?P=bold):?\s*$)")
_REFERENCE = re.compile(r"\bdoi:|\bISBN\b", re.IGNORECASE)
_QUESTION = re.compile(r"[?？؟]$")
_INTRODUCES = re.compile(r"[:：]$")
#: The end of a sentence with a full stop or another final mark.
ENDED = re.compile(r"[.!…。！।۔][\"'”’»」)\]*_]*$")
_VERB = re.compile(rf"\b{VERB}")
_IMPERATIVE = (
    r"(?i:add|adhere|allow|ask|avoid|be|begin|build|check|choose|click|combine|compare|consider|consult|contact|cook|create|cut|"
    r"decide|develop|do|don['’]t|drink|eat|encourage|ensure|establish|evaluate|explore|feel|find|focus|follow|get|give|go|"
    r"identify|imagine|implement|include|install|integrate|keep|learn|let['’]s|leverage|look|maintain|make|monitor|never|offer|"
    r"open|optimize|pay|place|please|practice|prepare|provide|put|read|remember|remove|run|seek|select|set|start|stay|take|talk|"
    r"test|think|try|use|utilize|visit|wait|wash|work|write)"
)
_NOT_CHECKABLE = {
    DropReason.TALK: (
        rf"(?:{START}|, )(?:I(?:['’](?:m|ve|d|ll))?|[Mm]y) [a-z]",
        rf"{START}(?:[Aa]s an (?:AI|artificial)|[Hh]ere(?:['’]s| is| are)|[Ll]et me|[Tt]hank you|[Yy]ou['’]re welcome)\b",
        r"\A(?:Click|Read|See|Visit)\b(?: \w+){0,4} (?:details?|here|info|information|more)\b.{0,20}$",
        r"\A(?:For )?(?:[Mm]ore|[Ff]urther|[Aa]dditional) (?:details?|info|information|reading)\b",
        r"\b(?:[Ii]n|[Tt]o) my (?:experience|mind|opinion|view)\b",
        r"\A(?:Absolutely|Certainly|Great question|Of course|Sure)[,!.]",
        r"\b(?i:my (?:knowledge|training)|knowledge cutoff|search results?)\b",
        r"\b(?:provided|given|available) (?:context|information|sources?|text)\b",
        r"\A(?:\w+, )?[Tt]here (?:is|are) (?:no|limited|little|not enough)\b.{0,40}\b(?:information|details|data)\b",
    ),
    DropReason.ADVICE: (
        rf"{START}(?:(?:[Tt]o|[Ii]f|[Ww]hen) [^,]{{3,150}}, )?{_IMPERATIVE} (?!(?:for|from|in|of)\b|{VERB})[a-z]",
        r"\b(?:you|your|yourself)\b|\AYou\b",
        r"\b[Ii]t(?: is|['’]s) (?:\w+ ){0,2}(?:advisable|best|crucial|essential|important|necessary|recommended|vital) to\b",
        r"\A(?:(?!\bthat\b).)*\bshould\b",
    ),
    DropReason.SPECULATION: (
        rf"{START}(?:[Mm]aybe|[Pp]erhaps|[Pp]ossibly|[Pp]resumably)\b",
        r"\b[Ii]t(?: is|['’]s| remains) (?:\w+ ){0,2}(?:difficult|hard|impossible|possible|uncertain|unclear|unknown)\b",
        r"\b(?:could|may|might) (?:also |still )?(?:have been|seem)\b",
        r"\bmore research is needed\b",
    ),
    DropReason.OPINION: (r"\A(?:What an?|How) .*!$",),
}
_PATTERNS = {reason: re.compile("|".join(patterns)) for reason, patterns in _NOT_CHECKABLE.items()}
_EVALUATION = re.compile(
    r"\b(?i:amazing|arguably|awesome|beautiful(?:ly)?|beloved|breathtaking|brilliant|captivating|delightful|enduring|exceptional|"
    r"fantastic|fascinating|highly respected|incredible|incredibly|inspir(?:es|ing|ation)|interesting|legacy|lovely|memorable|"
    r"outstanding|perfect|powerful|remarkable|stunning|timeless|truly|unforgettable|unique|visually appealing|well-respected|"
    r"wonderful)\b"
)
_ANCHOR = re.compile(r"(?<=[a-z,;] )[A-Z][^\s]*|\d+|[\"“]_+")


def structural_reason(sentence: str) -> DropReason | None:
    """Returns why a sentence, with its Markdown, is no prose; None for prose."""
    if _TABLE.match(sentence):
        return DropReason.TABLE
    if text.word_count(sentence) == 0:
        return DropReason.NO_WORDS
    if instead_of_prose(sentence) is not None or len(_FORMULA.findall(sentence)) > MOST_COMMANDS * text.word_count(sentence):
        return DropReason.NO_PROSE
    if _HEADING.match(sentence):
        return DropReason.HEADING
    return None


def left_unread(dropped: Mapping[str, int]) -> tuple[str, ...]:
    """Warns of a response without claims that says something all the same; () where it abstains or states nothing."""
    unread = [f"{reason}: {dropped[reason]}" for reason in _UNREAD if dropped.get(reason)]
    if not unread or dropped.get(DropReason.ABSTENTION):
        return ()
    return (f"Nothing of a response could be read as a claim ({', '.join(unread)}): it is unscored, it did not abstain.",)


def drop_reason(sentence: str, *, topic: str = "", english: bool = True) -> DropReason | None:
    """Returns why a sentence without markup is no claim, or None if it is one.

    Args:
        sentence: the whole sentence.
        topic: what the response is about; naming it does not make an opinion checkable.
        english: whether the rules that know English words apply; the others look at punctuation and length alone.
    """
    masked = mask(sentence)
    if _REFERENCE.search(masked):
        return DropReason.REFERENCE
    if _QUESTION.search(masked):
        return DropReason.QUESTION
    if _INTRODUCES.search(masked):
        return DropReason.INTRODUCTION
    if text.word_count(sentence) < FEWEST_WORDS:
        return DropReason.FRAGMENT
    if english:
        return _english_reason(sentence, masked, topic)
    return DropReason.ABSTENTION if refuses(sentence) else None


def _english_reason(sentence: str, masked: str, topic: str) -> DropReason | None:
    # Not an imperative: a band called Focus.
    names_topic = bool(topic) and sentence.startswith(topic)
    for reason, pattern in _PATTERNS.items():
        if pattern.search(masked) and not (names_topic and reason is DropReason.ADVICE):
            return reason
    if not ENDED.search(sentence) and not _VERB.search(masked):
        return DropReason.FRAGMENT
    if (_EVALUATION.search(masked) or FILLER.search(masked)) and not _has_anchor(masked, topic):
        return DropReason.OPINION
    return None


def _has_anchor(masked: str, topic: str) -> bool:
    """Whether the sentence names something besides its topic that could be looked up: a name, a number, a title."""
    known = set(topic.split())
    anchors = (anchor[0].rstrip(".,;:") for anchor in _ANCHOR.finditer(masked))
    return any(anchor.removesuffix("'s").removesuffix("’s") not in known for anchor in anchors)
