"""How often relations occur is estimated from calibrated probabilities alone."""

import numpy as np
import pytest

from scripts.measure_other_pairs import estimate_shares


def test_shares_are_found_without_a_label() -> None:
    """Pairs are drawn by known shares, and a reader's evidence by a likelihood that it knows."""
    drawn, shares = np.random.default_rng(0), (0.1, 0.2, 0.7)
    likelihood = np.array([[0.7, 0.1, 0.2], [0.2, 0.6, 0.2], [0.1, 0.2, 0.7]])  # of what is read, a row a true relation
    truths = drawn.choice(3, size=4000, p=shares)
    read = np.array([drawn.choice(3, p=likelihood[truth]) for truth in truths])
    balanced = likelihood.T[read] / likelihood.T[read].sum(axis=1, keepdims=True)
    assert estimate_shares(balanced) == pytest.approx(shares, abs=0.03)
    assert np.bincount(balanced.argmax(axis=1), minlength=3)[2] / 4000 < 0.63  # what is read most says too little
