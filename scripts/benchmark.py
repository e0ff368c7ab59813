"""The built-in methods beside published systems, on claims that other people collected and labelled.

    python -m scripts.benchmark DATA [--work FOLDER] [--write docs/results.md]

DATA is the folder of public data sets; nothing of it is copied. No weights are needed and no language model is asked. In
brackets 95 % intervals, by a bootstrap over responses, or topics. Runs and answers are kept in FOLDER: the same command goes on
where it was interrupted. --write puts the tables between the marks in a file.
"""

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from localfact.api.evaluate import evaluate
from localfact.assess.judges.answers import read_factuality
from localfact.methods.options import Options
from localfact.methods.relations import LEXICAL
from localfact.records import Assessment, Distribution, Pair
from localfact.report.console import note
from localfact.runs.assessments import read_assessments
from localfact.runtime.files import replace
from localfact.scoring.bootstrap import Estimator
from localfact.scoring.comparison import supports
from localfact.scoring.tally import labelled_claims, tally
from localfact.vocabulary import RelationLabel
from scripts.labelled_sets import hash_of_topic, held_out_topics, json_lines, prompts_of_claims
from scripts.measure_relations import Counted, ratio
from scripts.relation_answers import Answers, asked
from scripts.tables import markdown_table, put_between, with_interval

METHODS = ("builtin-fr1", "builtin-fr2", "builtin-fr3")
#: The method that others are held against.
OURS = "builtin-fr2"
BEGIN, END = "<!-- benchmark: begin -->", "<!-- benchmark: end -->"
#: Verdicts in systems.jsonl, as published with OpenFactCheck.
SYSTEMS: Mapping[str, str] = {
    "factool_chatgpt": "FacTool, ChatGPT, the same snippets",
    "perplexity": "Perplexity",
    "factscore_chatgpt": "FActScore's way, ChatGPT",
}
LLAMA = "FacTool's prompt, Llama-3, as our parser reads it"
#: Balanced accuracy in percent on LLM-AggreFact's test parts (Tang et al. 2024; its leaderboard of August 2024).
PUBLISHED: Mapping[str, tuple[str, str, str]] = {
    "SummaC-ZS": ("62.8", "75.2", "55.2"),
    "AlignScore, 0.4B": ("66.0", "74.3", "58.3"),
    "MiniCheck-Flan-T5-L, 0.8B": ("72.2", "74.7", "59.0"),
    "Llama-3.1-8B-Instruct": ("72.0", "72.3", "57.8"),
    "Bespoke-MiniCheck-7B": ("81.9", "77.0", "58.8"),
    "gpt-4o-2024-05-13": ("78.5", "77.5", "59.6"),
}
#: The most characters of a document that is read.
LONGEST = 20_000


class JudgedClaims(NamedTuple):
    """Claims as a system judged them: arrays of n. `group` is the response, or topic; `read` False where nothing was said."""

    gold: NDArray[np.bool_]
    supported: NDArray[np.bool_]
    group: NDArray[np.int64]
    read: NDArray[np.bool_]

    @property
    def groups(self) -> int:
        """How many responses or topics there are."""
        return int(self.group.max()) + 1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="the folder of public data sets")
    parser.add_argument("--work", type=Path, default=Path("runs/benchmark"))
    parser.add_argument("--write", type=Path, help="put the tables between the marks in this file")
    options = parser.parse_args()
    parts = [
        openfactcheck(options.data, options.work),
        flaherty(options.data, options.work),
        documents(options.data, options.work),
    ]
    text = "\n\n".join(parts)
    print(text)
    if options.write:
        replace(options.write, put_between(options.write.read_text(encoding="utf-8"), text, BEGIN, END).encode())


