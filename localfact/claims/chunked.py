"""FastFact's extraction: claims by a language model, each pre-verified in the same call (FastFact, section 4.1).

How a response is cut into chunks and asked about is in `asking.py`.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from localfact.claims.answers import LabelledClaim, read_answer
from localfact.claims.asking import PromptedExtractor
from localfact.claims.chunks import Chunk, ClaimLocator, Stride, check_stride
from localfact.claims.label_asking import NO_LABEL, PREVERIFY, WRITTEN, add_distribution, ask_label
from localfact.claims.lines import ParsedAnswer
from localfact.claims.merging import MergedClaims
from localfact.llm.engine import Chat, Generation, Grammar
from localfact.prompts import boundary_of, extraction_chat
from localfact.prompts.grammars import extraction_grammar
from localfact.records import Claim, PreVerification, Response
from localfact.runtime.tasks import together
from localfact.vocabulary import PreVerificationLabel

#: Counts of labels that were asked for by themselves.
ASKED = ("labels_asked", "labels_missing", "labels_differing")


@dataclass(frozen=True, kw_only=True)
class ChunkedExtractor(PromptedExtractor[LabelledClaim]):
    """Prompts an engine for the claims of a response, all chunks at once.

    Attributes:
        stride: sentences of a chunk; "max" for the whole response. The others as in `PromptedExtractor`.
        confidence: "distribution" also asks for the probabilities of all six labels, one prefill a claim; "none" takes claims
            without a label.

    Raises:
        InputError: stride or max_tokens below 1.
    """

    stride: Stride = "max"
    confidence: Literal["token", "distribution", "none"] = "token"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_stride(self.stride)

    def _chat(self, response: Response, before: str, text: str, after: str) -> Chat:
        return extraction_chat(
            response.prompt, response.topic, before, text, after, boundary=boundary_of(self.engine, self.seed)
        )

    def _grammar(self, text: str, *, claims: bool) -> Grammar:
        return extraction_grammar(text, claims=claims)

    def _read(self, text: str, *, cut: bool) -> ParsedAnswer[LabelledClaim]:
        return read_answer(text, cut=cut)

    async def _claims(
        self, chat: Chat, chunk: Chunk, generation: Generation, answer: ParsedAnswer[LabelledClaim], tally: Counter[str]
    ) -> tuple[Claim, ...]:
        preverified = await together(self._preverification(chat, generation, claim, tally) for claim in answer.claims)
        locator = ClaimLocator(chunk)
        return tuple(
            Claim(id="", text=claim.text, spans=locator.locate(claim.text), preverification=preverification)
            for claim, preverification in zip(answer.claims, preverified, strict=True)
        )

    async def _preverification(
        self, chat: Chat, generation: Generation, claim: LabelledClaim, tally: Counter[str]
    ) -> PreVerification | None:
        """The model's pre-verification of a claim; None where it had to be asked for the label and gave none.

        It is asked for where it cannot be read, and in an answer that a grammar shaped, whose probabilities are not the model's
        own. Then the model's choice stands, and is counted where it is not what was written.
        """
        if self.confidence == "none":
            return None
        if claim.label is None or generation.masked:
            prefix = generation.thoughts + claim.prefix(generation.text)
            asked = await ask_label(self.engine, chat, prefix, with_distribution=self.confidence == "distribution")
            tally["labels_asked"] += 1
            tally["labels_missing"] += asked is None
            if asked and claim.label and asked.label is not claim.label:
                tally["labels_differing"] += 1
            return asked
        span = claim.label_span
        confidence = generation.probability(span.start, span.end)
        token = PreVerification(label=claim.label, confidence=confidence)
        if self.confidence == "token":
            return token
        try:
            choice = await self.engine.choose(
                chat, tuple(WRITTEN), prefix=generation.thoughts + generation.text[: span.start], stage=PREVERIFY
            )
        except NO_LABEL:
            # As a prefix, an answer that filled the window may have a token more than when it was generated.
            tally["distributions_missing"] += 1
            return token
        return add_distribution(token, choice)

    def _counts(self, tally: Counter[str], kept: MergedClaims, claims: Sequence[Claim]) -> dict[str, int]:
        labels = Counter(claim.preverification.label for claim in claims if claim.preverification)
        return {
            "duplicates_merged": kept.duplicates,
            "preverifications_conflicting": kept.conflicting,
            "distributions_missing": tally["distributions_missing"],
            **{name: tally[name] for name in ASKED if tally[name]},
            "claims_unlocated": sum(not claim.spans for claim in claims),
            **{f"preverified_{label.name.lower()}": labels[label] for label in PreVerificationLabel if labels[label]},
        }

    def _warnings(self, counts: Mapping[str, int]) -> Iterable[str]:
        if counts.get("labels_missing"):
            yield "Some labels that the model was asked for it would not tell; their claims go to evidence without one."
        if counts["distributions_missing"]:
            yield "Some label distributions could not be had; the claims keep their token confidence."
