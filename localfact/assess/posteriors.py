"""Turns a claim's posterior into a verdict with a one-sentence rationale (FactReasoner, section 3.2)."""

from collections.abc import Iterable

from localfact.records import Claim, CountedPassage, Relation, Verdict
from localfact.vocabulary import RelationLabel, VerdictLabel

#: A posterior this near to one half is undecided, however exact the solver is.
HALF_TOLERANCE = 1e-6
#: The most passages that a verdict lists.
PASSAGES_NAMED = 5


def verdict_of(claim: Claim, posterior: float, error: float, relations: Iterable[tuple[Relation, float]]) -> Verdict:
    """Decides one claim: undecided within `error` of one half, else supported above it and contradicted below.

    Args:
        posterior: P(claim). error: the solver's, see `Marginals.error`.
        relations: those that joined passages to this claim in the graph, each with its shift of the posterior. A passage with
            several of them counts once, with the largest shift.

    The verdict lists the passages with the largest shifts.
    """
    strongest: dict[str, tuple[Relation, float]] = {}
    for relation, shift in sorted(relations, key=lambda one: (-abs(one[1]), -one[0].probability, one[0].source)):
        strongest.setdefault(relation.source, (relation, shift))
    return Verdict(
        claim_id=claim.id,
        label=_label(posterior, error),
        posterior=posterior,
        rationale=_rationale([relation.label for relation, _ in strongest.values()], posterior),
        passages=tuple(
            CountedPassage(passage_id=relation.source, relation=relation.label, probability=relation.probability, shift=shift)
            for relation, shift in list(strongest.values())[:PASSAGES_NAMED]
        ),
    )


def failed(claim: Claim, reason: str) -> Verdict:
    """The verdict of a claim that could not be assessed."""
    return Verdict(claim_id=claim.id, label=VerdictLabel.FAILED, rationale=reason)


def _label(posterior: float, error: float) -> VerdictLabel:
    if abs(posterior - 0.5) <= max(HALF_TOLERANCE, error):
        return VerdictLabel.UNDECIDED
    return VerdictLabel.SUPPORTED if posterior > 0.5 else VerdictLabel.CONTRADICTED


def _rationale(labels: list[RelationLabel], posterior: float) -> str:
    """For example "2 passages entail it, 1 contradicts it; posterior 0.93"."""
    phrases: list[str] = []
    for label, one, many in (
        (RelationLabel.ENTAILMENT, "entails it", "entail it"),
        (RelationLabel.CONTRADICTION, "contradicts it", "contradict it"),
    ):
        if count := labels.count(label):
            noun = "" if phrases else " passage" if count == 1 else " passages"
            phrases.append(f"{count}{noun} {one if count == 1 else many}")
    return f"{', '.join(phrases) or 'no passage entails or contradicts it'}; posterior {posterior:.2f}"
