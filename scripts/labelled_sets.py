"""Public data sets as several scripts read them, and which topics no shipped model learned from.

The recipe of models that were trained divided all topics into those to learn from, to stop by (development) and to measure
on, and some made no pair at all. held_out_topics.json has those that were neither learned from nor stopped by, as hashes, and
for Factcheck-GPT also the development ones. The division is `split_by_topic` of scripts/training/relation_model/examples.py,
commit 00c214154712.
"""

import csv
import gzip
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from localfact.api.sample import sample_responses
from localfact.records import Pair
from localfact.text import words
from localfact.vocabulary import RelationLabel

HELD_OUT_FILE = Path(__file__).parent / "held_out_topics.json"
SEED = "localfact builtin-nli"
#: Of the topics that small-lm could have learned from, the percentage that it was only measured on.
SMALL_LM_TEST_PERCENT = 15
#: The passages for flaherty.
FLAHERTY = ("wikipedia", "google")
#: Who wrote FActScore's biographies, and who the sentences that stand in for pages, of which none come with them.
WRITER, PAGES = "ChatGPT", ("InstructGPT", "PerplexityAI")
#: The fewest sentences of pages about a person.
FEWEST_SENTENCES = 4
#: What sets call the relation of evidence to a claim.
RELATIONS = {
    **dict.fromkeys(("SUPPORTS", "Supports", "completely-support"), RelationLabel.ENTAILMENT),
    **dict.fromkeys(("REFUTES", "Refutes", "refute"), RelationLabel.CONTRADICTION),
    **dict.fromkeys(("NOT_ENOUGH_INFO", "Neutral", "partially-support", "irrelevant"), RelationLabel.NEUTRAL),
}
#: Of the passages that a search found for each of Factcheck-GPT's claims, how many are used.
SNIPPETS = 3


def held_out_topics(name: str) -> frozenset[str]:
    """Hashes of topics, of "wice", "factcheck_gpt", "expertqa", or "factcheck_gpt development"."""
    return frozenset(json.loads(HELD_OUT_FILE.read_text(encoding="utf-8"))[name])


def hash_of_topic(topic: str) -> str:
    """The hash by which held_out_topics.json knows a topic."""
    return digest(topic_key(topic))


def taught_small_lm(topic: str) -> bool:
    """Whether small-lm may have learned from texts about a topic.

    Its recipe's division, `is_test` of scripts/training/claim_model/sets.py in the same commit.
    """
    return int(digest(f"claims {topic_key(topic)}"), 16) % 100 >= SMALL_LM_TEST_PERCENT


def topic_key(topic: str) -> str:
    """A topic by its words in lower case, whatever stands between them."""
    return " ".join(words(topic.casefold())) or topic


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


def labelled_rows(data: Path) -> dict[str, list[dict[str, Any]]]:
    """Responses with labelled claims and passages, in a form that localfact reads; the sample's passages are in its corpus."""
    flaherty = [{"id": of} | json.loads((data / f"flaherty/flaherty_{of}.json").read_text("utf-8")) for of in FLAHERTY]
    return {
        "openfactcheck": json_lines(data / "openfactcheck/responses.jsonl"),
        "factcheck_gpt": list(factcheck_gpt_rows(data)),
        "flaherty": flaherty,
        "sample": json_lines(sample_responses()),
        "biographies": list(biography_rows(data)),
    }


def labelled_pairs(data: Path) -> Iterator[tuple[Pair, RelationLabel]]:
    """Pairs of evidence and claim with their relation by people, of six sets.

    They are those that nobody looked at when it was chosen how word overlap reads negations: half of the claims by a hash, or,
    of a set that comes in parts, the one for tests.
    """
    folder = data / "fact_verification"
    for row in json_lines(folder / "fever_symmetric_test.jsonl"):
        yield (
            Pair(row.get("evidence") or row["evidence_sentence"], row["claim"]),
            RELATIONS[row.get("gold_label") or row["label"]],
        )
    with (folder / "healthver_test.csv").open(encoding="utf-8") as file:
        yield from ((Pair(row["evidence"], row["claim"]), RELATIONS[row["label"]]) for row in csv.DictReader(file))
    for row in json_lines(folder / "climate-fever.jsonl.gz"):
        for one in row["evidences"] if _is_measured(row["claim"]) else ():
            yield Pair(one["evidence"], row["claim"]), RELATIONS[one["evidence_label"]]
    for row in json_lines(folder / "vitaminc_sufficient_facts.jsonl"):
        if _is_measured(row["claim"]):
            yield Pair(" ".join(text for _, text in row["evidence"]), row["claim"]), RELATIONS[row["label_before"]]
    for row in json_lines(data / "fool_me_twice/claims.jsonl.gz"):
        if row["gold_evidence"] and _is_measured(row["wikipedia_page"]):
            yield Pair(" ".join(one["text"] for one in row["gold_evidence"]), row["text"]), RELATIONS[row["label"]]
    for row in json_lines(data / "factcheck_gpt/subtask3_claim_evidence_stance.jsonl"):
        if _is_measured(row["claim"]):
            yield Pair(row["evidence"], row["claim"]), RELATIONS[row["stance"]]


