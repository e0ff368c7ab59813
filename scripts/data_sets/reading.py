"""Reads the files of data sets: rows of JSON and of tables, pages cut into passages, and Factcheck-GPT's annotated answers."""

import gzip
import json
import random
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from scripts.data_sets.examples import CONTRADICTION, ENTAILMENT, NEUTRAL
from scripts.data_sets.texts import LONGEST_PREMISE

#: Factcheck-GPT's stances. Partial support is no entailment.
STANCES = {"completely-support": ENTAILMENT, "partially-support": NEUTRAL, "refute": CONTRADICTION, "irrelevant": NEUTRAL}


def joined_label(stances: set[str]) -> str | None:
    """What all snippets together say of a claim; None where they disagree or some only go half-way."""
    if "refute" in stances:
        return None if "completely-support" in stances else CONTRADICTION
    if "completely-support" in stances:
        return ENTAILMENT
    return NEUTRAL if stances == {"irrelevant"} else None


def corrected_sentence(part: Mapping[str, Any]) -> str:
    """A sentence of an answer as the annotators left it; nothing where they struck it out."""
    revised = (part["revised_decontext"] or "").strip()
    return revised or (part["decontext"].strip() if part["sentence_factuality_label"] is not False else "")


def irrelevant_snippets(part: Mapping[str, Any]) -> Iterator[str]:
    """The snippets of a sentence's claims that say nothing of them."""
    for snippets, verdicts in zip(part["auto_evidence"] or (), part["stance_claim_autoEvid"] or (), strict=False):
        yield from (snippet for snippet, stance in zip(snippets, verdicts, strict=False) if stance == "irrelevant")


def judged_claims(part: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """A sentence's claims, and corrections of false ones, with what the corrected sentence says of them."""
    fields = ("claims", "claims_factuality_label", "revised_claims")
    for claim, correct, revised in zip(*(part[field] or () for field in fields), strict=False):
        if correct is True:
            yield claim, ENTAILMENT
        elif correct is False and revised and revised.strip() != claim:
            yield claim, CONTRADICTION
            yield revised.strip(), ENTAILMENT


def padded(text: str, snippets: list[str], chance: random.Random) -> str:
    """The text somewhere among as many of four snippets as fit."""
    around = chance.sample(snippets, min(len(snippets), 4))
    while around and len(text) + sum(len(snippet) + 1 for snippet in around) > LONGEST_PREMISE:
        around.pop()
    around.insert(chance.randint(0, len(around)), text)
    return "\n".join(around)


def passage_around(page: list[str], first: int, last: int, chance: random.Random) -> str | None:
    """Sentences first to last and as many before and after as fit a passage; None where they do not fit themselves."""
    size = sum(len(sentence) + 1 for sentence in page[first : last + 1])
    if size > LONGEST_PREMISE:
        return None
    while beyond := [
        place for place in (first - 1, last + 1) if 0 <= place < len(page) and size + len(page[place]) + 1 <= LONGEST_PREMISE
    ]:
        place = chance.choice(beyond)
        size += len(page[place]) + 1
        first, last = min(first, place), max(last, place)
    return "\n".join(page[first : last + 1])


def passages(page: list[str]) -> Iterator[tuple[range, str]]:
    """A page cut into passages: the places of the sentences of each, and its text."""
    start = 0
    while start < len(page):
        end, size = start, 0
        while end < len(page) and size + len(page[end]) + 1 <= LONGEST_PREMISE:
            size += len(page[end]) + 1
            end += 1
        if end > start:
            yield range(start, end), "\n".join(page[start:end])
        start = max(end, start + 1)


def benchmark(data: Path) -> list[dict[str, Any]]:
    """Factcheck-GPT's annotated answers, their sentences always a list."""
    rows = json_lines(data / "factcheck_gpt/factcheck-GPT-benchmark.jsonl.gz")
    return [row | {"sentences": list(parts.values() if isinstance(parts := row["sentences"], dict) else parts)} for row in rows]


def json_lines(file: Path) -> list[dict[str, Any]]:
    content = file.read_bytes()
    text = (gzip.decompress(content) if file.suffix == ".gz" else content).decode()
    return [json.loads(line) for line in text.split("\n") if line]


def table(file: Path) -> Iterator[tuple[str, str, str]]:
    """Premise, hypothesis, label of a tab-separated file with a heading; a row that has not three columns is passed over."""
    for line in file.read_text(encoding="utf-8").split("\n")[1:]:
        columns = line.rstrip("\r").split("\t")
        if len(columns) == 3:
            yield columns[0], columns[1], columns[2]