def openfactcheck(data: Path, work: Path) -> str:
    """Our methods and three published systems on OpenFactCheck's labelled claims."""
    rows = list(json_lines(data / "openfactcheck/systems.jsonl"))
    places = {name: place for place, name in enumerate(dict.fromkeys(row["response"] for row in rows))}
    gold = np.array([row["gold"] for row in rows])
    group = np.array([places[row["response"]] for row in rows])
    known = np.ones(len(rows), dtype=bool)
    systems = {
        method: of_run(run(data / "openfactcheck/responses.jsonl", method, work), rows, gold, group) for method in METHODS
    }
    for key, name in SYSTEMS.items():
        systems[name] = JudgedClaims(gold, np.array([bool(row[key]) for row in rows]), group, known)
    raw = [read_factuality(row.get("llama3_verifier_raw") or "").factual for row in rows]
    systems[LLAMA] = JudgedClaims(gold, np.array([bool(one) for one in raw]), group, np.array([one is not None for one in raw]))
    heads = ("OpenFactCheck", "claims judged", "balanced accuracy", f"minus {OURS}", "true supported", "false supported")
    return markdown_table(heads, [claims_row(name, one, systems[OURS]) for name, one in systems.items()])


def claims_row(name: str, judged: JudgedClaims, ours: JudgedClaims) -> list[str]:
    """A system's row: its figures, and how far it is from ours."""
    apart = "" if judged is ours else with_interval(distance(judged, ours), judged.groups, "+.3f", "+.2f")
    shares = [f"{share(judged, gold=gold):.2f}" for gold in (True, False)]
    return [name, str(int(judged.read.sum())), with_interval(balanced(judged), judged.groups), apart, *shares]


def of_run(found: Sequence[Assessment], rows: Sequence[Mapping[str, Any]], gold: Any, group: Any) -> JudgedClaims:
    """The verdicts of a run in the order of the rows; a failed claim is not judged."""
    said = {
        (one.response_id, claim.id): supports(verdict)
        for one in found
        for claim, verdict in zip(one.claims, one.verdicts, strict=True)
    }
    verdicts = [said.get((row["response"], row["claim"])) for row in rows]
    return JudgedClaims(
        gold, np.array([verdict is True for verdict in verdicts]), group, np.array([one is not None for one in verdicts])
    )


def flaherty(data: Path, work: Path) -> str:
    """Our methods on flaherty's labelled claims beside what IBM's assessors printed."""
    rows = []
    for file, contexts in (("flaherty_wikipedia", "Wikipedia"), ("flaherty_google", "Google")):
        for method in METHODS:
            (assessment,) = run(data / f"flaherty/{file}.json", method, work)
            claims = list(labelled_claims(assessment))
            right = sum((supports(verdict) is True) == gold for gold, verdict in claims)
            gold = sum(gold for gold, _ in claims) / len(claims)
            precision = tally(assessment).precision
            rows.append(
                [method, contexts, f"{right} of {len(claims)}", f"{precision:.2f}", f"{abs(precision - gold):.2f}", "0"]
            )
    rows.append(["FactReasoner, llama-3.3-70b, newest published run", "", "21 of 26", "", "", "3,380"])
    # By their answers, the files of FactVerify and VeriScore are swapped.
    for name, file in (
        ("FactScore", "factscore"),
        ("FactVerify", "veriscore"),
        ("VeriScore", "factverify"),
        ("FactReasoner", "factreasoner"),
    ):
        results = json.loads((data / f"flaherty/{file}_output.json").read_text(encoding="utf-8"))["results"]
        score, atoms = results["factuality_score"], results["num_atoms"]
        rows.append(
            [f"{name}, as IBM printed it", "Google", f"other {atoms} claims", f"{score:.2f}", f"{abs(score - gold):.2f}", ""]
        )
    return markdown_table(("flaherty, one biography", "passages", "right", "Pr", f"from {gold:.2f}", "LLM calls"), rows)


def documents(data: Path, work: Path) -> str:
    """Relation models on claims against whole documents, of topics that none of ours was trained on."""
    sets: dict[str, list[Row]] = {}
    for name, rows_of in (("WiCE", wice), ("Factcheck-GPT", factcheck_gpt), ("ExpertQA", expertqa)):
        held_out = held_out_topics(rows_of.__name__)
        sets[name] = [row for row in rows_of(data) if hash_of_topic(row[3]) in held_out]
    pairs = [Pair(document, claim) for group in sets.values() for document, claim, _, _ in group]
    answers = asked(Options(relations=LEXICAL), pairs, work)
    rows = [[LEXICAL, *(percent(judged(group, answers)) for group in sets.values())]]
    rows += [[f"{name}, published", *figures] for name, figures in PUBLISHED.items()]
    counts = [f"{name}, {len(group)} claims" for name, group in sets.items()]
    return markdown_table(("claim supported by its document, balanced accuracy in %", *counts), rows)


