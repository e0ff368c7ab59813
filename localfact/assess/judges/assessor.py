"""An assessor that asks a language model about each claim and its passages, one call a claim, as the compared methods do.

FactScore decides by the probability of True against False; the others reason, and the last label of the answer counts. Where an
answer has none, the model is asked for it once more, with its place opened; where it would not write any there, the claim is
failed: counted, never guessed.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

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
from localfact.assess.judges.answers import FALSE, TRUE
from localfact.assess.judges.calibration import TruthCalibration, TruthMap
from localfact.assess.judges.styles import JudgeStyle
from localfact.errors import CorpusError, InputError, UnlikelyLabelsError
from localfact.llm.engine import Choice, Engine
from localfact.prompts import boundary_of, judging_chat
from localfact.records import Claim, Evidence, Judgement, Pair, Passage, Response, Verdict, passage_id
from localfact.runtime.tasks import together
from localfact.stages import Relations
from localfact.vocabulary import Flag, PreVerificationLabel, VerdictLabel

NOTHING_FOUND = "No passage was found for this claim, so the model was not asked."
NOT_RELEVANT = "The claim is not relevant to the question."
ASKED_AGAIN = (
    "Some answers about claims named no label: the model was asked for it once more at its place (labels_chosen counts them)."
)


@dataclass(frozen=True)
class PromptedJudge:
    """An assessor that asks a language model about each claim, in one style (FactReasoner, section 4 and Tables 33-36).

    Attributes:
        engine: the language model.
        style: how it is asked.
        max_tokens: of an answer, from 1.
        seed: of the run: keys the markers, and is given to the engine.
        calibration: takes the model's bias out of the probability of True, for a style that decides by it; None leaves it in.

    Raises:
        InputError: an option is out of its range.
    """

    engine: Engine
    style: JudgeStyle
    max_tokens: int = MAX_TOKENS
    seed: int = 0
    calibration: TruthCalibration | None = None

    def __post_init__(self) -> None:
        if self.max_tokens < 1:
            raise InputError(f"A judgement needs at least 1 output token, not {self.max_tokens}.")

    def needs_evidence(self, claims: Sequence[Claim]) -> Sequence[Claim]:
        """All; of a style that leaves irrelevant claims, those that the extractor did not find irrelevant."""
        return [claim for claim in claims if not self._leaves(claim)]

    def pairs(self, claims: Sequence[Claim], evidence: Evidence) -> Sequence[Pair]:
        """No pairs need to be related: the judge reads the passages itself."""
        return ()

    async def assess(self, response: Response, claims: Sequence[Claim], evidence: Evidence, relations: Relations) -> Judgement:
        """Decides every claim, in the claims' order; all calls of the model are made at once.

        `counts`: judged, irrelevant, claims_without_evidence and failed add up to the claims; labels_chosen: of the judged.

        Raises:
            LocalFactError: one that concerns every claim: a dead engine, something missing, a full disk.
        """
        await self.fit()
        judged = await together(self._judge(claim, evidence) for claim in claims)
        endings = Counter(one.ending for one in judged)
        chosen, left_out = sum(one.chosen for one in judged), sum(one.left_out for one in judged)
        return Judgement(
            verdicts=tuple(one.verdict for one in judged),
            counts={
                **{ending: endings[ending] for ending in ("judged", "irrelevant", "claims_without_evidence", "failed")},
                "labels_chosen": chosen,
                "passages_left_out": left_out,
            },
            warnings=tuple(warning for count, warning in ((chosen, ASKED_AGAIN), (left_out, PASSAGES_LEFT_OUT)) if count),
        )

    async def fit(self) -> TruthMap | None:
        """The map that calibrates the judge, if any. The first call may ask the judge about the pairs to fit it on.

        Raises:
            EngineError: the model fails at one of them.
        """
        return None if self.calibration is None else await self.calibration.fit(self.ask_truth)

    async def ask_truth(self, claim: str, passage: str) -> float:
        """How probable True is for a claim beside one passage, in [0, 1], as the model says it; of a style that chooses."""
        shown = [Passage(id=passage_id(passage), text=passage)]
        return (await self._choose(await self._fit_prompt(claim, shown)))[0].distribution[TRUE]

    async def _judge(self, claim: Claim, evidence: Evidence) -> ClaimResult:
        """Judges one claim; an error that concerns only this claim makes it failed."""
        if self._leaves(claim):
            return result_without_call(claim, VerdictLabel.IRRELEVANT, NOT_RELEVANT, "irrelevant")
        passages = own_passages(claim, evidence)
        if not passages and not self.style.without_evidence:
            return result_without_call(claim, VerdictLabel.NOT_ENOUGH_EVIDENCE, NOTHING_FOUND, "claims_without_evidence")
        try:
            asked = await self._fit_prompt(claim.text, passages)
            return await (self._judge_by_answer(claim, asked) if self.style.read else self._judge_by_choice(claim, asked))
        except CorpusError:
            raise
        except InputError as error:
            return result_without_call(claim, VerdictLabel.FAILED, str(error), "failed")

    async def _fit_prompt(self, claim: str, passages: Sequence[Passage]) -> Fitted:
        """The prompt about a claim, with as many of the passages as fit."""
        boundary = boundary_of(self.engine, self.seed)
        return await fit_passages(
            self.engine,
            passages,
            lambda shown: judging_chat(self.style.prompt, claim, shown, boundary=boundary),
            decision=self.style.slot + max(self.style.verdicts, key=len),
            max_tokens=self.max_tokens if self.style.read else 1,
        )

    def _leaves(self, claim: Claim) -> bool:
        opinion = claim.preverification
        return self.style.leaves_irrelevant and opinion is not None and opinion.label is PreVerificationLabel.IRRELEVANT

    async def _choose(self, asked: Fitted) -> tuple[Choice, bool]:
        """The probabilities of the labels as the first word of the answer, and whether their place had to be opened."""
        labels = tuple(self.style.verdicts)
        try:
            return await self.engine.choose(asked.chat, labels, stage=STAGE), False
        except UnlikelyLabelsError:  # a model that would begin with a sentence
            return await self.engine.choose(asked.chat, labels, prefix=self.style.slot, stage=STAGE), True

    async def _judge_by_choice(self, claim: Claim, asked: Fitted) -> ClaimResult:
        """Decides by the probabilities of True and False, calibrated where they are."""
        choice, again = await self._choose(asked)
        said = choice.distribution[TRUE]
        calibrate = await self.fit()
        true = said if calibrate is None else calibrate(said)
        label = VerdictLabel.UNDECIDED if true == 0.5 else self.style.verdicts[TRUE if true > 0.5 else FALSE]
        verdict = Verdict(
            claim_id=claim.id,
            label=label,
            posterior=true,
            rationale=None if calibrate is None else f"True has {said:.3f} as the model says it, and {true:.3f} calibrated.",
            passages=count_passages(asked.passages),
        )
        return ClaimResult(verdict, "judged", again, asked.left_out)

    async def _judge_by_answer(self, claim: Claim, asked: Fitted) -> ClaimResult:
        """Decides by the last label of an answer; if it has none, by the most probable label behind it."""
        assert self.style.read is not None
        generation = await self.engine.generate(asked.chat, max_tokens=self.max_tokens, seed=self.seed, stage=STAGE)
        finished = generation.finish == "stop"
        label = self.style.read(generation.text) if finished else None
        chosen = label is None
        if label is None:
            choice = await choose_after_answer(
                self.engine,
                asked.chat,
                self.style.verdicts,
                thoughts=generation.thoughts,
                answer=generation.text,
                prefix_of=lambda answer: answer + self.style.slot,
            )
            label = choice.best
        verdict = Verdict(
            claim_id=claim.id,
            label=self.style.verdicts[label],
            rationale=self.style.told(generation.text).strip()[-RATIONALE_KEPT:] or None,
            passages=count_passages(asked.passages),
            flags=() if finished else (Flag.CUT_ANSWER,),
        )
        return ClaimResult(verdict, "judged", chosen, asked.left_out)
