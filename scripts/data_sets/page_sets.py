"""Sets about web pages: WiCE, FACTOR's news and answers of experts, WikiContradict, FeverSymmetric, FactCG.

Read from the folder of public data sets; the licences are in `licences.py`.
"""

import random
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

from localfact.inputs.factor import Question, read_questions
from localfact.text import sentences
from scripts.data_sets.answer_sets import PARTIAL
from scripts.data_sets.examples import CONTRADICTION, ENTAILMENT, NEUTRAL, Example, digest
from scripts.data_sets.reading import json_lines, passage_around, passages
from scripts.data_sets.texts import LONGEST_PREMISE, detokenised, partners, share_told

#: A stretch of a page without supporting sentences is no passage of its own when it is shorter, in characters.
SHORTEST_STRETCH = 300
#: At most so many passages elsewhere on a page for a claim.
MOST_ELSEWHERE = 2
#: A claim that has more of its longer words in a sentence of another case is no neutral pair with it.
MOST_TOLD = 0.3

_WIKI_MARK = re.compile(r"\s*\[[^\[\]]{0,60}\]")
_VERDICTS = {"SUPPORTS": ENTAILMENT, "REFUTES": CONTRADICTION}


def wice(data: Path) -> Iterator[Example]:
    """WiCE's claims against passages of the page that they cite: around the supporting sentences, and elsewhere on it."""
    kinds = {"supported": "supported", "partially_supported": PARTIAL, "not_supported": "not supported"}
    for part in ("claim_dev", "claim_test", "non_supported_tokens"):
        for row in json_lines(data / f"wice/{part}.jsonl.gz"):
            page, topics = row["evidence"], (row["meta"]["claim_title"], "\n".join(row["evidence"]))
            supporting = [places for places in row["supporting_sentences"] if places]
            closest = min(supporting, key=lambda places: max(places) - min(places), default=None)
            passage = passage_around(page, min(closest), max(closest), random.Random(row["claim"])) if closest else None
            if closest and passage:
                label = ENTAILMENT if row["label"] == "supported" else NEUTRAL
                focus = "\n".join(page[place] for place in sorted(closest))
                yield Example("wice", kinds[row["label"]], passage, row["claim"], label, topics, focus)
            used = {place for places in supporting for place in places}
            for text in elsewhere(page, used)[:MOST_ELSEWHERE]:
                yield Example("wice", "elsewhere", text, row["claim"], NEUTRAL, topics)


def elsewhere(page: list[str], used: set[int]) -> list[str]:
    """Passages of the stretches of a page between the sentences in use, the longest first."""
    borders = [-1, *sorted(used), len(page)]
    stretches = [page[before + 1 : after] for before, after in pairwise(borders)]
    found = [text for stretch in stretches for _, text in passages(stretch)]
    return sorted((text for text in found if len(text) >= SHORTEST_STRETCH), key=len, reverse=True)


def factor_expert(data: Path) -> Iterator[Example]:
    """FACTOR's answers of experts: the true completion and the false ones against the text with the true one."""
    for question in questions(data / "factor/expert_factor.csv"):
        yield from completed("factor_expert", question, (asked(question.premise),))


def asked(text: str) -> str:
    """The question that FACTOR's text of an expert begins with."""
    return text.split("\n", 1)[0].removeprefix("Question:").strip()


def factor_news(data: Path) -> Iterator[Example]:
    """FACTOR's news: as its answers of experts; and what only a false completion tells, the text before, another article.

    With the false completion in the text it is the true one that is contradicted, so that neither gives its label away alone.
    """
    rows = [question for question in questions(data / "factor/news_factor.csv.gz") if before(question)]
    others = partners([question.premise for question in rows])
    for place, row in enumerate(rows):
        topics = article(row)
        yield from completed("factor_news", row, topics)
        true, *false = row.hypotheses
        completion = false[int(digest(true), 16) % len(false)]
        premise = ending(before(row) + " " + completion)
        yield Example("factor_news", "false completion told", premise, completion, ENTAILMENT, topics, completion)
        yield Example("factor_news", "false completion told", premise, true, CONTRADICTION, topics, completion)
        if len(sentences(before(row))) > 1:
            yield Example("factor_news", "text before", ending(before(row)), true, NEUTRAL, topics)
        if place in others:
            other = rows[others[place]]
            yield Example("factor_news", "another article", ending(other.premise), true, NEUTRAL, (*topics, *article(other)))


def completed(name: str, question: Question, topics: tuple[str, ...]) -> Iterator[Example]:
    """The completions of a text, the true one first, against the text with the true one."""
    true = question.hypotheses[0]
    for hypothesis, label in zip(question.hypotheses, (ENTAILMENT, *[CONTRADICTION] * 3), strict=True):
        if label == ENTAILMENT or hypothesis.strip() != true.strip():
            yield Example(name, "completion", ending(question.premise), hypothesis.strip(), label, topics, true.strip())


