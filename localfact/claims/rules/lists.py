"""Makes sentences of the lines of lists: "Opened: 1932", "Won the Osmium Prize" under a heading.

What a line leaves out stands above it: its subject is the heading, or the topic. A line that no rule is sure of stays as it is.
"""

import re

from localfact.claims.rules.checkworthy import DropReason, drop_reason
from localfact.claims.rules.english import (
    ADVERB,
    BE,
    FINITE,
    JOINED_VERB,
    MONTH,
    NAME,
    OBJECT,
    PAST,
    SUBJECT,
    VERB,
    is_or_are,
    mask,
)
from localfact.claims.rules.markdown import PlainText
from localfact.claims.rules.people import is_topic
from localfact.text import words

#: The longest label, and the longest name in a heading, in words.
LONGEST_LABEL = 6
#: The longest value of a label, in words.
LONGEST_VALUE = 12

# With a dash only behind an item's marker: "Duolingo - a free app".
_LABELLED = re.compile(r"(?P<label>[^\s:|](?:[^:|.?!]|\.(?=\S)){0,79}?)(?P<joint>\s?:\s+|\s+[–—-]\s+)(?=\S)")
_NO_LABEL = re.compile(rf"\b(?:is|are|was|were|has|have|had)\b|,$|^{SUBJECT} {VERB}")
# Words of headings and labels that name a side of what the text is about, not a thing that something can be said of.
_NO_NAME = re.compile(
    r"^(?:Here|How|What|When|Where|Who|Why)\b|\?$|"
    r"\b(?i:achievements?|actions?|activities|advantages|answer|applications|approach|aspects|awards?|background|benefits|"
    r"biography|birth|books|budget|career|causes?|challenges?|characteristics|children|color|colour|"
    r"composition|conclusion|context|contributions?|cost|criticism|culture|date|death|definition|"
    r"demographics|description|design|details?|development|differences|disadvantages|discography|drawbacks|"
    r"early|economy|education|effects?|era|etymology|events?|examples?|explanation|facts?|family|features?|"
    r"film|filmography|films|function|future|gameplay|genre|geography|goal|guidelines?|height|highlights|history|"
    r"honors|honours|hypothesis|idea|impact|importance|influences?|inspiration|introduction|job|key|"
    r"language|later|legacy|length|life|limitations|list|location|lyrics|methods?|motto|music|name|"
    r"nationality|notes?|occupation|office|option|origins?|other|outcome|outlook|overview|parents|part|"
    r"performance|period|personal|phase|philosophy|plot|point|politics|population|position|premise|problem|"
    r"process|production|proponents?|publications|purpose|question|reasons?|reception|recognition|recordings|references|"
    r"regulations|relationships|releases?|religion|research|results?|retirement|roles?|section|services?|"
    r"setting|significance|similarities|size|skills?|solution|songs?|sources?|spouse|stage|specifications?|speed|statistics|"
    r"status|step|strategy|structure|studies|style|subject|summary|symptoms|synopsis|teaching|team|"
    r"themes?|timeline|tips?|title|topic|tour|track|training|treatment|types?|usage|uses?|value|views|"
    r"warning|weight|works?|writing|years?)\b"
)
# Labels that only order a text: what follows is read without them.
_ORDERING = re.compile(
    r"(?i:(?:final )?answer|conclusion|examples?|explanation|facts?|important|introduction|note|overview|"
    r"(?:option|part|phase|point|section|stage|step)(?: \w+)?|reason(?:ing)?|summary|tips?|warning|in (?:conclusion|summary))"
)
# Labels that are half a sentence: what follows completes it.
_EVENT = re.compile(
    r"(?i:born|built|completed|constructed|created|discovered|established|formed|founded|invented|launched|opened|published|released|"
    r"written)"
)
_COMPLETED = re.compile(
    rf"(?i:{_EVENT.pattern}|died|{_EVENT.pattern} (?:by|in|on|at)|(?:also )?known (?:as|for)|based (?:in|on)|located (?:in|at)|"
    r"(?:composed|designed|developed|directed|led|made|owned|produced|run) by|named after)"
)
_EVENTS = {"birth": "born", "birth date": "born", "date of birth": "born", "death": "died", "date of death": "died"}
_DAY = re.compile(rf"(?:\d{{1,2}} )?{MONTH} \d{{1,2}}\b|\d{{1,2}} {MONTH}\b")
_TIME = re.compile(
    r"(?:[Cc](?:a|irca)?\.? ?)?(?:[Ee]arly |[Ll]ate |[Mm]id-? ?)?\d{4}s?(?: ?[–-] ?\d{2,4})?|"
    rf"{MONTH} (?:\d{{1,2}}, )?\d{{4}}|\d{{1,2}} {MONTH} \d{{4}}"
)
_PASSIVE = re.compile(
    r"(?i:(?:appointed|awarded|born|buried|elected|inducted|named|nominated|ordained|promoted)\b|"
    rf"(?:{_EVENT.pattern}|announced|designated|designed|introduced|listed|recogni[sz]ed|recorded|signed|unveiled) "
    r"(?:as|at|between|by|during|for|from|in|on|to|under)\b|(?:[a-z]+ed|bought|given|led|lost|made|sold|taken|won) by\b)"
)
_STATE = re.compile(r"(?i:based|considered|known|located|regarded|situated|used) (?:as|at|by|for|in|near|on|to)\b")
# "Built in 1889, it is high": what follows the comma is the sentence.
_OPENED = re.compile(
    rf"(?:[^,]{{3,120}}, ){{1,4}}(?:(?:he|she|it|they)\b|{NAME}|(?:the|his|her|its|their)(?: [\w'’-]+){{1,4}}) "
    rf"{ADVERB}?(?:{VERB}|[a-z]{{2,}}[^\Waisu_]s\b)"
)
# Less the forms of verbs that are a noun, a plural, or advice as well.
_VERB_FIRST = re.compile(
    rf"(?![A-Za-z]+ed (?:{MONTH}|\d{{4}})\b)"
    r"(?!(?i:advanced|animated|applied|combined|dedicated|detailed|distinguished|enhanced|estimated|extended|improved|increased|"
    r"integrated|limited|mixed|preferred|recommended|reduced|related|required|unified|united|began|ended|lasted|started|can|covers|cut|do|had|have|hit|include|lead|leads|made|may|means|put|read|set|shot|spread|uses?|used|will|works?)\b)"
    rf"(?:{JOINED_VERB}|{FINITE})(?= (?!that\b)\S)"
)
_PLACEHOLDER = re.compile(r"(?i:n/?a|none|no|yes|unknown|tbd|\W*)$")
# One of several, or an act: "Inventors", "Activation", "Panel 4" name nothing of which the next line is said.
_NO_THING = re.compile(r"(?:[^\Wus]s|tion|sion|ment|ness|ity|ship|ance|ence|ing|al|ure|\d)$")
_OF_EVENTS = re.compile(
    r"(?i:events?|milestones?|what happened|descriptions?|details?|achievements?|developments?|history|notes?)"
)
_PRONOUN = re.compile(rf"(?:It|They|This|These)(?= {ADVERB}?{VERB})")
_LEADING = re.compile(r"(?:He|She|It|They|His|Her|Its|Their)\b")
_ARTICLE = re.compile(r"(?i:an?|the|one of) ")
_RELATIVE = re.compile(rf" (?:that|which|who) (?={ADVERB}?{VERB})")
# A verb that is no participle ("built in 1889") and is not the second of two ("that reads and writes").
_MAIN_VERB = re.compile(rf"(?<!and )(?<!or )\b{VERB}(?! (?:as|at|by|for|from|in|of|on|to|with)\b)")
# One of a closed list or not, it states what its noun does: "a traveler pays $100".
_S_VERB = re.compile(
    rf"\b{BE}|\b(?:led|came|went|grew|fell|refers) (?:to|into|from)\b|"
    rf"(?<!that )(?<!who )(?<!which )(?<!and )(?<!or )\b[a-z]{{2,}}[^\Waisu_]s(?={OBJECT})"
)
_ATTRIBUTE = re.compile(r"[A-Za-z][a-z-]+(?: (?:of )?[a-z-]+){0,2}")
_SENTENCE = re.compile(rf"(?!\S+ (?:\S+ )?(?:that|which|who)\b){SUBJECT} {VERB}")


