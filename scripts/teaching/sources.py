"""The public sets that the student may learn from: claims that people wrote or judged, and the texts beside them.

Only sets whose licence lets a model be shipped that learned from them, and none that decides whether it ships. Each reader says
what its licence is.
"""

import csv
import gzip
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from localfact.relations.calibration import LABELS
from scripts.labelled_sets import digest, hash_of_topic, held_out_topics, json_lines
from scripts.measure_calibration import fool_me_twice as tested_claims

ENTAILMENT, CONTRADICTION, NEUTRAL = LABELS
#: Answers that judge the student; their prompts and claims are no topics of any pair. The biography is FactReasoner's.
TESTS = {
    "openfactcheck/systems.jsonl": ("claim",),
    "felm/felm_all.jsonl": ("prompt",),
    "factcheck_gpt/Factbench_claims.jsonl": ("prompt", "claims"),
    "summedits/summedits.jsonl.gz": ("summary", "original_summary"),
    "chatprotect/pairs.jsonl": ("target",),
}
#: Characters of a text that are read at most, and of one that is worth a pair at least.
LONGEST, SHORTEST = 12_000, 60
_CITATION = re.compile(r"\s*\[\d+\]")
_SPACED = re.compile(r" (?=[.,;:!?%)\]]|'s\b|n't\b)|(?<=[(\[]) ")
_VERDICTS = {"SUPPORTS": ENTAILMENT, "REFUTES": CONTRADICTION}


class Judged(NamedTuple):
    """A claim beside a text.

    Attributes:
        set: the public set. topic: what it is about; the same topic is never both learned from and looked at.
        text: a page, a passage or a snippet, as long as its source has it. label: people's; "" without one.
        focus: the part of the text that the label rests on; "" for all of it.
    """

    set: str
    topic: str
    text: str
    claim: str
    label: str
    focus: str = ""


def judged_claims(data: Path) -> list[Judged]:
    """All claims and texts of the sets, without what is tested on, each once, in the order of the sets."""
    tested = tested_topics(data)
    every = (one for read in READERS for one in read(data))
    kept = [
        one
        for one in every
        if len(one.text) >= SHORTEST
        and len(one.claim.split()) in range(4, 60)
        and not {hash_of_topic(one.topic), hash_of_topic(one.claim)} & tested
    ]
    return list(dict.fromkeys(kept))


def tested_topics(data: Path) -> frozenset[str]:
    """Hashes of what the student is judged by: prompts and claims of TESTS, pages of claims that are measured elsewhere."""
    found = {hash_of_topic("Lanny Flaherty")}
    for name, fields in TESTS.items():
        for row in json_lines(data / name):
            for value in (row.get(field) for field in fields):
                texts = value if isinstance(value, list) else [value]
                found |= {hash_of_topic(text) for text in texts if isinstance(text, str) and text}
    found |= {hash_of_topic(row.topic) for row in tested_claims(data) if row.topic}
    for name in ("wice", "expertqa", "factcheck_gpt", "factcheck_gpt development"):
        found |= held_out_topics(name)
    return frozenset(found)


