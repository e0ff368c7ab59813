import numpy as np
import pytest

from localfact.scoring import bootstrap


@pytest.mark.parametrize(("size", "at_once"), [(3, 1_000_000), (20, 5_000), (157, 10)])
def test_samples_are_those_of_single_draws_in_whatever_blocks_they_come(
    size: int, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bootstrap, "MOST_DRAWN", at_once)
    drawn: list[np.ndarray] = []
    bootstrap.resample(lambda chosen: drawn.append(chosen) or 0.0, size, seed=5)
    generator = np.random.default_rng(5)
    assert np.array_equal(drawn, [generator.integers(0, size, size) for _ in range(bootstrap.RESAMPLES)])
