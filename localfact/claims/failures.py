"""What is wrong with extracted claims, and which are missing, by a language model (FastFact, appendix C.2 and L).

Each claim is asked about by the probabilities of five labels, in one prompt that all claims of a response share ("each", ours):
of a claim that repeats another, the places of it and of the earlier claim most like it say in which of the paper's two ways. Or
all claims are asked about in one call that writes a reason and one of six labels for each ("whole", as in the paper). Missing
statements are written. `failure_answers.py` reads both.
"""

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Literal

from localfact import text
from localfact.claims.failure_answers import REPEATED, read_failures, read_missing
from localfact.errors import PromptTooLongError, RequestError, UnlikelyLabelsError
from localfact.llm.engine import Engine
from localfact.prompts import boundary_of, failure_chat, failures_chat, missing_chat
from localfact.records import Claim, Span
from localfact.runtime.tasks import together
from localfact.vocabulary import ClaimFailure, MissingKind

#: The stages that calls are counted under.
STAGE_CLAIMS, STAGE_MISSING = "failures", "missing"
#: The longest answers in tokens: about what is missing, and for each claim of a whole response. The paper's forms take most.
MISSING_TOKENS = 2048
CLAIM_TOKENS = 200
#: What the model chooses among; a repetition is told apart by its place.
CHOICES = ("acceptable", "subjective", "tautology", "ambiguous", REPEATED)
#: Why a call gave no answer.
WHY: Mapping[type[Exception], str] = {
    PromptTooLongError: "prompt longer than the model takes",
    RequestError: "refused by the engine",
    UnlikelyLabelsError: "labels too improbable (--min-mass)",
}
#: How a judge is asked: about each claim by itself, or about all of a response in one call.
Judging = Literal["each", "whole"]


@dataclass(frozen=True)
class Inspected:
    """The failures of each claim of a response, and its missing statements; None where the model gave no answer.

    `reasons` says why it gave none, once a call.
    """

    failures: tuple[ClaimFailure | None, ...]
    missing: tuple[tuple[str, MissingKind], ...] | None
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True)
class FailureJudge:
    """Inspects the claims of responses.

    Attributes:
        engine: the language model.
        seed: of the boundary's markers.
        judging: "each" or "whole".
    """

    engine: Engine
    _: KW_ONLY
    seed: int = 0
    judging: Judging = "each"

    async def inspect(self, response: str, claims: Sequence[Claim]) -> Inspected:
        """Asks what is wrong with each claim, and which statements are missing."""
        texts = [claim.text for claim in claims]
        if self.judging == "whole":
            asked = await self._failures(response, claims, texts)
        else:
            asked = await together(self._failure(response, claims, texts, place) for place in range(len(claims)))
        failures = tuple(one if isinstance(one, ClaimFailure) else None for one in asked)
        reasons = tuple(one for one in asked if not isinstance(one, ClaimFailure))
        chat = missing_chat(response, texts, boundary=boundary_of(self.engine, self.seed))
        try:
            answer = await self.engine.generate(chat, max_tokens=MISSING_TOKENS, stage=STAGE_MISSING)
        except (PromptTooLongError, RequestError) as error:
            return Inspected(failures, None, (*reasons, why(error)))
        return Inspected(failures, tuple(read_missing(answer.text, texts)), reasons)

    async def _failures(self, response: str, claims: Sequence[Claim], texts: Sequence[str]) -> list[ClaimFailure | str]:
        chat = failures_chat(response, texts, boundary=boundary_of(self.engine, self.seed))
        try:
            answer = await self.engine.generate(chat, max_tokens=CLAIM_TOKENS * len(texts), stage=STAGE_CLAIMS)
        except (PromptTooLongError, RequestError) as error:
            return [why(error)] * len(texts)
        read = read_failures(answer.text, len(texts))
        return [_tell_repetition(response, claims, place) if one == REPEATED else one for place, one in enumerate(read)]

    async def _failure(self, response: str, claims: Sequence[Claim], texts: Sequence[str], place: int) -> ClaimFailure | str:
        chat = failure_chat(response, texts, place + 1, boundary=boundary_of(self.engine, self.seed))
        try:
            choice = await self.engine.choose(chat, CHOICES, stage=STAGE_CLAIMS)
        except (PromptTooLongError, RequestError, UnlikelyLabelsError) as error:
            return why(error)
        if choice.best != REPEATED:
            return ClaimFailure(choice.best)
        return _tell_repetition(response, claims, place)


def why(error: Exception) -> str:
    """Why a call gave no answer, in words that are the same for all such calls."""
    return next(words for kind, words in WHY.items() if isinstance(error, kind))


def _tell_repetition(response: str, claims: Sequence[Claim], place: int) -> ClaimFailure:
    """In which way the claim at a place repeats an earlier one."""
    return repetition(response, claims[place], most_alike(claims[place], claims[:place]))


def repetition(response: str, claim: Claim, earlier: Sequence[Claim]) -> ClaimFailure:
    """How a claim repeats an earlier one: within a sentence, if both stand in the same one, else across sentences."""
    sentences = text.sentences(response)
    own = _sentence(claim, sentences)
    same = own is not None and any(_sentence(other, sentences) == own for other in earlier)
    return ClaimFailure.INTRA_SENTENCE if same else ClaimFailure.INTER_SENTENCE


def most_alike(claim: Claim, earlier: Sequence[Claim]) -> list[Claim]:
    """The earlier claim most similar in words (Jaccard index; the first of equals), as a list; empty without earlier claims."""
    own = set(text.words(claim.text))

    def alike(other: Claim) -> float:
        words = set(text.words(other.text))
        return len(own & words) / len(own | words) if own | words else 0.0

    return [max(earlier, key=alike)] if earlier else []


def _sentence(claim: Claim, sentences: Sequence[Span]) -> Span | None:
    """The sentence in which a claim's first place begins; None for a claim without one."""
    start = claim.spans[0].start if claim.spans else None
    return None if start is None else next((one for one in sentences if one.start <= start < one.end), None)
