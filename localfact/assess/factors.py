"""Turns predicted relations into the factors of FactReasoner's graph: between claims and passages, passages (FR3), and claims.

Failed predictions are separated here, and never read as neutral.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from itertools import product
from typing import NamedTuple

from localfact.assess.linking import Link, passage_variable
from localfact.inference.tables import BALANCED_MINIMUM
from localfact.records import Claim, Distribution, Failure, Pair, Passage, Relation, RelationProbabilities
from localfact.stages import Relations
from localfact.vocabulary import RelationLabel

#: A relation model's probabilities are clamped to [CLAMP, 1 - CLAMP], so that no prediction is certain.
CLAMP = 1e-6
#: Where entailment and contradiction differ by less, a soft relation makes no factor: graphs stay sparse, and a model's small
#: bias does not add up over many silent passages. Of 0.05 to 0.4 the one with the best balanced accuracy and Brier on half of
#: the topics of three public sets (docs/language-models.md).
LEAST_DIFFERENCE = 0.25

#: Makes one relation of two passages and the predictions of both directions; None where they are neutral.
PassageRule = Callable[[Passage, Passage, Distribution, Distribution], Relation | None]


class Factor(NamedTuple):
    """A relation between claims and passages, by their ids, and the two variables of the graph that it joins."""

    relation: Relation
    source: str
    target: str

    @property
    def between_variables(self) -> Relation:
        """The relation between the variables, as the graph takes it."""
        return self.relation.model_copy(update={"source": self.source, "target": self.target})


def claim_variable(claim: Claim) -> str:
    """The name of a claim's variable."""
    return f"claim {claim.id}"


def claims_failed(links: Iterable[Link], relations: Relations) -> Mapping[str, str]:
    """Claim id -> why the first of its relations could not be predicted, for claims with a failed prediction."""
    reasons: dict[str, str] = {}
    for link in links:
        prediction = relations[link.pair]
        if isinstance(prediction, Failure):
            reasons.setdefault(link.claim.id, prediction.reason)
    return reasons


def claim_factors(links: Iterable[Link], relations: Relations, *, soft: bool = False) -> list[Factor]:
    """One factor a link, neutral ones included; links whose prediction failed are left out.

    Args:
        soft: whether a relation counts by its odds (`relate_softly`), or by its most probable label.
    """
    relate = relate_softly if soft else _relation
    return [
        Factor(relate(link.passage.id, link.claim.id, prediction), link.variable, claim_variable(link.claim))
        for link in links
        if isinstance(prediction := relations[link.pair], Distribution)
    ]


def relate_softly(source: str, target: str, prediction: Distribution) -> Relation:
    """The relation by the odds of entailment e against contradiction c, what is neutral shared between them.

    Entailment with p = e + n/2 where e > c, contradiction with p = c + n/2 where c > e; neutral, and so no factor, where they
    differ by less than LEAST_DIFFERENCE. A sure label gives the same factor as the hard rule; the less sure the model is, the
    nearer p comes to one half, where a factor says nothing.
    """
    difference = prediction.entailment - prediction.contradiction
    if abs(difference) < LEAST_DIFFERENCE:
        return Relation(source=source, target=target, label=RelationLabel.NEUTRAL, probability=_clamp(prediction.neutral))
    label, predicted = (
        (RelationLabel.ENTAILMENT, prediction.entailment)
        if difference > 0
        else (RelationLabel.CONTRADICTION, prediction.contradiction)
    )
    probability = _clamp(predicted + prediction.neutral / 2)
    return Relation(source=source, target=target, label=label, probability=probability, predicted=predicted)


def passage_factors(
    pairs: Iterable[tuple[Passage, Passage]], relations: Relations, rule: PassageRule
) -> tuple[list[Factor], int]:
    """The factors between passages, none of them neutral, and how many pairs of passages could not be predicted.

    Args:
        pairs: of passages, each in one order.
        rule: makes one relation of the predictions of both directions.
    """
    factors, failed = [], 0
    for first, second in pairs:
        forward = relations[Pair(first.text, second.text)]
        backward = relations[Pair(second.text, first.text)]
        if isinstance(forward, Failure) or isinstance(backward, Failure):
            failed += 1
        elif (relation := rule(first, second, forward, backward)) is not None:
            factors.append(Factor(relation, passage_variable(relation.source), passage_variable(relation.target)))
    return factors, failed


