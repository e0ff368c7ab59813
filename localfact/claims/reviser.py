"""Revises claims so that they can be understood without their context, one call a claim (FactReasoner, section 3.3, Reviser).

A revision that failed, or that cannot be one, leaves its claim unchanged and is counted: no claim is lost, and none turns into
another.
"""

import re
from collections import Counter
from dataclasses import KW_ONLY, dataclass
from enum import StrEnum
from typing import NamedTuple

from localfact.claims.given import GivenClaims
from localfact.claims.lines import claim_span, excerpt, informative_lines, is_marker
from localfact.claims.merging import Merging, merge_within
from localfact.errors import InputError, PromptTooLongError, RequestError
from localfact.llm.engine import Engine, Generation
from localfact.prompts import boundary_of, revision_chat
from localfact.prompts.grammars import longest_revision, revision_grammar
from localfact.records import Claim, Extraction, Response, Span
from localfact.runtime.tasks import together
from localfact.stages import ClaimExtractor
from localfact.text import normalise, normalised_words, readable, sentences
from localfact.thoughts import thoughts

#: The stage that calls are counted under.
REVISE = "revise"

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


class Outcome(StrEnum):
    """The outcome of a claim's revision; the values are the keys of `Extraction.counts`."""

    CHANGED = "revisions_made"
    UNCHANGED = "revisions_not_needed"
    UNREADABLE = "revisions_unreadable"
    UNFAITHFUL = "revisions_unfaithful"
    TOO_LONG = "revisions_too_long"
    EARLIER = "revisions_earlier"


_WARNINGS = {
    Outcome.UNREADABLE: (
        "Some claims were not revised, as the model's answer was cut, too long, or not one line: they keep their wording "
        "(`localfact show RUN ID` has the answers)."
    ),
    Outcome.UNFAITHFUL: (
        "Some claims were not revised, as the model's answer was another claim or no claim: they keep their wording "
        "(`localfact show RUN ID` has the answers)."
    ),
    Outcome.TOO_LONG: (
        "Some claims were not revised, as response and claim do not fit the model's window together: they keep their wording."
    ),
}


class _Revision(NamedTuple):
    """The claim after its revision; `unused` is an unusable answer, "" for none."""

    claim: Claim
    outcome: Outcome
    unused: str = ""


@dataclass(frozen=True)
class RevisedClaims:
    """An extractor whose claims an engine then revises, all claims of a response at once.

    Attributes:
        extractor: finds the claims.
        engine: the language model.
        max_tokens: of an answer, from 1.
        seed: of the boundary's markers and of the sampling.
        merging: which equal claims become one.

    Raises:
        InputError: max_tokens below 1.
    """

    extractor: ClaimExtractor
    engine: Engine
    _: KW_ONLY
    max_tokens: int = 512
    seed: int = 0
    merging: Merging = "response"

    def __post_init__(self) -> None:
        if self.max_tokens < 1:
            raise InputError(f"A revision of {self.max_tokens} tokens holds no claim: give a whole number from 1.")

    async def extract(self, response: Response) -> Extraction:
        """Returns the extractor's claims reworded to need no context, in its order, each with its id, spans and labels.

        A claim with an `original` was revised before and is left as it is. Unusable answers are among `unparsed`, each after
        the id of its claim; `counts` has the number of claims for each Outcome.

        Raises:
            LocalFactError: as the extractor; one that concerns all claims: a dead engine, something missing.
        """
        extraction = await self.extractor.extract(response)
        # Each call returns its own claim, so nothing has to be matched by position.
        revisions = await together(self._revision(response, claim) for claim in extraction.claims)
        outcomes = Counter(revision.outcome for revision in revisions)
        # Those of a sentence are merged before they are revised.
        wider: Merging = "response" if self.merging == "response" else "none"
        kept = merge_within([[revision.claim for revision in revisions]], wider)
        counts = {**extraction.counts, **{outcome.value: outcomes[outcome] for outcome in Outcome}}
        counts["revisions_merged"] = kept.duplicates
        if "claims_unlocated" in counts:
            counts["claims_unlocated"] = sum(not claim.spans for claim in kept.claims)
        unused = (f"{revision.claim.id}: {revision.unused}" for revision in revisions if revision.unused)
        warnings = (warning for outcome, warning in _WARNINGS.items() if outcomes[outcome])
        return extraction.model_copy(
            update={
                "claims": kept.claims,
                "unparsed": (*extraction.unparsed, *unused),
                "counts": counts,
                "warnings": (*extraction.warnings, *warnings),
            }
        )

    async def _revision(self, response: Response, claim: Claim) -> _Revision:
        if claim.original is not None:
            return _Revision(claim, Outcome.EARLIER)
        chat = revision_chat(
            response.prompt, response.topic, response.text, claim.text, boundary=boundary_of(self.engine, self.seed)
        )
        try:
            generation = await self.engine.generate(
                chat, max_tokens=self.max_tokens, grammar=revision_grammar(claim.text), seed=self.seed, stage=REVISE
            )
        except PromptTooLongError:
            return _Revision(claim, Outcome.TOO_LONG)
        except RequestError as error:
            return _Revision(claim, Outcome.UNREADABLE, str(error))
        wording = read_revision(generation, claim.text)
        if wording is None:
            return _Revision(claim, Outcome.UNREADABLE, excerpt(generation.text))
        wording = leave_added_sentences(wording, claim.text)
        if normalise(wording) == normalise(claim.text):
            return _Revision(claim, Outcome.UNCHANGED)
        if not faithful(wording, claim.text, " ".join((response.text, response.prompt or "", response.topic or ""))):
            return _Revision(claim, Outcome.UNFAITHFUL, excerpt(generation.text))
        return _Revision(claim.model_copy(update={"text": wording, "original": claim.text}), Outcome.CHANGED)


@dataclass(frozen=True)
class RevisedGivenClaims:
    """Revises the claims that come with a response, each with its original wording kept, before another extractor gets them.

    Attributes:
        after: takes the revised claims; extracts those of a response without any.
        engine, seed: see RevisedClaims.
    """

    after: ClaimExtractor
    engine: Engine
    _: KW_ONLY
    seed: int = 0

    async def extract(self, response: Response) -> Extraction:
        """Returns what `after` makes of the revised claims; `counts` also has the number of claims for each Outcome."""
        if response.claims is None:
            return await self.after.extract(response)
        # Each given claim is one that the data counts: none is merged.
        revised = await RevisedClaims(GivenClaims(self.after), self.engine, seed=self.seed, merging="none").extract(response)
        found = await self.after.extract(response.model_copy(update={"claims": revised.claims}))
        return found.model_copy(
            update={
                "counts": {**found.counts, **revised.counts},
                "unparsed": revised.unparsed,
                "warnings": tuple(dict.fromkeys((*revised.warnings, *found.warnings))),
            }
        )


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
