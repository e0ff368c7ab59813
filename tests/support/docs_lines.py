"""Runs the Python that a section of docs/integrations.md shows."""

import re
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any

PAGE = Path(__file__).resolve().parents[2] / "docs" / "integrations.md"
#: A block that begins with an import.
BLOCK = re.compile(r"^    import .*\n(?:    .*\n|\n)+", re.MULTILINE)


def run_lines(section: str, instead: Mapping[str, str]) -> dict[str, Any]:
    """The names that the only block of a section leaves. `instead`: what stands in the page -> what a test has in its place."""
    _, _, below = PAGE.read_text(encoding="utf-8").partition(f"\n## {section}\n")
    (block,) = BLOCK.findall(below.partition("\n## ")[0])
    lines = textwrap.dedent(block)
    for written, ours in instead.items():
        assert written in lines
        lines = lines.replace(written, ours)
    names: dict[str, Any] = {}
    exec(lines, names)
    return names
