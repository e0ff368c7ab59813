"""Passages that were written for this model, each with statements that it entails, contradicts, and leaves open.

What other sets lack: true statements in quite other words than their passage's, and false ones made of nothing but its words.
The rows are in scripts/training/written: invented people, places, firms and works, so that nothing can be known from elsewhere.
"""

from collections.abc import Iterator
from pathlib import Path

from scripts.training.lexical_pairs import json_lines
from scripts.training.relation_model.examples import CONTRADICTION, ENTAILMENT, NEUTRAL, Example

SET = "written"
FOLDER = Path(__file__).parents[1] / "written"
#: `twins` has for each contradicted statement the nearest true one, in the passage's own words: else a model learns that
#: whatever repeats a passage is false.
FIELDS = {"entailed": ENTAILMENT, "twins": ENTAILMENT, "contradicted": CONTRADICTION, "neutral": NEUTRAL}


def written(_data: Path) -> Iterator[Example]:
    """All pairs of these passages; the kind is the file's name without its number, and the topic the passage itself."""
    for file in sorted(FOLDER.glob("*.jsonl")):
        for row in json_lines(file):
            for field, label in FIELDS.items():
                for statement in row[field]:
                    kind = file.stem.rstrip("-0123456789")
                    yield Example(SET, kind, row["passage"], statement, label, (row["passage"],))
