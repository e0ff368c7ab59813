"""What a finished run cost, beside what the formulas say it should: Tables 3 and 6 of FastFact with this run's own figures.

Calls and tokens are those really sent, from the assessments' usage; nothing is computed from the formula that is shown as sent.
Where the two differ, each line gives the reasons that were counted on the way.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil
from typing import Any, Literal

from localfact.records import Assessment, Probability, Record
from localfact.text import sentences

What = Literal["LLM calls", "searches", "pages", "passages", "relations"]

#: The stage of the line that sums up the others.
TOTAL = "total"
#: Pages behind each search query in FastFact's formula (SPEC section 2, "Cost").
PAGES_PER_QUERY = 5
#: Stage -> count of an Assessment -> how it is said as a reason why what was sent departs from the formula.
REASONS: Mapping[str, Mapping[str, str]] = {
    "extract": {"chunks_split": "chunks split because they or their answers were too long"},
    "verify": {
        "labels_chosen": "further calls to read a label from the model",
        "claims_without_evidence": "claims without a passage, not asked about",
        "failed": "claims failed",
    },
    "relate": {"pairs_gated": "pairs gated", "pairs_failed": "pairs failed"},
}
#: Pairs that FactReasoner's versions ask for (FactReasoner, section 3; SPEC section 3, "Baselines").
PAIR_FORMULAS = {1: "O(kn)", 2: "O(nm)", 3: "O(nm + m^2)"}


class CostLine(Record):
    """One kind of cost in one stage.

    Attributes:
        stage: as in an Assessment's usage, or TOTAL.
        what: what is counted. formula: of the paper, in the letters of `Accounting`; "" where it has none.
        expected: the formula's value with this run's figures; None without a formula.
        sent: how many there really were. prompt_tokens, output_tokens: of the calls, 0 for what is no call.
        note: reasons that were counted for a difference, and what else a reader must know.
    """

    stage: str
    what: What
    formula: str = ""
    expected: float | None = None
    sent: int
    prompt_tokens: int = 0
    output_tokens: int = 0
    note: str = ""


class OtherCost(Record):
    """What another pipeline's formula says for the same text and claims; nothing of it was sent."""

    pipeline: str
    what: What
    formula: str
    expected: float


class Accounting(Record):
    """The costs of one run.

    Attributes:
        sentences: N, of the responses that were assessed; failed and unusable ones are in no figure but in what was sent.
        claims: M. searched_share: p, the share of the claims that went to evidence; None without claims.
        queries_per_claim: q. stride: w, in sentences, or "max"; None for a method that makes no chunks.
        lines: in the order of the road, the total of LLM calls last.
        others: the formulas of FActScore, VeriScore and SAFE for the same N, M and q.
    """

    method: str
    sentences: int
    claims: int
    searched_share: Probability | None
    queries_per_claim: int
    stride: int | Literal["max"] | None
    lines: tuple[CostLine, ...]
    others: tuple[OtherCost, ...]

    @property
    def calls_sent(self) -> int:
        """All LLM calls of the run."""
        return sum(line.sent for line in self.lines if line.stage == TOTAL)


def accounting(assessments: Sequence[Assessment], *, method: str, settings: Mapping[str, Any]) -> Accounting:
    """Accounts for a run (FastFact, section 5.2 and appendix E.3).

    Args:
        assessments: of one run.
        method: its method's name; "fastfact" and the versions of FactReasoner have formulas, others are shown as sent.
        settings: of run.yaml. Read are `stride` (an int or "max"), `k`, `corpus` and `queries_per_claim`; all may be missing.
    """
    run = _Run(assessments, settings)
    version = re.search(r"-fr([123])$", method)
    if method == "fastfact":
        lines = _fastfact_lines(run)
    elif version:
        lines = _factreasoner_lines(run, int(version[1]), "0" if method.startswith("builtin-") else "")
    else:
        lines = _plain_lines(run)
    return Accounting(
        method=method,
        sentences=run.sentences,
        claims=run.claims,
        searched_share=run.searched / run.claims if run.claims else None,
        queries_per_claim=run.queries,
        stride=run.stride,
        lines=tuple(lines),
        others=tuple(_others(run.sentences, run.claims, run.queries)),
    )


@dataclass(frozen=True)
class _Run:
    """A run's figures, in the formulas' letters where they have one."""

    assessments: Sequence[Assessment]
    settings: Mapping[str, Any]

    @cached_property
    def assessed(self) -> list[Assessment]:
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
    def searched(self) -> int:
        """The claims that went to evidence: pM."""
        return self.counted("retrieve", "claims")

    @property
    def queries(self) -> int:
        """The search queries of a claim: q; 1 where the claim is the query."""
        return int(self.settings.get("queries_per_claim", 1))

    @property
    def stride(self) -> int | Literal["max"] | None:
        """The sentences of a chunk: w."""
        stride = self.settings.get("stride")
        return stride if stride in (None, "max") else int(stride)

    @property
    def chunks(self) -> int:
        """N/w, rounded up in each response that was sent to an extractor; claims that come with the input cost no call."""
        rows = zip(self.assessed, self.lengths, strict=True)
        sent = [length for assessment, length in rows if assessment.usage.get("extract", {}).get("calls")]
        return sum(1 if isinstance(self.stride, str | None) else ceil(length / self.stride) for length in sent)

    def counted(self, stage: str, name: str) -> int:
        """The sum of one count of the assessments."""
        return sum(assessment.counts.get(stage, {}).get(name, 0) for assessment in self.assessed)

    def counts(self, stage: str, name: str) -> bool:
        """Whether any assessment has that count at all."""
        return any(name in assessment.counts.get(stage, {}) for assessment in self.assessed)

    def used(self, stage: str, name: str) -> int:
        """The sum of one figure of a stage's usage, failed responses included: what was sent was sent."""
        return sum(assessment.usage.get(stage, {}).get(name, 0) for assessment in self.assessments)

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
            sent=self.used(stage, "calls"),
            prompt_tokens=self.used(stage, "prompt_tokens"),
            output_tokens=self.used(stage, "output_tokens"),
            note=self.note(stage),
        )

    def note(self, stage: str) -> str:
        """The counted reasons why a stage's calls may depart from its formula."""
        where = {"verify": "assess"}.get(stage, stage)
        told = [f"{count:,} {reason}" for name, reason in REASONS.get(stage, {}).items() if (count := self.reason(where, name))]
        failed = [assessment for assessment in self.assessments if assessment.status == "failed"]
        if calls := sum(assessment.usage.get(stage, {}).get("calls", 0) for assessment in failed):
            told.append(f"{calls:,} calls of responses that failed")
        if stage == "extract" and (given := sum(bool(each.claims) and not each.usage.get(stage) for each in self.assessed)):
            told.append(f"{given:,} responses came with their claims")
        return _said(*told)

    def reason(self, stage: str, name: str) -> int:
        """A reason's count; the assessor counts what it gated of the pairs."""
        return self.counted("assess" if name == "pairs_gated" else stage, name)


