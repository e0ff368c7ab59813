"""How well cited sources are read: relation models on sentences whose citations people judged, and ALCE's recall beside theirs.

    python -m scripts.measure_citations DATA [--model qwen2.5-coder-1.5b] [--claims 170] [--work FOLDER]

DATA is the folder of public data sets. ExpertQA: sentences of answers and the passages that they cite; an expert says whether
these support the sentence completely. WiCE: sentences of Wikipedia and the page that each cites; supported in part is not
supported. Only topics that no shipped model learned from; of ExpertQA's, half by a hash, the other half being there to choose
something on, which nothing was. What is read of a source, and beside what, is as `--citations` has it. A language model reads
a draw of so many sentences of ExpertQA, and WiCE, calibrated by the map that ships for it. In brackets 95 % intervals, by a
bootstrap over topics. Answers are kept in FOLDER: the same command goes on where it was interrupted, and asks nothing twice.
"""

import asyncio
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from localfact.citations.checking import CitationChecker
from localfact.citations.reading import extract_of
from localfact.inputs.responses import MAX_WORDS, response_of
from localfact.methods.options import Options
from localfact.methods.relations import LEXICAL, find_relation_model, open_cached
from localfact.records import Citations, Distribution, Pair
from localfact.relations.reasons import below_title
from localfact.scoring.bootstrap import Estimator
from localfact.scoring.roc import area_of_rows
from localfact.stages import Relations
from localfact.vocabulary import RelationLabel
from scripts.assessing import half_of, parser_of
from scripts.labelled_sets import digest, hash_of_topic, held_out_topics, json_lines
from scripts.measure_relations import Counted, ratio
from scripts.relation_answers import Answers, asked, calibrate, models_of, name_of
from scripts.tables import markdown_table, mean_of, with_interval

#: What an expert says of the citations of a sentence.
SUPPORTS = ("Complete", "Partial", "Incomplete")
#: A passage of ExpertQA: its mark, its address, and its text; few words are none.
PASSAGE = re.compile(r"\[(?P<mark>\d+)\]\s+\S+\s+(?P<text>.*)", re.DOTALL)
FEWEST_WORDS = 6
TITLE = "(meta data) TITLE:"


class Cited(NamedTuple):
    """A sentence, the sources that it cites (title, text), whether people say that these support it whole, and its topic."""

    sentence: str
    sources: Sequence[tuple[str, str]]
    gold: bool
    topic: str

    @property
    def pair(self) -> Pair:
        """What is read of all its sources, joined, and the sentence."""
        parts = [below_title(title, extract_of(text, self.sentence)) for title, text in self.sources]
        return Pair("\n\n".join(parts), self.sentence)


def main() -> None:
    parser = parser_of(__doc__, "runs/citations")
    parser.add_argument("--claims", type=int, default=170, help="how many sentences of ExpertQA are in the draw")
    chosen = parser.parse_args()
    experts = sorted(expertqa(chosen.data), key=lambda one: digest(f"drawn {one.sentence}"))
    sets = {"ExpertQA, the draw": experts[: chosen.claims], "WiCE": list(wice(chosen.data)), "ExpertQA, all": experts}
    rows = []
    for options in models_of(chosen.model):
        read = {title: group for title, group in sets.items() if not options.model or title != "ExpertQA, all"}
        answers = asked(options, [one.pair for group in read.values() for one in group], chosen.work)
        name = name_of(options) + (", calibrated" if options.model else "")
        rows += [[name, title, *figures(group, calibrate(options, answers))] for title, group in read.items()]
    heads = ("sentences, supported", "calls", "balanced accuracy, %", "area", "supported: entailed", "others: entailed")
    print(markdown_table(("relation model", "set", *heads), sorted(rows, key=lambda row: row[1])), "\n", flush=True)
    answered = list(answers_of_experts(chosen.data))
    recalls = [[LEXICAL, *recall_figures(answered, chosen.work)]]
    heads = ("answers", "recall by people", "citation recall", "mean distance", "correlation")
    print(markdown_table(("relation model", *heads), recalls))


def expertqa(data: Path) -> Iterator[Cited]:
    """ExpertQA's sentences with the text of a passage that they cite."""
    for row in measured_rows(data):
        for answer in row["answers"].values():
            for part in answer["claims"]:
                sources = [("", text) for _, text in passages_of(part)]
                if sources and part["support"] in SUPPORTS:
                    yield Cited(without_marks(part["claim_string"]), sources, part["support"] == "Complete", row["question"])


def measured_rows(data: Path) -> Iterator[dict[str, Any]]:
    """The rows of the half that is measured on."""
    held_out = held_out_topics("expertqa")
    for row in json_lines(data / "expertqa/expertqa_answers.jsonl.gz"):
        topic = row["question"]
        if hash_of_topic(topic) in held_out and half_of(topic):
            yield row


