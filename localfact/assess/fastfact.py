"""FastFact's assessor: the gate decides what it can; every other claim takes one call of a verifier that reads its passages.

The model reasons, then decides (FastFact, sections 4.1 and 4.3). Where no label can be read in its answer, the one that the
model finds most probable at that place is taken, so that nothing is guessed here.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass

from localfact.assess.claim_result import (
    MAX_TOKENS,
    PASSAGES_LEFT_OUT,
    RATIONALE_KEPT,
    STAGE,
    ClaimResult,
    count_passages,
    result_without_call,
)
from localfact.assess.fitting import Fitted, choose_after_answer, fit_passages, own_passages
from localfact.assess.gate import THETA, Gate
from localfact.assess.verification import VERDICT_OF, answer_up_to_label, read_answer
from localfact.errors import CorpusError, InputError
from localfact.llm.engine import Choice, Engine
from localfact.prompts.boundary import boundary_of
from localfact.prompts.chats import verification_chat
from localfact.prompts.grammars import verification_grammar
from localfact.records import Claim, Evidence, Judgement, Pair, Passage, Response, Verdict
from localfact.runtime.tasks import together
from localfact.stages import Relations
from localfact.vocabulary import Flag, PreVerificationLabel, VerdictLabel

#: Characters of reasoning that a grammar allows for each token of an answer, so that the decision is reached before the end.
CHARACTERS_A_TOKEN = 2

#: Of equally probable labels the first in this order is taken, so that a tie never supports a claim.
TIES = ("not enough evidence", "conflicting evidence", "unverifiable", "refuted", "supported")

CHOSEN = (
    "[The answer named no readable label. Of the five the model finds '{label}' most probable here, with {probability:.3f}.]"
)
LABELS_CHOSEN = (
    "Some answers of the verifier named no readable label or were cut: the label that the model finds most probable there was "
    "taken (labels_chosen counts them, and each such verdict says so)."
)


@dataclass(frozen=True)
class FastFact:
    """The assessor of FastFact (sections 4.1 and 4.3); the defaults are those of the paper and its code.

    Attributes:
        engine: the verifier.
        theta: see `Gate`.
        max_tokens: of an answer, from 1. The label of a cut answer is chosen from the model's probabilities.
        seed: of the run: keys the markers around the passages, and is given to the engine, which decodes at temperature 0.

    Raises:
        InputError: an option is out of its range.
    """

    engine: Engine
    _: KW_ONLY
    theta: float = THETA
    max_tokens: int = MAX_TOKENS
    seed: int = 0

    def __post_init__(self) -> None:
        Gate(self.theta)
        if self.max_tokens < 1:
            raise InputError(f"A verification needs at least 1 output token, not {self.max_tokens}.")

    def needs_evidence(self, claims: Sequence[Claim]) -> Sequence[Claim]:
        """The claims that the gate does not decide."""
        return Gate(self.theta).needs_evidence(claims)

    def pairs(self, claims: Sequence[Claim], evidence: Evidence) -> Sequence[Pair]:
        """Returns no pairs: the verifier reads the passages itself."""
        return ()

    async def assess(self, response: Response, claims: Sequence[Claim], evidence: Evidence, relations: Relations) -> Judgement:
        """Decides every claim, in the claims' order; all calls of the model are made at once.

        A claim without passages is `not_enough_evidence`, without a call. A call that cannot be made (a prompt too long) fails
        its own claim only. `counts`: settled_supported, settled_non_supported, settled_irrelevant, verified,
        claims_without_evidence and failed add up to the claims; labels_chosen and unverifiable are among the verified.

        Raises:
            LocalFactError: one that concerns every claim: a dead engine, something missing, a full disk.
        """
        gate = Gate(self.theta)
        settled = {claim.id: verdict for claim in claims if (verdict := gate.verdict(claim)) is not None}
        open_claims = gate.needs_evidence(claims)
        ended = await together(self._verify(claim, evidence) for claim in open_claims)
        verified = {claim.id: end for claim, end in zip(open_claims, ended, strict=True)}
        counts = _counts([claim for claim in claims if claim.id in settled], list(verified.values()))
        return Judgement(
            verdicts=tuple(settled.get(claim.id) or verified[claim.id].verdict for claim in claims),
            counts=counts,
            warnings=_warnings(counts),
        )

    async def _verify(self, claim: Claim, evidence: Evidence) -> ClaimResult:
        """Verifies one claim; an error that concerns only this claim makes it failed."""
        passages = own_passages(claim, evidence)
        if not passages:
            rationale = "No passage was found for this claim, so the verifier was not asked."
            return result_without_call(claim, VerdictLabel.NOT_ENOUGH_EVIDENCE, rationale, "claims_without_evidence")
        try:
            return await self._ask(claim, await self._fit_passages(claim, passages))
        except CorpusError:
            raise
        except InputError as error:
            return result_without_call(claim, VerdictLabel.FAILED, str(error), "failed")

    async def _ask(self, claim: Claim, fitted: Fitted) -> ClaimResult:
        grammar = verification_grammar(VERDICT_OF, CHARACTERS_A_TOKEN * self.max_tokens)
        generation = await self.engine.generate(
            fitted.chat, max_tokens=self.max_tokens, grammar=grammar, seed=self.seed, stage=STAGE
        )
        answer = read_answer(generation.text, finished=generation.finish == "stop")
        label, rationale = answer.label, answer.reasoning.strip()[-RATIONALE_KEPT:]
        if label is None:
            choice = await choose_after_answer(
                self.engine,
                fitted.chat,
                VERDICT_OF,
                thoughts=generation.thoughts,
                answer=answer.reasoning,
                prefix_of=answer_up_to_label,
            )
            label, remark = _choose_label(choice)
            rationale = f"{rationale}\n{remark}".lstrip()
        verdict = Verdict(
            claim_id=claim.id,
            label=label,
            rationale=rationale or None,
            passages=count_passages(fitted.passages),
            flags=(Flag.CUT_ANSWER,) if generation.finish != "stop" else (),
        )
        return ClaimResult(verdict, "verified", chosen=answer.label is None, left_out=fitted.left_out)

    async def _fit_passages(self, claim: Claim, passages: Sequence[Passage]) -> Fitted:
        # The longest label is used to measure the room that a chosen label needs after a full answer.
        return await fit_passages(
            self.engine,
            passages,
            lambda shown: verification_chat(claim.text, shown, boundary=boundary_of(self.engine, self.seed)),
            decision=answer_up_to_label(" ") + max(VERDICT_OF, key=len),
            max_tokens=self.max_tokens,
        )


def _choose_label(choice: Choice) -> tuple[VerdictLabel, str]:
    """The most probable label as a verdict, and the remark that it was chosen."""
    distribution = choice.distribution
    label = max(TIES, key=lambda label: distribution[label])
    return VERDICT_OF[label], CHOSEN.format(label=label, probability=distribution[label])


def _counts(settled: Sequence[Claim], verified: Sequence[ClaimResult]) -> dict[str, int]:
    settled_as = Counter(claim.preverification.label for claim in settled if claim.preverification)
    endings = Counter(end.ending for end in verified)
    return {
        "settled_supported": settled_as[PreVerificationLabel.SUPPORTED],
        "settled_non_supported": settled_as[PreVerificationLabel.NON_SUPPORTED],
        "settled_irrelevant": settled_as[PreVerificationLabel.IRRELEVANT],
        "verified": endings["verified"],
        "claims_without_evidence": endings["claims_without_evidence"],
        "failed": endings["failed"],
        "labels_chosen": sum(end.chosen for end in verified),
        "unverifiable": sum(end.verdict.label is VerdictLabel.UNVERIFIABLE for end in verified),
        "passages_left_out": sum(end.left_out for end in verified),
    }


def _warnings(counts: Mapping[str, int]) -> tuple[str, ...]:
    """Without figures, so that a run's summary can list each once, with the number of responses."""
    possible = (("labels_chosen", LABELS_CHOSEN), ("passages_left_out", PASSAGES_LEFT_OUT))
    return tuple(warning for count, warning in possible if counts[count])
