"""Says a sentence in nearly the same words, or less of it: what a passage with the sentence entails."""

import random
import re

from scripts.training.relation_model.rule_words import MONTHS, NUMBER_WORDS
from scripts.training.relation_model.sentence_edits import NEGATION, Edit, replaced
from scripts.training.relation_model.synonyms import BROADER, ROUGHLY, SYNONYMS

_MONTH = "|".join(MONTHS)
_MONTH_FIRST = re.compile(rf"\b({_MONTH}) (\d{{1,2}}), (\d{{4}})\b")
_DAY_FIRST = re.compile(rf"\b(\d{{1,2}}) ({_MONTH}) (\d{{4}})\b")
_SMALL = re.compile(r"(?<=[a-z] )([2-9]|1[0-2])(?= [a-z]{3,}s\b)")
_WRITTEN = re.compile(rf"(?<=[a-z] )({'|'.join(NUMBER_WORDS[2:])})(?= [a-z]{{3,}}s\b)")
#: An aside between commas whose loss leaves the rest as true as it was.
_ASIDE = re.compile(
    r"^(?!(?:When|While|If|In|On|At|As|After|Before|Because|Although|For|Since|During|By|With|To|From|Under"
    r"|Unlike)\b)(?P<subject>[A-Z][^,;:()]{2,50})"
    r"(?P<aside>, (?:which|who|whose|a|an|also known as|born)\b[^,;:()]{5,90},)(?= (?:is|was|are|were|has|had|will"
    r"|can|became|won|made|wrote|[a-z]{3,}ed)\b)"
)
_BRACKETS = re.compile(r" \([^()]{2,60}\)")
#: A part at the end that says where, when, why or how, and that a shorter true sentence can do without.
_TAIL = re.compile(
    r"(?:,? (?:in (?:the )?(?:early |late )?(?:1[5-9]\d\d|20[0-2]\d)s?|on \w+ \d+(?:, \d{4})?"
    r"|in [A-Z][a-z]+(?:, [A-Z][a-z]+)?|during the [a-z A-Z]{4,30}"
    r"|(?:because of|due to|thanks to|with the help of|after|following|as part of|alongside|together with) (?:the |a "
    r"|an |his |her |its |their )?[\w' ]{4,45})"
    r"|, (?:which|where|including|according to|making|leading|resulting) [^,;()]{5,80})\.$"
)
_HEAD = re.compile(
    rf"^(?:In (?:(?:early |late )?(?:1[5-9]\d\d|20[0-2]\d)|(?:{_MONTH}) \d{{4}})|On [A-Z]\w+ \d+(?:, \d{{4}})?"
    rf"|During the [a-z A-Z]{{4,25}}), (?=[A-Za-z])"
)
_CONNECTIVE = re.compile(
    r"^(?:However|Moreover|Furthermore|In addition|Additionally|Also|For example|In fact|Finally|Therefore"
    r"|Overall), (?=[A-Za-z])"
)
#: Two whole statements with their own subjects.
_CONJUNCTION = re.compile(
    r"^(?P<first>[^,;]{25,}), and (?P<second>(?:he|she|it|they|the [a-z]+|[A-Z][a-z]+) (?:is|was|are|were|has|had|did"
    r"|became|[a-z]+ed)\b[^,;]{12,})\.$"
)
#: Where the end of the sentence belongs to what comes before it, or the sentence would be false without it.
_NEEDS_ITS_END = re.compile(
    r"\b(?:not|no|never|only|first|last|if|unless|until|than|most|least|all|every|each|between|from|said|says|would"
    r"|best|largest|\w+est)\b|n't\b",
    re.IGNORECASE,
)
_ALIKE = {phrase: tuple(other for other in line if other != phrase) for line in (*SYNONYMS, ROUGHLY) for phrase in line}
_ANYWHERE = sorted({*_ALIKE, *BROADER} - {*ROUGHLY}, key=len, reverse=True)
_PHRASE = re.compile(rf"(?<![\w-])(?:{'|'.join(_ANYWHERE)}|(?:{'|'.join(ROUGHLY)})(?= [$£€]?\d))(?![\w-])")
#: At most so many words or runs of words of a sentence are exchanged.
MOST_EXCHANGED = 3
#: What a broader word need not be entailed under, as all dogs are not all animals.
_NOT_FOR_BROADER = re.compile(rf"{NEGATION.pattern}|\b(?:all|every|each|only|first|last|most|sole|\w+est)\b", re.IGNORECASE)


