"""Turns a claim's posterior into a verdict with a sentence that says why (FactReasoner, section 3.2)."""

from collections.abc import Collection, Iterable
from typing import Literal

from localfact.inference.factor_graph import CLAIM_PRIOR
from localfact.records import Claim, CountedPassage, Relation, Verdict
from localfact.vocabulary import RelationLabel, VerdictLabel

#: A posterior this near to one half is undecided, however exact the solver is.
HALF_TOLERANCE = 1e-6
#: What else makes a verdict: the paper's rule alone, or ours before it.
Rules = Literal["published", "own"]
#: By our own rules: a posterior this near to one half is undecided too, ...
UNSURE = 0.05
#: ... and one in these bounds is conflicting where an entailment and a contradiction are both at least so probable.
BETWEEN, STRONG = (0.35, 0.65), 0.7
#: With soft relations: how far evidence that is mostly neutral has to move a claim from its prior to decide it.
LEAST_MOVED = 0.2
#: The most passages that a verdict lists.
PASSAGES_NAMED = 5


def verdict_of(
    claim: Claim,
    posterior: float,
    error: float,
    relations: Iterable[tuple[Relation, float]],
    rules: Rules = "published",
    prior: float = CLAIM_PRIOR,
    within: float | None = None,
    beside: Collection[Relation] = (),
) -> Verdict:
    """Decides one claim: undecided within `error` of one half, else supported above it and contradicted below.

    By our own rules, a claim without relations has not enough evidence, whatever its posterior, which is then its prior; and
    one near to one half is conflicting or undecided. With soft relations, a claim whose passages are all rather neutral, and
    that they moved by less than LEAST_MOVED, has not enough evidence either.

    Args:
        within: how near to one half a claim is undecided; None for what the rules have.
        posterior: P(claim). prior: what it was before any evidence.
        error: the solver's, see `Marginals.error`.
        relations: those that joined passages to this claim in the graph, each with its shift of the posterior. A passage with
            several of them counts once, with the largest shift.
        beside: relations with other claims of the text that passages speak to: they carry that evidence over, and decide a
            claim that no passage speaks to where they move it by LEAST_MOVED.

    The verdict lists the passages with the largest shifts.
    """
    strongest: dict[str, tuple[Relation, float]] = {}
    for relation, shift in sorted(relations, key=lambda one: (-abs(one[1]), -one[0].probability, one[0].source)):
        strongest.setdefault(relation.source, (relation, shift))
    related = [relation for relation, _ in strongest.values()]
    return Verdict(
        claim_id=claim.id,
        label=label_of(posterior, error, related, rules, prior, within, carried=bool(beside)),
        posterior=posterior,
        rationale=_rationale(related, posterior, beside),
        passages=tuple(
            CountedPassage(passage_id=relation.source, relation=relation.label, probability=relation.probability, shift=shift)
            for relation, shift in list(strongest.values())[:PASSAGES_NAMED]
        ),
    )


def label_of(
    posterior: float,
    error: float,
    related: Collection[Relation],
    rules: Rules,
    prior: float = CLAIM_PRIOR,
    within: float | None = None,
    *,
    carried: bool = False,
) -> VerdictLabel:
    """The verdict that a posterior gives, beside the relations that joined passages to the claim; see `verdict_of`."""
    if rules == "own":
        unread = not related and not carried
        if all(map(is_rather_neutral, related)) and (unread or abs(posterior - prior) < LEAST_MOVED):
            return VerdictLabel.NOT_ENOUGH_EVIDENCE
        strong = {relation.label for relation in related if probability_of_label(relation) >= STRONG}
        if BETWEEN[0] <= posterior <= BETWEEN[1] and strong >= {RelationLabel.ENTAILMENT, RelationLabel.CONTRADICTION}:
            return VerdictLabel.CONFLICTING
    if abs(posterior - 0.5) < unsure_of(rules, within):
        return VerdictLabel.UNDECIDED
    if abs(posterior - 0.5) <= max(HALF_TOLERANCE, error):
        return VerdictLabel.UNDECIDED
    return VerdictLabel.SUPPORTED if posterior > 0.5 else VerdictLabel.CONTRADICTED


def unsure_of(rules: Rules, within: float | None) -> float:
    """The largest distance from one half at which a claim is undecided, with an exact solver."""
    return within if within is not None else UNSURE if rules == "own" else 0.0


def probability_of_label(relation: Relation) -> float:
    """The relation model's probability of the relation's label."""
    return relation.probability if relation.predicted is None else relation.predicted


def is_rather_neutral(relation: Relation) -> bool:
    """Whether neutral was more probable than a soft relation's label: p = e + n/2 with n > e; never of a hard relation."""
    return relation.predicted is not None and 2 * (relation.probability - relation.predicted) > relation.predicted


def explain_rules(rules: Rules, *, soft: bool, within: float | None = None) -> str:
    """How posteriors become verdicts by these rules, in sentences for readers."""
    single = (
        "A single relation of probability p gives about p where it entails, 1 - p where it contradicts; several, and "
        "passages that claims share, are weighed together."
    )
    if soft:
        single = (
            f"A relation counts by its odds: p is its label's probability and half of what is neutral. {single} Passages that "
            f"are rather neutral and move a claim by less than {LEAST_MOVED:g} decide nothing."
        )
    if rules == "published":
        near = f"within {within:g} of one half" if within else "at one half"
        return f"{single} Above one half a claim is supported, below contradicted, {near} undecided."
    unsure = unsure_of(rules, within)
    return (
        f"Relations up to one half enter no graph. {single} From {0.5 + unsure:g} on a claim is supported, up to "
        f"{0.5 - unsure:g} contradicted, between them undecided; conflicting where an entailment and a contradiction of "
        f"{STRONG:g} or more meet and the probability lies from {BETWEEN[0]:g} to {BETWEEN[1]:g}; and without any relation "
        "it has not enough evidence."
    )


def fail_claim(claim: Claim, reason: str) -> Verdict:
    """The verdict of a claim that could not be assessed."""
    return Verdict(claim_id=claim.id, label=VerdictLabel.FAILED, rationale=reason)


def _rationale(related: Collection[Relation], posterior: float, beside: Collection[Relation] = ()) -> str:
    """For example "2 passages entail it, 1 contradicts it; posterior 0.93"; passages that are rather neutral lean."""
    among = f", {len(beside)} other claim{'s' * (len(beside) != 1)} of the text beside it" if beside else ""
    phrases: list[str] = []
    for label, neutral, one, many in (
        (RelationLabel.ENTAILMENT, False, "entails it", "entail it"),
        (RelationLabel.CONTRADICTION, False, "contradicts it", "contradict it"),
        (RelationLabel.ENTAILMENT, True, "leans towards it", "lean towards it"),
        (RelationLabel.CONTRADICTION, True, "leans against it", "lean against it"),
    ):
        if count := sum(relation.label is label and is_rather_neutral(relation) is neutral for relation in related):
            noun = "" if phrases else " passage" if count == 1 else " passages"
            phrases.append(f"{count}{noun} {one if count == 1 else many}")
    return (
        f"{', '.join(phrases)}{among}; posterior {posterior:.2f}"
        if phrases
        else f"no passage entails or contradicts it{among}; {'posterior' if beside else 'prior'} {posterior:.2f}"
    )
