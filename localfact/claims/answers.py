"""Reads what an extractor answered: one claim a line with its label between # signs (FastFact, appendix J).

Nothing is guessed: a line that is not surely a claim with one label is handed back as it is, to be counted and shown.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from localfact.records import PreVerificationLabel, Span

#: A longer "claim" is a model running on.
LONGEST_CLAIM = 1_000

_BREAK = r"[\s_\-‐‑–]{0,3}"
_SPELLINGS = {label: _BREAK.join(re.split(r"[ -]", label.value)) for label in PreVerificationLabel}
_ANY_LABEL = "|".join(f"(?P<{label.name}>{spelling})" for label, spelling in _SPELLINGS.items())
# A label must be all that stands between the signs: "C#" and "### heading" are something else. The closing signs are only
# looked at, for in "###UNSURE###UNSURE###" they open the next label too.
_LABEL = re.compile(rf"(?<!#)#{{2,}}+[\s*_]{{0,4}}(?P<word>{_ANY_LABEL})(?=[\s*_]{{0,4}}(?P<closing>##|$))", re.IGNORECASE)

_THOUGHT = re.compile(r"\A\s*<think>.*?(?:</think>|\Z)|\A(?:(?!<think>).)*?^[ \t]*</think>", re.DOTALL | re.MULTILINE)
_LINE = re.compile(r"[^\r\n]+")
# A number behind a bullet is left to the claim: "- 4. November 1918" would lose its day.
_NUMBER = r"(?:\(\d{1,3}\)|\d{1,3}[.)])(?:\s+|(?=[A-Z*\"“]))"
_BULLET = r"(?:[-*+•–—‣◦▪●]\s+|[-•–—‣](?=[A-Z\"“]))"
_HEADED = r"(?i:(?:\*\*)?claims?(?: \d{1,3})?(?:\*\*)?:(?:\*\*)?\s*)?"
_MARKER = re.compile(rf"\s*{_HEADED}(?:{_NUMBER}(?:{_BULLET})?|{_BULLET})?{_HEADED}\s*")
_HEADER = re.compile(r"\W*(?:(?:atomic|extracted|factual|verifiable) ){0,3}claims?\W*$", re.IGNORECASE)
_FENCE = re.compile(r"\s*```\w*\s*$")
_ANNOUNCES_LABEL = re.compile(r"\W*(?:(?:label|verdict|decision|pre-?verification)\W*)?$", re.IGNORECASE)
_NOTHING = re.compile(r"\W*no verifiable claims?\W*$", re.IGNORECASE)
_LETTER = re.compile(r"[^\W\d_]")
_WORD = re.compile(r"[^\W_]")


class LabelledClaim(NamedTuple):
    """A claim with its label, and where both stand in the answer; the label's span is its word, without the # signs."""

    text: str
    span: Span
    label: PreVerificationLabel
    label_span: Span


@dataclass(frozen=True)
class Answer:
    """An answer that was read.

    Attributes:
        claims: in the order of the answer.
        unparsed: what is no claim with a label, line by line; a reasoning model's thoughts are the first of them, in one piece.
        nothing: whether the whole answer says that there is no verifiable claim.
    """

    claims: tuple[LabelledClaim, ...] = ()
    unparsed: tuple[str, ...] = ()
    nothing: bool = False


