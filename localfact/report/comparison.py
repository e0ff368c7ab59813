"""Runs side by side, as tables: their scores and costs, the tests of their differences, the claims on which they differ."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from pydantic import Field

from localfact.records import Record
from localfact.report.accounting import TOTAL
from localfact.report.summary import Summary
from localfact.report.table_data import Cell, Column, Group, Table, number, tell_apart
from localfact.scoring.comparison import Comparison
from localfact.text import PathName

COSTS = ("LLM calls", "prompt tokens", "output tokens")
DIFFERENCES_NOTE = (
    "from, to: the 95 % interval; win-tie-loss: of the first run. p: paired permutation test; p Holm: adjusted for all tests "
    "in the table; p t: paired t-test; p unpaired: Welch's t-test, which treats the runs as independent samples and knows no "
    "clusters; it is weaker, and FactReasoner's tables agree with it. Responses to the same prompt, and claims of the same "
    "response, form one cluster; with a single cluster there is no test."
)

#: The parameters at the end of a score's name.
_PARAMETERS = re.compile(r"\([^()]*=.*\)$")


class ComparedRun(Record):
    """One of the runs.

    Attributes:
        name: in the comparison: its method, or its folder where two have one method.
        run: its folder.
        summary: of it.
        paired_by: way ("id", "prompt", ...) -> how many of its responses it set beside the first run's; empty for the first.
        partners: id of each of its responses -> id of the first run's; empty for the first.
    """

    name: str
    run: PathName
    summary: Summary
    paired_by: Mapping[str, int] = Field(default_factory=dict)
    partners: Mapping[str, str] = Field(default_factory=dict, exclude=True, repr=False)


class RunComparison(Record):
    """One score of the first run and another.

    Attributes:
        run: the other's name.
        p_adjusted: p_permutation by Holm's method, over all comparisons of the table.
    """

    run: str
    comparison: Comparison
    p_adjusted: float | None = None


class DifferingClaim(Record):
    """A claim that all runs judged, and not all alike: some support it and some do not, or one could not say.

    Attributes:
        verdicts: run -> its label.
        posteriors: run -> P(claim is true), where the run has one.
        spread: the largest difference of two runs in it, where a verdict without a posterior counts as 1 (S), 0 (N) or 0.5.
    """

    response_id: str
    claim_id: str
    text: str
    label: str | None
    verdicts: Mapping[str, str]
    posteriors: Mapping[str, float]
    spread: float


class RunsCompared(Record):
    """Runs side by side.

    Attributes:
        runs: in the order given; the first is compared with each of the others.
        comparisons: score by score, of each other run.
        claims_shared: how many claims all runs judged.
        common_calls: LLM calls that served all runs, for claims and passages; 0 for runs that each found their own.
        claims: those of them on which they differ, those with the largest spread first.
    """

    runs: tuple[ComparedRun, ...]
    comparisons: tuple[RunComparison, ...]
    claims_shared: int
    common_calls: int = 0
    claims: tuple[DifferingClaim, ...]


def scores_table(compared: RunsCompared) -> Table:
    """A row a score and a column a run, with the calls and tokens of a language model that were really sent."""
    results = [{short(result.name): result.value for result in run.summary.scores} for run in compared.runs]
    names = dict.fromkeys(name for one in results for name in one)
    rows = [(name, *(number(one.get(name)) for one in results)) for name in names]
    costs = [_costs(run.summary) for run in compared.runs]
    rows += [(what, *(f"{cost[what]:,}" for cost in costs)) for what in COSTS]
    heads = tell_apart((run.name for run in compared.runs), "run", taken={"score"})
    return Table(
        title="Runs side by side",
        columns=(Column("score", "left"), *map(Column, heads)),
        groups=(Group("", tuple(rows)),),
        facts={
            "responses": str(compared.runs[0].summary.responses),
            "claims that all runs judged": str(compared.claims_shared),
            **({"LLM calls for the claims and passages of all": f"{compared.common_calls:,}"} if compared.common_calls else {}),
            **policies(result.name for run in compared.runs for result in run.summary.scores),
        },
        notes=tuple(_notes(compared)),
    )


def differences_table(compared: RunsCompared) -> Table:
    """The first run minus each of the others, score by score, with the tests."""
    names = ("n", "difference", "from", "to", "win-tie-loss", "p", "p Holm", "p t", "p unpaired")
    groups = []
    for name in dict.fromkeys(one.run for one in compared.comparisons):
        rows = [_row(one) for one in compared.comparisons if one.run == name]
        groups.append(Group(f"{compared.runs[0].name} against {name}", tuple(rows)))
    sides = {one.comparison.alternative for one in compared.comparisons}
    tested = "whether the two differ" if sides == {"two-sided"} else "whether the first is better (one-sided)"
    return Table(
        title="Differences",
        columns=(Column("score", "left"), *map(Column, names)),
        groups=tuple(groups),
        facts={"tested": tested, **_pairs(compared), **policies(one.comparison.score for one in compared.comparisons)},
        notes=(DIFFERENCES_NOTE,),
        grouped_by="runs",
    )


def _pairs(compared: RunsCompared) -> dict[str, str]:
    """How the responses of the runs were set beside one another."""
    ways = sum((Counter(run.paired_by) for run in compared.runs), Counter[str]())
    return {"responses paired by": ", ".join(f"{way} ({number:,})" for way, number in ways.items())} if ways else {}


def claims_table(compared: RunsCompared, most: int | None = None) -> Table:
    """The claims on which the runs differ, each with every run's verdict and posterior; at most so many."""
    shown = compared.claims if most is None else compared.claims[:most]
    groups = [
        Group(
            f"{one.response_id}: {one.text}{f' [{one.label}]' if one.label else ''}",
            tuple((run, label, number(one.posteriors.get(run))) for run, label in one.verdicts.items()),
        )
        for one in shown
    ]
    left = len(compared.claims) - len(shown)
    return Table(
        title=f"Claims on which the runs differ: {len(compared.claims)} of {compared.claims_shared}",
        columns=(Column("run", "left"), Column("verdict", "left"), Column("posterior")),
        groups=tuple(groups),
        notes=(f"{left} more: --show N shows N claims, --table claims --format csv all of them.",) if left else (),
        grouped_by="claim",
    )