def _is_measured(topic: str) -> bool:
    return int(hashlib.sha256(f"neg {topic}".encode()).hexdigest()[:8], 16) % 2 == 1


def factcheck_gpt_rows(data: Path) -> Iterator[dict[str, Any]]:
    """ChatGPT's answers, with what a search found for each of their claims; one that is neither true nor false has no label."""
    for row in json_lines(data / "factcheck_gpt/factcheck-GPT-benchmark.jsonl.gz"):
        claims, passages = [], []
        for part in row["sentences"].values() if isinstance(row["sentences"], dict) else row["sentences"]:
            told = zip(part["claims"], part["claims_factuality_label"], part["auto_evidence"], strict=True)
            for claim, true, found in told if part["claims"] else ():
                own = [{"id": f"{len(claims)}-{place}", "text": text} for place, text in enumerate(found[:SNIPPETS])]
                label = {True: "S", False: "NS"}.get(true) if isinstance(true, bool) else None
                claims.append({"text": claim, "label": label, "passages": [one["id"] for one in own]})
                passages += own
        kept = {"id": row["prompt"], "prompt": row["prompt"], "response": row["response"]}
        yield {**kept, "claims": claims, "passages": passages}


def biography_rows(data: Path) -> Iterator[dict[str, Any]]:
    """FActScore's biographies by ChatGPT; each claim has all that stands in for pages."""
    for row, pages in biographies_with_pages(data):
        facts = [fact for part in row["annotations"] for fact in part["human-atomic-facts"] or ()]
        yield {
            "id": row["topic"],
            "topic": row["topic"],
            "prompt": row["input"].removeprefix("Question: "),
            "response": row["output"],
            "claims": [fact | {"passages": list(pages)} for fact in facts],
            "passages": [{"id": host, "title": row["topic"], "text": text} for host, text in pages.items()],
        }


def biographies_with_pages(data: Path) -> Iterator[tuple[dict[str, Any], dict[str, str]]]:
    """The biographies by ChatGPT that people took apart, and for each what stands in for pages: host -> text.

    That is the sentences of which people called every fact supported, of what others wrote about the same person.
    """
    files = {
        name: {row["topic"]: row for row in json_lines(data / f"factscore_bios/{name}.jsonl")} for name in (WRITER, *PAGES)
    }
    for topic, row in files[WRITER].items():
        told = {f"{name}.example".lower(): supported_sentences(files[name].get(topic, {})) for name in PAGES}
        if row["annotations"] and sum(map(len, told.values())) >= FEWEST_SENTENCES:
            yield row, {host: " ".join(every) for host, every in told.items() if every}


def supported(sentence: dict[str, object]) -> list[str]:
    """The facts of a sentence that people called supported."""
    facts = sentence["human-atomic-facts"]
    return [fact["text"] for fact in facts if fact["label"] == "S"] if isinstance(facts, list) else []


def supported_sentences(row: dict[str, object]) -> list[str]:
    """The sentences of a biography of which every fact is supported."""
    annotations = row.get("annotations")
    told = annotations if isinstance(annotations, list) else []
    every = ((str(one["text"]).strip(), supported(one), one["human-atomic-facts"]) for one in told)
    return [text for text, good, facts in every if good and len(good) == len(facts)]


def json_lines(file: Path) -> list[dict[str, Any]]:
    """The rows of a file, which may be gzipped."""
    content = file.read_bytes()
    text = (gzip.decompress(content) if file.suffix == ".gz" else content).decode()
    return [json.loads(line) for line in text.split("\n") if line]