def relate_passages(
    first: Passage | Claim, second: Passage | Claim, forward: Distribution, backward: Distribution
) -> Relation | None:
    """Returns the one relation of two passages; None where both directions are neutral.

    Entailment both ways is equivalence with the smaller probability, from the smaller id (FactReasoner, footnote 2). Otherwise
    it is the more probable of the directions that are not neutral; of equal ones contradiction before entailment, then the
    smaller id.

    Args:
        first, second: the passages.
        forward: the prediction with `first` as premise.
        backward: with `second` as premise.
    """
    directions = [_relation(first.id, second.id, forward), _relation(second.id, first.id, backward)]
    directions.sort(key=lambda relation: (relation.label is not RelationLabel.CONTRADICTION, relation.source))
    informative = [relation for relation in directions if relation.label is not RelationLabel.NEUTRAL]
    if [relation.label for relation in informative] == [RelationLabel.ENTAILMENT] * 2:
        weaker = min(relation.probability for relation in informative)
        return informative[0].model_copy(update={"label": RelationLabel.EQUIVALENCE, "probability": weaker})
    return max(informative, key=lambda relation: relation.probability, default=None)


def relate_passages_surely(
    first: Passage | Claim, second: Passage | Claim, forward: Distribution, backward: Distribution
) -> Relation | None:
    """`relate_passages` for our own methods: a contradiction between two passages is the mean of both directions.

    Entailment both ways is equivalence. Else they contradict one another where the mean of both probabilities of that is above
    one half, with that mean; else the more probable entailment counts that is above one half.
    """
    if forward.label is backward.label is RelationLabel.ENTAILMENT:
        return relate_passages(first, second, forward, backward)
    against = _clamp((forward.contradiction + backward.contradiction) / 2)
    if against > BALANCED_MINIMUM:
        source, target = sorted((first.id, second.id))
        return Relation(source=source, target=target, label=RelationLabel.CONTRADICTION, probability=against)
    directions = [_relation(first.id, second.id, forward), _relation(second.id, first.id, backward)]
    entailing = [one for one in directions if one.label is RelationLabel.ENTAILMENT and one.probability > BALANCED_MINIMUM]
    return max(entailing, key=lambda relation: relation.probability, default=None)


def between_claims(claims: Iterable[Claim], relations: Relations, *, soft: bool = False) -> list[Factor]:
    """The factors between claims that were related in both directions, none of them neutral; a failed prediction makes none.

    Claims of one text are each the others' evidence; the rule is that of passages of our own methods, soft or hard.
    """
    by_text: defaultdict[str, list[Claim]] = defaultdict(list)
    for claim in claims:
        by_text[claim.text].append(claim)
    factors = []
    for pair in relations:
        turned = Pair(pair.hypothesis, pair.premise)
        if pair >= turned or turned not in relations or not {pair.premise, pair.hypothesis} <= by_text.keys():
            continue
        forward, backward = relations[pair], relations[turned]
        if isinstance(forward, Failure) or isinstance(backward, Failure):
            continue
        for first, second in product(by_text[pair.premise], by_text[pair.hypothesis]):
            relation = (relate_claims_softly if soft else relate_passages_surely)(first, second, forward, backward)
            if relation is not None:
                variables = {claim.id: claim_variable(claim) for claim in (first, second)}
                factors.append(Factor(relation, variables[relation.source], variables[relation.target]))
    return sorted(factors, key=lambda factor: factor.relation.model_dump_json())


def relate_claims_softly(first: Claim, second: Claim, forward: Distribution, backward: Distribution) -> Relation | None:
    """The one relation of two claims by the odds of both directions, as `relate_softly`; None where these make none.

    Entailment both ways is equivalence with the smaller p. Else they contradict one another where the mean of both directions
    does, which has no direction; else the more probable entailment counts.
    """
    directions = [relate_softly(first.id, second.id, forward), relate_softly(second.id, first.id, backward)]
    source, target = sorted((first.id, second.id))
    if all(one.label is RelationLabel.ENTAILMENT for one in directions):
        weaker = min(directions, key=lambda relation: relation.probability)
        return weaker.model_copy(update={"source": source, "target": target, "label": RelationLabel.EQUIVALENCE})
    mean = Distribution(
        **{label: (getattr(forward, label) + getattr(backward, label)) / 2 for label in RelationProbabilities.model_fields}
    )
    against = relate_softly(source, target, mean)
    if against.label is RelationLabel.CONTRADICTION:
        return against
    entailing = [one for one in directions if one.label is RelationLabel.ENTAILMENT]
    return max(entailing, key=lambda relation: relation.probability, default=None)


def _relation(source: str, target: str, prediction: Distribution) -> Relation:
    return Relation(source=source, target=target, label=prediction.label, probability=_clamp(prediction.probability))


def _clamp(probability: float) -> float:
    return min(max(probability, CLAMP), 1 - CLAMP)
