"""What extractors write about other people's answers: read, unread, invented, and how near to the annotators' claims.

    python -m scripts.measure_extraction DATA --model qwen2.5-coder-1.5b [--extractor chunked ...] [--free] [--work FOLDER]

DATA is the folder of public data sets. --each answers (20) are drawn from each of three sources by a hash, and claims are taken
from them by each extractor, those without a language model too. Their claims are matched with the annotators' one to one, as
`localfact align` does; FActScore's biographies alone have some, and only those are drawn whose topics small-lm did not learn
from. The last column has the topic's name for a pronoun that a claim begins with, on both sides. A claim with a content word
that its text lacks may be made up: such are written to FOLDER/new_words.EXTRACTOR.jsonl, and some more drawn by a hash to
FOLDER/drawn.EXTRACTOR.jsonl, for a person to read. Claims are kept in FOLDER: the same command goes on where it was
interrupted.
"""

import json
import re
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from localfact.api.align import similarity
from localfact.api.extract import extract_claims
from localfact.inputs.responses import MAX_WORDS, response_of
from localfact.methods.extraction import CHUNKED, EXTRACTORS
from localfact.methods.options import Options
from localfact.records import Claim, Response, Span
from localfact.scoring.alignment import best_matches
from localfact.text import word_count
from localfact.thoughts import without_thoughts
from scripts.assessing import parser_of
from scripts.labelled_sets import digest, json_lines, taught_small_lm
from scripts.measure_invented import new_words
from scripts.tables import markdown_table, with_interval

#: The files of the three sources, and where in a row its answer is.
SOURCES = {
    "factscore_bios/ChatGPT.jsonl": "output",
    "felm/felm_all.jsonl": "response",
    "fastfact_bench/fastfact-bench_for_eval.jsonl": "response",
}
#: The fewest and the most words of an answer.
SHORTEST, LONGEST = 40, 260
DEFAULTS = ("rules", "small-lm", "chunked", "atomizer", "one-call")
#: Claims of an extractor that a person reads besides.
READ = 50
HEADS = (
    *("extractor", "claims", "failed", "lines unread", "calls", "tokens written", "completed", "cut"),
    *("placed nowhere", "new words"),
    *("precision", "recall", "F1", "F1, names for pronouns"),
)
#: A pronoun that a claim of a biography begins with.
PRONOUN = re.compile(r"^(?:He|She|(?P<whose>His|Her))\b")


def main() -> None:
    parser = parser_of(__doc__, "runs/extraction")
    parser.add_argument("--extractor", action="append", choices=EXTRACTORS, help="one of them, as often as wanted")
    parser.add_argument("--free", action="store_true", help="let the model write in no given form")
    parser.add_argument("--stride", type=int, help="sentences that chunked reads in a call; default: the whole answer")
    parser.add_argument("--alone", action="store_true", help="show a sentence or chunk without those around it")
    parser.add_argument("--each", type=int, default=20, help="answers of each source (20)")
    chosen = parser.parse_args()
    chosen.work.mkdir(parents=True, exist_ok=True)
    answers = [row for name, key in SOURCES.items() for row in draw(chosen.data / name, key, chosen.each)]
    data = chosen.work / "answers.jsonl"
    write(data, answers)
    rows = []
    for extractor in chosen.extractor or DEFAULTS:
        if EXTRACTORS[extractor].asks_model and chosen.model is None:
            parser.error(f"--model names the language model that {extractor} asks")
        rows.append(measure(*way(extractor, chosen), data, chosen.work, answers))
    print(markdown_table(HEADS, rows))


def way(extractor: str, chosen: Namespace) -> tuple[str, Options]:
    """How an extractor is asked, by the command's options; and a name for it."""
    if not EXTRACTORS[extractor].asks_model:
        return extractor, Options(extractor=extractor)
    name, given = extractor, {"model": chosen.model, "guided": not chosen.free}
    if chosen.stride and extractor == CHUNKED:
        name, given = f"{name}.{chosen.stride}", given | {"stride": chosen.stride}
    if chosen.free:
        name += ".free"
    if chosen.alone:
        name, given = f"{name}.alone", given | {"context_sentences": "0,0"}
    return name, Options(extractor=extractor, **given)


