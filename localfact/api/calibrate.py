"""Calibrates theta on labelled claims: the error rate of claims that the gate would accept, and the searches that it saves.

The statistics are in `scoring/risk.py`; here claims are pre-verified as in an evaluation of given claims, and compared with the
annotator's labels.
"""

from collections.abc import Sequence
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from typing import Any

from localfact.assess.gate import THETA
from localfact.assess.priormap import PriorMap, fit_prior_map
from localfact.assess.priors import expect_truth
from localfact.errors import InputError
from localfact.inputs.responses import MAX_WORDS, read_responses
from localfact.methods.engine import open_engine
from localfact.methods.extraction import open_extractor
from localfact.methods.options import Options
from localfact.methods.registry import find_method
from localfact.methods.wiring import Configuration, configure
from localfact.pipeline import observe_usage
from localfact.records import Claim, Extraction, Failure, Record, Response
from localfact.runs.failures import or_failure
from localfact.runs.progress import SILENT, Progress
from localfact.runs.run import CONCURRENCY_OF_CALLS
from localfact.runtime.interrupts import interruptible
from localfact.runtime.tasks import complete, for_each
from localfact.runtime.usage import Ledger, usage_counted_in
from localfact.scoring.risk import DELTA, LARGEST_DELTA, LARGEST_RISK, RiskPoint, risk_curve, smallest_theta
from localfact.vocabulary import GoldLabel, PreVerificationLabel

#: Definite label -> the annotator's label that agrees with it.
AGREES = {
    PreVerificationLabel.SUPPORTED: GoldLabel.SUPPORTED,
    PreVerificationLabel.NON_SUPPORTED: GoldLabel.NOT_SUPPORTED,
    PreVerificationLabel.IRRELEVANT: GoldLabel.IRRELEVANT,
}


class ThetaCalibration(Record):
    """The result of a calibration.

    Attributes:
        responses: with labelled claims.
        passed_over: rows without any, or unusable.
        failed: responses the model failed on.
        claims: labelled ones, all of them.
        definite: those with a definite pre-verification label.
        indefinite: how many carry each of the other labels, or none.
        points: risk and saving for each theta, the largest first.
        chosen: the smallest theta whose risk is at most `max_risk`, with probability 1 - delta; None if there is no such theta.
        prior_map: from the extractor's confidence in claims to how often such claims are supported; None unless asked for.
        warnings: sentences the reader must know.
    """

    method: str
    model: str
    responses: int
    passed_over: int
    failed: int
    claims: int
    definite: int
    indefinite: int
    max_risk: float
    delta: float
    points: tuple[RiskPoint, ...]
    chosen: RiskPoint | None
    prior_map: PriorMap | None = None
    warnings: tuple[str, ...] = ()


