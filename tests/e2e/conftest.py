"""The command line in an empty folder."""

from pathlib import Path

import pytest
from commands import CommandLine, QuickCommandLine
from engines import Engines
from tiny_models import poisoned, tiny_llama


@pytest.fixture
def localfact(tmp_path: Path, engines: Engines) -> CommandLine:
    """In this process where that makes no difference."""
    return QuickCommandLine(tmp_path, engines)


@pytest.fixture(scope="session")
def random_llama(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A language model that answers anything, but computes no numbers behind POISON, which it never says."""
    return poisoned(tiny_llama(tmp_path_factory.mktemp("models") / "random-llama", window=8192))