def draw(file: Path, key: str, count: int) -> list[dict[str, Any]]:
    """Answers of a file, by a hash, in a form that localfact reads; each with the annotators' claims if it has some."""
    found = {}
    for row in json_lines(file):
        if "annotations" in row and taught_small_lm(row["topic"]):
            continue
        text = without_thoughts(row[key]).strip() if isinstance(row[key], str) else ""
        if SHORTEST <= word_count(text) <= LONGEST:
            parts = [part for part in row.get("annotations") or () if isinstance(part, dict)]
            facts = [{"text": fact["text"]} for part in parts for fact in part["human-atomic-facts"] or ()]
            prompt = row.get("input") or row.get("prompt") or row.get("question")
            found[text] = {"id": digest(text), "prompt": prompt, "topic": row.get("topic"), "response": text, "facts": facts}
    return [found[text] for text in sorted(found, key=lambda text: digest(f"sixty {text}"))[:count]]


def measure(name: str, options: Options, data: Path, folder: Path, answers: Sequence[dict[str, Any]]) -> list[str]:
    """The row of an extractor in the table; writes what a person shall read."""
    out = folder / f"{name}.jsonl"
    summary = extract_claims(data, out, options=options)
    made = [(response_of(row, 1, MAX_WORDS), row) for row in json_lines(out) if "claims" in row]
    told = [
        {"claim": claim.text, "response": response.text, "new": sorted(new)}
        for response, claim, new in claims_of(response for response, _ in made)
    ]
    write(folder / f"new_words.{name}.jsonl", [one for one in told if one["new"]])
    drawn = sorted(told, key=lambda one: digest(f"read {one['claim']} {one['response']}"))[:READ]
    write(folder / f"drawn.{name}.jsonl", drawn)
    asked = (sum(int(sums.get(kind, 0)) for sums in summary.usage.values()) for kind in ("requests", "output_tokens"))
    odd = (summary.counts.get(kind, 0) for kind in ("claims_completed", "claims_cut", "claims_unlocated"))
    figures = [len(told), summary.failed, summary.counts["lines_unparsed"], *asked, *odd, sum(bool(one["new"]) for one in told)]
    facts = {row["id"]: [fact["text"] for fact in row["facts"]] for row in answers if row["facts"]}
    biographies = [row for _, row in made if row["id"] in facts]
    sides = [([claim["text"] for claim in row["claims"]], facts[row["id"]]) for row in biographies]
    named = [
        ([with_name(one, row["topic"]) for one in ours], [with_name(one, row["topic"]) for one in theirs])
        for (ours, theirs), row in zip(sides, biographies, strict=True)
    ]
    return [name, *map("{:,}".format, figures), *matched(sides), matched(named)[-1]]


def claims_of(responses: Iterable[Response]) -> Iterator[tuple[Response, Claim, set[str]]]:
    """Each claim with its response and its content words that the text lacks; one without a place is sought in all of it."""
    for response in responses:
        whole = (Span(start=0, end=len(response.text)),)
        for claim in response.claims or ():
            yield response, claim, new_words(claim.model_copy(update={"spans": claim.spans or whole}), response)


def with_name(text: str, topic: str) -> str:
    """A claim about the topic with its name in the place of a pronoun that it begins with."""
    return PRONOUN.sub(lambda found: f"{topic}'s" if found["whose"] else topic, text, count=1)


def matched(sides: Sequence[tuple[list[str], list[str]]]) -> list[str]:
    """Precision, recall and F1 over the claims of all responses, ours and theirs, each with its interval over responses."""
    similar, least, _ = similarity("minilm", None)
    counts = []
    for ours, theirs in sides:
        both = len(best_matches(similar(ours, theirs), least)) if ours and theirs else 0
        counts.append((both, len(ours), len(theirs)))
    told = np.array(counts, dtype=float)

    def share(of: Callable[[float, float, float], float]) -> str:
        return with_interval(lambda chosen: float(of(*told[chosen].sum(axis=0))), len(told))

    precision, recall = share(lambda both, ours, _: both / ours), share(lambda both, _, theirs: both / theirs)
    return [precision, recall, share(lambda both, ours, theirs: 2 * both / (ours + theirs))]


def write(file: Path, rows: Sequence[dict[str, Any]]) -> None:
    file.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


if __name__ == "__main__":
    main()
