"""Sets about the answers of language models: Factcheck-GPT's stances and corrected answers, ExpertQA, ConflictNQ.

Read from the folder of public data sets; the licences are in `licences.py`.
"""

import random
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from localfact.text import words
from scripts.data_sets.examples import CONTRADICTION, ENTAILMENT, NEUTRAL, Example
from scripts.data_sets.reading import (
    STANCES,
    benchmark,
    corrected_sentence,
    irrelevant_snippets,
    joined_label,
    json_lines,
    judged_claims,
    padded,
)
from scripts.data_sets.texts import LONGEST_PREMISE, as_claim, detokenised, partners, share_told

#: Pairs of this kind are supported in part: neutral for a model, and no fair question for a measurement.
PARTIAL = "partial"
#: Evidence that is shorter, in characters, is an address and a title.
SHORTEST_PASSAGE = 100
#: A sentence has this share of its longer words in a passage that is taken to support it.
LEAST_TOLD = 0.7

_CITATION = re.compile(r"\s*\[\d+\]")
_ADDRESS = re.compile(r"^\s*(?:\[\d+\])?\s*(?:https?://\S+)?\s*")


def stances(data: Path) -> Iterator[Example]:
    """Factcheck-GPT's claims against single web snippets ("stance") and against all snippets of a claim ("stance_joined").

    A snippet that the annotators judged in two ways is left out.
    """
    prompts = {claim: row["prompt"] for row in benchmark(data) for part in row["sentences"] for claim in part["claims"] or ()}
    judged: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for row in json_lines(data / "factcheck_gpt/subtask3_claim_evidence_stance.jsonl"):
        judged[row["claim"]][row["evidence"]].add(row["stance"])
    for claim, snippets in judged.items():
        clear = {snippet: min(found) for snippet, found in snippets.items() if len(found) == 1 and snippet.strip()}
        topics = (prompts[claim],)
        for snippet, stance in clear.items():
            kind = PARTIAL if stance == "partially-support" else "snippet"
            yield Example("stance", kind, snippet[:LONGEST_PREMISE], claim, STANCES[stance], topics)
        if label := joined_label(set(clear.values())):
            premise, focus = joined(clear, random.Random(claim))
            yield Example("stance_joined", "all snippets", premise, claim, label, topics, focus)


def joined(snippets: Mapping[str, str], chance: random.Random) -> tuple[str, str]:
    """As many snippets as fit a passage, those that decide before the others, shuffled; and the first that decides."""
    deciding = [snippet for snippet, stance in snippets.items() if stance in ("completely-support", "refute")]
    kept: list[str] = []
    for snippet in [*deciding, *(snippet for snippet in snippets if snippet not in deciding)]:
        if sum(len(one) + 1 for one in kept) + len(snippet) <= LONGEST_PREMISE:
            kept.append(snippet)
    focus = next((snippet for snippet in kept if snippet in deciding), "")
    chance.shuffle(kept)
    return "\n".join(kept), focus


def answers(data: Path) -> Iterator[Example]:
    """Claims of Factcheck-GPT's answers against the corrected answer, half of them amid irrelevant snippets.

    A true claim, and the correction of a false one, is entailed; a false one is contradicted; without the sentence that the
    claim came from, the answer is taken to say nothing of it.
    """
    for row in benchmark(data):
        corrected = [corrected_sentence(part) for part in row["sentences"]]
        snippets = sorted({snippet for part in row["sentences"] for snippet in irrelevant_snippets(part)})
        chance = random.Random(row["prompt"])
        whole, topics = " ".join(filter(None, corrected)), (row["prompt"],)
        for place, part in enumerate(row["sentences"]):
            rest = " ".join(filter(None, corrected[:place] + corrected[place + 1 :]))[:LONGEST_PREMISE]
            judged = judged_claims(part) if corrected[place] else ()
            for hypothesis, label in ((claim.strip(), label) for claim, label in judged if claim.strip()):
                premise = (padded(whole, snippets, chance) if chance.random() < 0.5 else whole)[:LONGEST_PREMISE]
                if corrected[place] in premise:
                    yield Example("answers", "corrected answer", premise, hypothesis, label, topics, corrected[place])
                if rest:
                    yield Example("answers", "elsewhere", rest, hypothesis, NEUTRAL, topics)


def expertqa(data: Path) -> Iterator[Example]:
    """ExpertQA's sentences of answers against a web passage that they cite and that an expert found to support them whole.

    Experts were lenient: of 26 such pairs read by eye about half go beyond the passage, so those stay that have most of their
    words in it. Of 10 pairs with part support about half were whole; none of those are read. Nor are the corrections of what
    experts found wrong: few, and mostly without evidence.
    """
    for row in json_lines(data / "expertqa/expertqa_answers.jsonl.gz"):
        for answer in row["answers"].values():
            for part in answer["claims"]:
                yield from cited(part, row["question"])


def cited(part: Mapping[str, Any], question: str) -> Iterator[Example]:
    """The pair of one sentence and the passage nearest to it; none where it has no passage, is wrong, or is not worth it."""
    claim = " ".join(_CITATION.sub("", part["claim_string"]).split())
    texts = (_ADDRESS.sub("", item).strip()[:LONGEST_PREMISE] for item in part["evidence"])
    passages = [text for text in texts if len(text) >= SHORTEST_PASSAGE]
    wrong = (part["correctness"] or "").endswith("incorrect")
    if passages and part["support"] == "Complete" and not wrong and part["worthiness"] != "No" and len(words(claim)) >= 5:
        best = max(passages, key=lambda text: share_told(claim, text))
        if share_told(claim, best) >= LEAST_TOLD:
            yield Example("expertqa", "cited passage", best, claim, ENTAILMENT, (question,))


def conflict_nq(data: Path) -> Iterator[Example]:
    """ConflictNQ's passages against the answer that they were made for, against the other one, and against another question's.

    The passages of one side are joined: a single one of the made-up ones tells only part of its answer.
    """
    rows = [row for part in ("val", "test") for row in json_lines(data / f"conflict_nq/conflict_nq_{part}.jsonl")]
    others = partners([row["cleaned_question"] for row in rows])
    for place, row in enumerate(rows):
        topics = (row["cleaned_question"], row["question"])
        claims = {side: as_claim(detokenised(row[f"{side}_short_answer"])) for side in ("real", "fake")}
        for side, other in (("real", "fake"), ("fake", "real")):
            if claims[side]:
                yield Example("conflict_nq", f"{side} passage", passage_of(row, side), claims[side], ENTAILMENT, topics)
                yield Example("conflict_nq", f"{other} passage", passage_of(row, other), claims[side], CONTRADICTION, topics)
        if claims["real"] and place in others:
            foreign = rows[others[place]]
            both = (*topics, foreign["cleaned_question"], foreign["question"])
            yield Example("conflict_nq", "another question", passage_of(foreign, "real"), claims["real"], NEUTRAL, both)


def passage_of(row: Mapping[str, Any], side: str) -> str:
    """The passages of one side ("real" or "fake") as one text."""
    return "\n".join(detokenised(one["passage"]) for one in row[f"{side}_passages"])[:LONGEST_PREMISE]
