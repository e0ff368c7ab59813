"""What a finished run cost, beside the papers' formulas: Tables 3 and 6 of FastFact with this run's own figures.

Calls and tokens are those really sent, from the assessments' usage, never computed from a formula. Where the two differ, each
line gives the counted reasons.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal

from localfact.records import Assessment, Probability, Record
from localfact.report.run_figures import CostLine, RunFacts, RunFigures, What, join_notes

#: The stage of the line that sums up the others.
TOTAL = "total"
#: Pages behind each search query in FastFact's formula.
PAGES_PER_QUERY = 5
#: LLM calls of the methods that the papers compare with; SAFE writes up to five queries a claim.
CALL_FORMULAS: Mapping[str, Callable[[RunFigures], float]] = {
    "N + M": lambda run: run.sentences + run.claims,
    "1 + 2M": lambda run: len(run.assessed) + 2 * run.claims,
    "N + (3 + q)M": lambda run: run.sentences + (3 + run.facts.steps) * run.claims,
    "N/w + M + pMm": lambda run: run.chunks + run.claims_preverified + sum(run.pairs(2)),
    "N/w + pMm": lambda run: run.chunks + sum(run.pairs(2)),
}
#: Pairs that FactReasoner's versions ask for (FactReasoner, section 3).
PAIR_FORMULAS = {1: "O(kn)", 2: "O(nm)", 3: "O(nm + m^2)"}


class OtherCost(Record):
    """Another pipeline's formula for the same text and claims; nothing of it was sent."""

    pipeline: str
    what: What
    formula: str
    expected: float


