"""Parses an extractor's answer: one claim a line with its label between # signs (FastFact, appendix J).

Nothing is guessed: a line that is not clearly a claim with one label is returned as unparsed, to be counted and shown.
"""

import re
from typing import NamedTuple

from localfact.claims.lines import WORD, ParsedAnswer, claim_span, informative_lines, parsed_answer, thoughts
from localfact.records import Span
from localfact.vocabulary import PreVerificationLabel

_BREAK = r"[\s_\-‐‑–]{0,3}"
_SPELLINGS = {label: _BREAK.join(re.split(r"[ -]", label.value)) for label in PreVerificationLabel}
_ANY_LABEL = "|".join(f"(?P<{label.name}>{spelling})" for label, spelling in _SPELLINGS.items())
# Only a label may stand between the signs: "C#" and "### heading" are something else. The closing signs are not consumed, as in
# "###UNSURE###UNSURE###" they also open the next label.
_LABEL = re.compile(rf"(?<!#)#{{2,}}+[\s*_]{{0,4}}(?P<word>{_ANY_LABEL})(?=[\s*_]{{0,4}}(?P<closing>##|$))", re.IGNORECASE)

# A number behind a bullet is left to the claim: "- 4. November 1918" would lose its day.
_NUMBER = r"(?:\(\d{1,3}\)|\d{1,3}[.)])(?:\s+|(?=[A-Z*\"“]))"
_BULLET = r"(?:[-*+•–—‣◦▪●]\s+|[-•–—‣](?=[A-Z\"“]))"
_HEADED = r"(?i:(?:\*\*)?claims?(?: \d{1,3})?(?:\*\*)?:(?:\*\*)?\s*)?"
_MARKER = re.compile(rf"\s*{_HEADED}(?:{_NUMBER}(?:{_BULLET})?|{_BULLET})?{_HEADED}\s*")
_ANNOUNCES_LABEL = re.compile(r"\W*(?:(?:label|verdict|decision|pre-?verification)\W*)?$", re.IGNORECASE)


class LabelledClaim(NamedTuple):
    """A claim with its label, and the places of both in the answer; the label's span is its word, without the # signs."""

    text: str
    span: Span
    label: PreVerificationLabel
    label_span: Span


def read_answer(answer: str, *, cut: bool = False) -> ParsedAnswer[LabelledClaim]:
    """Parses the answer of an extractor. Any text can be parsed.

    Headers ("Claims:"), fences and lines without a letter or digit are ignored, and are not in `unparsed`.

    Args:
        answer: as the model wrote it.
        cut: whether it was cut at its longest; then its last line counts only if its label is closed.
    """
    thought = thoughts(answer)
    claims: list[LabelledClaim] = []
    unparsed: list[str] = []
    waiting: Span | None = None
    for line in (_Line(answer, span.start, span.end) for span in informative_lines(answer, thought.end)):
        whole = not cut or bool(answer[line.end :].strip(" \t"))
        label = line.label(whole=whole)
        if label and waiting and line.only_label:
            # The claim is the line before, which is therefore not unparsed.
            unparsed.pop()
            claims.append(_labelled(answer, waiting, label))
        elif label and line.claim and not line.only_label:
            claims.append(_labelled(answer, line.claim, label))
            unparsed += [line.remark] if line.remark else []
        else:
            unparsed.append(line.text)
        waiting = None if line.labels or line.announces else line.claim
    return parsed_answer(thought, claims, unparsed)


class _Label(NamedTuple):
    """A label with its signs: the signs begin at `start`, the word is [word, end)."""

    value: PreVerificationLabel
    start: int
    word: int
    end: int
    closed: bool


class _Line:
    """The characters [start, end) of an answer, one line without its end."""

    def __init__(self, answer: str, start: int, end: int) -> None:
        self.end = end
        self.text = answer[start:end].strip()
        self.announces = self.text.endswith(":")
        self.labels = [_label(found) for found in _LABEL.finditer(answer, start, end)]
        marker = _MARKER.match(answer, start, end)
        begin = marker.end() if marker else start
        stop = max(begin, self.labels[0].start) if self.labels else end
        self.claim = claim_span(answer, begin, stop)
        self.remark = self._remark(answer)
        self.only_label = not self.remark and bool(_ANNOUNCES_LABEL.match(answer[begin:stop]))

    def label(self, *, whole: bool) -> _Label | None:
        """The line's label, or the first where one is repeated; in an incomplete line only a closed one.

        None where labels differ.
        """
        labels = self.labels
        if len({label.value for label in labels}) != 1 or not (whole or labels[-1].closed):
            return None
        return labels[0]

    def _remark(self, answer: str) -> str:
        """The text behind the first label besides further labels; "" for signs alone."""
        if not self.labels:
            return ""
        ends = [label.end for label in self.labels]
        starts = [*(label.start for label in self.labels[1:]), self.end]
        pieces = (answer[end:start].strip(" \t#*_") for end, start in zip(ends, starts, strict=True))
        return " ".join(piece for piece in pieces if WORD.search(piece))


def _label(found: re.Match[str]) -> _Label:
    value = next(label for label in PreVerificationLabel if found[label.name])
    return _Label(value, found.start(), found.start("word"), found.end("word"), closed=bool(found["closing"]))


def _labelled(answer: str, claim: Span, label: _Label) -> LabelledClaim:
    span = Span(start=label.word, end=label.end)
    return LabelledClaim(answer[claim.start : claim.end], claim, label.value, span)