def short(score: str) -> str:
    """A score's name without its parameters, which `policies` tells once."""
    return _PARAMETERS.sub("", score)


def policies(scores: Iterable[str]) -> dict[str, str]:
    """The short names of scores that have parameters -> these; of runs whose parameters differ, each once."""
    found: dict[str, dict[str, None]] = {}
    for name in scores:
        if short(name) != name:
            found.setdefault(short(name), {})[name[len(short(name)) + 1 : -1]] = None
    return {name: "; ".join(parameters) for name, parameters in found.items()}


def _row(one: RunComparison) -> tuple[Cell, ...]:
    comparison, found = one.comparison, one.comparison.found
    if found is None:
        return (short(comparison.score), "0", *[""] * 8)
    ends = found.ci or (None, None)
    p_values = (
        found.p_permutation,
        one.p_adjusted,
        None if found.t_test is None else found.t_test.p,
        None if found.unpaired is None else found.unpaired.p,
    )
    return (
        short(comparison.score),
        str(comparison.n),
        *(number(value, 3, signed=True) for value in (found.difference, *ends)),
        f"{found.wins}-{found.ties}-{found.losses}",
        *(number(p, 3) for p in p_values),
    )


def _costs(summary: Summary) -> dict[str, int]:
    """What of COSTS was sent."""
    total = next(line for line in summary.accounting.lines if line.stage == TOTAL)
    return dict(zip(COSTS, (total.sent, total.prompt_tokens, total.output_tokens), strict=True))


def _notes(compared: RunsCompared) -> Sequence[str]:
    """What makes the runs less comparable than they look."""
    notes = []
    for run in compared.runs:
        failed = run.summary.responses_failed, run.summary.verdicts.get("failed", 0)
        if any(failed):
            notes.append(f"{run.name}: {failed[0]} responses and {failed[1]} claims failed; they are in no score.")
    others = {run.summary.claims for run in compared.runs} - {compared.claims_shared}
    if others:
        notes.append(
            "Some runs judged further claims that the others did not: scores over responses compare extraction too. "
            "With --claims given, or localfact compare --methods, all judge the same claims."
        )
    return notes
