"""A printed table of p-values with those of our runs beside it: whether the first run is better than each of the others."""

from collections.abc import Iterator, Sequence

from localfact.errors import InputError
from localfact.papers.measured_table import (
    ASSESSORS,
    MEASURED,
    PRINTED,
    MeasuredRun,
    as_printed,
    facts_of,
    is_score,
    line,
    notes_of,
)
from localfact.papers.printed_tables import PrintedTable
from localfact.report.table_data import Cell, Column, Group, Table, number
from localfact.scoring import KPolicy, KPrime, standard_scores
from localfact.scoring.aggregate import ResponseScore
from localfact.scoring.comparison import Comparison, better, compare

#: The kind of a row with p-values of the paired permutation test.
PAIRED = "paired"
#: As many decimals as the paper prints.
DECIMALS = 4


def significance_table(printed: PrintedTable, runs: Sequence[MeasuredRun], recall_k: KPolicy) -> Table:
    """The table as printed; above it the one-sided p-values of the first run against each of the others, score by score.

    Two tests of each: Welch's t-test of unpaired samples, which the paper's p-values fit, and the paired permutation test
    (`scoring/significance.py`).

    Args:
        printed: a table of p-values.
        runs: over the same responses; none, or two and more.
        recall_k: one K for all runs, as there is one K'.

    Raises:
        InputError: there is one run alone, or the runs are not over the same responses.
    """
    if len(runs) == 1:
        raise InputError("A p-value compares two runs: name the run to be tested first, then the others.")
    one_k = recall_k.fit_all(run.assessments for run in runs)
    k_prime = KPrime.fit([one for run in runs for one in run.assessments])
    # The paper's columns are a model's score each, ours the scores alone.
    scores = list(dict.fromkeys(column.rpartition(" ")[2] for column in printed.columns)) if runs else []
    columns = [*scores, *printed.columns]
    groups = [
        Group(f"{first.name} against {other.name}, measured", tuple(_beside(first, other, printed, scores, one_k, k_prime)))
        for first, other in ((runs[0], other) for other in runs[1:])
    ]
    facts = facts_of(printed)
    if runs:
        facts[MEASURED] = "one-sided p of Welch's t-test for unpaired samples, with which the paper's p-values agree"
        facts[PAIRED] = "one-sided p of the permutation test for paired samples: both runs are over the same responses"
    heads = (*(Column(name, "left") for name in ("row", "kind")), *map(Column, columns))
    return Table(printed.title, heads, (*groups, *as_printed(printed, columns)), facts, tuple(notes_of(printed, runs)))


def _beside(
    first: MeasuredRun,
    other: MeasuredRun,
    printed: PrintedTable,
    scores: Sequence[str],
    one_k: KPolicy,
    k_prime: KPrime | None,
) -> Iterator[tuple[Cell, ...]]:
    """The p-values of two runs, and the paper's of the same two assessors."""
    found = {score: one for score in scores if (one := _compare(first, other, score, one_k, k_prime)) is not None}
    columns = [*scores, *printed.columns]
    name = " vs ".join(ASSESSORS.get(run.method, run.method) for run in (first, other))
    for kind in (MEASURED, PAIRED):
        p_values = {column: _p(one, kind) for column, one in found.items()}
        yield (name, kind, *(number(p_values.get(column), DECIMALS) for column in columns))
    for row in printed.rows:
        theirs = printed.names_of(row)["comparison"]
        if _same(name, theirs):
            yield line(theirs, PRINTED, columns, printed.figures(row))


def _compare(first: MeasuredRun, other: MeasuredRun, column: str, one_k: KPolicy, k_prime: KPrime | None) -> Comparison | None:
    """The test of the score that a column is of; None where the runs do not have it."""
    for score in standard_scores([*first.assessments, *other.assessments], one_k, k_prime):
        if isinstance(score, ResponseScore) and is_score(column, str(score)):
            return compare(first.assessments, other.assessments, score, alternative=better(score))
    return None


def _p(comparison: Comparison, kind: str) -> float | None:
    if comparison.found is None:
        return None
    if kind == PAIRED:
        return comparison.found.p_permutation
    return None if comparison.found.unpaired is None else comparison.found.unpaired.p


def _same(ours: str, printed: str) -> bool:
    """Whether two comparisons are of the same assessors; the paper's "FR" is of any version."""
    pairs = zip(ours.split(" vs "), printed.split(" vs "), strict=True)
    return all(one == theirs or (theirs == "FR" and one.startswith("FR")) for one, theirs in pairs)