#: A document, a claim, whether it supports the claim whole, and the topic.
Row = tuple[str, str, bool, str]


def wice(data: Path) -> Iterator[Row]:
    """WiCE's claims and the pages that they cite; one that is supported in part is not."""
    for part in ("claim_dev", "claim_test"):
        for row in json_lines(data / f"wice/{part}.jsonl.gz"):
            page = "\n".join(row["evidence"])[:LONGEST]
            yield page, row["claim"], row["label"] == "supported", row["meta"]["claim_title"]


def factcheck_gpt(data: Path) -> Iterator[Row]:
    """Factcheck-GPT's claims and all snippets that were found for each; supported where one supports it and none refutes it."""
    prompts = prompts_of_claims(data)
    found: dict[str, dict[str, set[str]]] = {}
    for row in json_lines(data / "factcheck_gpt/subtask3_claim_evidence_stance.jsonl"):
        found.setdefault(row["claim"], {}).setdefault(row["evidence"], set()).add(row["stance"])
    for claim, snippets in found.items():
        stances = set().union(*snippets.values())
        supported = "completely-support" in stances and "refute" not in stances
        yield "\n".join(snippets)[:LONGEST], claim, supported, prompts.get(claim, claim)


def expertqa(data: Path) -> Iterator[Row]:
    """ExpertQA's sentences and the passages that they cite; supported where an expert says completely."""
    for row in json_lines(data / "expertqa/expertqa_answers.jsonl.gz"):
        for answer in row["answers"].values():
            for part in answer["claims"]:
                document = "\n".join(part["evidence"])[:LONGEST]
                if document.strip() and part["support"] in ("Complete", "Partial", "Incomplete", "Missing"):
                    yield document, part["claim_string"], part["support"] == "Complete", row["question"]


def judged(rows: Sequence[Row], answers: Answers) -> JudgedClaims:
    """What a relation model says of the claims: supported where entailment is its label."""
    places = {topic: place for place, topic in enumerate(dict.fromkeys(topic for *_, topic in rows))}
    found = [answers[Pair(document, claim)] for document, claim, _, _ in rows]
    return JudgedClaims(
        np.array([gold for _, _, gold, _ in rows]),
        np.array([isinstance(one, Distribution) and one.label is RelationLabel.ENTAILMENT for one in found]),
        np.array([places[topic] for *_, topic in rows]),
        np.array([isinstance(one, Distribution) for one in found]),
    )


def share(one: JudgedClaims, *, gold: bool) -> float:
    """Of the judged claims with that label, the share that is supported."""
    return ratio(counted(one, gold=gold))(np.arange(one.groups))


def counted(one: JudgedClaims, *, gold: bool) -> Counted:
    """For each group how many of its judged claims with that label are supported, and how many there are."""
    chosen = one.read & (one.gold == gold)
    return Counted(*(np.bincount(one.group, which, one.groups) for which in (chosen & one.supported, chosen)))


def balanced(one: JudgedClaims) -> Estimator:
    """Balanced accuracy as a function of which groups are drawn."""
    true, false = (ratio(counted(one, gold=gold)) for gold in (True, False))
    return lambda chosen: (true(chosen) + 1 - false(chosen)) / 2


def distance(one: JudgedClaims, other: JudgedClaims) -> Estimator:
    """The difference of two balanced accuracies on the same groups, and on the claims that both judged."""
    both = one.read & other.read
    first, second = balanced(one._replace(read=both)), balanced(other._replace(read=both))
    return lambda chosen: first(chosen) - second(chosen)


def percent(one: JudgedClaims) -> str:
    """Balanced accuracy in percent with its interval."""
    return with_interval(balanced(one), one.groups, ".1f", ".0f", times=100)


def run(data: Path, method: str, work: Path) -> list[Assessment]:
    """What a method says of the labelled claims of a file."""
    note(f"{data.name}: {method}")
    out = work / data.stem / method
    evaluate(data, method=method, options=Options(claims="given"), out=out)
    return read_assessments(out)


if __name__ == "__main__":
    main()
