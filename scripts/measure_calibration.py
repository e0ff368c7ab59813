"""What calibrated and soft relations do: a relation model's verdicts on claims that other people labelled, four ways.

    python -m scripts.measure_calibration DATA [--model qwen2.5-coder-1.5b | --relations lexical] [--work FOLDER]

DATA is the folder of public data sets. Relations are raw, or calibrated: by the map of the reference pairs; by what the model
says of pairs without content (Zhao et al. 2021); by the mean of what it says of the set (Zhou et al. 2024); or by the reference
pairs and label shares that are estimated (Saerens et al. 2002). They count hard, by the most probable label, or soft, by their
odds; the first row is FactReasoner as published. In brackets 95 % intervals, by a bootstrap over responses. Half of the topics
(by a hash) are those on which anything may be chosen, the mean and the shares among it; the figures to go by are the other
half's. Answers are kept in FOLDER: the same command goes on where it was interrupted, and asks nothing twice.
"""

import argparse
import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from localfact.assembling import assessment_of
from localfact.assess.factreasoner import FactReasoner
from localfact.inputs.responses import MAX_WORDS, read_responses, response_of
from localfact.methods.options import Options
from localfact.records import Assessment, Distribution, Evidence, Extraction, Pair, Response
from localfact.relations.calibration import FOUND_SHARES, RelationMap, log_shares, probabilities_of
from localfact.relations.map_quality import measure_map
from localfact.relations.reference import reference_name, reference_pairs
from localfact.scoring.bootstrap import Estimator
from localfact.scoring.tally import labelled_claims
from localfact.vocabulary import VerdictLabel
from scripts.labelled_sets import digest, json_lines
from scripts.measure_relations import MINIMAL_PAIRS, balanced_accuracy, posterior_area, true_contradicted, verdicts
from scripts.relation_answers import Answers, asked
from scripts.tables import markdown_table, with_interval

#: Claims of a set whose claims stand alone, drawn by a hash, and passages of each.
CLAIMS, PASSAGES = 150, 3
HALVES = ("chosen on", "measured on")
#: Pairs that say nothing.
CONTENT_FREE = [Pair(text, text) for text in ("N/A", "[MASK]", "...")]
#: Steps of the estimation of label shares.
STEPS = 200
DECIDED = (VerdictLabel.SUPPORTED, VerdictLabel.CONTRADICTED)


@dataclass(frozen=True)
class Way:
    """A way from relations to verdicts: what is done to the relations, and the graph."""

    name: str
    map: str | None
    reasoner: FactReasoner


OWN = FactReasoner(1, tables="balanced", rules="own")
SOFT = replace(OWN, factors="soft")
WAYS = (
    Way("as published", None, FactReasoner(1)),
    Way("raw, hard", None, OWN),
    Way("raw, soft", None, SOFT),
    Way("reference pairs, hard", "reference", OWN),
    Way("reference pairs, soft", "reference", SOFT),
    Way("reference pairs, soft, FR2", "reference", replace(SOFT, version=2, gate=0.8)),
    Way("without content, soft", "content", SOFT),
    Way("mean, soft", "mean", SOFT),
    Way("estimated shares, hard", "shares", OWN),
    Way("estimated shares, soft", "shares", SOFT),
    Way("found shares, hard", "found", OWN),
    Way("found shares, soft", "found", SOFT),
    Way("found shares, soft, FR2", "found", replace(SOFT, version=2, gate=0.8)),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="the folder of public data sets")
    parser.add_argument("--model", help="a language model; default: the relation model alone")
    parser.add_argument("--relations", default="lexical", help="a relation model, where no --model is named")
    parser.add_argument("--work", type=Path, default=Path("runs/calibration"))
    chosen = parser.parse_args()
    options = Options(relations="llm", model=chosen.model) if chosen.model else Options(relations=chosen.relations)
    sets = labelled_sets(chosen.data)
    labelled = reference_pairs()
    minimal = {side: [Pair(row["passage"], row[side]) for row in json_lines(MINIMAL_PAIRS)] for side in ("true", "false")}
    pairs = [one.pair for one in labelled]
    pairs += [pair for group in minimal.values() for pair in group]
    pairs += [pair for rows in sets.values() for row in rows for pair in pairs_of(row)]
    pairs += CONTENT_FREE
    answers = asked(options, pairs, chosen.work)
    said = [one for one in (answers[each.pair] for each in labelled) if isinstance(one, Distribution)]
    quality = measure_map(said, labelled, reference_name(), "")
    print(f"The map: {quality.relation_map.model_dump_json()}\nRaw: {quality.raw}\nHeld out: {quality.calibrated}\n")
    print(of_minimal_pairs(minimal, answers, quality.relation_map), "\n")
    for name, rows in sets.items():
        print(of_set(name, rows, answers, quality.relation_map), "\n")


