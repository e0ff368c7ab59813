"""Takes one line of an extractor's answer apart: its claims, their labels, remarks.

A label stands in a slot: between # signs as the prompt wants it, or, as models also write it, in brackets, in bold, in the last
cell of a table, behind a dash, or bare at the end of the line.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from localfact.claims.label_words import ANNOUNCEMENT, LabelWord, after_first_label, is_as_asked, label_in, last_label
from localfact.claims.lines import WORD, claim_span
from localfact.claims.rules.extractor import states_something
from localfact.records import Span
from localfact.text import words

# A number behind a bullet is left to the claim: "- 4. November 1918" would lose its day.
_NUMBER = r"(?:\(\d{1,3}\)|\d{1,3}[.)])(?:\s+|(?=[A-Z*\"“]))"
_BULLET = r"(?:[-*+•–—‣◦▪●]\s+|[-•–—‣](?=[A-Z\"“]))"
_CELL = r"\|\s*(?:\d{1,3}[.)]?\s*\|\s*)?"
#: What begins an item of a list.
LIST_MARKER = re.compile(rf"\s*(?:{_NUMBER}(?:{_BULLET})?|{_BULLET})\s*")
_HEADED = r"(?i:(?:\*\*)?claims?(?: \d{1,3})?(?:\*\*)?:(?:\*\*)?\s*)?"
_MARKER = re.compile(rf"\s*{_HEADED}(?P<mark>{_NUMBER}(?:{_BULLET})?|{_BULLET}|{_CELL})?{_HEADED}\s*")
# Hashes may be escaped, as in Markdown. One alone opens a slot only where it is no part of a word ("C#") and closed by another.
_OPENING = re.compile(r"(?<![#\\])(?P<signs>(?:\\?#)+)")
_CLOSING = re.compile(r"(?:\\?#)+|$")
#: What an unreadable label between hashes may be: a few words, as "###TRUE###", and not "## nobody. ###".
_UNREADABLE = re.compile(r"[\w'’/\-]+(?: [\w'’/\-]+){0,3}[.!?]?")
#: Signs between a claim and its label, which belong to neither.
_BETWEEN = re.compile(
    r"(?:[\s→➔⇒|✅❌✔✖✓✗☑☒⚠🟢🟡🔴\ufe0f]|[-=]>|[–—=](?=\s|$)|(?<=\s)[-:](?=\s|$)"
    rf"|\b{ANNOUNCEMENT}[\s*_]*:?[\s*_]*$|(?<!\w)[*_]{{1,2}}$)+\s*$",
    re.IGNORECASE,
)
#: The most characters of such signs; looking farther back would be slow for a line that is nothing else.
_LONGEST_BETWEEN = 60
#: The most words of a heading above nested items.
LONGEST_HEADING = 6
_SENTENCE_END = tuple('.!?。…"”’)')
_AROUND = " \t#*_|.:;,"
_LABEL_SIGNS = " \t*_`\"'“([{<|\\#→➔⇒=>~:–—-"
_ANNOUNCED = re.compile(rf"\b{ANNOUNCEMENT}\W*$", re.IGNORECASE)
_ONLY_ANNOUNCES = re.compile(rf"\W*(?:{ANNOUNCEMENT}\W*)?$", re.IGNORECASE)


class Slot(NamedTuple):
    """A place in a line where a label stands or should stand: [start, end), the signs around it included.

    Attributes:
        word: the label, written as it was asked for: between two # signs or more, which no shown text has before a label
            (prompts/boundary.py). None for any other writing, which may be copied from a text: its label is to be asked for.
        asked_at: where the label begins.
        closed: False where the line ends before the slot does.
        remark: what else stands in it.
    """

    word: LabelWord | None
    start: int
    end: int
    asked_at: int
    closed: bool
    remark: str = ""


class LinePart(NamedTuple):
    """A claim of a line with the slot behind it; either may be missing, not both."""

    claim: Span | None
    slot: Slot | None


class LabelledLine:
    """One line of an answer: the characters [start, end), without the line break.

    Attributes:
        parts: claims and labels, in their order. remarks: what is neither.
        marked: whether the line begins as an item of a list or a row of a table.
    """

    def __init__(self, answer: str, start: int, end: int) -> None:
        self.end = end
        self.text = answer[start:end].strip()
        marker = _MARKER.match(answer, start, end)
        self.marked = bool(marker and marker["mark"])
        begin = marker.end() if marker else start
        claim_at = after_first_label(answer, begin, end)
        if claim_at > begin and claim_span(answer, claim_at, end):
            # What was said of the claim before it was written is no label with a probability of its own: it is asked for again.
            self.marked, begin = True, claim_at
        slots = list(_slots(answer, begin, end)) or [*filter(None, [_bare_slot(answer, begin, end)])]
        if self.text.startswith("|") and not slots and "|" in answer[begin:end]:
            end = answer.index("|", begin)
        self.parts, self.remarks = _parts(answer, begin, end, slots)

    @property
    def only_label(self) -> bool:
        """Whether the line is a label and nothing else."""
        return [part.claim for part in self.parts] == [None] and not self.remarks

    @property
    def announces(self) -> bool:
        """Whether the line introduces what follows it: it ends with a colon."""
        return self.text.rstrip("*_ ").endswith(":")


def heads_nested_items(answer: str, line: Span, following: Span | None) -> bool:
    """Whether a line is the heading above nested items ("- Early life"): a short item, no sentence, with deeper ones below."""
    if following is None or not all(LIST_MARKER.match(answer, one.start, one.end) for one in (line, following)):
        return False
    text = answer[line.start : line.end]
    deeper = _indentation(answer[following.start : following.end]) > _indentation(text)
    short = len(words(text)) <= LONGEST_HEADING and not text.rstrip("*_ ").endswith(_SENTENCE_END)
    return deeper and short and not states_something(text)


def _indentation(line: str) -> int:
    return len(line.expandtabs(4)) - len(line.expandtabs(4).lstrip())


def _slots(answer: str, start: int, end: int) -> Iterator[Slot]:
    """The slots between # signs."""
    place = start
    while opening := _OPENING.search(answer, place, end):
        place = opening.end()
        single = opening["signs"].count("#") == 1
        if single and answer[opening.start() - 1 : opening.start()].isalnum():
            continue
        closing = _CLOSING.search(answer, opening.end(), end)
        if closing is None or (single and not closing.group()):
            continue
        content = answer[opening.end() : closing.start()]
        word = label_in(content, opening.end())
        if word is None and (single or not _looks_like_label(answer, opening.start(), content, bool(closing.group()))):
            continue
        asked_at = word.start if word else opening.end()
        own = word if not single and "\\" not in opening["signs"] and is_as_asked(content) else None
        remark = (answer[word.end : closing.start()] if word else content).strip(_AROUND)
        yield Slot(own, opening.start(), closing.end(), asked_at, closed=bool(closing.group()), remark=remark)
        place = closing.end()


