"""The figures of a run in the papers' formulas: N, M, p, q and w; its calls and tokens; reasons for differences."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil, fsum
from typing import Literal

from localfact.records import Assessment, Probability, Record
from localfact.text import sentences

What = Literal["LLM calls", "searches", "pages", "passages", "relations"]

#: Stage -> count of an Assessment -> its wording as a reason why the calls differ from the formula.
REASONS: Mapping[str, Mapping[str, str]] = {
    "extract": {"chunks_split": "chunks split because they or their answers were too long"},
    "preverify": {"duplicates_merged": "claims asked about that were merged with others"},
    "verify": {
        "labels_chosen": "further calls to read a label from the model",
        "claims_without_evidence": "claims without a passage, not asked about",
        "failed": "claims failed",
    },
    "relate": {
        "pairs_gated": "pairs gated",
        "pairs_failed": "pairs failed",
        "pairs_in_windows": "pairs read in several windows",
        "second_opinions": "pairs asked again",
        "second_opinions_other": "of them with another label",
        "second_opinions_failed": "second opinions failed",
    },
}


class CostLine(Record):
    """One kind of cost in one stage.

    Attributes:
        stage: as in an Assessment's usage, or TOTAL.
        what: what is counted.
        formula: of the paper, in the letters of `Accounting`; "" for none.
        expected: the formula's value with this run's figures; None without a formula.
        sent: how many there really were. prompt_tokens, output_tokens: of the calls; 0 where there are no calls.
        mass: the average probability that the labels had together, over the stage's choices among labels; None without any.
        note: counted reasons for a difference, and other remarks.
    """

    stage: str
    what: What
    formula: str = ""
    expected: float | None = None
    sent: int
    prompt_tokens: int = 0
    output_tokens: int = 0
    mass: Probability | None = None
    note: str = ""


class RunFacts(Record):
    """The settings of a run that its summary needs.

    Attributes:
        seed: of the bootstrap intervals.
        asks_labels: whether each extracted claim is asked about once more for its label.
        warn_mass: the average mass of labels below which the reader is warned; None for never.
        stride: w, in sentences, or "max"; None for a method without chunks.
        version: of FactReasoner; None for other methods.
        k: passages per claim.
        queries_per_claim: q.
        steps: the most searches for a claim one after the other.
        cost: the formula of its LLM calls.
        of_sample: whether the corpus is the one that comes with localfact.
    """

    method: str
    seed: int = 0
    asks_labels: bool = False
    warn_mass: Probability | None = None
    stride: int | Literal["max"] | None = None
    version: int | None = None
    k: int = 0
    has_corpus: bool = False
    asks_model: bool = False
    queries_per_claim: int = 1
    steps: int = 1
    cost: str = ""
    of_sample: bool = False


@dataclass(frozen=True)
class RunFigures:
    """A run's figures, in the formulas' letters where they have one."""

    assessments: Sequence[Assessment]
    facts: RunFacts

    @cached_property
    def assessed(self) -> list[Assessment]:
        """The assessments that did not fail."""
        return [assessment for assessment in self.assessments if assessment.status != "failed"]

    @cached_property
    def lengths(self) -> list[int]:
        """The sentences of each assessed response."""
        return [len(sentences(assessment.text)) for assessment in self.assessed]

    @property
    def sentences(self) -> int:
        """N."""
        return sum(self.lengths)

    @property
    def claims(self) -> int:
        """M."""
        return sum(len(assessment.claims) for assessment in self.assessed)

    @property
    def claims_preverified(self) -> int:
        """The claims that were each asked about for their label: given ones, and extracted ones where that is done."""

        def was_asked(each: Assessment) -> bool:
            calls = {stage: each.usage.get(stage, {}).get("calls", 0) for stage in ("extract", "preverify")}
            return self.facts.asks_labels if calls["extract"] else bool(calls["preverify"])

        return sum(len(each.claims) for each in self.assessed if was_asked(each))

    @property
    def searched(self) -> int:
        """The claims that went to evidence: pM."""
        return self.count("retrieve", "claims")

    @property
    def chunks(self) -> int:
        """N/w, rounded up in each response whose claims were extracted; given claims cost no call."""
        rows, stride = zip(self.assessed, self.lengths, strict=True), self.facts.stride
        sent = [length for assessment, length in rows if assessment.usage.get("extract", {}).get("calls")]
        return sum(1 if isinstance(stride, str | None) else ceil(length / stride) for length in sent)

    def pairs(self, version: int) -> list[int]:
        """The pairs of each response by FactReasoner's formulas O(kn), O(nm) and O(nm + m^2); n claims went to evidence."""
        pairs = []
        for each in self.assessed:
            counts = each.counts.get("retrieve", {})
            n, m = counts.get("claims", len(each.claims)), counts.get("passages", 0)
            pairs.append({1: self.facts.k * n, 2: n * m, 3: n * m + m * m}[version])
        return pairs

    def count(self, stage: str, name: str) -> int:
        """The sum of one count of the assessments."""
        return sum(assessment.counts.get(stage, {}).get(name, 0) for assessment in self.assessed)

    def counts(self, stage: str, name: str) -> bool:
        """Whether any assessment has that count at all."""
        return any(name in assessment.counts.get(stage, {}) for assessment in self.assessed)

    def usage_of(self, stage: str, name: str) -> int:
        """The sum of one figure of a stage's usage, failed responses included."""
        return sum(int(assessment.usage.get(stage, {}).get(name, 0)) for assessment in self.assessments)

    def mass(self, stage: str) -> float | None:
        """The average mass of a stage's choices among labels; None without any."""
        choices = self.usage_of(stage, "choices")
        total = fsum(assessment.usage.get(stage, {}).get("mass", 0.0) for assessment in self.assessments)
        return min(1.0, total / choices) if choices else None

    def stages(self) -> list[str]:
        """Every stage that called a model, each once."""
        return list(dict.fromkeys(stage for assessment in self.assessments for stage in assessment.usage))

    def calls(self, stage: str, formula: str = "", expected: float | None = None) -> CostLine:
        """The line of one stage's LLM calls."""
        return CostLine(
            stage=stage,
            what="LLM calls",
            formula=formula,
            expected=expected,
            sent=self.usage_of(stage, "calls"),
            prompt_tokens=self.usage_of(stage, "prompt_tokens"),
            output_tokens=self.usage_of(stage, "output_tokens"),
            mass=self.mass(stage),
            note=self.note(stage),
        )

    def note(self, stage: str) -> str:
        """The counted reasons why a stage's calls may differ from its formula."""
        where = {"verify": "assess", "preverify": "extract"}.get(stage, stage)
        parts = []
        for name, reason in REASONS.get(stage, {}).items():
            # Pairs that were gated are counted by the assessor.
            if count := self.count("assess" if name == "pairs_gated" else where, name):
                parts.append(f"{count:,} {reason}")
        failed = [assessment for assessment in self.assessments if assessment.status == "failed"]
        if calls := sum(int(assessment.usage.get(stage, {}).get("calls", 0)) for assessment in failed):
            parts.append(f"{calls:,} calls of responses that failed")
        if stage == "extract":
            parts.extend(self.earlier())
        return join_notes(*parts)

    def earlier(self) -> Iterator[str]:
        """What is known of an earlier extraction of the claims: `localfact extract` notes what it cost."""
        given = sum(bool(each.claims) and not each.usage.get("extract") for each in self.assessed)
        if given:
            yield f"{given:,} responses came with their claims"
        if calls := self.count("extract", "earlier_calls"):
            tokens = self.count("extract", "earlier_prompt_tokens"), self.count("extract", "earlier_output_tokens")
            yield f"which took {calls:,} calls in an earlier pass ({tokens[0]:,} prompt tokens, {tokens[1]:,} output tokens)"


def join_notes(*notes: str) -> str:
    """The notes that are not empty, joined."""
    return "; ".join(filter(None, notes))
