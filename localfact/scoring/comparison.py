"""Two runs over the same responses: score by score, and claim by claim."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from pydantic import Field

from localfact.records import Assessment, Claim, Record, Verdict
from localfact.scoring.aggregate import ResponseScore, contribution_of
from localfact.scoring.pairing import pair_runs
from localfact.scoring.significance import Alternative, PairedDifference, difference
from localfact.scoring.tally import Unscored
from localfact.vocabulary import NOT_SUPPORTED_LABELS, GoldLabel, VerdictLabel

#: The name of the comparison by claims.
RIGHT = "claims right"


class Comparison(Record):
    """One score of two runs over the same responses.

    Attributes:
        score: its name, with the K that holds for both runs.
        alternative: what is tested against no difference: that the first run's mean is `greater`, `less`, or another.
        n: responses, or claims, that have the score in both runs.
        left_out: why -> how many have not.
        found: None when n = 0.
    """

    score: str
    alternative: Alternative
    n: int
    left_out: Mapping[str, int] = Field(default_factory=dict)
    found: PairedDifference | None = None


class SharedClaim(NamedTuple):
    """A claim that several runs judged: the first run's response and claim, and each run's verdict."""

    response: Assessment
    claim: Claim
    verdicts: Sequence[Verdict]


def compare(
    first: Sequence[Assessment],
    second: Sequence[Assessment],
    score: ResponseScore,
    *,
    alternative: Alternative = "two-sided",
    seed: int = 0,
) -> Comparison:
    """Compares one score of two runs (FactReasoner, Table 4 and section C.4). Responses to one prompt are a cluster.

    Args:
        first, second: two runs over the same responses, or over two models' answers to the same prompts; see `pair_runs`.
        score: one that a response has for itself. Its K is taken from both runs together, so that both are measured alike.
        alternative: of the tests; see `better`.
        seed: of the bootstrap and the permutations.

    Raises:
        InputError: the runs are not over the same responses.
    """
    fitted = score.fit([*first, *second])
    values: list[tuple[float, float]] = []
    clusters: list[str] = []
    left_out: Counter[str] = Counter()
    for one, other in pair_runs(first, second)[0]:
        value, other_value = contribution_of(fitted, one), contribution_of(fitted, other)
        if isinstance(value, Unscored):
            left_out[value.reason] += 1
        elif isinstance(other_value, Unscored):
            left_out[other_value.reason] += 1
        else:
            values.append((value, other_value))
            clusters.append(one.prompt or one.response_id)
    found = _comparison(str(fitted), values, clusters, alternative, left_out, seed)
    return _turn(found) if score.lower_is_better else found


def compare_claims(
    first: Sequence[Assessment], second: Sequence[Assessment], *, alternative: Alternative = "two-sided", seed: int = 0
) -> Comparison:
    """Compares how many of the labelled claims the runs judged rightly, of those that both judged.

    The claims of a response, or of all responses to one prompt, are a cluster.
    A verdict is right where it supports a claim that the label supports, or is in N where the label does not.

    Raises:
        InputError: the runs are not over the same responses.
    """
    values: list[tuple[float, float]] = []
    clusters: list[str] = []
    left_out: Counter[str] = Counter()
    for shared in shared_claims([first, second]):
        right, other_right = (rightness(shared.claim, verdict) for verdict in shared.verdicts)
        if right is None or other_right is None:
            left_out["no label" if shared.claim.gold not in _DECIDED else "not judged"] += 1
        else:
            values.append((float(right), float(other_right)))
            clusters.append(shared.response.prompt or shared.response.response_id)
    return _comparison(RIGHT, values, clusters, alternative, left_out, seed)


def better(score: ResponseScore) -> Alternative:
    """The one-sided alternative that the first run is better, as the papers test."""
    return "less" if score.lower_is_better else "greater"


def shared_claims(runs: Sequence[Sequence[Assessment]]) -> Iterator[SharedClaim]:
    """The claims that all runs judged, those of one id and one text in equal responses, in the order of the first run's input.

    Raises:
        InputError: the runs are not over the same responses.
    """
    first, *others = runs
    paired = [pair_runs(first, other)[0] for other in others]
    for pairs in zip(*paired, strict=True):
        response = pairs[0][0]
        judged = [
            {(claim.id, claim.text): verdict for claim, verdict in zip(other.claims, other.verdicts, strict=False)}
            for _, other in pairs
            if other.text == response.text
        ]
        for claim, verdict in zip(response.claims, response.verdicts, strict=False):
            if len(judged) == len(others) and all((claim.id, claim.text) in each for each in judged):
                yield SharedClaim(response, claim, [verdict, *(each[claim.id, claim.text] for each in judged)])


def supports(verdict: Verdict) -> bool | None:
    """Whether a verdict is S (True) or N (False); None for one that counts in neither."""
    if verdict.label is VerdictLabel.SUPPORTED:
        return True
    return False if verdict.label in NOT_SUPPORTED_LABELS else None


def rightness(claim: Claim, verdict: Verdict) -> bool | None:
    """Whether a verdict agrees with the claim's label; None without a label, or for a verdict that is in neither S nor N."""
    supported = supports(verdict)
    if claim.gold not in _DECIDED or supported is None:
        return None
    return supported == (claim.gold is GoldLabel.SUPPORTED)


_DECIDED = (GoldLabel.SUPPORTED, GoldLabel.NOT_SUPPORTED)


def _turn(comparison: Comparison) -> Comparison:
    """Swaps wins and losses, for a score whose lower values are better."""
    found = comparison.found
    if found is None:
        return comparison
    return comparison.model_copy(update={"found": found.model_copy(update={"wins": found.losses, "losses": found.wins})})


def _comparison(
    name: str,
    values: Sequence[tuple[float, float]],
    clusters: Sequence[str],
    alternative: Alternative,
    left_out: Mapping[str, int],
    seed: int,
) -> Comparison:
    found = None
    if values:
        first, second = np.array(values, dtype=np.float64).T
        found = difference(first, second, alternative, clusters if len(set(clusters)) < len(clusters) else None, seed)
    return Comparison(score=name, alternative=alternative, n=len(values), left_out=dict(left_out), found=found)
