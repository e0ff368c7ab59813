"""The command line in an empty folder."""

from pathlib import Path

import pytest
from commands import CommandLine


@pytest.fixture
def localfact(tmp_path: Path) -> CommandLine:
    return CommandLine(tmp_path)
