"""The reference pairs: forty passages, each with a hypothesis that it entails, one that it contradicts, one it leaves open.

The passages are short, middling and long, and the pairs turn on numbers, names, dates, places, paraphrase, comparison, or on
what the passage does not say. All of it is invented, so that no model knows it and no test set has it.
"""

import hashlib
import json
from functools import cache
from importlib.resources import files

from localfact.records import Pair
from localfact.relations.calibration import LABELS, LabelledPair
from localfact.vocabulary import RelationLabel

FILE = "reference_pairs.jsonl"
#: Digits of the hash by which settings name them.
DIGITS = 12


@cache
def reference_pairs() -> tuple[LabelledPair, ...]:
    """The 120 pairs, those of a passage together."""
    rows = map(json.loads, _content().splitlines())
    return tuple(LabelledPair(Pair(row["premise"], row[label]), RelationLabel(label)) for row in rows for label in LABELS)


@cache
def reference_name() -> str:
    """How settings and maps name these pairs: by a hash of their file."""
    return f"reference@{hashlib.sha256(_content().encode()).hexdigest()[:DIGITS]}"


def _content() -> str:
    return files(__package__).joinpath(FILE).read_text(encoding="utf-8")