def questions(file: Path) -> list[Question]:
    """The rows of a file of FACTOR that can be used."""
    return [row for row in read_questions(file) if isinstance(row, Question)]


def before(question: Question) -> str:
    """The text without its true completion."""
    return question.premise.removesuffix(question.hypotheses[0]).strip()


def article(question: Question) -> tuple[str, ...]:
    """What a piece of news is known by: its first sentence, and its first 200 characters."""
    text = before(question)
    first = sentences(text)[0]
    return (text[first.start : first.end], text[:200])


def ending(text: str) -> str:
    """The last sentences of a text that fit a passage."""
    text = text.strip()
    if len(text) <= LONGEST_PREMISE:
        return text
    return text[next(span.start for span in sentences(text) if len(text) - span.start <= LONGEST_PREMISE) :]


def wikicontradict(data: Path) -> Iterator[Example]:
    """WikiContradict's two passages of Wikipedia against each other, and both against the two answers that they give."""
    for row in json_lines(data / "wikicontradict/wiki_contradict_refined.jsonl"):
        # What contradicts only by way of a computation or of what everybody knows reads as neutral: of 10 pairs by eye, 4.
        explicit = row["contradiction_type"] == "Explicit"
        yield from (example for example in disagreeing(row) if explicit or example.label == ENTAILMENT)


def disagreeing(row: Mapping[str, Any]) -> Iterator[Example]:
    """All pairs of one question of WikiContradict."""
    topics = (row["question"], row["context1"], row["context2"])
    texts = {name: plain(row[name]) for name in row if name.startswith(("context", "answer"))}
    for own, other in (("1", "2"), ("2", "1")):
        sentence, whole = texts[f"context{own}"], texts[f"context{own}_self_contained"]
        opposed = texts[f"context{other}"], texts[f"context{other}_self_contained"]
        pairs = (("sentences", sentence, opposed[0]), ("sentences made whole", whole, opposed[1]))
        for kind, premise, hypothesis in pairs:
            yield Example("wikicontradict", kind, premise, hypothesis, CONTRADICTION, topics)
        for kind, premise in (("answer", whole), ("answer and passage", texts[f"context{own}_info"][:LONGEST_PREMISE])):
            focus = sentence if sentence in premise else ""
            for label, answer in ((ENTAILMENT, own), (CONTRADICTION, other)):
                yield Example("wikicontradict", kind, premise, texts[f"answer{answer}_self_contained"], label, topics, focus)


def plain(text: str) -> str:
    """A text of Wikipedia without its marks, such as [inconsistent] or [3]."""
    return " ".join(_WIKI_MARK.sub("", text).split())


def fever_symmetric(data: Path) -> Iterator[Example]:
    """FeverSymmetric's claims and sentences of Wikipedia, and claims against a sentence from another case.

    A case is what hangs together by a claim or a sentence: four pairs, each text and its counterpart with changed words.
    """
    rows = [row for part in ("dev", "test") for row in json_lines(data / f"fact_verification/fever_symmetric_{part}.jsonl")]
    found: list[Example] = []
    for row in rows:
        claim, evidence = detokenised(row["claim"]), detokenised(row["evidence"])
        found.append(Example("fever_symmetric", "evidence", evidence, claim, _VERDICTS[row["gold_label"]], (claim, evidence)))
    yield from found
    cases = hanging_together(found)
    for one, other in sorted(partners([case[0].premise for case in cases]).items()):
        foreign = cases[other][0].premise
        claims = dict.fromkeys(example.hypothesis for example in cases[one])
        for claim in claims:
            # More than that is about the same subject, and may well say something of the claim.
            if share_told(claim, foreign) <= MOST_TOLD:
                topics = (*cases[one][0].topics, foreign)
                yield Example("fever_symmetric", "another sentence", foreign, claim, NEUTRAL, (claim, *topics))


def factcg(data: Path) -> Iterator[Example]:
    """FactCG's documents and claims that rest on several of their sentences; what is not supported is taken to be left open.

    The unsupported ones are made by taking out of the document what one step of the claim needs.
    """
    for row in json_lines(data / "factcg/cg2c_doc.jsonl"):
        label = ENTAILMENT if row["orig_label"] == 1 else NEUTRAL
        for claim in row["text_b"]:
            yield Example("factcg", "document", row["text_a"][:LONGEST_PREMISE], claim, label, (claim, row["text_a"]))


def hanging_together(examples: Iterable[Example]) -> list[list[Example]]:
    """The examples in groups of those that share a topic with another of the group."""
    groups: list[tuple[set[str], list[Example]]] = []
    for example in examples:
        sharing = [group for group in groups if not group[0].isdisjoint(example.topics)]
        groups = [group for group in groups if group[0].isdisjoint(example.topics)]
        topics = set(example.topics).union(*(group[0] for group in sharing))
        groups.append((topics, [*(one for group in sharing for one in group[1]), example]))
    return [group for _, group in groups]
