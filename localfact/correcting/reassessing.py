"""Assesses claims again, by the same pipeline and what was found before: each claim has the passages that spoke to it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from localfact.assembling import status_of
from localfact.pipeline import Costs, Observer, Pipeline
from localfact.records import Assessment, Claim, Evidence, Extraction, Hit, Response, Verdict
from localfact.stages import ClaimExtractor, Retriever
from localfact.vocabulary import VerdictLabel

HALF = 0.5


@dataclass(frozen=True)
class KnownClaims(ClaimExtractor):
    """An extractor that passes these on."""

    claims: tuple[Claim, ...]

    async def extract(self, response: Response) -> Extraction:
        """The claims."""
        return Extraction(claims=self.claims)


@dataclass(frozen=True)
class KnownEvidence(Retriever):
    """A retriever that passes this on."""

    evidence: Evidence

    async def retrieve(self, response: Response, claims: Sequence[Claim]) -> Evidence:
        """The evidence."""
        return self.evidence


async def reassess(
    pipeline: Pipeline,
    assessed: Assessment,
    text: str,
    claims: Sequence[Claim],
    costs: Costs,
    observe: Observer,
    *,
    likes: Mapping[str, str] | None = None,
) -> Assessment:
    """Assesses claims by the evidence of an assessment. One that no passage spoke to keeps its verdict.

    Args:
        text: the response that they are of.
        claims: some of those of the assessment, perhaps in other words.
        likes: id of a claim that the assessment has not -> that of one whose evidence it gets.
    """
    known_as = {claim.id: (likes or {}).get(claim.id, claim.id) for claim in claims}
    own = passages_by_claim(assessed)
    asked = [claim for claim in claims if own[known_as[claim.id]]]
    evidence = evidence_for(assessed, {claim.id: own[known_as[claim.id]] for claim in asked})
    again = replace(
        pipeline, extractor=KnownClaims(tuple(asked)), retriever=KnownEvidence(evidence), explainer=None, flagger=None
    )
    shared = Response.model_fields.keys() & Assessment.model_fields.keys() - {"claims", "text"}
    response = Response(id=assessed.response_id, text=text, **{name: getattr(assessed, name) for name in shared})
    found = await again.assess(assessed.index, response, costs, observe)
    before = {verdict.claim_id: verdict for verdict in assessed.verdicts}
    after = {verdict.claim_id: verdict for verdict in found.verdicts}
    verdicts = tuple(after.get(claim.id) or before[known_as[claim.id]] for claim in claims)
    return found.model_copy(update={"claims": tuple(claims), "verdicts": verdicts, "status": status_of(verdicts)})


def passages_by_claim(assessed: Assessment) -> dict[str, list[str]]:
    """Id of a claim -> the ids of the passages that entered its verdict; none of a claim whose assessment failed."""
    known = {passage.id for passage in assessed.passages}
    found = {verdict.claim_id: [one.passage_id for one in verdict.passages] for verdict in assessed.verdicts}
    for relation in assessed.relations:
        if relation.target in found:
            found[relation.target].append(relation.source)
    failed = {verdict.claim_id for verdict in assessed.verdicts if verdict.label is VerdictLabel.FAILED}
    return {
        claim: [] if claim in failed else [one for one in dict.fromkeys(ids) if one in known] for claim, ids in found.items()
    }


def evidence_for(assessed: Assessment, own: Mapping[str, Sequence[str]]) -> Evidence:
    """The passages of an assessment, those of each claim found for it, and so that no gate lets others to it."""
    named = {one for ids in own.values() for one in ids}
    passages = tuple(passage for passage in assessed.passages if passage.id in named)
    return Evidence(
        passages=passages,
        hits={
            claim: tuple(Hit(passage_id=one, rank=rank, score=1 / rank) for rank, one in enumerate(ids, start=1))
            for claim, ids in own.items()
        },
        affinity={claim: {passage.id: float(passage.id in ids) for passage in passages} for claim, ids in own.items()},
    )


def holds(verdict: Verdict) -> bool:
    """Whether a claim is more likely true than not; by its label where the method computes no probability."""
    return verdict.label is VerdictLabel.SUPPORTED if verdict.posterior is None else verdict.posterior > HALF