def labelled_sets(data: Path) -> Mapping[str, Sequence[Response]]:
    """Responses with claims that people labelled, and the passages that came with them."""
    return {
        "openfactcheck": read_responses(data / "openfactcheck/responses.jsonl", max_words=MAX_WORDS),
        "flaherty": read_responses(data / "flaherty/flaherty_google.json", max_words=MAX_WORDS),
        "fool_me_twice": list(fool_me_twice(data)),
        "factcheck_gpt": list(factcheck_gpt(data)),
    }


def of_set(name: str, rows: Sequence[Response], answers: Answers, relation_map: RelationMap) -> str:
    """The table of one set: a row for each way, and each half of the topics."""
    halves = [[row for row in rows if half_of(row) == half] for half in range(2)]
    halves = halves if all(len(half) > 1 for half in halves) else [list(rows)]
    table, maps = [], maps_of(halves[0], answers, relation_map)
    for way in WAYS:
        for half, group in zip(HALVES if len(halves) > 1 else ("all",), halves, strict=True):
            found = asyncio.run(assess(group, answers, maps, way))
            table.append([way.name, half, *figures(found)])
    claims = [claim for row in rows for claim in row.claims or ()]
    heads = ("area under the ROC", "balanced accuracy", "true ones contradicted", "Brier", "decided", "widest graph, s")
    told = f"Estimated shares: {maps['shares'].shares}"
    return f"{markdown_table((f'{name}, {len(claims)} claims', 'topics', *heads), table)}\n\n{told}"


def maps_of(rows: Sequence[Response], answers: Answers, reference: RelationMap) -> Mapping[str, RelationMap]:
    """The maps that are compared; those made of a set see the given half of it, and no label."""
    said = [one for row in rows for pair in pairs_of(row) if isinstance(one := answers[pair], Distribution)]
    silent = [one for pair in CONTENT_FREE if isinstance(one := answers[pair], Distribution)]
    calibrated, shares = reference.calibrate(probabilities_of(said)), np.full(3, 1 / 3)
    for _ in range(STEPS):
        weighted = calibrated * shares
        shares = (weighted / weighted.sum(axis=1, keepdims=True)).mean(axis=0)
    means = {name: log_shares(probabilities_of(group)).mean(axis=0) for name, group in (("mean", said), ("content", silent))}
    return {
        "reference": reference,
        "shares": reference.model_copy(update={"shares": tuple(np.maximum(shares, 1e-6).round(4).tolist())}),
        "found": reference.model_copy(update={"shares": FOUND_SHARES}),
        **{name: RelationMap(biases=tuple((each.mean() - each).tolist())) for name, each in means.items()},
    }


def pairs_of(row: Response) -> Sequence[Pair]:
    """A response's claims, each with its own passages."""
    return OWN.pairs(row.claims or (), row.evidence or Evidence())


def half_of(row: Response) -> int:
    """0 or 1 by the topic: responses to one prompt are in the same half."""
    return int(digest(f"half {row.prompt or row.topic or row.text}"), 16) % 2


async def assess(rows: Sequence[Response], answers: Answers, maps: Mapping[str, RelationMap], way: Way) -> list[Assessment]:
    """What a way says of labelled claims and their own passages."""
    found = []
    for index, row in enumerate(rows):
        claims, evidence = row.claims or (), row.evidence or Evidence()
        known = {pair: answers[pair] for pair in pairs_of(row)}
        if way.reasoner.version == 2:  # only what was asked: a claim and its own passages
            evidence = evidence.model_copy(update={"affinity": own_alone(row)})
        if way.map is not None:
            change = maps[way.map]
            known = {pair: change(one) if isinstance(one, Distribution) else one for pair, one in known.items()}
        judgement = await way.reasoner.assess(row, claims, evidence, known)
        found.append(assessment_of(index, row, Extraction(claims=tuple(claims)), evidence, judgement))
    return found