def _said(*notes: str) -> str:
    """The notes that say something, as one."""
    return "; ".join(filter(None, notes))


def _fastfact_lines(run: _Run) -> list[CostLine]:
    """Extraction N/w, searches pqM, pages 5pqM, verification pM, LLM calls N/w + pM; what the paper does not count besides."""
    further = [run.calls(stage) for stage in run.stages() if stage not in ("extract", "verify")]
    return [
        run.calls("extract", "N/w", run.chunks),
        *(line.model_copy(update={"note": _said(line.note, "not in the paper's formula")}) for line in further),
        *_retrieval_lines(run),
        run.calls("verify", "pM", run.searched),
        _total(run, "N/w + pM", run.chunks + run.searched),
    ]


def _factreasoner_lines(run: _Run, version: int, total: str) -> list[CostLine]:
    """The pairs to relate, O(kn), O(nm) or O(nm + m^2), summed over the responses; LLM calls as sent."""
    k = int(run.settings.get("k") or 0)
    sizes = [(len(each.claims), each.counts.get("retrieve", {}).get("passages", 0)) for each in run.assessed]
    expected = {1: [k * n for n, _ in sizes], 2: [n * m for n, m in sizes], 3: [n * m + m * m for n, m in sizes]}
    itself = sum(m for _, m in sizes) if version == 3 else 0
    pairs = CostLine(
        stage="relate",
        what="relations",
        formula=PAIR_FORMULAS[version],
        expected=sum(expected[version]),
        sent=run.counted("relate", "pairs"),
        note=_said(run.note("relate"), f"{itself:,} passages are in m^2 with themselves, which is not asked" if itself else ""),
    )
    called = [run.calls(stage) for stage in run.stages()]
    return [*_retrieval_lines(run), pairs, *called, _total(run, total, 0 if total else None)]


def _plain_lines(run: _Run) -> list[CostLine]:
    """What a method without formulas sent."""
    pairs = run.counted("relate", "pairs")
    related = [CostLine(stage="relate", what="relations", sent=pairs, note=run.note("relate"))] if pairs else []
    return [*(run.calls(stage) for stage in run.stages()), *_retrieval_lines(run), *related, _total(run, "", None)]


def _retrieval_lines(run: _Run) -> Iterator[CostLine]:
    """Searches pqM and pages 5pqM. Where no page is fetched, the passages that were found stand beside the formula instead."""
    queries = run.searched * run.queries
    if run.counts("retrieve", "searches"):
        searches, note = run.counted("retrieve", "searches"), ""
    elif run.settings.get("corpus"):
        searches, note = run.searched, "one a claim, of the corpus; fewer where passages came with the response"
    else:
        searches, note = 0, "no corpus: the passages came with the responses"
    yield CostLine(stage="retrieve", what="searches", formula="pqM", expected=queries, sent=searches, note=note)
    fetched = run.counts("retrieve", "pages")
    yield CostLine(
        stage="retrieve",
        what="pages" if fetched else "passages",
        formula=f"{PAGES_PER_QUERY}pqM",
        expected=PAGES_PER_QUERY * queries,
        sent=run.counted("retrieve", "pages" if fetched else "passages"),
        note="" if fetched else "the formula counts pages fetched; none was, and the passages found are counted",
    )


def _total(run: _Run, formula: str, expected: float | None) -> CostLine:
    """All LLM calls."""
    names = ("calls", "prompt_tokens", "output_tokens")
    calls, prompt_tokens, output_tokens = (sum(run.used(stage, name) for stage in run.stages()) for name in names)
    return CostLine(
        stage=TOTAL,
        what="LLM calls",
        formula=formula,
        expected=expected,
        sent=calls,
        prompt_tokens=prompt_tokens,
        output_tokens=output_tokens,
    )


def _others(n: int, m: int, q: int) -> Iterator[OtherCost]:
    """Tables 3 and 6 of FastFact; the papers' k is q here."""
    yield OtherCost(pipeline="FActScore", what="LLM calls", formula="N + M", expected=n + m)
    yield OtherCost(pipeline="VeriScore", what="LLM calls", formula="N + M", expected=n + m)
    yield OtherCost(pipeline="VeriScore", what="searches", formula="qM", expected=q * m)
    yield OtherCost(pipeline="SAFE", what="LLM calls", formula="N + (3+q)M", expected=n + (3 + q) * m)
    yield OtherCost(pipeline="SAFE", what="searches", formula="qM", expected=q * m)
