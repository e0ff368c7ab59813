"""Reads the labelled pairs that the lexical relation model is fitted and measured on, and splits them by topic.

Only sets whose licence allows it (LICENCES). None of their text leaves this script but as counts and coefficients.
"""

import gzip
import hashlib
import json
import random
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import Any, NamedTuple

from scripts.training.relation_model.examples import topic_key

ENTAILMENT, CONTRADICTION, NEUTRAL = "entailment", "contradiction", "neutral"

#: At most so many pairs of one set of short sentence pairs; there are enough of them.
MOST_OF_A_SET = 3_000
#: As long as a passage gets.
LONGEST_PREMISE = 4_000
SEED = "localfact lexical relations"

LICENCES = {
    "snli": "CC BY-SA 4.0 (its own release)",
    "mnli": "OANC and others, free to use (its own release)",
    "cad": "Apache-2.0",
    "conjnli": "MIT",
    "factcheck_gpt": "Apache-2.0",
    "wice": "annotations ODC-BY; text under Wikipedia's CC BY-SA and Common Crawl's terms",
}

#: Factcheck-GPT's stances. Partial support is no entailment.
STANCES = {"completely-support": ENTAILMENT, "partially-support": NEUTRAL, "refute": CONTRADICTION, "irrelevant": NEUTRAL}


class Example(NamedTuple):
    """A labelled pair. `group` is what accuracy is reported by; examples that share a topic stay on one side of the split."""

    group: str
    premise: str
    hypothesis: str
    label: str
    topics: tuple[str, ...]


def read_examples(data: Path) -> list[Example]:
    """All pairs of the folder of public data sets, in a fixed order."""
    short = [*nli(data), *counterfactual(data), *conjunctions(data)]
    by_group: dict[str, list[Example]] = defaultdict(list)
    for example in sorted(short, key=lambda one: digest(one.premise + "\n" + one.hypothesis)):
        by_group[example.group].append(example)
    kept = [example for group in by_group.values() for example in group[:MOST_OF_A_SET]]
    return [*kept, *stances(data), *answers(data), *wikipedia_claims(data)]


def is_held_out(examples: Sequence[Example], reserved: Set[str]) -> list[bool]:
    """Whether each example belongs to the held-out part: it has a reserved topic, or shares one with an example that has.

    Args:
        examples: all there are. reserved: topics, as `topic_key` has them, that nothing may be fitted on.
    """
    parent: dict[str, str] = {}

    def root(topic: str) -> str:
        while parent.setdefault(topic, topic) != topic:
            topic = parent[topic]
        return topic

    keys = {topic: topic_key(topic) for topic in {topic for example in examples for topic in example.topics}}
    for example in examples:
        first, *others = sorted(root(keys[topic]) for topic in example.topics)
        for other in others:
            parent[root(other)] = root(first)
    held_out = {root(topic) for topic in keys.values() if topic in reserved}
    return [root(keys[example.topics[0]]) in held_out for example in examples]


def digest(text: str) -> str:
    """A number for a text, in hexadecimal, that depends on the seed."""
    return hashlib.sha256(f"{SEED}\n{text}".encode()).hexdigest()[:16]


def nli(data: Path) -> Iterator[Example]:
    for group in ("snli", "mnli"):
        for row in json_lines(data / f"nli/{group}_dev.jsonl"):
            # The counterfactual set edits SNLI's pairs and keeps one side of each.
            topics = (row["premise"], row["hypothesis"]) if group == "snli" else (row["premise"],)
            yield Example(group, row["premise"], row["hypothesis"], row["label"], topics)


def counterfactual(data: Path) -> Iterator[Example]:
    for part in ("train", "dev", "test"):
        for premise, hypothesis, label in table(data / f"nli/cad_{part}.tsv"):
            yield Example("cad", premise, hypothesis, label, (premise, hypothesis))