def read_answer(answer: str, *, cut: bool = False) -> Answer:
    """Reads the answer of an extractor. Any text can be read.

    Headers ("Claims:"), fences and lines without a letter or digit say nothing and are left out of `unparsed`.

    Args:
        answer: as the model wrote it.
        cut: whether it was cut at the longest it may have; then its last line counts only if that line's label is closed.
    """
    thought = _THOUGHT.match(answer)
    claims: list[LabelledClaim] = []
    unparsed: list[str] = []
    waiting: Span | None = None
    for line in _lines(answer, thought.end() if thought else 0):
        whole = not cut or bool(answer[line.end :].strip(" \t"))
        label = line.label(whole=whole)
        if label and waiting and line.only_label:
            # The claim stood on the line before, which therefore is not unparsed after all.
            unparsed.pop()
            claims.append(_labelled(answer, waiting, label))
        elif label and line.claim and not line.only_label:
            claims.append(_labelled(answer, line.claim, label))
            unparsed += [line.remark] if line.remark else []
        else:
            unparsed.append(line.text)
        waiting = None if line.labels or line.announces else line.claim
    nothing = not claims and len(unparsed) == 1 and bool(_NOTHING.match(unparsed[0]))
    thoughts = [thought.group().strip()] if thought and _WORD.search(thought.group()) else []
    return Answer(tuple(claims), (*thoughts, *(() if nothing else unparsed)), nothing)


class _Label(NamedTuple):
    """A label with its signs: the signs begin at `start`, the word is [word, end)."""

    value: PreVerificationLabel
    start: int
    word: int
    end: int
    closed: bool


class _Line:
    """The characters [start, end) of an answer, between two ends of lines."""

    def __init__(self, answer: str, start: int, end: int) -> None:
        self.end = end
        self.text = answer[start:end].strip()
        self.announces = self.text.endswith(":")
        self.labels = [_label(found) for found in _LABEL.finditer(answer, start, end)]
        marker = _MARKER.match(answer, start, end)
        begin = marker.end() if marker else start
        stop = max(begin, self.labels[0].start) if self.labels else end
        self.claim = _claim(answer, begin, stop)
        self.remark = self._remark(answer)
        self.only_label = not self.remark and bool(_ANNOUNCES_LABEL.match(answer[begin:stop]))

    def label(self, *, whole: bool) -> _Label | None:
        """The line's one label, where it was written twice the first; of a line that is not whole only one that is closed."""
        labels = self.labels
        if len({label.value for label in labels}) != 1 or not (whole or labels[-1].closed):
            return None
        return labels[0]

    def _remark(self, answer: str) -> str:
        """What stands behind the first label besides further labels; "" for signs alone."""
        if not self.labels:
            return ""
        ends = [label.end for label in self.labels]
        starts = [*(label.start for label in self.labels[1:]), self.end]
        pieces = (answer[end:start].strip(" \t#*_") for end, start in zip(ends, starts, strict=True))
        return " ".join(piece for piece in pieces if _WORD.search(piece))


def _lines(answer: str, start: int) -> Iterator[_Line]:
    for line in _LINE.finditer(answer, start):
        text = line.group()
        if _WORD.search(text) and not _HEADER.match(text) and not _FENCE.match(text):
            yield _Line(answer, *line.span())


def _label(found: re.Match[str]) -> _Label:
    value = next(label for label in PreVerificationLabel if found[label.name])
    return _Label(value, found.start(), found.start("word"), found.end("word"), closed=bool(found["closing"]))


def _claim(answer: str, start: int, end: int) -> Span | None:
    """The claim in answer[start:end], less the emphasis around all of it; None when that can be no claim."""
    text = answer[start:end].rstrip()
    for sign in ("**", "*"):
        opened, closed = text.startswith(sign), text.endswith(sign)
        # An opening sign alone belongs to a pair whose other half stands behind the label.
        if text.count(sign) == opened + closed and len(text) > 2 * len(sign):
            start += len(sign) * opened
            text = text[len(sign) * opened : len(text) - len(sign) * closed]
    start += len(text) - len(text.lstrip())
    text = text.strip()
    if len(text) > LONGEST_CLAIM or not _LETTER.search(text) or _NOTHING.match(text):
        return None
    return Span(start=start, end=start + len(text))


def _labelled(answer: str, claim: Span, label: _Label) -> LabelledClaim:
    span = Span(start=label.word, end=label.end)
    return LabelledClaim(answer[claim.start : claim.end], claim, label.value, span)
