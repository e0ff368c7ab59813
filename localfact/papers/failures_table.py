"""FastFact's Figure 4 and Table 5 for a run: shares of claims that are unverifiable or redundant, and of missing ones."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from localfact.api.failures import ClaimFailures, Judging
from localfact.report.table_data import Cell, Column, Group, Table, number
from localfact.vocabulary import ClaimFailure, MissingKind

#: How a judge is asked, in words.
ASKED: Mapping[Judging, str] = {
    "each": "asked about each claim by the probabilities of five labels (ours)",
    "whole": "asked about all claims of a response in one call, with reasons (as in the paper, by prompts of our own)",
}
REDUNDANT = (ClaimFailure.INTRA_SENTENCE, ClaimFailure.INTER_SENTENCE)


def failures_table(found: Sequence[ClaimFailures], rule: str, judge: str, judging: Judging = "each") -> Table:
    """The table.

    Args:
        found: a column each.
        rule: who relates claims.
        judge: who judges them; "" for nobody. judging: how it was asked.
    """
    heads = (Column("", "left"), *(Column(one.model or "not named") for one in found))
    facts = {
        "redundant without a judge": f"the later of two claims that entail each other, according to {rule}",
        "judge": f"{judge}, {ASKED[judging]}" if judge else "none",
    }
    if judge:
        judged, claims = sum(one.judged for one in found), sum(one.claims for one in found)
        facts["judged"] = f"{judged} of {claims} claims"
        reasons = sum((Counter(one.unanswered) for one in found), Counter[str]())
        facts["no answer"] = ", ".join(f"{count} calls: {reason}" for reason, count in reasons.most_common()) or "none"
    if unrelated := sum(one.unrelated for one in found):
        facts["not related"] = f"{unrelated} pairs of claims, on which {rule} failed"
    missing = "As in the paper, what is missing is counted against what was extracted, and can exceed 100 %."
    strict = "Entailment in both directions is a strict rule: a judge may call more claims repeated."
    notes = (missing, strict) if judge else (strict,)
    title = "Failures of claim extraction (FastFact, Figure 4 and Table 5)"
    return Table(title, heads, tuple(_groups(found, judged=bool(judge))), facts, notes)


def _groups(found: Sequence[ClaimFailures], *, judged: bool) -> Iterator[Group]:
    def row(name: str, counts: Sequence[int], wholes: Sequence[int]) -> tuple[Cell, ...]:
        shares = (100 * count / whole if whole else None for count, whole in zip(counts, wholes, strict=True))
        return (name, *(number(share, 1) for share in shares))

    claims, answered, asked = ([getattr(one, name) for one in found] for name in ("claims", "judged", "asked"))
    yield Group("", (("claims", *(number(count, 0) for count in claims)),))
    yield Group(
        "entailed by an earlier claim and entailing it, %",
        tuple(row(kind, [one.entailed.get(kind, 0) for one in found], claims) for kind in REDUNDANT),
    )
    if judged:
        yield Group(
            "by the judge, % of the claims judged",
            tuple(row(kind.value, [one.failures.get(kind, 0) for one in found], answered) for kind in ClaimFailure),
        )
        yield Group(
            "missing by the judge, % of the claims extracted",
            tuple(row(kind.value, [one.missing.get(kind, 0) for one in found], asked) for kind in MissingKind),
        )
