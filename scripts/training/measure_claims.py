"""Measures how claims are taken from sentences, against those of people, on topics that were never trained on.

    python -m scripts.training.measure_claims DATA [--sentences 120] [--card models/small-lm/README.md]

A claim of an extractor and one of the annotators match where the F1 of their words is at least 0.8, one to one. Intervals are
those of a bootstrap over topics.
"""

import argparse
import asyncio
import random
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from localfact import text
from localfact.claims.rules.statements import statements
from localfact.claims.small_lm.extractor import SmallLanguageModelExtractor
from localfact.claims.small_lm.guard import Refusal, refusal
from localfact.models.cards import load_card
from localfact.models.text_writer import TextWriter
from localfact.records import Response
from localfact.relations.crossencoder import CrossEncoderRelationModel
from scripts.training.claim_model.sets import Row, rows
from scripts.training.relation_model.examples import digest

#: The F1 of words from which two claims are the same.
SAME = 0.8
RESAMPLES = 1_000
BEGIN, END = "<!-- figures -->", "<!-- end of figures -->"


class Extracted(NamedTuple):
    """What one extractor made of rows: the claims of each, and what it threw away, by reason."""

    name: str
    claims: list[list[str]]
    counts: Counter[str]
    seconds: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="the folder of public data sets")
    parser.add_argument("--sentences", type=int, default=120, help="of each set at most")
    parser.add_argument("--model", default="small-lm", help="the card of the model")
    parser.add_argument("--card", type=Path, help="the file of Markdown whose figures are replaced")
    arguments = parser.parse_args()
    lines = asyncio.run(measured(arguments.data, arguments.sentences, arguments.model))
    print("\n".join(lines))
    if arguments.card:
        before, _, rest = arguments.card.read_text(encoding="utf-8").partition(BEGIN)
        after = rest.partition(END)[2]
        arguments.card.write_text("\n".join([before + BEGIN, "", *lines, "", END]) + after, encoding="utf-8")


async def measured(data: Path, most: int, model: str) -> list[str]:
    """A table for each set, as lines of Markdown."""
    by_set: dict[str, list[Row]] = defaultdict(list)
    for row in sorted(filter(lambda row: row.is_test, rows(data)), key=lambda row: digest("\n".join(row.frame))):
        by_set[row.set].append(row)
    extractor = SmallLanguageModelExtractor(
        lambda: TextWriter(load_card(model)), lambda: CrossEncoderRelationModel(load_card("builtin-nli"))
    )
    lines: list[str] = []
    for name, found in by_set.items():
        chosen = found[:most]
        print(f"{name}: {len(chosen)} sentences", file=sys.stderr)
        lines += table(name, chosen, [by_rules(chosen), *await by_model(extractor, chosen)])
    return lines


def by_rules(chosen: Sequence[Row]) -> Extracted:
    began = time.monotonic()
    found = []
    for row in chosen:
        response = Response(id="", text=row.frame.sentence, topic=row.frame.topic or None)
        found.append([claim for one in statements(response, Counter()) for claim, _ in one.claims])
    return Extracted("rules", found, Counter(), time.monotonic() - began)


async def by_model(extractor: SmallLanguageModelExtractor, chosen: Sequence[Row]) -> list[Extracted]:
    """With all that the model wrote, and with what the guards leave of it."""
    began, counts = time.monotonic(), Counter[str]()
    taken = await extractor.taken_apart([row.frame for row in chosen], counts)
    seconds = time.monotonic() - began
    return [
        Extracted("small-lm, unguarded", [each.written for each in taken], Counter(), seconds),
        Extracted("small-lm", [each.kept for each in taken], counts, seconds),
    ]


def table(name: str, chosen: Sequence[Row], extractors: Sequence[Extracted]) -> list[str]:
    """The figures of a set, a column for each extractor."""
    people = sum(len(row.claims) for row in chosen) / len(chosen)
    head = ["", *(one.name for one in extractors)]
    rows_of = [
        ["precision, recall, F1", *(shown(chosen, one.claims, lambda row: row.claims) for one in extractors)],
        ["the same, pronouns left", *(shown(chosen, one.claims, lambda row: row.as_written) for one in extractors)],
        [
            f"claims a sentence (people {people:.2f})",
            *(f"{sum(map(len, one.claims)) / len(chosen):.2f}" for one in extractors),
        ],
        ["with a name, number or negation that the text lacks", *(str(invented(chosen, one.claims)) for one in extractors)],
        ["the same claim twice from a sentence", *(str(repeated(one.claims)) for one in extractors)],
        ["seconds a sentence", *(f"{one.seconds / len(chosen):.2f}" for one in extractors)],
    ]
    thrown = ", ".join(f"{reason.removeprefix('thrown_away_')} {count}" for reason, count in extractors[-1].counts.items())
    written = sum(map(len, extractors[-2].claims))
    return [
        f"**{name}**, {len(chosen)} sentences of {len({row.topic for row in chosen})} topics",
        "",
        *(f"| {' | '.join(cells)} |" for cells in (head, ["---"] * len(head), *rows_of)),
        "",
        f"Thrown away of {written} claims: {thrown or 'none'}.",
        "",
    ]


def shown(chosen: Sequence[Row], claims: Sequence[list[str]], gold: Callable[[Row], Sequence[str]]) -> str:
    """Precision, recall and F1 with its 95 % interval."""
    parts: dict[str, list[tuple[int, int, int]]] = defaultdict(list)
    for row, found in zip(chosen, claims, strict=True):
        parts[row.topic].append((matches(found, gold(row)), len(found), len(gold(row))))
    sums = np.array([np.sum(each, axis=0) for each in parts.values()])
    chance = random.Random(1)
    scores = sorted(scored(sums[[chance.randrange(len(sums)) for _ in sums]])[2] for _ in range(RESAMPLES))
    precision, recall, f1 = scored(sums)
    low, high = scores[int(0.025 * RESAMPLES)], scores[int(0.975 * RESAMPLES)]
    return f"{precision:.2f}, {recall:.2f}, {f1:.2f} [{low:.2f}, {high:.2f}]"


def scored(sums: np.ndarray) -> tuple[float, float, float]:
    """Precision, recall and F1 of rows of matches, claims found, and claims of people."""
    same, found, gold = map(int, sums.sum(axis=0))
    return same / max(1, found), same / max(1, gold), 2 * same / max(1, found + gold)


def matches(found: Sequence[str], gold: Sequence[str]) -> int:
    """How many claims of the two sides are the same, one to one."""
    if not found or not gold:
        return 0
    alike = np.array([[word_f1(one, other) >= SAME for other in gold] for one in found], dtype=float)
    ours, theirs = linear_sum_assignment(-alike)
    return int(alike[ours, theirs].sum())


def word_f1(one: str, other: str) -> float:
    """The F1 of two texts' words, whatever their order and case."""
    first, second = (Counter(text.words(each.casefold())) for each in (one, other))
    return 2 * (first & second).total() / max(1, first.total() + second.total())


def invented(chosen: Sequence[Row], claims: Sequence[list[str]]) -> int:
    """How many claims have details that their sentence, what stood before it, and the topic lack."""
    wrong = (Refusal.NAME, Refusal.NUMBER, Refusal.NEGATION)
    return sum(refusal(claim, row.frame.source) in wrong for row, found in zip(chosen, claims, strict=True) for claim in found)


def repeated(claims: Sequence[list[str]]) -> int:
    """How many claims stand a second time among those of their sentence."""
    return sum(len(found) - len(set(map(text.normalise, found))) for found in claims)


if __name__ == "__main__":
    main()