def names_something(heading: str) -> bool:
    """Whether a heading or label names what is spoken of, rather than a side of it ("Early life", "Key facts")."""
    return _is_name(heading) and not (" " not in heading and _NO_THING.search(heading))


def _is_name(label: str) -> bool:
    return len(label.split()) <= LONGEST_LABEL and label[:1].isupper() and not _NO_NAME.search(label)


def sentence_of(line: PlainText, subject: str | None, *, item: bool) -> PlainText:
    """Returns a line as a sentence where its form says how, else as it is.

    Args:
        line: the first sentence of a line or an item, not empty, without its marker.
        subject: what the list is about: its heading, or the topic; None where neither is known.
        item: whether it has an item's marker; without one only "label: value" is read.
    """
    masked = mask(line.text)
    found = _LABELLED.match(masked)
    label = line.text[: found.end("label")] if found else ""
    if found and (item or ":" in found["joint"] or _TIME.fullmatch(label)) and _is_label(label):
        return _join_label(line.part(0, len(label)), line.part(found.end()), subject) or line
    return (_say_of(subject, line) if item and subject else None) or line


def value_of(label: str, subject: str, value: PlainText) -> PlainText | None:
    """Returns "The label of the subject is value."; None where they are no attribute and its value."""
    if _PLACEHOLDER.match(value.text) or len(value.text.split()) > LONGEST_VALUE:
        return None
    label = _EVENTS.get(label.lower(), label)
    if _COMPLETED.fullmatch(label):
        return value.behind(f"{subject} {_complete_verb(label.lower(), value.text)} ")
    if not _ATTRIBUTE.fullmatch(label) or re.search(rf"(?i:\b{VERB})|[→;]|\.\W*$", mask(value.text)):
        return None
    return value.behind(f"The {label[:1].lower()}{label[1:]} of {subject} {is_or_are(label)} ")


