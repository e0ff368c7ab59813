"""Compares runs over the same responses: scores with their tests, costs, and the claims on which they differ."""

from collections.abc import Sequence
from pathlib import Path

from localfact.api.rescore import run_facts
from localfact.errors import InputError
from localfact.records import Assessment, Verdict
from localfact.report.comparison import ComparedRun, DifferingClaim, RunComparison, RunsCompared
from localfact.report.summary import summarise
from localfact.runs.record import read_whole_run
from localfact.scoring import KPolicy, KPrime
from localfact.scoring.aggregate import ResponseScore
from localfact.scoring.comparison import Comparison, SharedClaim, better, compare, compare_claims, shared_claims, supports
from localfact.scoring.pairing import pair_runs
from localfact.scoring.scores import quality_scores
from localfact.scoring.significance import holm


def compare_runs(
    folders: Sequence[str | Path],
    *,
    one_sided: bool = False,
    recall_k: KPolicy | None = None,
    seed: int = 0,
    names: Sequence[str] | None = None,
) -> RunsCompared:
    """Compares the first run with each of the others; nothing is written.

    Args:
        folders: two run folders or more, over the same responses, or over models' answers to the same prompts; those of one
            claim set compare claim by claim too.
        one_sided: tests whether the first run is better, as FactReasoner does (section C.4); else whether the two differ.
        recall_k: the K of F1@K, one for all runs; the median of all when None.
        seed: of what is drawn by lot.
        names: what the runs are called; None: their methods, or their folders.

    Raises:
        MissingError: there is no such run. InputError: fewer than two runs, or runs over other responses.
    """
    paths = [Path(folder) for folder in folders]
    if len(paths) < 2:
        raise InputError("A comparison needs two runs or more: localfact compare RUN RUN. `localfact runs` lists them.")
    records = [read_whole_run(path) for path in paths]
    runs = [record.assessments for record in records]
    facts = [run_facts(record.settings) for record in records]
    called = list(names or _names(paths, [one.method for one in facts]))
    recall_k, k_prime = (recall_k or KPolicy()).fit_all(runs), KPrime.fit([one for run in runs for one in run])
    first, *others = runs
    paired = [pair_runs(first, other) for other in others]
    found = [
        RunComparison(run=name, comparison=one)
        for name, other in zip(called[1:], others, strict=True)
        for one in _comparisons(first, other, one_sided, quality_scores([*first, *other], recall_k, k_prime), seed)
    ]
    tests = [one.comparison.found for one in found]
    adjusted = holm([None if test is None else test.p_permutation for test in tests])
    shared = list(shared_claims(runs))
    return RunsCompared(
        runs=tuple(
            ComparedRun(
                name=name,
                run=str(path),
                summary=summarise(run, fact, run=str(path), recall_k=recall_k, k_prime=k_prime),
                paired_by=found_by,
                partners={other.response_id: one.response_id for one, other in pairs},
            )
            for name, path, run, fact, (pairs, found_by) in zip(called, paths, runs, facts, [([], {}), *paired], strict=True)
        ),
        comparisons=tuple(one.model_copy(update={"p_adjusted": p}) for one, p in zip(found, adjusted, strict=True)),
        claims_shared=len(shared),
        claims=tuple(_differing_claims(shared, called)),
    )


def _comparisons(
    first: Sequence[Assessment], second: Sequence[Assessment], one_sided: bool, scores: Sequence[ResponseScore], seed: int
) -> list[Comparison]:
    """Compares two runs by these scores, and by the labelled claims that both judged."""
    found = [
        compare(first, second, score, alternative=better(score) if one_sided else "two-sided", seed=seed) for score in scores
    ]
    claims = compare_claims(first, second, alternative="greater" if one_sided else "two-sided", seed=seed)
    return [*found, *([claims] if claims.n else [])]


def _names(paths: Sequence[Path], methods: Sequence[str]) -> list[str]:
    """Names the runs by their methods; adds folders where methods repeat, and numbers where folders repeat too."""
    if len(set(methods)) == len(methods):
        return list(methods)
    names = [f"{method} ({path.name})" for method, path in zip(methods, paths, strict=True)]
    return names if len(set(names)) == len(names) else [f"{place}. {name}" for place, name in enumerate(names, start=1)]


def _differing_claims(shared: Sequence[SharedClaim], names: Sequence[str]) -> list[DifferingClaim]:
    rows = []
    for response, claim, verdicts in shared:
        if len({supports(verdict) for verdict in verdicts}) == 1:
            continue
        posteriors = {
            name: verdict.posterior for name, verdict in zip(names, verdicts, strict=True) if verdict.posterior is not None
        }
        sides = [_side(verdict) if verdict.posterior is None else verdict.posterior for verdict in verdicts]
        rows.append(
            DifferingClaim(
                response_id=response.response_id,
                claim_id=claim.id,
                text=claim.text,
                label=claim.gold.value if claim.gold else None,
                verdicts={name: verdict.label.value for name, verdict in zip(names, verdicts, strict=True)},
                posteriors=posteriors,
                spread=max(sides) - min(sides),
            )
        )
    return sorted(rows, key=lambda row: -row.spread)


def _side(verdict: Verdict) -> float:
    """A number in place of a posterior for a verdict that has none: 1 for a claim in S, 0 for one in N, 0.5 otherwise."""
    return {True: 1.0, False: 0.0, None: 0.5}[supports(verdict)]
