"""A claim's prior from its pre-verification: what the extractor thought of it before any evidence.

The first step of the method localfact, which puts FastFact's opinion where FactReasoner's graph has one half for every claim.
"""

from collections.abc import Mapping

from localfact.assess.priormap import PriorMap
from localfact.inference.factor_graph import CLAIM_PRIOR
from localfact.records import PreVerification
from localfact.vocabulary import PreVerificationLabel

#: How true a label says the claim is. Irrelevant says nothing about that.
TRUTH: Mapping[PreVerificationLabel, float] = {
    PreVerificationLabel.SUPPORTED: 1.0,
    PreVerificationLabel.LIKELY_SUPPORTED: 0.75,
    PreVerificationLabel.UNSURE: 0.5,
    PreVerificationLabel.LIKELY_NON_SUPPORTED: 0.25,
    PreVerificationLabel.NON_SUPPORTED: 0.0,
}
#: A model's opinion alone is never surer than this, so that evidence can turn it.
LEAST_PRIOR, LARGEST_PRIOR = 0.05, 0.95


def prior_of(preverification: PreVerification | None, prior_map: PriorMap | None = None) -> float:
    """A claim's prior, in [0.05, 0.95]: its expected truth, through the calibration map if there is one.

    A claim that was not pre-verified has one half, whatever the map.
    """
    if preverification is None:
        return CLAIM_PRIOR
    expected = expected_truth(preverification)
    return min(LARGEST_PRIOR, max(LEAST_PRIOR, expected if prior_map is None else prior_map(expected)))


def expected_truth(preverification: PreVerification) -> float:
    """The expectation of TRUTH under the distribution over the labels without Irrelevant, in [0, 1].

    Without a distribution, the label that was written has its confidence and the rest is undecided. A claim that is irrelevant
    for sure has one half.
    """
    distribution = preverification.distribution
    if distribution is None:
        truth = TRUTH.get(preverification.label, CLAIM_PRIOR)
        return CLAIM_PRIOR + preverification.confidence * (truth - CLAIM_PRIOR)
    mass = sum(distribution.get(label, 0.0) for label in TRUTH)
    return sum(distribution.get(label, 0.0) * truth for label, truth in TRUTH.items()) / mass if mass else CLAIM_PRIOR
