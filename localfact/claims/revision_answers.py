"""Reads a language model's answer for the revision of a claim: the line that is one, and whether it can be one."""

import re

from localfact.claims.lines import claim_span, informative_lines, is_marker
from localfact.llm.engine import Generation
from localfact.prompts.grammars import longest_revision
from localfact.records import Span
from localfact.text import normalised_words, readable, sentences
from localfact.thoughts import thoughts

#: The least share of a claim's words that a revision keeps: it only replaces pronouns and the like.
LEAST_KEPT = 1 / 2
#: The least share of a revision's words that come from the claim, the response, its question or its topic.
LEAST_GROUNDED = 1 / 2
_HEADED = re.compile(
    r"\s*(?:\*\*)?(?:(?:sure|certainly)[,!.]?\s+)?(?:here(?: is|['’]s) (?:the |a )?)?"
    r"(?:(?:revised|standalone|rewritten|final)(?: (?:claim|statement|version|sentence))?|claim|statement)"
    r"(?:\*\*)?:(?:\*\*)?\s*",
    re.IGNORECASE,
)
#: A lead-in in words of its own: it speaks of a wording, up to its colon ("To stand alone, the sentence would read: ...").
_LEADING_IN = re.compile(
    r"[^:\n]{0,160}\b(?:claim|statement|sentence|version|wording|revis\w+|rewrit\w+|rewrote|reword\w*|rephras\w+|stand-?\s?alone"
    r"|self-contained|without (?:its|the) context)\b[^:\n]{0,100}:\s*",
    re.IGNORECASE,
)
#: A line behind the revision that speaks of it.
_REMARK = re.compile(
    r"\W*(?:note|notes|explanation|reason|reasoning|changes?|i (?:have )?(?:replaced|changed|kept))\b|\(.*\)\W*$", re.IGNORECASE
)
_HASHED = re.compile(r"#{2,}\s*(?P<inside>.+?)\s*(?:#{2,})?$")
_BULLET = re.compile(r"\s*[-*•>]\s+")
_QUOTED = re.compile(r"[\"“«](?P<inside>[^\"“”«»]+)[\"”»]$")
#: What no sentence ends with.
_GOING_ON = (",", ";", "-", "–")
_DIGITS = re.compile(r"\d+")


def read_revision(generation: Generation, claim: str) -> str | None:
    """The line of an answer that is the revision, without what models put around it; None for anything else.

    A heading or a lead-in before it, marks, quotation marks or # signs around it, and a remark on the lines behind it are left
    out: whatever stands apart and has less than half of the claim's words is one. An answer that was cut or breaks off, has
    several other lines or no letter, or is far longer than the claim, is no revision.
    """
    answer = readable(generation.text)
    lines = informative_lines(answer, thoughts(answer).end)
    content = [line for line in lines if not _is_around(answer, line, claim)]
    if generation.finish != "stop" or not content:
        return None
    line, *behind = content
    if not all(_is_remark(answer, line.end, other, claim) for other in behind):
        return None
    start = line.start
    # A dash with which the claim itself begins is no bullet, its own colon ends no lead-in.
    for before in (_HEADED, _LEADING_IN, _BULLET):
        found = before.match(answer, start, line.end)
        start = found.end() if found and not before.match(claim) else start
    span = claim_span(answer, start, line.end)
    if span is None:
        return None
    wording = answer[span.start : span.end]
    if hashed := _HASHED.match(wording):
        wording = hashed["inside"]
    quoted = _QUOTED.match(wording)
    if quoted and not _QUOTED.match(claim):
        wording = quoted["inside"]
    wording = " ".join(wording.split())
    breaks_off = wording.endswith(_GOING_ON) and not claim.endswith(_GOING_ON)
    return None if breaks_off or len(wording) >= longest_revision(claim) else wording


def _is_around(answer: str, line: Span, claim: str) -> bool:
    """Whether a line is a heading, a marker, or a lead-in: it ends with a colon, and the claim does not."""
    text = answer[line.start : line.end]
    announces = text.rstrip("*_ ").endswith(":") and not claim.rstrip().endswith(":")
    return announces or bool(_HEADED.fullmatch(text)) or is_marker(text)


def _is_remark(answer: str, revision_end: int, line: Span, claim: str) -> bool:
    """Whether a line behind the revision speaks of it, or stands apart from it and is no second wording of the claim."""
    if _REMARK.match(answer, line.start, line.end):
        return True
    apart = answer[revision_end : line.start].count("\n") > 1
    old = normalised_words(claim)
    return apart and len(old & normalised_words(answer[line.start : line.end])) < LEAST_KEPT * len(old)


def leave_added_sentences(wording: str, claim: str) -> str:
    """The sentences of a wording, as many as the claim has or few more, that say what the claim says.

    Small models write the next sentence of the text behind a claim, or the one before it. What is kept has all of the claim's
    words that the wording has, but for one: a pronoun comes back in an added sentence.
    """
    parts, said = sentences(wording), normalised_words(wording) & normalised_words(claim)
    for count in range(max(1, len(sentences(claim))), len(parts)):
        runs = [wording[parts[first].start : parts[first + count - 1].end] for first in range(len(parts) - count + 1)]
        best = max(runs, key=lambda run: len(said & normalised_words(run)))
        if len(said - normalised_words(best)) <= 1:
            return best
    return wording


def faithful(wording: str, claim: str, context: str) -> bool:
    """Whether a wording can be a revision of the claim, in any language.

    It keeps the claim's numbers and, but for one word, a pronoun, half of its words; and at least half of its own are in the
    claim or in what was shown with it. A remark of the model ("No change is needed."), a refusal or another claim of the text
    fails this test. It finds such accidents; it does not prove that the meaning is the same.
    """
    new, old, around = normalised_words(wording), normalised_words(claim), normalised_words(context)
    if not new or not set(_DIGITS.findall(claim)) <= set(_DIGITS.findall(wording)):
        return False
    return len(new & old) + 1 >= LEAST_KEPT * len(old) and len(new & (old | around)) >= LEAST_GROUNDED * len(new)
