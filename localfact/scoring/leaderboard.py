"""Models ranked by the factuality of what they wrote, over several sources of prompts (FastFact, Figure 3 and Table 8)."""

from collections.abc import Mapping, Sequence
from statistics import fmean

from pydantic import Field

from localfact.records import Assessment, Record
from localfact.scoring.aggregate import contribution_of, score
from localfact.scoring.recall import GAMMA
from localfact.scoring.scores import F1AtKPrime, Precision
from localfact.scoring.tally import UNJUDGED, Unscored, tally

#: Stages whose calls are a response's cost.
COSTS = ("prompt_tokens", "output_tokens")


class Standing(Record):
    """One model.

    Attributes:
        model: who wrote the responses.
        source: of the prompts that they answer; None for all.
        responses: how many.
        scored: of them with a score.
        by_source: source -> mean F1@K'.
        average: the mean over sources, each counting once (macro average); None where a source that another model has is
            missing, since then it would be another mean.
        with_zeros: the same with abstained and unscored responses as 0.
        precision: the mean over responses.
        claims: a response, on average.
        preverified: share of claims that were settled before any evidence.
        tokens: of all prompts and answers a response. prompt_tokens, output_tokens: of these.
        supported: claims a response.
        words, sentences: of a response. cost: of judging one, by prices that were given. All are filled in by who knows them.
    """

    model: str
    source: str | None = None
    responses: int
    scored: int
    by_source: Mapping[str, float] = Field(default_factory=dict)
    average: float | None = None
    with_zeros: float | None = None
    precision: float | None = None
    claims: float = 0.0
    preverified: float | None = None
    tokens: float = 0.0
    prompt_tokens: float = 0.0
    output_tokens: float = 0.0
    supported: float = 0.0
    words: float | None = None
    sentences: float | None = None
    cost: float | None = None


class PromptCounts(Record):
    """Whether models answered the same prompts; a prompt is its source and its text.

    Attributes:
        prompts: how many there are.
        not_by_all: of them, those that some model did not answer.
        without: responses that have no prompt, where there are several models.
    """

    prompts: int = 0
    not_by_all: int = 0
    without: int = 0


def count_prompts(written: Mapping[str, Sequence[Assessment]]) -> PromptCounts:
    """Counts the prompts of the responses of models (model -> assessments)."""
    answered = [{(one.source, one.prompt) for one in each if one.prompt is not None} for each in written.values()]
    everything = {prompt for prompts in answered for prompt in prompts}
    not_by_all = sum(any(prompt not in prompts for prompts in answered) for prompt in everything)
    without = sum(one.prompt is None for each in written.values() for one in each)
    return PromptCounts(prompts=len(everything), not_by_all=not_by_all, without=without if len(written) > 1 else 0)


def leaderboard(written: Mapping[str, Sequence[Assessment]], gamma: float = GAMMA) -> list[Standing]:
    """The models, best average first; those without one last.

    Args:
        written: model -> assessments of its responses.
        gamma: of F1@K', whose K' is the annotation's, else the median of the source over all models, so that one K' holds for
            all.
    """
    everything = [one for assessments in written.values() for one in assessments]
    f1 = F1AtKPrime(gamma=gamma).fit(everything)
    sources = dict.fromkeys(one.source or "" for one in everything)
    found = []
    for model, assessments in written.items():
        values: dict[str, list[float]] = {source: [] for source in sources}
        zeros: dict[str, list[float]] = {source: [] for source in sources}
        for one in assessments:
            value = contribution_of(f1, one)
            if not isinstance(value, Unscored):
                values[one.source or ""].append(value)
            elif value.reason in UNJUDGED:
                zeros[one.source or ""].append(0.0)
        means = {source: fmean(each) for source, each in values.items() if each}
        both = {source: fmean([*values[source], *zeros[source]]) for source in sources if values[source] or zeros[source]}
        claims = sum(len(one.claims) for one in assessments)
        (precision,) = score(assessments, [Precision()])
        found.append(
            Standing(
                model=model,
                responses=len(assessments),
                scored=precision.n,
                by_source=means,
                average=fmean(means.values()) if means and len(means) == len(sources) else None,
                with_zeros=fmean(both.values()) if both and len(both) == len(sources) else None,
                precision=precision.value,
                claims=claims / max(1, len(assessments)),
                preverified=_share_preverified(assessments, claims),
                tokens=sum(_tokens(one, name) for one in assessments for name in COSTS) / max(1, len(assessments)),
                prompt_tokens=sum(_tokens(one, "prompt_tokens") for one in assessments) / max(1, len(assessments)),
                output_tokens=sum(_tokens(one, "output_tokens") for one in assessments) / max(1, len(assessments)),
                supported=sum(tally(one).supported for one in assessments) / max(1, len(assessments)),
            )
        )
    return sorted(found, key=lambda one: (one.average is None, -(one.average or 0), one.model))


def _share_preverified(assessments: Sequence[Assessment], claims: int) -> float | None:
    """The share of claims that needed no evidence; None where none was pre-verified."""
    if not claims or all(claim.preverification is None for one in assessments for claim in one.claims):
        return None
    return 1 - sum(one.counts.get("retrieve", {}).get("claims", 0) for one in assessments) / claims


def _tokens(assessment: Assessment, name: str) -> float:
    return sum(float(stage.get(name, 0)) for stage in assessment.usage.values())