def _looks_like_label(answer: str, start: int, content: str, closed: bool) -> bool:
    if answer[start - 1 : start].isalnum():
        return False
    return bool(_UNREADABLE.fullmatch(content.strip("*_"))) if closed else bool(content[:1].strip())


def _bare_slot(answer: str, begin: int, end: int) -> Slot | None:
    """A label at the end of a line without # signs, where capitals, signs or the end of a sentence tell it from the claim."""
    word = last_label(answer[begin:end], begin)
    if word is None:
        return None
    before = answer[begin : word.start].rstrip(_LABEL_SIGNS)
    signs = answer[begin + len(before) : word.start].strip()
    written = answer[word.start : word.end]
    ended = not before or before.endswith(_SENTENCE_END)
    if written.isupper() or ended or _ANNOUNCED.search(before) or (written[0].isupper() and signs):
        return Slot(None, begin + len(before), end, word.start, closed=bool(answer[word.end : end].strip()))
    return None


def _parts(answer: str, begin: int, end: int, slots: list[Slot]) -> tuple[list[LinePart], list[str]]:
    if not slots:
        claim = claim_span(answer, begin, _claim_end(answer, begin, end))
        return [LinePart(claim, None)] if claim else [], []
    parts: list[LinePart] = []
    remarks: list[str] = []
    for number, slot in enumerate(slots):
        marker = _MARKER.match(answer, begin, slot.start) if number else None
        stop = _claim_end(answer, begin, max(begin, slot.start))
        claim = claim_span(answer, marker.end() if marker else begin, stop)
        if claim is None and parts and not WORD.search(answer, begin, max(begin, slot.start)):
            parts[-1] = _add_second_label(parts[-1], slot)
        elif claim is None and (parts or len(slots) > 1 or not _ONLY_ANNOUNCES.match(answer[begin : slot.start])):
            remarks.append(answer[begin : slot.end].strip())
        else:
            parts.append(LinePart(claim, slot))
        remarks += [slot.remark] if WORD.search(slot.remark) else []
        begin = slot.end
    rest = answer[begin:end].strip(_AROUND)
    if WORD.search(rest):
        again = label_in(rest)
        if again and parts and parts[-1].slot:
            parts[-1] = _add_second_label(parts[-1], parts[-1].slot._replace(word=again))
        else:
            remarks.append(rest)
    return parts, remarks


def _claim_end(answer: str, begin: int, stop: int) -> int:
    between = _BETWEEN.search(answer, max(begin, stop - _LONGEST_BETWEEN), stop)
    return between.start() if between else stop


def _add_second_label(part: LinePart, slot: Slot) -> LinePart:
    """The part after a second label was read for the same claim: if the two differ, the label counts as unreadable."""
    if part.slot is None or part.slot.word is None or slot.word is None or part.slot.word.label is slot.word.label:
        return part
    return part._replace(slot=part.slot._replace(word=None))
