"""Parses an extractor's answer: claims, each with its label (FastFact, appendix J), in whatever style the model wrote them.

Nothing is guessed. A claim whose label cannot be read has none, and the model is asked for it at its place; a line that is not
clearly a claim is returned as unparsed, to be counted and shown.
"""

from itertools import zip_longest
from typing import NamedTuple

from localfact.claims.json_claims import JsonClaim, json_claims
from localfact.claims.labelled_lines import LabelledLine, LinePart, Slot, heads_nested_items
from localfact.claims.lines import (
    ParsedAnswer,
    informative_lines,
    is_marker,
    make_parsed_answer,
    plain,
    runs_on,
    strip_quotes,
)
from localfact.records import Span
from localfact.text import normalise
from localfact.thoughts import thoughts
from localfact.vocabulary import PreVerificationLabel

#: What the prompt wants between a claim and its label.
OPENING = " ###"


class LabelledClaim(NamedTuple):
    """A claim of an answer.

    Attributes:
        text: without emphasis.
        span: its place in the answer.
        label: None where none can be read: it is to be asked for.
        label_span: the place of the label's name, without the signs around it; empty where there is none.
        opening: what leads from answer[: label_span.start] to the label, where the answer itself does not.
    """

    text: str
    span: Span
    label: PreVerificationLabel | None
    label_span: Span
    opening: str = ""

    def prefix(self, answer: str) -> str:
        """The answer up to this claim's label."""
        return answer[: self.label_span.start] + self.opening


def read_answer(answer: str, *, cut: bool = False) -> ParsedAnswer[LabelledClaim]:
    """Parses the answer of an extractor into claims with their labels. Accepts any text; nothing is raised.

    Headers ("Claims:"), fences and lines without a letter or digit are ignored, and are not in `unparsed`. A label on a line of
    its own belongs to the claim on the line before; where it stands before claims, as a heading, their labels are asked for.
    What the model goes on with behind its claims, another example or another speaker's turn, is not read.

    Args:
        answer: as the model wrote it.
        cut: whether it was cut at its longest; then its last line counts only if its label is closed.
    """
    thought = thoughts(answer)
    found = json_claims(answer, thought.end)
    if found:
        claims = [_of_json(one) for one in found]
        return make_parsed_answer(thought, _once_labelled(claims), [])
    reading = _Reading(answer, cut=cut)
    lines = list(informative_lines(answer, thought.end))
    for span, following in zip_longest(lines, lines[1:]):
        reading.line(span, following)
    return make_parsed_answer(thought, _once_labelled(reading.claims), reading.unparsed)


class _Reading:
    """Reads an answer line by line; collects the claims, and the lines that hold none."""

    def __init__(self, answer: str, *, cut: bool) -> None:
        self.claims: list[LabelledClaim] = []
        self.unparsed: list[str] = []
        self._answer = answer
        self._cut = cut
        self._waiting: LabelledLine | None = None
        self._headed = False
        self._over = False

    def line(self, span: Span, following: Span | None) -> None:
        """Reads the next line; `following` is the one after it."""
        written = self._answer[span.start : span.end]
        if not self._over and not self.claims and is_marker(written):
            return
        self._over = self._over or (bool(self.claims) and runs_on(written))
        line = LabelledLine(self._answer, span.start, span.end)
        whole = not self._cut or bool(self._answer[span.end :].strip(" \t"))
        if self._over or not (whole or (line.parts and line.parts[-1].slot and line.parts[-1].slot.closed)):
            self.unparsed.append(line.text)
            return
        if line.only_label:
            self._label_alone(line)
        elif (claims := _claims_of(line)) and (claims[0].slot or not heads_nested_items(self._answer, span, following)):
            self.claims += [_claim(self._answer, part) for part in claims]
            self.unparsed += line.remarks
        else:
            self.unparsed.append(line.text)
        self._waiting = line if len(line.parts) == 1 and line.parts[0].slot is None and not line.announces else None

    def _label_alone(self, line: LabelledLine) -> None:
        """Reads a line that is only a label: it belongs to the claim before, or is a heading over the claims that follow."""
        claim = self._waiting.parts[0].claim if self._waiting else None
        if claim is None or self._headed:
            self._headed = self._headed or not self.claims
            self.unparsed.append(line.text)
            return
        if self._waiting and self._waiting.marked:
            self.claims.pop()
        else:
            self.unparsed.pop()
        self.claims.append(_claim(self._answer, LinePart(claim, line.parts[0].slot)))


def _claims_of(line: LabelledLine) -> list[LinePart]:
    """The claims of a line that has a label, or is an item of a list."""
    claims = [part for part in line.parts if part.claim]
    return claims if claims and (claims[0].slot or (line.marked and not line.announces)) else []


def _claim(answer: str, part: LinePart) -> LabelledClaim:
    assert part.claim is not None
    claim = strip_quotes(answer, part.claim)
    text = plain(answer[claim.start : claim.end])
    if part.slot is None:
        return LabelledClaim(text, claim, None, Span(start=part.claim.end, end=part.claim.end), OPENING)
    return LabelledClaim(text, claim, *_label(part.slot))


def _label(slot: Slot) -> tuple[PreVerificationLabel | None, Span]:
    if slot.word is None:
        return None, Span(start=slot.asked_at, end=slot.asked_at)
    return slot.word.label, Span(start=slot.word.start, end=slot.word.end)


def _of_json(one: JsonClaim) -> LabelledClaim:
    opening = "" if one.label_span.start > one.span.end else OPENING
    return LabelledClaim(plain(one.text), one.span, one.label, one.label_span, opening)


def _once_labelled(claims: list[LabelledClaim]) -> list[LabelledClaim]:
    """Drops unlabelled claims that the answer repeats with a label: some models list all claims first, then label them."""
    labelled = {normalise(claim.text) for claim in claims if claim.label is not None}
    return [claim for claim in claims if claim.label is not None or normalise(claim.text) not in labelled]
