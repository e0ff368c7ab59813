"""What is wrong with the claims of a run, as FastFact counts it (appendix C.2; Table 5, Figure 4), with a judge or without one.

Without a judge only redundancy is found: claims of a response that a relation model finds to entail one another.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from pydantic import Field

from localfact.api.relate import relate_all
from localfact.claims.failures import FailureJudge, Inspected, repetition
from localfact.claims.failures import Judging as Judging
from localfact.errors import InputError
from localfact.methods.engine import engine_facts, open_engine
from localfact.methods.options import Options
from localfact.methods.relations import DEFAULT_RELATIONS, find_relation_model
from localfact.methods.uses import keep_used, relation_parts
from localfact.records import Assessment, Distribution, Pair, Record
from localfact.runs.assessments import read_assessments
from localfact.runs.progress import SILENT, Progress
from localfact.runs.run_folder import CALLS_FILE
from localfact.runtime.tasks import complete, together
from localfact.runtime.usage import Ledger, usage_counted_in
from localfact.vocabulary import ClaimFailure, MissingKind

#: Two claims are the same where each entails the other with at least this probability.
SAME = 0.5


class ClaimFailures(Record):
    """What is wrong with the claims of one model's responses, as counts.

    Attributes:
        model: who wrote the responses; "" where none is named.
        responses: number of responses.
        claims: number of claims in them.
        judged: number of claims of which the judge said what kind they are ("acceptable" is one).
        asked: number of claims in the responses of which the judge said what statements are missing.
        failures: failure -> number of claims; empty without a judge.
        missing: kind -> number of statements that the judge missed; empty without a judge.
        entailed: kind of redundancy -> number of claims that repeat an earlier claim of the response: each of the two entails
            the other, by the relation model, without a judge.
        unrelated: number of pairs of claims for which the relation model failed; they do not count as repetitions.
        unanswered: reason -> number of calls of the judge that gave no answer for that reason.
    """

    model: str
    responses: int
    claims: int
    judged: int = 0
    asked: int = 0
    failures: Mapping[str, int] = Field(default_factory=dict)
    missing: Mapping[str, int] = Field(default_factory=dict)
    entailed: Mapping[str, int] = Field(default_factory=dict)
    unrelated: int = 0
    unanswered: Mapping[str, int] = Field(default_factory=dict)

    @property
    def failed(self) -> int:
        """Calls of the judge that gave no answer."""
        return sum(self.unanswered.values())


def claim_failures(
    run: str | Path, *, options: Options, judging: Judging = "each", progress: Progress = SILENT
) -> list[ClaimFailures]:
    """Inspects the claims of a run, model by model.

    Args:
        run: a run folder.
        options: the judge, where one is named; the relation model. What a judge answers is kept in the run folder where no
            transcript is named: the same call goes on where it stopped.
        judging: "each" asks the judge about each claim by its probabilities, "whole" about all of a response in one call.
        progress: counts responses.

    Raises:
        MissingError: there is no such run, or weights are missing. InputError: the run has no claims.
    """
    assessments = [one for one in read_assessments(Path(run)) if one.claims]
    if not assessments:
        raise InputError(f"The run {run} has no claims to be looked at.")
    options = keep_used(options, relation_parts([options.relations or DEFAULT_RELATIONS], asks=options.names_model), "failures")
    if options.names_model and options.replay is None:
        options = options.model_copy(update={"transcript": options.transcript or Path(run) / CALLS_FILE})
    entailed = complete(_find_entailed(assessments, options))
    inspected: Sequence[Inspected | None] = [None] * len(assessments)
    if options.names_model:
        inspected = complete(_inspect(assessments, options, judging, progress))
    by_model: dict[str, list[LookedAt]] = {}
    for looked_at in zip(assessments, entailed, inspected, strict=True):
        by_model.setdefault(looked_at[0].model or "", []).append(looked_at)
    return [_sum_failures(model, responses) for model, responses in by_model.items()]


@dataclass(frozen=True)
class Entailed:
    """Redundant claims of a response without a judge, by kind; and the pairs of claims that could not be related."""

    redundant: Mapping[ClaimFailure, int]
    unrelated: int


#: A response, what was found of it without a judge, and by the judge, where there is one.
LookedAt = tuple[Assessment, Entailed, Inspected | None]


async def _inspect(
    assessments: Sequence[Assessment], options: Options, judging: Judging, progress: Progress
) -> list[Inspected]:
    progress.begin(len(assessments), 0)
    async with AsyncExitStack() as opened:
        judge = FailureJudge(open_engine(options, opened, engine_facts(options)), seed=options.seed, judging=judging)

        async def one(assessment: Assessment) -> Inspected:
            with usage_counted_in(Ledger()):
                found = await judge.inspect(assessment.text, assessment.claims)
            progress.count("claims", len(assessment.claims))
            progress.row_done()
            return found

        return await together(one(assessment) for assessment in assessments)


async def _find_entailed(assessments: Sequence[Assessment], options: Options) -> list[Entailed]:
    """Finds the claims of each response that repeat an earlier one: each of the two entails the other."""
    pairs = [(place, pair) for place, one in enumerate(assessments) for pair in combinations(range(len(one.claims)), 2)]
    asked = []
    for place, (first, second) in pairs:
        one, other = assessments[place].claims[first].text, assessments[place].claims[second].text
        asked += [Pair(one, other), Pair(other, one)]
    said = await relate_all(find_relation_model(options), asked)
    repeats: list[dict[int, list[int]]] = [{} for _ in assessments]
    unrelated = [0] * len(assessments)
    for number, (place, (first, second)) in enumerate(pairs):
        ways = said[2 * number : 2 * number + 2]
        if not all(isinstance(one, Distribution) for one in ways):
            unrelated[place] += 1
        elif all(isinstance(one, Distribution) and one.entailment >= SAME for one in ways):
            repeats[place].setdefault(second, []).append(first)
    return [
        Entailed(
            Counter(
                repetition(assessment.text, assessment.claims[later], [assessment.claims[earlier] for earlier in before])
                for later, before in found.items()
            ),
            failed,
        )
        for assessment, found, failed in zip(assessments, repeats, unrelated, strict=True)
    ]


def _sum_failures(model: str, responses: Sequence[LookedAt]) -> ClaimFailures:
    redundant = Counter[ClaimFailure]()
    for _, entailed, _ in responses:
        redundant.update(entailed.redundant)
    inspected = [(len(one.claims), found) for one, _, found in responses if found is not None]
    judged = [failure for _, found in inspected for failure in found.failures if failure is not None]
    missing = Counter(kind for _, found in inspected for _, kind in found.missing or ())
    return ClaimFailures(
        model=model,
        responses=len(responses),
        claims=sum(len(one.claims) for one, _, _ in responses),
        judged=len(judged),
        asked=sum(claims for claims, found in inspected if found.missing is not None),
        failures={kind.value: judged.count(kind) for kind in ClaimFailure} if inspected else {},
        missing={kind.value: missing[kind] for kind in MissingKind} if inspected else {},
        entailed={kind.value: redundant[kind] for kind in (ClaimFailure.INTRA_SENTENCE, ClaimFailure.INTER_SENTENCE)},
        unrelated=sum(entailed.unrelated for _, entailed, _ in responses),
        unanswered=Counter(reason for _, found in inspected for reason in found.reasons),
    )