def passages_of(part: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Mark and text of each passage that a sentence cites; those without a text left out."""
    for passage in part["evidence"]:
        found = PASSAGE.match(passage)
        if found is not None and len(found["text"].split()) >= FEWEST_WORDS:
            yield found["mark"], found["text"].strip()


def without_marks(sentence: str) -> str:
    return re.sub(r"\s*\[\d+\]", "", sentence).strip()


def wice(data: Path) -> Iterator[Cited]:
    """WiCE's sentences and the page that each cites, with its title."""
    held_out = held_out_topics("wice")
    for part in ("dev", "test"):
        for row in json_lines(data / f"wice/claim_{part}.jsonl.gz"):
            lines, title = row["evidence"], ""
            if lines[0].startswith(TITLE):
                title, lines = lines[0].removeprefix(TITLE).strip(), lines[1:]
            topic = row["meta"]["claim_title"]
            if hash_of_topic(topic) in held_out:
                yield Cited(row["claim"], [(title, "\n".join(lines))], row["label"] == "supported", topic)


def figures(group: Sequence[Cited], answers: Answers) -> Iterator[str]:
    """The cells of a row; a failed answer entails nothing."""
    said = [answers[one.pair] for one in group]
    entailed = np.array([isinstance(one, Distribution) and one.label is RelationLabel.ENTAILMENT for one in said])
    lean = np.array([one.entailment if isinstance(one, Distribution) else 0.0 for one in said])
    gold = np.array([one.gold for one in group])
    topics = {topic: place for place, topic in enumerate(dict.fromkeys(one.topic for one in group))}
    places = np.array([topics[one.topic] for one in group])

    def share(which: np.ndarray[Any, np.dtype[np.bool_]]) -> Estimator:
        return ratio(Counted(*(np.bincount(places, kept, len(topics)) for kept in (which & entailed, which))))

    true, false = share(gold), share(~gold)
    yield f"{len(group)}, {gold.sum()}"
    yield str(len({one.pair for one in group}))
    yield with_interval(lambda drawn: (true(drawn) + 1 - false(drawn)) / 2, len(topics), ".1f", ".1f", times=100)
    yield with_interval(area_of_rows(lean, gold, places, len(topics)), len(topics))
    yield with_interval(true, len(topics), ".2f")
    yield with_interval(false, len(topics), ".2f")


class Answered(NamedTuple):
    """A whole answer with its sources, as a row, and the share of its sentences that experts say are supported whole."""

    row: dict[str, Any]
    recall: float


def answers_of_experts(data: Path) -> Iterator[Answered]:
    """The answers of which every citation has its text and every sentence a label; without a citation one is unsupported."""
    for row in measured_rows(data):
        for answer in row["answers"].values():
            parts = [part for part in answer["claims"] if part["support"] in (*SUPPORTS, "Missing")]
            texts: dict[str, list[str]] = {}
            for part in parts:
                for mark, text in passages_of(part):
                    texts.setdefault(mark, []).append(text)
            cited = sum(len(part["evidence"]) for part in parts)
            if not texts or len(parts) < len(answer["claims"]) or cited > sum(len(list(passages_of(part))) for part in parts):
                continue
            sources = {mark: "\n\n".join(dict.fromkeys(several)) for mark, several in texts.items()}
            recall = sum(part["support"] == "Complete" for part in parts) / len(parts)
            yield Answered({"response": answer["answer_string"], "sources": sources}, recall)


async def check_all(rows: Sequence[dict[str, Any]], work: Path) -> list[Citations]:
    """The citations of each answer, as `--citations` checks them, by word overlap."""
    async with AsyncExitStack() as opened:
        cache = open_cached(find_relation_model(Options(relations=LEXICAL)).open(opened), work / "relations.sqlite", opened)

        async def relate(pairs: Sequence[Pair]) -> Relations:
            return dict(zip(pairs, await cache.relate(pairs), strict=True))

        responses = [response_of(row, 1, MAX_WORDS) for row in rows]
        return [await CitationChecker().check(one, (), relate, lambda what, number: None) for one in responses]


def recall_figures(answered: Sequence[Answered], work: Path) -> Iterator[str]:
    """How near ALCE's recall is to the share of sentences that experts call supported, over answers."""
    found = [one.recall for one in asyncio.run(check_all([one.row for one in answered], work))]
    ours = np.array([value for value in found if value is not None])
    theirs = np.array([one.recall for one, value in zip(answered, found, strict=True) if value is not None])
    yield str(len(ours))
    for values in (theirs, ours, np.abs(ours - theirs)):
        yield with_interval(mean_of(values), len(ours))
    yield with_interval(lambda drawn: float(np.corrcoef(ours[drawn], theirs[drawn])[0, 1]), len(ours))


if __name__ == "__main__":
    main()
