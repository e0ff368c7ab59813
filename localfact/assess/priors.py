"""A claim's prior from its pre-verification: what the extractor thought of it before any evidence.

The first step of the method localfact, which puts FastFact's opinion where FactReasoner's graph has one half for every claim.
"""

from collections.abc import Mapping

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


def prior_of(preverification: PreVerification | None) -> float:
    """The expected truth of a claim under its six labels without Irrelevant, in [0.05, 0.95].

    Without a distribution, the label that was written has its confidence and the rest is undecided. A claim that was not
    pre-verified, or that is irrelevant for sure, has one half.
    """
    if preverification is None:
        return CLAIM_PRIOR
    distribution = preverification.distribution
    if distribution is None:
        truth = TRUTH.get(preverification.label, CLAIM_PRIOR)
        expected = CLAIM_PRIOR + preverification.confidence * (truth - CLAIM_PRIOR)
    else:
        mass = sum(distribution.get(label, 0.0) for label in TRUTH)
        expected = sum(distribution.get(label, 0.0) * truth for label, truth in TRUTH.items()) / mass if mass else CLAIM_PRIOR
    return min(LARGEST_PRIOR, max(LEAST_PRIOR, expected))
