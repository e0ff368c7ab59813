"""How many claims by rule their text does not make: by their words, over all public answers, and by an auditor, of some drawn.

    python -m scripts.measure_invented DATA [--model qwen2.5-coder-1.5b | --relations lexical] [--work FOLDER]

DATA is the folder of public data sets. First the property: every content word of a claim stands in its sentence, its context or
the topic. Then whether each of --claims drawn claims is entailed by its sentence in context, as a relation model says, or a
language model calibrated by the map that ships. The least entailed are written to FOLDER/doubtful.jsonl, for a person to read.
Answers are kept in FOLDER: the same command goes on where it was interrupted.
"""

import asyncio
import json
import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from localfact.claims.rules.extractor import RuleExtractor
from localfact.methods.options import Options
from localfact.records import Claim, Distribution, Pair, Response
from localfact.thoughts import without_thoughts
from localfact.vocabulary import RelationLabel
from scripts.assessing import parser_of
from scripts.labelled_sets import digest, json_lines
from scripts.relation_answers import asked, calibrate

#: Files of long answers, and where in a row the answers are.
ANSWERS = (
    ("factscore_bios/ChatGPT.jsonl", "output"),
    ("factscore_bios/InstructGPT.jsonl", "output"),
    ("factscore_bios/PerplexityAI.jsonl", "output"),
    ("fastfact_bench/fastfact-bench_for_eval.jsonl", "response"),
    ("factcheck_gpt/Factbench_responses.jsonl.gz", "response"),
    ("felm/felm_all.jsonl", "response"),
    ("openfactcheck/responses.jsonl", "output"),
    ("expertqa/expertqa_answers.jsonl.gz", "answers"),
    ("conformal_claims/nq_annotations.jsonl", "original-output"),
    ("veriscore/data_sample.jsonl", "response"),
)
#: How far before a claim its context begins; headings count from anywhere above. The auditor reads less.
CONTEXT, READ = 1_000, 500
#: Where the topic is found that no input names.
OPENING = 500
#: Shorter words hold claims together; these the rules add: "(born 1950)" says that somebody was born.
SHORTEST = 4
ADDED = {"became", "began", "born", "died", "were", "went"}
#: Letters that two forms of a word share.
STEM = 4
#: How many of the least entailed claims a person reads.
DOUBTFUL = 60


class Drawn(NamedTuple):
    """A claim, the answer that it is from, and that answer's file."""

    claim: Claim
    response: Response
    source: str


def main() -> None:
    parser = parser_of(__doc__, "runs/invented")
    parser.add_argument("--relations", help="a relation model as auditor; default: the property alone")
    parser.add_argument("--claims", type=int, default=500, help="how many are drawn for it")
    chosen = parser.parse_args()
    answers = list(public_answers(chosen.data))
    claims = [Drawn(claim, response, source) for source, response in answers for claim in extract(response)]
    new = [(drawn, words) for drawn in claims if (words := new_words(drawn.claim, drawn.response))]
    print(f"{len(answers):,} answers, {len(claims):,} claims; {len(new)} with a content word that their text lacks")
    for drawn, words in new:
        print(f"  {drawn.source}: {drawn.claim.text} {sorted(words)}")
    if chosen.model or chosen.relations:
        options = Options(relations="llm", model=chosen.model) if chosen.model else Options(relations=chosen.relations)
        drawn_claims = sorted(claims, key=lambda one: digest(f"invented {one.source} {one.response.text} {one.claim.text}"))
        audit(drawn_claims[: chosen.claims], options, chosen.work)


def extract(response: Response) -> tuple[Claim, ...]:
    return tuple(asyncio.run(RuleExtractor().extract(response)).claims)


def audit(drawn: list[Drawn], options: Options, folder: Path) -> None:
    """Prints how many claims the auditor does not find entailed, and writes the most doubtful ones to the folder."""
    pairs = [Pair(in_context(one.claim, one.response), one.claim.text) for one in drawn]
    folder.mkdir(parents=True, exist_ok=True)
    said = calibrate(options, asked(options, pairs, folder))
    answered = [(said[pair], one) for pair, one in zip(pairs, drawn, strict=True)]
    found = [(answer, one) for answer, one in answered if isinstance(answer, Distribution)]
    missed = sum(distribution.label is not RelationLabel.ENTAILMENT for distribution, _ in found)
    print(f"{len(found)} of {len(drawn)} drawn claims audited; {missed} not entailed ({missed / len(found):.1%})")
    rows = [
        {"entailment": round(by.entailment, 3), "claim": one.claim.text, "context": in_context(one.claim, one.response)}
        for by, one in sorted(found, key=lambda pair: pair[0].entailment)[:DOUBTFUL]
    ]
    (folder / "doubtful.jsonl").write_text(
        "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8"
    )


def in_context(claim: Claim, response: Response) -> str:
    """A claim's sentence, what stands before it, the headings above, and the topic."""
    start, end = claim.spans[0].start, max(span.end for span in claim.spans)
    first = max(0, start - READ)
    above = re.findall(r"(?m)^\W*#.*$", response.text[:first])[-2:]
    rest = re.match(r"[^.!?\n]{0,200}[.!?]?", response.text[end:])
    return "\n".join((response.topic or response.prompt or "", *above, response.text[first:end] + (rest[0] if rest else "")))


def new_words(claim: Claim, response: Response) -> set[str]:
    """The content words of a claim that its text lacks."""
    start, end = min(span.start for span in claim.spans), max(span.end for span in claim.spans)
    first = max(0, start - CONTEXT)
    above = re.findall(r"(?m)^\W*(?:#|\*\*|\|).*$", response.text[:first])
    source = "\n".join(
        (response.topic or "", response.prompt or "", response.text[:OPENING], *above, response.text[first : end + CONTEXT])
    )
    known = {word[:STEM] for word in content_words(re.sub(r"\\n(?![a-z])", " ", source))}
    return {
        word for word in content_words(claim.text) if len(word) >= SHORTEST and word not in ADDED and word[:STEM] not in known
    }


def content_words(text: str) -> list[str]:
    folded = unicodedata.normalize("NFKD", text.casefold())
    return re.findall(r"[^\W_]+", "".join(letter for letter in folded if not unicodedata.combining(letter)))


def public_answers(data: Path) -> Iterator[tuple[str, Response]]:
    """The long answers of public sets, each once, with its file; without thoughts, as they are judged."""
    seen: set[str] = set()
    for name, key in ANSWERS:
        for row in json_lines(data / name):
            prompt = row.get("input") or row.get("prompt") or row.get("question")
            for text in texts_of(row[key]):
                if text not in seen:
                    seen.add(text)
                    yield name, Response(id="r", text=without_thoughts(text), topic=row.get("topic"), prompt=prompt)


def texts_of(value: Any) -> list[str]:
    """An answer, or one of each system; no text of any other value."""
    if isinstance(value, dict):
        return [each["answer_string"] for each in value.values()]
    return [value] if isinstance(value, str) else []


if __name__ == "__main__":
    main()
