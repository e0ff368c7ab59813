"""What all tests share: where the public data sets are, when they are there at all."""

from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[2] / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of public data and reference graphs beside the checkout; the test is skipped where there is none."""
    if not SHARED.is_dir():
        pytest.skip("no folder of shared data beside the checkout")
    return SHARED
