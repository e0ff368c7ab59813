"""FastFact's Figure 4 and Table 5 for a run: shares of claims that are unverifiable or redundant, and of missing ones."""

from collections.abc import Sequence

from localfact.api.failures import ClaimFailures
from localfact.report.formats import Cell, Column, Group, Number, Table

#: As the paper groups them: column -> kinds of the judge.
KINDS = ("acceptable", "subjective", "tautology", "ambiguous", "intra-sentence redundancy", "inter-sentence redundancy")
MISSING = ("removed", "missed")


def failures_table(found: Sequence[ClaimFailures], rule: str, judge: str) -> Table:
    """The table.

    Args:
        found: a model each. rule: who relates claims. judge: who judges them; "" for nobody.
    """
    columns = ["claims", *(f"entailed, {kind.removesuffix(' redundancy')}" for kind in KINDS[4:])]
    columns += [*KINDS, "missing", *(f"missing, {kind}" for kind in MISSING)] if judge else []
    rows = tuple(_row(one, judged=bool(judge)) for one in found)
    facts = {
        "redundant without a judge": f"of two claims that entail one another, by {rule}, the later",
        "judge": judge or "none",
    }
    if judge:
        judged, claims = sum(one.judged for one in found), sum(one.claims for one in found)
        facts["judged"] = f"{judged} of {claims} claims; {sum(one.failed for one in found)} calls gave no answer"
    if unrelated := sum(one.unrelated for one in found):
        facts["not related"] = f"{unrelated} pairs of claims, on which {rule} failed"
    notes = (
        "Shares of the claims that were judged, in %. Missing statements: against the claims of the responses asked about.",
        "As in the paper, what is missing can exceed 100 %.",
        "Entailment both ways is strict: what a judge calls repeated may be looser.",
    )
    title = "Failures of claim extraction (FastFact, Figure 4 and Table 5)"
    return Table(title, (Column("model", "left"), *map(Column, columns)), (Group("", rows),), facts, notes)


def _row(one: ClaimFailures, *, judged: bool) -> tuple[Cell, ...]:
    def percent(count: int, whole: int) -> Cell:
        return Number(100 * count / whole, decimals=1) if whole else ""

    cells: list[Cell] = [one.model or "not named", Number(one.claims, decimals=0)]
    cells += [percent(one.entailed.get(kind, 0), one.claims) for kind in KINDS[4:]]
    if judged:
        cells += [percent(one.failures.get(kind, 0), one.judged) for kind in KINDS]
        cells += [percent(sum(one.missing.values()), one.asked)]
        cells += [percent(one.missing.get(kind, 0), one.asked) for kind in MISSING]
    return tuple(cells)
