"""Revises claims so that they can be understood without their context, one call a claim (FactReasoner, section 3.3, Reviser).

A revision that failed, or that cannot be one, leaves its claim unchanged and is counted: no claim is lost, and none turns into
another.
"""

from collections import Counter
from dataclasses import KW_ONLY, dataclass
from enum import StrEnum
from typing import NamedTuple

from localfact.claims.given import GivenClaims
from localfact.claims.lines import excerpt
from localfact.claims.merging import Merging, merge_within
from localfact.claims.revision_answers import faithful, leave_added_sentences, read_revision
from localfact.errors import InputError, PromptTooLongError, RequestError
from localfact.llm.engine import Engine
from localfact.prompts import boundary_of, revision_chat
from localfact.prompts.grammars import revision_grammar
from localfact.records import Claim, Extraction, Response
from localfact.runtime.tasks import together
from localfact.stages import ClaimExtractor
from localfact.text import normalise

#: The stage that calls are counted under.
REVISE = "revise"


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
