"""Labelled sets that no relation model of ours is trained on: what it does with pairs of another kind, or of another licence.

Their licences are non-commercial or not stated, so they are measured on and nothing else. A set that is not there is left out.
"""

import csv
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from scripts.training.lexical_pairs import json_lines
from scripts.training.relation_model.examples import CONTRADICTION, ENTAILMENT, NEUTRAL, Example
from scripts.training.relation_model.texts import LONGEST_PREMISE, detokenised

_VERDICTS = {
    "SUPPORTS": ENTAILMENT,
    "REFUTES": CONTRADICTION,
    "NOT_ENOUGH_INFO": NEUTRAL,
    "Supports": ENTAILMENT,
    "Refutes": CONTRADICTION,
    "Neutral": NEUTRAL,
    "Supported": ENTAILMENT,
    "Refuted": CONTRADICTION,
    "Not Enough Evidence": NEUTRAL,
}
_LETTERS = {"e": ENTAILMENT, "c": CONTRADICTION, "n": NEUTRAL}


def unseen_sets(data: Path) -> Iterator[Example]:
    """All pairs of these sets, in a fixed order."""
    readers = (
        (anli, ("nli/anli_test.jsonl",)),
        (control, ("nli/control_dev.jsonl", "nli/control_test.jsonl")),
        (scitail, ("nli/scitail_test.jsonl",)),
        (healthver, ("fact_verification/healthver_dev.csv", "fact_verification/healthver_test.csv")),
        (climate_fever, ("fact_verification/climate-fever.jsonl.gz",)),
        (vitaminc, ("fact_verification/vitaminc_sufficient_facts.jsonl",)),
        (averitec, ("averitec/averitec_dev.json",)),
    )
    for reader, names in readers:
        for file in (data / name for name in names):
            if file.is_file():
                yield from reader(file)


def anli(file: Path) -> Iterator[Example]:
    """The three rounds of ANLI, each a set of its own."""
    for row in json_lines(file):
        yield _example(f"anli_{row['tag'][:2]}", row["premise"], row["hypothesis"], row["label"], row["premise"])


def control(file: Path) -> Iterator[Example]:
    """ConTRoL: long passages of examinations."""
    for row in json_lines(file):
        yield _example("control", row["premise"], row["hypothesis"], _LETTERS[row["label"]], row["premise"])


def scitail(file: Path) -> Iterator[Example]:
    """SciTail: its labels are entailment and its contrary, `measuring.NOT_ENTAILMENT`."""
    for row in json_lines(file):
        yield _example("scitail", row["premise"], row["hypothesis"], row["label"], row["hypothesis"])


def healthver(file: Path) -> Iterator[Example]:
    """HealthVer: claims and sentences of abstracts, by the question that both were found for."""
    with file.open(encoding="utf-8", newline="") as rows:
        for row in csv.DictReader(rows):
            yield _example("healthver", row["evidence"], row["claim"], _VERDICTS[row["label"]], row["question"])


def climate_fever(file: Path) -> Iterator[Example]:
    """Climate-FEVER's claims and sentences of Wikipedia, by the majority of the votes; a draw is left out."""
    for row in json_lines(file):
        for part in row["evidences"]:
            votes = Counter(vote for vote in part["votes"] if vote).most_common(2)
            if len(votes) == 1 or (votes and votes[0][1] > votes[1][1]):
                yield _example("climate_fever", part["evidence"], row["claim"], _VERDICTS[votes[0][0]], row["claim"])


def vitaminc(file: Path) -> Iterator[Example]:
    """Evidence of VitaminC from which a part was cut: what is left still decides the claim, or no more."""
    for row in json_lines(file):
        label = NEUTRAL if row["label_after"] == "NOT ENOUGH" else _VERDICTS[row["label_before"]]
        title = row["evidence"][0][0]
        premise = " ".join(f"{title}: {sentence}" for title, sentence in row["evidence"])
        yield _example("vitaminc_cut", detokenised(premise), detokenised(row["claim"]), label, title)


def averitec(file: Path) -> Iterator[Example]:
    """AVeriTeC's claims and all questions and answers about them as one passage; conflicting evidence is left out."""
    for row in json.loads(file.read_text(encoding="utf-8")):
        premise = "\n".join(map(_question_text, row["questions"]))
        if row["label"] in _VERDICTS and premise.strip():
            yield _example("averitec", premise, row["claim"], _VERDICTS[row["label"]], row["claim"])


def _question_text(question: Mapping[str, Any]) -> str:
    said = (f"{each['answer']} {each.get('boolean_explanation') or ''}".strip() for each in question["answers"])
    return " ".join([question["question"], *said])


def _example(name: str, premise: str, hypothesis: str, label: str, topic: str) -> Example:
    return Example(name, "pair", premise.strip()[:LONGEST_PREMISE], hypothesis.strip(), label, (topic,))
