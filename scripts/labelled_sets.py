"""Public data sets as measure_relations.py and benchmark.py read them, and which topics no relation model of ours learned from.

The recipe of models that were trained divided all topics into those to learn from, to stop by (development) and to measure
on, and some made no pair at all. held_out_topics.json has those that were neither learned from nor stopped by, as hashes, and
for Factcheck-GPT also the development ones. The division is `split_by_topic` of scripts/training/relation_model/examples.py,
commit 00c214154712.
"""

import gzip
import hashlib
import json
from pathlib import Path
from typing import Any

from localfact.text import words

HELD_OUT_FILE = Path(__file__).parent / "held_out_topics.json"
SEED = "localfact builtin-nli"


def held_out_topics(name: str) -> frozenset[str]:
    """Hashes of topics, of "wice", "factcheck_gpt", "expertqa", or "factcheck_gpt development"."""
    return frozenset(json.loads(HELD_OUT_FILE.read_text(encoding="utf-8"))[name])


def hash_of_topic(topic: str) -> str:
    """A topic by its words in lower case, whatever stands between them."""
    return digest(" ".join(words(topic.casefold())) or topic)


def digest(text: str) -> str:
    """A number for a text, in hexadecimal, that depends on the seed."""
    return hashlib.sha256(f"{SEED}\n{text}".encode()).hexdigest()[:16]


def prompts_of_claims(data: Path) -> dict[str, str]:
    """Factcheck-GPT's claims -> the prompt of the answer that each is from: its topic."""
    prompts = {}
    for row in json_lines(data / "factcheck_gpt/factcheck-GPT-benchmark.jsonl.gz"):
        parts = row["sentences"].values() if isinstance(row["sentences"], dict) else row["sentences"]
        prompts |= {claim: row["prompt"] for part in parts for claim in part["claims"] or ()}
    return prompts


def json_lines(file: Path) -> list[dict[str, Any]]:
    """The rows of a file, which may be gzipped."""
    content = file.read_bytes()
    text = (gzip.decompress(content) if file.suffix == ".gz" else content).decode()
    return [json.loads(line) for line in text.split("\n") if line]