def reworded(sentence: str, chance: random.Random) -> str:
    """The sentence with up to MOST_EXCHANGED words in it exchanged for others that it entails; itself where there are none."""
    for _ in range(chance.randint(1, MOST_EXCHANGED)):
        broader = not _NOT_FOR_BROADER.search(sentence)
        places = [found for found in _PHRASE.finditer(sentence) if broader or found.group() not in BROADER]
        if places:
            found = chance.choice(places)
            sentence = replaced("reworded", sentence, found, chance.choice(_offers(found.group(), broader=broader))).sentence
    return sentence


def _offers(phrase: str, *, broader: bool) -> tuple[str, ...]:
    """What can stand in the place of a word or a run of words; with the word that it is a case of, where that will do."""
    return (*_ALIKE.get(phrase, ()), *((BROADER[phrase],) if broader and phrase in BROADER else ()))


def shortened(sentence: str, chance: random.Random) -> Edit | None:
    """The sentence without one part; `old` is that part, and `kind` says of what sort it was."""
    forms = []
    if found := _ASIDE.search(sentence):
        forms.append(Edit("aside dropped", found.group("aside"), "", found.group("subject") + sentence[found.end() :]))
    if (found := _BRACKETS.search(sentence)) and not re.search(r"\d{4}", found.group()):
        forms.append(Edit("brackets dropped", found.group(), "", sentence[: found.start()] + sentence[found.end() :]))
    if end := detail_at_end(sentence):
        forms.append(end)
    if found := _HEAD.search(sentence):
        forms.append(Edit("adverbial dropped", found.group(), "", _capitalised(sentence[found.end() :])))
    if found := _CONNECTIVE.search(sentence):
        forms.append(Edit("connective dropped", found.group(), "", _capitalised(sentence[found.end() :])))
    if found := _CONJUNCTION.search(sentence):
        part = chance.choice(("first", "second"))
        other = found.group("second" if part == "first" else "first")
        if not re.search(r"\b(?:if|when|although|while|because|neither|either)\b", sentence, re.IGNORECASE):
            forms.append(Edit("one of two clauses", other, "", _capitalised(found.group(part)) + "."))
    forms = [form for form in forms if len(form.sentence.split()) >= 5]
    return chance.choice(forms) if forms else None


def detail_at_end(sentence: str) -> Edit | None:
    """The sentence without the adverbial or clause that ends it; `old` is that end."""
    found = _TAIL.search(sentence)
    if not found or _NEEDS_ITS_END.search(sentence) or len(sentence[: found.start()].split()) < 5:
        return None
    before = sentence[: found.start()]
    # "was born in 1920" says little without its end, and "was in 1920" nothing
    if re.search(
        r"\b(?:is|was|are|were|be|been|has|had|of|to|in|on|at|and|or|than|as|for|by|with|born|died|took place|located"
        r"|held|based|that|the|lived|lives|found|used|founded|both)$",
        before,
    ):
        return None
    return Edit("adverbial dropped", found.group()[:-1], "", before + ".")


def nearly_verbatim(sentence: str, chance: random.Random) -> Edit:
    """The sentence, or the same with another form of a date or a number, with a contraction, or in small letters."""
    forms = [Edit("verbatim", "", "", sentence)]
    if found := _MONTH_FIRST.search(sentence):
        month, day, year = found.groups()
        forms += 2 * [_at(found, "date format", f"{day} {month} {year}", sentence)]
    elif found := _DAY_FIRST.search(sentence):
        day, month, year = found.groups()
        forms += 2 * [_at(found, "date format", f"{month} {day}, {year}", sentence)]
    if found := _SMALL.search(sentence):
        forms += 2 * [_at(found, "number written out", NUMBER_WORDS[int(found.group())], sentence)]
    elif found := _WRITTEN.search(sentence):
        forms += 2 * [_at(found, "number in figures", str(NUMBER_WORDS.index(found.group())), sentence)]
    if not NEGATION.search(sentence) and chance.random() < 0.25:
        forms.append(Edit("letter case", "", "", sentence.lower().removesuffix(".")))
    if chance.random() < 0.25:
        forms.append(Edit("no full stop", "", "", sentence.removesuffix(".")))
    return chance.choice(forms)


def _at(found: re.Match[str], kind: str, new: str, sentence: str) -> Edit:
    return Edit(kind, found.group(), new, sentence[: found.start()] + new + sentence[found.end() :])


def _capitalised(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]