def calibrate(
    data: str | Path,
    *,
    method: str | None = None,
    options: Options | None = None,
    max_risk: float = 0.05,
    delta: float = DELTA,
    with_prior_map: bool = False,
    limit: int | None = None,
    max_words: int = MAX_WORDS,
    concurrency: int | None = None,
    progress: Progress = SILENT,
) -> ThetaCalibration:
    """Pre-verifies the labelled claims of a file and chooses theta.

    Args:
        data: responses whose claims carry labels, in any schema of inputs/responses.py; the claims of `localfact extract` keep
            their pre-verification.
        method: one with a gate; fastfact when None.
        options: name the model, or a transcript.
        with_prior_map: also fits a calibration map of priors (`assess.priormap`).
        max_risk: the largest share of wrong ones among accepted claims.
        delta: the probability that it is exceeded.

    Raises:
        InputError: no labelled claims, or max_risk or delta out of its range (scoring/risk.py); and as `open_engine`.
    """
    for name, value, largest in (("--max-risk", max_risk, LARGEST_RISK), ("--delta", delta, LARGEST_DELTA)):
        if not 0 < value <= largest:
            raise InputError(f"{name} must be above 0 and at most {largest}, not {value}.")
    # With a theta named, the model is asked for its opinions also where its card trusts none.
    options = (options or Options()).model_copy(update={"claims": "given", "theta": THETA})
    if not find_method(method or "fastfact").uses_theta:
        raise InputError(f"The method {method} has no gate with a theta; take --method fastfact.")
    rows = read_responses(Path(data), max_words=max_words, limit=limit)
    labelled = [row for row in rows if row.problem is None and any(claim.gold for claim in row.claims or ())]
    if not labelled:
        raise InputError(f"{data} has no labelled claims: 'claims' with a 'label' of S, NS or IR are needed.")
    chosen = configure(method or "fastfact", options)
    if chosen.facts is None:
        raise AssertionError("a method with a gate asks a language model")
    found, failures = complete(
        preverify_claims(labelled, chosen, concurrency or chosen.facts.at_once(CONCURRENCY_OF_CALLS), progress)
    )
    claims = [claim for claim in found if claim.gold is not None]
    definite = [(one, claim.gold) for claim in claims if (one := claim.preverification) and one.label in AGREES]
    points = risk_curve(
        [opinion.confidence for opinion, _ in definite],
        [AGREES[opinion.label] is gold for opinion, gold in definite],
        total=len(claims),
        delta=delta,
    )
    prior_map: PriorMap | None = None
    warnings = [f"{len(failures)} responses failed and are not in the figures: {failures[0]}"] if failures else []
    if with_prior_map:
        try:
            prior_map = prior_map_of(claims, chosen.facts.identity.model)
        except InputError as error:
            warnings.append(f"No map of priors was made: {error}")
    return ThetaCalibration(
        method=chosen.method.name,
        model=chosen.facts.identity.model,
        responses=len(labelled),
        passed_over=len(rows) - len(labelled),
        failed=len(failures),
        claims=len(claims),
        definite=len(definite),
        indefinite=len(claims) - len(definite),
        max_risk=max_risk,
        delta=delta,
        points=tuple(points),
        chosen=smallest_theta(points, max_risk),
        prior_map=prior_map,
        warnings=tuple(warnings),
    )


def prior_map_of(claims: Sequence[Claim], model: str) -> PriorMap:
    """The map from the expected truth of claims to the share that annotators support; irrelevant claims are left out."""
    known = [
        (expect_truth(claim.preverification), claim.gold is GoldLabel.SUPPORTED)
        for claim in claims
        if claim.preverification is not None and claim.gold is not GoldLabel.IRRELEVANT
    ]
    return fit_prior_map([expected for expected, _ in known], [supported for _, supported in known], model)


async def preverify_claims(
    responses: Sequence[Response], chosen: Configuration, concurrency: int, progress: Progress
) -> tuple[list[Claim], list[str]]:
    """Extracts claims with the model's own opinion of each, before any evidence (FastFact's pre-verification).

    Returns all claims in the order of their responses, and for each response that failed the reason.

    Raises:
        LocalFactError: one that concerns every response. Any other error fails its own response.
    """
    results: dict[int, Extraction | Failure] = {}

    async def one(numbered: tuple[int, Response]) -> None:
        number, response = numbered
        with usage_counted_in(Ledger(watch=partial(observe_usage, progress.count))):
            results[number] = await or_failure(extractor.extract(response))
        progress.row_done()

    async with AsyncExitStack() as opened:
        with interruptible():
            engine = open_engine(chosen.options, opened, chosen.facts)
        extractor = open_extractor(chosen.settings.extraction, engine, chosen.settings.seed)
        progress.begin(len(responses), 0)
        await for_each(enumerate(responses), one, concurrency)
    in_order = [results[number] for number in range(len(responses))]
    claims = [claim for result in in_order if not isinstance(result, Failure) for claim in result.claims]
    failed = zip(responses, in_order, strict=True)
    return claims, [f"{response.id}: {result.reason}" for response, result in failed if isinstance(result, Failure)]


def view_rows(calibration: ThetaCalibration) -> list[dict[str, Any]]:
    """The points as rows for people."""
    return [
        {
            "theta": f"{point.theta:.6g}",
            "accepted": point.accepted,
            "wrong": point.wrong,
            "risk": f"{point.risk:.3f}" if point.risk is not None else "",
            f"upper bound at {1 - calibration.delta:.0%}": f"{point.bound:.3f}",
            "skips the search": f"{point.skipped:.1%}",
        }
        for point in calibration.points
    ]
