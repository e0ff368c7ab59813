"""Sets of sentence pairs with three labels: SNLI, MultiNLI, TaxiNLI, counterfactual SNLI, ConjNLI.

Read from the folder of public data sets; the licences are in `licences.py`.
"""

import csv
from collections.abc import Iterator
from pathlib import Path

from scripts.data_sets.examples import LABELS, Example
from scripts.data_sets.reading import json_lines, table

#: What an example of these sets is within its set.
KIND = "sentence pair"


def sentence_sets(data: Path) -> Iterator[Example]:
    """All pairs of these sets, in a fixed order. A pair that TaxiNLI took from the part of MultiNLI at hand is there once."""
    yield from snli(data)
    yield from counterfactual(data)
    seen = set()
    for example in (*multinli(data), *taxinli(data)):
        pair = (example.premise.strip(), example.hypothesis.strip())
        if pair not in seen:
            seen.add(pair)
            yield example
    yield from conjnli(data)


def snli(data: Path) -> Iterator[Example]:
    for row in json_lines(data / "nli/snli_dev.jsonl"):
        # The counterfactual set edits SNLI's pairs and keeps one side of each.
        yield _example("snli", row["premise"], row["hypothesis"], row["label"], (row["premise"], row["hypothesis"]))


def counterfactual(data: Path) -> Iterator[Example]:
    for part in ("train", "dev", "test"):
        for premise, hypothesis, label in table(data / f"nli/cad_{part}.tsv"):
            yield _example("cad", premise, hypothesis, label, (premise, hypothesis))


def multinli(data: Path) -> Iterator[Example]:
    for row in json_lines(data / "nli/mnli_dev.jsonl"):
        yield _example("mnli", row["premise"], row["hypothesis"], row["label"], (row["premise"],))


def taxinli(data: Path) -> Iterator[Example]:
    """MultiNLI's own label, not the second reading, which agrees with it on most rows."""
    with (data / "nli/taxinli10k.tsv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            if row["label"] in LABELS and row["prem"] and row["hyp"]:
                yield _example("taxinli", row["prem"], row["hyp"], row["label"], (row["prem"],))


def conjnli(data: Path) -> Iterator[Example]:
    for premise, hypothesis, label in table(data / "nli/conjnli_dev.tsv"):
        yield _example("conjnli", premise, hypothesis, label, (premise, hypothesis))


def _example(name: str, premise: str, hypothesis: str, label: str, topics: tuple[str, ...]) -> Example:
    return Example(name, KIND, premise.strip(), hypothesis.strip(), label, topics)
