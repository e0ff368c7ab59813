"""How each judge is asked and read: its prompt, its labels, and where in an answer the label stands."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from localfact.assess.judges.answers import (
    CONTRADICTED,
    FALSE,
    SUPPORTED,
    THREE_WAYS,
    TRUE,
    UNDECIDED,
    UNSUPPORTED,
    ReadLabel,
    factuality_told,
    read_bracketed,
    read_factual,
    read_hashed,
    read_rating,
)
from localfact.prompts import Judge
from localfact.vocabulary import VerdictLabel

_THREE = {
    SUPPORTED: VerdictLabel.SUPPORTED,
    CONTRADICTED: VerdictLabel.CONTRADICTED,
    UNDECIDED: VerdictLabel.NOT_ENOUGH_EVIDENCE,
}
_TWO = {TRUE: VerdictLabel.SUPPORTED, FALSE: VerdictLabel.CONTRADICTED}
assert tuple(_THREE) == THREE_WAYS


@dataclass(frozen=True)
class JudgeStyle:
    """A judge of one claim.

    Attributes:
        prompt: its task.
        verdicts: label, as the model writes it -> verdict.
        read: reads an answer; None for a judge that answers with the bare label, which is asked for by probability.
        slot: what is written behind an answer without a label, to ask for the label itself.
        without_evidence: whether it is asked about a claim for which nothing was found, as it may know better by itself.
        leaves_irrelevant: whether claims that the extractor found irrelevant are left out.
        told: makes the verdict's reason of an answer.
    """

    prompt: Judge
    verdicts: Mapping[str, VerdictLabel]
    read: ReadLabel | None
    slot: str
    without_evidence: bool = False
    leaves_irrelevant: bool = False
    told: Callable[[str], str] = str


FACTSCORE = JudgeStyle("factscore", _TWO, None, "Answer: ")
FACTVERIFY = JudgeStyle("factverify", _THREE, read_bracketed, "\nFinal answer: [")
VERISCORE = JudgeStyle("veriscore", _THREE, read_hashed, "\n###")
DEEPSEEK = JudgeStyle("deepseek", _THREE, read_bracketed, "\nFinal answer: [", without_evidence=True)
FACTOOL = JudgeStyle("factool", _TWO, read_factual, '\n"factuality": ', told=factuality_told)
SAFE = JudgeStyle(
    "safe",
    {SUPPORTED: VerdictLabel.SUPPORTED, UNSUPPORTED: VerdictLabel.NOT_ENOUGH_EVIDENCE},
    read_rating,
    "\nFinal rating: [",
    leaves_irrelevant=True,
)
_ALL = (FACTSCORE, FACTVERIFY, VERISCORE, DEEPSEEK, FACTOOL, SAFE)
STYLES: Mapping[Judge, JudgeStyle] = {style.prompt: style for style in _ALL}