def conjunctions(data: Path) -> Iterator[Example]:
    for premise, hypothesis, label in table(data / "nli/conjnli_dev.tsv"):
        yield Example("conjnli", premise, hypothesis, label, (premise, hypothesis))


def stances(data: Path) -> Iterator[Example]:
    """Factcheck-GPT's claims against web snippets: one by one, and all snippets of a claim joined to one longer passage."""
    prompts = {claim: row["prompt"] for row in benchmark(data) for part in row["sentences"] for claim in part["claims"] or ()}
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for row in json_lines(data / "factcheck_gpt/subtask3_claim_evidence_stance.jsonl"):
        claim, evidence, stance = row["claim"], row["evidence"], row["stance"]
        group = "factcheck_gpt_partial" if stance == "partially-support" else "factcheck_gpt"
        yield Example(group, evidence, claim, STANCES[stance], (prompts[claim],))
        found[claim][evidence] = stance
    for claim, snippets in found.items():
        label = joined_label(set(snippets.values()))
        texts = list(snippets)
        random.Random(claim).shuffle(texts)
        premise = "\n".join(texts)
        if label and len(premise) <= LONGEST_PREMISE:
            yield Example("factcheck_gpt_joined", premise, claim, label, (prompts[claim],))


def joined_label(stances: set[str]) -> str | None:
    """What all snippets together say of a claim; None where they disagree or some only go half-way."""
    if "refute" in stances:
        return None if "completely-support" in stances else CONTRADICTION
    if "completely-support" in stances:
        return ENTAILMENT
    return NEUTRAL if stances == {"irrelevant"} else None


def answers(data: Path) -> Iterator[Example]:
    """Claims of Factcheck-GPT's answers against the corrected answer as a passage, half of them amid irrelevant snippets.

    A true claim, and the correction of a false one, is entailed; a false one is contradicted; without the sentence that the
    claim came from, the answer no longer speaks to it.
    """
    for row in benchmark(data):
        corrected = [corrected_sentence(part) for part in row["sentences"]]
        snippets = sorted({snippet for part in row["sentences"] for snippet in irrelevant_snippets(part)})
        chance = random.Random(row["prompt"])
        for place, part in enumerate(row["sentences"]):
            for hypothesis, label in judged_claims(part) if corrected[place] else ():
                whole = " ".join(filter(None, corrected))
                premise = padded(whole, snippets, chance) if chance.random() < 0.5 else whole
                yield Example("factcheck_gpt_answers", premise[:LONGEST_PREMISE], hypothesis, label, (row["prompt"],))
                rest = " ".join(filter(None, corrected[:place] + corrected[place + 1 :]))[:LONGEST_PREMISE]
                if rest:
                    yield Example("factcheck_gpt_answers_elsewhere", rest, hypothesis, NEUTRAL, (row["prompt"],))


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


def wikipedia_claims(data: Path) -> Iterator[Example]:
    """WiCE's claims against passages of the page that they cite: one around the supporting sentences, two elsewhere."""
    for part in ("claim_dev", "claim_test", "non_supported_tokens"):
        for row in json_lines(data / f"wice/{part}.jsonl.gz"):
            page, topics = row["evidence"], (row["meta"]["claim_title"], "\n".join(row["evidence"]))
            supporting = [places for places in row["supporting_sentences"] if places]
            chance = random.Random(row["claim"])
            closest = min(supporting, key=lambda places: max(places) - min(places), default=None)
            if closest and (passage := passage_around(page, min(closest), max(closest), chance)):
                supported = row["label"] == "supported"
                group = "wice_supported" if supported else "wice_partly"
                yield Example(group, passage, row["claim"], ENTAILMENT if supported else NEUTRAL, topics)
            used = {place for places in supporting for place in places}
            elsewhere = [text for places, text in passages(page) if used.isdisjoint(places)]
            yield from (Example("wice_elsewhere", text, row["claim"], NEUTRAL, topics) for text in elsewhere[:2])


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
