"""Puts together the assessment of a response from what the stages returned."""

from collections import Counter
from collections.abc import Mapping, Sequence

from localfact.records import (
    Assessment,
    AssessmentStatus,
    Claim,
    Distribution,
    Evidence,
    Extraction,
    Failure,
    Judgement,
    Response,
    Verdict,
)
from localfact.stages import Relations
from localfact.vocabulary import NOT_SUPPORTED_LABELS, GoldLabel, VerdictLabel


def begin_assessment(index: int, response: Response) -> Assessment:
    """An assessment with what the response itself says, and nothing judged yet: failed, until more is put in."""
    gold_supported, gold_not_supported = gold_counts(response)
    return Assessment(
        index=index,
        response_id=response.id,
        id_given=response.id_given,
        prompt=response.prompt,
        topic=response.topic,
        model=response.model,
        source=response.source,
        sample=response.sample,
        text=response.text,
        status="failed",
        gold_supported=gold_supported,
        gold_not_supported=gold_not_supported,
    )


def assessment_of(
    index: int,
    response: Response,
    extraction: Extraction,
    evidence: Evidence,
    judgement: Judgement,
    counted: Mapping[str, Mapping[str, int]] | None = None,
) -> Assessment:
    """Builds the assessment from what the stages returned; every claim must have exactly one verdict, in order."""
    if [verdict.claim_id for verdict in judgement.verdicts] != [claim.id for claim in extraction.claims]:
        raise AssertionError("an assessor must return one verdict a claim, in the order of the claims")
    counted = counted or {}
    counted_ids = {passage.passage_id for verdict in judgement.verdicts for passage in verdict.passages}
    dropped = {f"dropped_{reason.replace(' ', '_')}": count for reason, count in sorted(extraction.dropped.items())}
    counts = {
        "extract": {
            "claims": len(extraction.claims),
            "lines_unparsed": len(extraction.unparsed),
            **extraction.counts,
            **dropped,
        },
        "retrieve": {"passages": len(evidence.passages), **counted.get("retrieve", {}), **evidence.counts},
        "relate": counted.get("relate", {}),
        "assess": judgement.counts,
    }
    return begin_assessment(index, response).model_copy(
        update={
            "status": status_of(judgement.verdicts, unread=extraction.unread),
            "claims": extraction.claims,
            "verdicts": judgement.verdicts,
            "passages": tuple(passage for passage in evidence.passages if passage.id in counted_ids),
            "relations": judgement.relations,
            "unparsed": extraction.unparsed,
            "counts": counts,
            "warnings": (*extraction.warnings, *evidence.notes, *judgement.warnings),
        }
    )


def with_failures(judgement: Judgement, claims: Sequence[Claim], failures: Mapping[str, str]) -> Judgement:
    """The judgement with a failed verdict inserted, in its place, for every claim whose evidence could not be retrieved."""
    if not failures:
        return judgement
    judged = {verdict.claim_id: verdict for verdict in judgement.verdicts}
    failed = {claim: Verdict(claim_id=claim, label=VerdictLabel.FAILED, rationale=why) for claim, why in failures.items()}
    verdicts = tuple((judged | failed)[claim.id] for claim in claims)
    return judgement.model_copy(update={"verdicts": verdicts})


def status_of(verdicts: Sequence[Verdict], *, unread: bool = False) -> AssessmentStatus:
    """Abstained without claims, unless the text was not read; unscored when no verdict is in S or N; scored otherwise."""
    if not verdicts:
        return "unscored" if unread else "abstained"
    scored = NOT_SUPPORTED_LABELS | {VerdictLabel.SUPPORTED}
    return "scored" if any(verdict.label in scored for verdict in verdicts) else "unscored"


def gold_counts(response: Response) -> tuple[int | None, int | None]:
    """How many claims of the annotation are supported and not supported; (None, None) without an annotation."""
    annotated = response.annotation if response.annotation is not None else response.claims or ()
    labels = Counter(claim.gold for claim in annotated if claim.gold is not None)
    if not labels:
        return None, None
    return labels[GoldLabel.SUPPORTED], labels[GoldLabel.NOT_SUPPORTED]


def count_pairs(relations: Relations) -> dict[str, int]:
    """How many pairs were asked, how many of them failed, and how many, if any, were read in several windows."""
    failures = sum(isinstance(prediction, Failure) for prediction in relations.values())
    several = sum(isinstance(prediction, Distribution) and prediction.windows > 1 for prediction in relations.values())
    return {"pairs": len(relations), "pairs_failed": failures, **({"pairs_in_windows": several} if several else {})}
