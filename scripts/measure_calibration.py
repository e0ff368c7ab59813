"""What calibrated and soft relations do: a relation model's verdicts on claims that other people labelled.

    python -m scripts.measure_calibration DATA [--model qwen2.5-coder-1.5b | --relations lexical] [--work FOLDER]

DATA is the folder of public data sets. Relations are raw, or calibrated by the map of the reference pairs, with equal label
shares or with those that ship. They count hard, by the most probable label, or soft, by their odds; the first row is
FactReasoner as published. In brackets 95 % intervals, by a bootstrap over responses. Half of the topics (by a hash) are those
on which anything may be chosen; the figures to go by are the other half's. Answers are kept in FOLDER: the same command goes on
where it was interrupted, and asks nothing twice.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from localfact.assess.factreasoner import FactReasoner
from localfact.inputs.responses import MAX_WORDS, read_responses
from localfact.methods.options import Options
from localfact.records import Assessment, Distribution, Evidence, Pair, Response
from localfact.relations.calibration import FOUND_SHARES, RelationMap, log_shares, probabilities_of
from localfact.relations.map_quality import RelationCalibration, measure_map
from localfact.relations.reference import reference_name, reference_pairs
from localfact.vocabulary import VerdictLabel
from scripts.assessing import OWN, SOFT, assess, brier, half_of, labelled_response, pairs_of, parser_of
from scripts.labelled_sets import digest, json_lines
from scripts.measure_relations import MINIMAL_PAIRS, balanced_accuracy, posterior_area, true_contradicted, verdicts
from scripts.relation_answers import Answers, asked, change
from scripts.tables import markdown_table, with_interval

#: Claims of a set whose claims stand alone, drawn by a hash, and passages of each.
CLAIMS, PASSAGES = 150, 3
HALVES = ("chosen on", "measured on")
DECIDED = (VerdictLabel.SUPPORTED, VerdictLabel.CONTRADICTED)
HEADS = ("area under the ROC", "balanced accuracy", "true ones contradicted", "Brier", "decided", "widest graph")
WORK = "runs/calibration"
#: A way from relations to verdicts -> how the relations are calibrated, and the graph.
WAYS = {
    "as published": ("raw", FactReasoner(1)),
    "raw, hard": ("raw", OWN),
    "raw, soft": ("raw", SOFT),
    "reference pairs, hard": ("reference pairs", OWN),
    "reference pairs, soft": ("reference pairs", SOFT),
    "found shares, hard": ("found shares", OWN),
    "found shares, soft": ("found shares", SOFT),
}


def main() -> None:
    parser = parser_of(__doc__, WORK)
    parser.add_argument("--relations", default="lexical", help="a relation model, where no --model is named")
    chosen = parser.parse_args()
    options = Options(relations="llm", model=chosen.model) if chosen.model else Options(relations=chosen.relations)
    sets = labelled_sets(chosen.data)
    minimal = {side: [Pair(row["passage"], row[side]) for row in json_lines(MINIMAL_PAIRS)] for side in ("true", "false")}
    answers = asked(options, [*pairs_to_ask(sets), *minimal["true"], *minimal["false"]], chosen.work)
    quality = measure_reference(answers)
    print(f"The map: {quality.relation_map.model_dump_json()}\nRaw: {quality.raw}\nHeld out: {quality.calibrated}\n")
    calibrated = {
        "raw": answers,
        "reference pairs": change(answers, quality.relation_map),
        "found shares": change(answers, with_found_shares(quality)),
    }
    print(of_minimal_pairs(minimal, {"raw": answers, "calibrated": calibrated["reference pairs"]}), "\n")
    for name, rows in sets.items():
        found = {way: (calibrated[how], reasoner) for way, (how, reasoner) in WAYS.items()}
        print(table_of(name, rows, found), "\n")


def pairs_to_ask(sets: Mapping[str, Sequence[Response]]) -> list[Pair]:
    """The reference pairs, and those of the sets."""
    return [one.pair for one in reference_pairs()] + [pair for rows in sets.values() for row in rows for pair in pairs_of(row)]


def measure_reference(answers: Answers) -> RelationCalibration:
    """The map that is fitted on answers to the reference pairs, and what it does there."""
    labelled = reference_pairs()
    said = [one for each in labelled if isinstance(one := answers[each.pair], Distribution)]
    return measure_map(said, labelled, reference_name(), "")


def with_found_shares(quality: RelationCalibration) -> RelationMap:
    """The map with the label shares that ship."""
    return quality.relation_map.model_copy(update={"shares": FOUND_SHARES})


def labelled_sets(data: Path) -> Mapping[str, Sequence[Response]]:
    """Responses with claims that people labelled, and the passages that came with them."""
    return {
        "openfactcheck": read_responses(data / "openfactcheck/responses.jsonl", max_words=MAX_WORDS),
        "flaherty": read_responses(data / "flaherty/flaherty_google.json", max_words=MAX_WORDS),
        "fool_me_twice": list(fool_me_twice(data)),
        "factcheck_gpt": list(factcheck_gpt(data)),
    }


def table_of(name: str, rows: Sequence[Response], ways: Mapping[str, tuple[Answers, FactReasoner]]) -> str:
    """The table of one set: a row for each way, by its answers and its graph, and each half of the topics."""
    halves = {
        told: [row for row in rows if half_of(row.prompt or row.topic or row.text) == at] for at, told in enumerate(HALVES)
    }
    halves = halves if all(len(half) > 1 for half in halves.values()) else {"all": list(rows)}
    table = [
        [way, half, *figures(assess_own(group, answers, reasoner))]
        for way, (answers, reasoner) in ways.items()
        for half, group in halves.items()
    ]
    return markdown_table((f"{name}, {sum(len(row.claims or ()) for row in rows)} claims", "topics", *HEADS), table)


def assess_own(rows: Sequence[Response], answers: Answers, reasoner: FactReasoner) -> list[Assessment]:
    """What a graph says of claims beside their own passages, which alone were asked about."""
    return assess([own_alone(row) for row in rows] if reasoner.version == 2 else rows, answers, reasoner)


def own_alone(row: Response) -> Response:
    """The response with affinities by which the gate of pairs leaves a claim its own passages alone."""
    evidence = row.evidence or Evidence()
    own = {claim.id: {hit.passage_id for hit in evidence.hits.get(claim.id, ())} for claim in row.claims or ()}
    affinity = {claim: {one.id: float(one.id in found) for one in evidence.passages} for claim, found in own.items()}
    return row.model_copy(update={"evidence": evidence.model_copy(update={"affinity": affinity})})


def figures(found: Sequence[Assessment]) -> Iterator[str]:
    """The cells of a row."""
    for estimator in (posterior_area(found), balanced_accuracy(found), true_contradicted(found), brier(found)):
        yield with_interval(estimator, len(found), end=".3f")
    decided = [verdicts(found, label, gold=gold) for label in DECIDED for gold in (True, False)]
    claims = decided[0].could.sum() + decided[1].could.sum()
    yield f"{sum(each.happened.sum() for each in decided) / claims:.2f}"
    yield str(max(one.counts["assess"].get("graph_width", 0) for one in found))


def of_minimal_pairs(pairs: Mapping[str, Sequence[Pair]], ways: Mapping[str, Answers]) -> str:
    """True and false claims of one passage each: which have more for them than against them, and which come first."""
    rows = []
    for name, answers in ways.items():
        true, false = (
            probabilities_of([one for pair in pairs[side] if isinstance(one := answers[pair], Distribution)])
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
    return labelled_response([(claim, gold)], [{"text": text} for text in texts], own=True, topic=topic)


if __name__ == "__main__":
    main()