def fool_me_twice(data: Path) -> Iterator[Judged]:
    """Claims that players wrote to mislead, among the sentences of Wikipedia that decide and others (Apache-2.0; CC BY-SA)."""
    for row in json_lines(data / "fool_me_twice/claims.jsonl.gz"):
        gold = [one["text"] for one in row["gold_evidence"]]
        others = [one["text"] for one in row["retrieved_evidence"] if one["text"] not in gold]
        amid = int(digest(row["text"]), 16) % 3
        beside = others[: 2 * amid]
        text = " ".join([*beside[: len(beside) // 2], *gold, *beside[len(beside) // 2 :]])
        yield Judged("fool_me_twice", row["wikipedia_page"], text, row["text"], _VERDICTS[row["label"]], " ".join(gold))
        if len(others) > 4:
            yield Judged("fool_me_twice", row["wikipedia_page"], " ".join(others[:6]), row["text"], "")


def wice(data: Path) -> Iterator[Judged]:
    """Claims of Wikipedia and the pages that they cite (annotations ODC-BY; CC BY-SA, Common Crawl's terms)."""
    labels = {"supported": ENTAILMENT, "partially_supported": NEUTRAL, "not_supported": NEUTRAL}
    for part in ("claim_dev", "claim_test", "non_supported_tokens"):
        for row in json_lines(data / f"wice/{part}.jsonl.gz"):
            page = [line.removeprefix("(meta data) TITLE: ") for line in row["evidence"]]
            claim = row["claim"]
            yield Judged("wice", row["meta"]["claim_title"], "\n".join(page)[:LONGEST], claim, labels[row["label"]])


def factcg(data: Path) -> Iterator[Judged]:
    """Documents and claims that rest on several of their sentences; what is not supported may be denied or left open (MIT)."""
    for part in ("cg2c_doc", "cg2c_musique"):
        for row in json_lines(data / f"factcg/{part}.jsonl"):
            for claim in row["text_b"]:
                label = ENTAILMENT if row["orig_label"] == 1 else ""
                yield Judged("factcg", row["text_a"][:80], row["text_a"], claim, label)


def fever_symmetric(data: Path) -> Iterator[Judged]:
    """Claims and sentences of Wikipedia, four pairs a case, so that neither text gives the label away (CC BY-SA 3.0)."""
    for part in ("dev", "test"):
        for row in json_lines(data / f"fact_verification/fever_symmetric_{part}.jsonl"):
            claim, text = (_SPACED.sub("", row[field]) for field in ("claim", "evidence"))
            yield Judged("fever_symmetric", " ".join(claim.split()[:2]), text, claim, _VERDICTS[row["gold_label"]])


def wikicontradict(data: Path) -> Iterator[Judged]:
    """Two passages of Wikipedia that disagree, and what each says (Apache-2.0; CC BY-SA)."""
    for row in json_lines(data / "wikicontradict/wiki_contradict_refined.jsonl"):
        for own, other in (("1", "2"), ("2", "1")):
            text = " ".join(re.sub(r"\s*\[[^\[\]]{0,60}\]", "", row[f"context{own}_info"]).split())
            yield Judged("wikicontradict", row["question"], text, row[f"answer{own}_self_contained"], ENTAILMENT)
            label = CONTRADICTION if row["contradiction_type"] == "Explicit" else ""
            yield Judged("wikicontradict", row["question"], text, row[f"answer{other}_self_contained"], label)


def factor_news(data: Path) -> Iterator[Judged]:
    """Sentences of news and nearly equal false ones, beside the article up to the true one (ODC-By, Common Crawl's terms)."""
    content = gzip.decompress((data / "factor/news_factor.csv.gz").read_bytes()).decode()
    for row in csv.DictReader(io.StringIO(content)):
        before = row["full_prefix"].strip()
        true = row["completion"].strip()
        text = f"{before[-1_500:].partition(' ')[2]} {true}"
        wrong = row[f"contradiction_{int(digest(row['completion']), 16) % 3}"].strip()
        yield Judged("factor_news", before[:80], text, true, ENTAILMENT, true)
        yield Judged("factor_news", before[:80], text, wrong, CONTRADICTION, true)


def veriscore(data: Path) -> Iterator[Judged]:
    """Claims that a language model extracted and the snippets that a search found for each (Apache-2.0)."""
    found = json.loads((data / "veriscore/search_cache.json").read_text(encoding="utf-8"))
    for claim, reply in found.items():
        for snippet in reply.get("organic", ())[:6]:
            yield Judged(
                "veriscore", " ".join(claim.split()[:3]), f"{snippet['title']}\n{snippet.get('snippet', '')}", claim, ""
            )


def biographies(data: Path) -> Iterator[Judged]:
    """Facts that people took out of one model's biography, beside another model's of the same person (MIT)."""
    models = ("ChatGPT", "InstructGPT", "PerplexityAI")
    rows = {name: {row["topic"]: row for row in json_lines(data / f"factscore_bios/{name}.jsonl")} for name in models}
    for name, other in zip(models, (*models[1:], models[0]), strict=True):
        for topic, row in rows[name].items():
            text = " ".join(_CITATION.sub("", rows[other].get(topic, {}).get("output", "")).split())
            facts = [one["text"] for part in row["annotations"] or () for one in part["human-atomic-facts"] or ()]
            for fact in facts:
                yield Judged("factscore_bios", topic, text, fact, "")


READERS = (fool_me_twice, wice, factcg, fever_symmetric, wikicontradict, factor_news, veriscore, biographies)
