"""Clusters of Ray that get their share of a busy machine."""

import os
from collections.abc import Iterator
from unittest.mock import patch

import pytest


@pytest.fixture(autouse=True, scope="session")
def no_niceness() -> Iterator[None]:
    """Ray gives its workers the least priority, so that beside another worker's tests they would hardly get on."""
    with patch.dict(os.environ, {"RAY_worker_niceness": "0"}):
        yield
