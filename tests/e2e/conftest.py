"""The command line in an empty folder."""

from pathlib import Path

import pytest
from commands import CommandLine, QuickCommandLine


@pytest.fixture
def localfact(tmp_path: Path) -> CommandLine:
    """In this process where that makes no difference."""
    return QuickCommandLine(tmp_path)