def own_alone(row: Response) -> Mapping[str, Mapping[str, float]]:
    """Affinities by which the gate of pairs leaves a claim its own passages alone."""
    passages = (row.evidence or Evidence()).passages
    hits = (row.evidence or Evidence()).hits
    return {
        claim.id: {one.id: float(one.id in {hit.passage_id for hit in hits.get(claim.id, ())}) for one in passages}
        for claim in row.claims or ()
    }


def figures(found: Sequence[Assessment]) -> Iterator[str]:
    """The cells of a row."""
    for estimator in (posterior_area(found), balanced_accuracy(found), true_contradicted(found), brier(found)):
        yield with_interval(estimator, len(found), end=".3f")
    decided = [verdicts(found, label, gold=gold) for label in DECIDED for gold in (True, False)]
    claims = decided[0].could.sum() + decided[1].could.sum()
    yield f"{sum(each.happened.sum() for each in decided) / claims:.2f}"
    yield str(max(one.counts["assess"].get("graph_width", 0) for one in found))


def brier(found: Sequence[Assessment]) -> Estimator:
    """The mean squared distance of posteriors from the labels, over claims."""
    rows = [
        (place, (verdict.posterior - gold) ** 2)
        for place, one in enumerate(found)
        for gold, verdict in labelled_claims(one)
        if verdict.posterior is not None
    ]
    happened, could = np.zeros(len(found)), np.zeros(len(found))
    for place, distance in rows:
        happened[place] += distance
        could[place] += 1
    return lambda chosen: float(happened[chosen].sum() / max(could[chosen].sum(), 1))


def of_minimal_pairs(pairs: Mapping[str, Sequence[Pair]], answers: Answers, relation_map: RelationMap) -> str:
    """True and false claims of one passage each: which have more for them than against them, and which come first."""
    rows = []
    for name, change in (("raw", lambda one: one), ("calibrated", relation_map.calibrate)):
        true, false = (
            change(probabilities_of([one for pair in pairs[side] if isinstance(one := answers[pair], Distribution)]))
            for side in ("true", "false")
        )
        lean = [log_shares(one)[:, 0] - log_shares(one)[:, 1] for one in (true, false)]
        labels = [one.argmax(axis=1) for one in (true, false)]
        shares = ((lean[1] > 0), (lean[0] < 0), (labels[1] == 0), (labels[0] == 1), (lean[0] > lean[1]))
        rows.append([name, *(f"{each.mean():.2f}" for each in shares)])
    heads = ("false: more for than against", "true: more against", "false entailed", "true contradicted", "true ranks higher")
    return markdown_table((f"minimal pairs, {len(pairs['true'])} passages", *heads), rows)


def fool_me_twice(data: Path) -> Iterator[Response]:
    """Claims of players, with the evidence that they cite; CLAIMS of them."""
    rows = sorted(json_lines(data / "fool_me_twice/claims.jsonl.gz"), key=lambda row: digest(row["text"]))
    for row in rows[:CLAIMS]:
        texts = [one["text"] for one in row["gold_evidence"]][:PASSAGES]
        yield alone(row["text"], row["label"] == "SUPPORTS", texts, row["wikipedia_page"])


def factcheck_gpt(data: Path) -> Iterator[Response]:
    """Claims of ChatGPT's answers that are judged true or false, with the first snippets found for each; CLAIMS of them."""
    labels = {row["claim"]: row["label"] for row in json_lines(data / "factcheck_gpt/subtask4_claim_factuality.jsonl")}
    snippets: dict[str, dict[str, None]] = {}
    for row in json_lines(data / "factcheck_gpt/subtask3_claim_evidence_stance.jsonl"):
        snippets.setdefault(row["claim"], {})[row["evidence"]] = None
    known = [claim for claim in snippets if str(labels.get(claim)).lower() in ("true", "false")]
    for claim in sorted(known, key=digest)[:CLAIMS]:
        yield alone(claim, str(labels[claim]).lower() == "true", list(snippets[claim])[:PASSAGES], claim)


def alone(claim: str, gold: bool, texts: Sequence[str], topic: str) -> Response:
    """A claim as a response of its own."""
    passages = [{"id": str(place), "text": text} for place, text in enumerate(texts)]
    row: dict[str, Any] = {
        "id": digest(claim),
        "response": claim,
        "topic": topic,
        "claims": [{"text": claim, "label": "S" if gold else "NS", "passages": [one["id"] for one in passages]}],
        "passages": passages,
    }
    return response_of(row, 1, MAX_WORDS)


if __name__ == "__main__":
    main()
