"""A claim's prior from its pre-verification: the extractor's opinion before any evidence.

Used by the method localfact, in place of FactReasoner's one half for every claim.
"""

from collections.abc import Mapping

from localfact.assess.priormap import PriorMap
from localfact.inference.factor_graph import CLAIM_PRIOR
from localfact.records import PreVerification
from localfact.vocabulary import PreVerificationLabel

#: Label -> how true it says the claim is, in [0, 1]. Irrelevant says nothing about that.
TRUTH: Mapping[PreVerificationLabel, float] = {
    PreVerificationLabel.SUPPORTED: 1.0,
    PreVerificationLabel.LIKELY_SUPPORTED: 0.75,
    PreVerificationLabel.UNSURE: 0.5,
    PreVerificationLabel.LIKELY_NON_SUPPORTED: 0.25,
    PreVerificationLabel.NON_SUPPORTED: 0.0,
}
#: Limits of a prior, so that evidence can outweigh it.
LEAST_PRIOR, LARGEST_PRIOR = 0.05, 0.95


def prior_of(preverification: PreVerification | None, prior_map: PriorMap | None = None) -> float:
    """A claim's prior, in [0.05, 0.95]: its expected truth, through the calibration map if there is one.

    One half for a claim that was not pre-verified, whatever the map.
    """
    if preverification is None:
        return CLAIM_PRIOR
    expected = expect_truth(preverification)
    return min(LARGEST_PRIOR, max(LEAST_PRIOR, expected if prior_map is None else prior_map(expected)))


def expect_truth(preverification: PreVerification) -> float:
    """The expectation of TRUTH over the distribution of labels, Irrelevant left out, in [0, 1].

    Without a distribution, the written label has its confidence and the rest counts as one half. A claim that is surely
    irrelevant has one half.
    """
    distribution = preverification.distribution
    if distribution is None:
        truth = TRUTH.get(preverification.label, CLAIM_PRIOR)
        return CLAIM_PRIOR + preverification.confidence * (truth - CLAIM_PRIOR)
    mass = sum(distribution.get(label, 0.0) for label in TRUTH)
    return sum(distribution.get(label, 0.0) * truth for label, truth in TRUTH.items()) / mass if mass else CLAIM_PRIOR