class Accounting(Record):
    """The costs of one run.

    Attributes:
        sentences: N, of the responses that were assessed; failed and unusable ones only count in what was sent.
        claims: M.
        searched_share: p, the share of the claims that went to evidence; None without claims.
        queries_per_claim: q.
        stride: w, in sentences, or "max"; None for a method without chunks.
        lines: in the order of the stages, the total of LLM calls last.
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


def account_for(assessments: Sequence[Assessment], facts: RunFacts) -> Accounting:
    """The accounting of a run (FastFact, section 5.2 and appendix E.3).

    Args:
        assessments: of one run.
        facts: of its settings. "fastfact" and the versions of FactReasoner have formulas; other methods are shown as sent.
    """
    run = RunFigures(assessments, facts)
    if facts.method == "fastfact":
        lines = _fastfact_lines(run)
    elif facts.version is not None:
        lines = _factreasoner_lines(run, facts.version, "" if facts.asks_model else "0")
    else:
        lines = _plain_lines(run)
    if run.counts("compare claims", "pairs"):
        lines.insert(-1, _comparing_line(run))
    queries = facts.queries_per_claim
    return Accounting(
        method=facts.method,
        sentences=run.sentences,
        claims=run.claims,
        searched_share=run.searched / run.claims if run.claims else None,
        queries_per_claim=queries,
        stride=facts.stride,
        lines=tuple(lines),
        others=tuple(_others(run.sentences, run.claims, queries)),
    )


def _fastfact_lines(run: RunFigures) -> list[CostLine]:
    """Extraction N/w, searches pqM, pages 5pqM, verification pM, LLM calls N/w + pM; also calls that the paper leaves out.

    Under a grammar, or for a distribution, the label of each extracted claim is asked for by itself: N/w + M + pM.
    """
    asked = run.claims_preverified if run.facts.asks_labels else 0
    labels = [run.calls("preverify", "M", asked)] if run.facts.asks_labels else []
    known = ("extract", "verify", *(line.stage for line in labels))
    further = [run.calls(stage) for stage in run.stages() if stage not in known]
    return [
        run.calls("extract", "N/w", run.chunks),
        *labels,
        *(line.model_copy(update={"note": join_notes(line.note, "not in the paper's formula")}) for line in further),
        *_retrieval_lines(run),
        run.calls("verify", "pM", run.searched),
        _total(run, "N/w + M + pM" if labels else "N/w + pM", run.chunks + asked + run.searched),
    ]


def _factreasoner_lines(run: RunFigures, version: int, total: str) -> list[CostLine]:
    """The pairs to relate, O(kn), O(nm) or O(nm + m^2), summed over the responses; LLM calls as sent."""
    expected = sum(run.pairs(version))
    itself = run.count("retrieve", "passages") if version == 3 else 0
    pairs = CostLine(
        stage="relate",
        what="relations",
        formula=PAIR_FORMULAS[version],
        expected=expected,
        sent=run.count("relate", "pairs"),
        note=join_notes(
            run.note("relate"), f"m^2 counts {itself:,} passages with themselves, which is not asked" if itself else ""
        ),
    )
    called = [run.calls(stage) for stage in run.stages()]
    if not total and {"extract", "relate"} <= set(run.stages()):
        formula, value = _call_formula(run)
        if value is None:  # FactReasoner's: a call to extract, and one a claim to revise it
            extracted = sum(1 + len(each.claims) for each in run.assessed if each.usage.get("extract", {}).get("calls"))
            formula, value = run.facts.cost, extracted + expected
        line = _total(run, formula, value)
        return [*_retrieval_lines(run), pairs, *called, line.model_copy(update={"note": join_notes(line.note, pairs.note)})]
    return [*_retrieval_lines(run), pairs, *called, _total(run, total, 0 if total else None)]


def _plain_lines(run: RunFigures) -> list[CostLine]:
    """What another method sent; all LLM calls beside its formula, where that is one of CALL_FORMULAS."""
    pairs = run.count("relate", "pairs")
    related = [CostLine(stage="relate", what="relations", sent=pairs, note=run.note("relate"))] if pairs else []
    formula, expected = _call_formula(run)
    total = _total(run, formula, expected)
    if formula:
        earlier = run.earlier() if "extract" not in run.stages() else ()
        total = total.model_copy(update={"note": join_notes(*earlier, *(one.note for one in related))})
    return [*(run.calls(stage) for stage in run.stages()), *_retrieval_lines(run), *related, total]


def _call_formula(run: RunFigures) -> tuple[str, float | None]:
    """The formula of the method's LLM calls and its value; "" and None where it is not one of CALL_FORMULAS."""
    formula = run.facts.cost if run.facts.cost in CALL_FORMULAS else ""
    if not run.claims_preverified:
        formula = formula.replace("N/w + M", "N/w")
    return formula, CALL_FORMULAS[formula](run) if formula else None


def _comparing_line(run: RunFigures) -> CostLine:
    """What was asked about claims beside one another; a language model's calls for it are among those that relate."""
    pairs = run.count("compare claims", "pairs")
    note = f"{pairs:,} pairs of claims in both directions; not in the papers' formulas"
    return CostLine(stage="compare claims", what="relations", sent=2 * pairs, note=note)


def _retrieval_lines(run: RunFigures) -> Iterator[CostLine]:
    """Searches pqM and pages 5pqM. Where no page is fetched, the passages that were found are beside the formula instead."""
    queries = run.searched * run.facts.queries_per_claim * run.facts.steps
    if run.counts("retrieve", "searches"):
        searches, note = run.count("retrieve", "searches"), ""
    elif run.counts("retrieve", "steps"):
        searches, note = run.count("retrieve", "steps"), f"up to {run.facts.steps} a claim, one after the other"
    elif run.facts.has_corpus:
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
        sent=run.count("retrieve", "pages" if fetched else "passages"),
        note="" if fetched else "the formula counts pages fetched; none was, and the passages found are counted",
    )


def _total(run: RunFigures, formula: str, expected: float | None) -> CostLine:
    """All LLM calls."""
    names = ("calls", "prompt_tokens", "output_tokens")
    calls, prompt_tokens, output_tokens = (sum(run.usage_of(stage, name) for stage in run.stages()) for name in names)
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