def at_a_time(time: str, subject: str, event: PlainText) -> PlainText | None:
    """Returns "In 1903, the subject won the prize" for a time and an event; None where the time is none.

    What neither begins with its verb nor is a sentence about the subject is told as it is: "Ada Morel, 1903: the prize".
    """
    if not _TIME.fullmatch(time) or _PLACEHOLDER.match(event.text):
        return None
    masked = mask(event.text)
    told = _say_of(subject, event)
    if told is None and _SENTENCE.match(masked) and (name := re.match(NAME, masked)) and is_topic(name[0], subject):
        told = event
    return told.behind(f"{'On' if _DAY.match(time) else 'In'} {time}, ") if told else of_subject(subject, time, event)


def of_subject(subject: str, side: str, value: PlainText) -> PlainText | None:
    """Returns "subject, side: value." where no sentence can be made of the three; None for no value."""
    if _PLACEHOLDER.match(value.text) or not 0 < len(value.text.split()) <= 2 * LONGEST_VALUE:
        return None
    return value.behind(f"{subject}, {side}: ").end_sentence()


def is_event(head: str) -> bool:
    """Whether a column tells what happened at the time in front of it, not how large something was then."""
    return bool(_OF_EVENTS.fullmatch(head))


def _is_label(label: str) -> bool:
    return len(label.split()) <= LONGEST_LABEL and not _NO_LABEL.search(label)


def _join_label(label: PlainText, rest: PlainText, subject: str | None) -> PlainText | None:
    """Returns a label and what follows it as one sentence; None where that has no sure form."""
    named = _is_name(label.text)
    if _TIME.fullmatch(label.text):
        return at_a_time(label.text, subject, rest) if subject else None
    if _COMPLETED.fullmatch(_EVENTS.get(label.text.lower(), label.text)):
        return value_of(label.text, subject, rest) if subject else None
    masked = mask(rest.text)
    if _OPENED.match(masked) or _SENTENCE.match(masked):
        # Where the topic is known, one word ("Conservation") may be a side of it.
        if named and (subject is None or " " in label.text) and (pronoun := _PRONOUN.match(masked)):
            return label.join("", rest.part(pronoun.end()))
        repeated = not _stems(rest.text).isdisjoint(_stems(f"{label.text} {subject or ''}"))
        return rest if repeated or not named or _LEADING.match(rest.text) else None
    if _ORDERING.fullmatch(label.text):
        return rest
    verb = _verb(masked)
    # "Thermal Management: Prepared for Rio" says it of somebody else; what is so today, and what was done to it, is said of it.
    one = named and is_or_are(label.text) == "is"
    # Where the topic is known, one word is a side of it more often than a thing, and so is an act.
    thing = one and not _NO_THING.search(label.text) and (subject is None or " " in label.text)
    if thing and verb is not None and (verb or not re.match(PAST, masked[:1].lower() + masked[1:])):
        return label.join(f" {verb}", rest.lower_first())
    if one and not label.text[-1].isdigit() and _defines(masked):
        return label.join(" is ", rest.lower_first())
    if named or subject is None or drop_reason(rest.text) not in (None, DropReason.FRAGMENT):
        return None
    # "Role of the bank: Condemned it" says it of the bank.
    if verb is not None:
        return _say_of(subject, rest) if " " not in label.text else None
    return value_of(label.text, subject, rest)


def _defines(masked: str) -> bool:
    """Whether a text is a phrase that says what something is: with no verb but that of its relative clause."""
    phrase, *clause = _RELATIVE.split(masked, maxsplit=1)
    own = len(_MAIN_VERB.findall("".join(clause)))
    states = _MAIN_VERB.search(phrase) or _S_VERB.search(phrase)
    return bool(_ARTICLE.match(masked)) and not states and own <= 1


def _stems(text: str) -> frozenset[str]:
    """Returns the words without the s of a plural."""
    return frozenset(word.casefold().removesuffix("s") for word in words(text))


def _say_of(subject: str | None, predicate: PlainText) -> PlainText | None:
    """Returns the subject and what begins with its verb as one sentence."""
    verb = _verb(mask(predicate.text))
    return None if subject is None or verb is None else predicate.lower_first().behind(f"{subject} {verb}")


def _verb(masked: str) -> str | None:
    """Returns what a subject needs before a text that begins with its verb: "was ", "is " or ""; None for any other text."""
    if _OPENED.match(masked):
        return None
    if _PASSIVE.match(masked):
        return "was "
    if _STATE.match(masked):
        return "is "
    return "" if _VERB_FIRST.match(masked[:1].lower() + masked[1:]) else None


def _complete_verb(label: str, value: str) -> str:
    """Returns the verb of a label that is half a sentence: "was born on" before a day, "is located in"."""
    be = "" if label == "died" else "is " if label.startswith(("also", "known", "based", "located")) else "was "
    preposition = "" if " " in label else " on" if _DAY.match(value) else " in"
    return f"{be}{label}{preposition}"
