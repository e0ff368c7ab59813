"""Measures what claims of a text say of one another: contradictions that people labelled, and the graph with claim relations.

    python -m scripts.measure_coherence DATA [--model qwen2.5-coder-1.5b] [--work FOLDER]

DATA is the folder of public data sets. A column a relation model: word overlap, and the language model,
calibrated by its map. Only that half of the topics counts on which nothing was chosen; drawn are DRAWN pairs of ChatProtect of
each label and MOST texts of QAGS and FELM, the same for all. In brackets 95 % intervals by a bootstrap over pairs, or texts.
Answers are kept in FOLDER: the same command goes on where it was interrupted.
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from localfact.assess.factreasoner import FactReasoner
from localfact.coherence.choosing import choose_pairs
from localfact.coherence.relating import ModelClaimRelator
from localfact.coherence.slots import compare_slots
from localfact.methods.options import Options
from localfact.records import Assessment, Claim, Distribution, Evidence, Failure, Pair, Response
from localfact.scoring.bootstrap import Estimator
from localfact.scoring.roc import area_of_rows
from localfact.scoring.tally import labelled_claims
from localfact.stages import ClaimRelations, Relations
from localfact.text import sentences
from localfact.vocabulary import GoldLabel, VerdictLabel
from scripts.assessing import assess, brier, half_of, labelled_response, parser_of
from scripts.labelled_sets import digest, json_lines
from scripts.measure_relations import Counted, ratio
from scripts.relation_answers import asked, calibrate, models_of, name_of
from scripts.tables import markdown_table, with_interval

#: Pairs of ChatProtect of each label, and texts of QAGS and of FELM.
DRAWN, MOST = 160, 40
#: The parts of FELM that state facts.
FACTUAL = ("wk", "science", "writing_rec")
REASONER = FactReasoner(2, tables="balanced", rules="own")
Row = list[str]


def main() -> None:
    chosen = parser_of(__doc__, "runs/coherence").parse_args()
    models = models_of(chosen.model)
    heads = [name_of(options) for options in models]
    rows = drawn_pairs(chosen.data)
    columns = [list(of_pairs(rows, options, chosen.work)) for options in models]
    print(markdown_table((f"ChatProtect, {len(rows)} pairs", *heads), beside(columns)), "\n")
    print(markdown_table(("Without a model", "figure"), list(without_model(chosen.data))), "\n")
    for name, texts in (("QAGS", qags(chosen.data)), ("FELM", felm(chosen.data))):
        columns = [list(of_graph(texts, options, chosen.work)) for options in models]
        claims = sum(len(one.claims or ()) for one in texts)
        print(markdown_table((f"{name}, {len(texts)} texts, {claims} claims", *heads), beside(columns)), "\n", flush=True)


def beside(columns: Sequence[Sequence[tuple[str, str]]]) -> list[Row]:
    """The rows of a table from its columns, each of names and values."""
    return [[cells[0][0], *(value for _, value in cells)] for cells in zip(*columns, strict=True)]


def drawn_pairs(data: Path) -> list[dict[str, Any]]:
    """Sentence pairs of ChatProtect, as many that people call contradicting as others, drawn by a hash."""
    rows = [row for row in json_lines(data / "chatprotect/pairs.jsonl") if half_of(row["target"].strip())]
    rows.sort(key=lambda row: digest(f"{row['sentence']} {row['other']}"))
    return [row for label in (True, False) for row in [row for row in rows if bool(row["label"]) is label][:DRAWN]]


def of_pairs(rows: Sequence[Mapping[str, Any]], options: Options, work: Path) -> Iterator[tuple[str, str]]:
    """How well a model, and the rules before it, tell the sentences that contradict one another from others."""
    pairs = [Pair(row["sentence"], row["other"]) for row in rows]
    both = [one for pair in pairs for one in (pair, Pair(pair.hypothesis, pair.premise))]
    said = calibrate(options, asked(options, both, work))
    gold = np.array([bool(row["label"]) for row in rows])
    places = np.arange(len(rows))
    alone = np.array(
        [(contradiction(said[one]) + contradiction(said[other])) / 2 for one, other in zip(both[::2], both[1::2], strict=True)]
    )
    ruled = np.array([probability(pair, said, options) for pair in pairs])
    sure = np.array([compare_slots(*pair).sure for pair in pairs])
    for name, value in (("area, the model alone", alone), ("area, the rule of values before it", np.maximum(alone, sure))):
        yield name, with_interval(area_of_rows(value, gold, places, len(rows)), len(rows))
    for name, label in (("contradicting pairs called so", True), ("other pairs called so", False)):
        called = Counted(np.where(gold == label, ruled > 0.5, 0).astype(float), (gold == label).astype(float))
        yield name, with_interval(ratio(called), len(rows))
    yield "calls", f"{len(set(both)):,}"


def contradiction(said: Distribution | Failure) -> float:
    return said.contradiction if isinstance(said, Distribution) else 0.0


def probability(pair: Pair, said: Relations, options: Options) -> float:
    """That both cannot be true, as `check --coherence` has it of two claims; 0 where it does not compare them."""
    among = related([Claim(id="a", text=pair.premise), Claim(id="b", text=pair.hypothesis)], said, options).relations
    return sum(contradiction(one) for one in among.values()) / 2


def related(claims: Sequence[Claim], said: Relations, options: Options, text: str = "") -> ClaimRelations:
    """What claims say of one another, with the rules before a model's answers."""

    async def relate(pairs: Sequence[Pair]) -> Relations:
        return {pair: said[pair] for pair in pairs}

    relator = ModelClaimRelator(slots_only=options.model is None)
    return asyncio.run(relator.relate(Response(id="r", text=text), claims, relate))


def without_model(data: Path) -> Iterator[Row]:
    """The rule of values alone, and how many contradicting pairs are chosen where they stand in their text."""
    rows = [row for row in json_lines(data / "chatprotect/pairs.jsonl") if half_of(row["target"].strip())]
    gold = np.array([bool(row["label"]) for row in rows])
    sure = np.array([compare_slots(row["sentence"], row["other"]).sure for row in rows])
    for name, label in (("contradicting pairs", True), ("other pairs", False)):
        called = Counted((sure & (gold == label)).astype(float), (gold == label).astype(float))
        yield [f"rule of values: {name} called so, of {int((gold == label).sum())}", with_interval(ratio(called), len(rows))]
    right = Counted((sure & gold).astype(float), sure.astype(float))
    yield [f"rule of values: of {int(sure.sum())} called so, people agree", with_interval(ratio(right), len(rows))]
    chosen, pairs, claims = zip(*(is_chosen(row) for row in rows if row["label"]), strict=True)
    counted = Counted(np.array(chosen, dtype=float), np.ones(len(chosen)))
    yield ["contradicting pairs that are among those chosen in their text", with_interval(ratio(counted), len(chosen))]
    yield ["pairs chosen for a claim", f"{sum(pairs) / sum(claims):.2f}"]


def is_chosen(row: Mapping[str, Any]) -> tuple[bool, int, int]:
    """Whether the pair is chosen among the sentences before it; how many pairs are, of how many claims."""
    before = row["prefix"]
    texts = [*(before[span.start : span.end] for span in sentences(before)), row["sentence"], row["other"]]
    pairs = choose_pairs([Claim(id=str(place), text=text) for place, text in enumerate(texts)]).pairs
    return (len(texts) - 2, len(texts) - 1) in pairs, len(pairs), len(texts)


def qags(data: Path) -> list[Response]:
    """Summaries of three sentences with their article; what most of three people call consistent is supported."""
    found = []
    for row in json_lines(data / "qags/mturk_cnndm.jsonl"):
        told = [
            (one["sentence"], sum(vote["response"] == "yes" for vote in one["responses"]) > 1)
            for one in row["summary_sentences"]
        ]
        found.append(text_of(row["article"][:80], told, [row["article"]]))
    return drawn(found)


def felm(data: Path) -> list[Response]:
    """Answers of ChatGPT whose sentences people labelled, with the texts that they cite."""
    rows = [row for row in json_lines(data / "felm/felm_all.jsonl") if row["domain"] in FACTUAL and row["ref_contents"]]
    return drawn(
        [
            text_of(row["prompt"], list(zip(row["segmented_response"], row["labels"], strict=True)), row["ref_contents"])
            for row in rows
        ]
    )


def drawn(texts: Sequence[Response]) -> list[Response]:
    """MOST of the half that is measured on, by a hash."""
    mine = [one for one in texts if half_of((one.prompt or "").strip()) and one.problem is None and len(one.claims or ()) > 1]
    return sorted(mine, key=lambda one: digest(one.text))[:MOST]


def text_of(topic: str, told: Sequence[tuple[str, bool]], passages: Sequence[str]) -> Response:
    """A text whose sentences are its claims."""
    return labelled_response(told, [{"text": text} for text in passages if text.strip()], own=False, prompt=topic)


def of_graph(texts: Sequence[Response], options: Options, work: Path) -> Iterator[tuple[str, str]]:
    """F1 and Brier of the graph without and with relations among claims, and what these cost."""
    evidence = [REASONER.pairs(one.claims or (), one.evidence or Evidence()) for one in texts]
    among = [
        [pair for first, second in choose_pairs(one.claims or (), one.text).pairs for pair in directions(one, first, second)]
        for one in texts
    ]
    said = calibrate(options, asked(options, [pair for pairs in (*evidence, *among) for pair in pairs], work))

    def claim_relations(one: Response) -> Relations:
        return related(one.claims or (), said, options, one.text).relations

    runs = {}
    for name, with_claims, factors in (
        ("hard", False, "hard"),
        ("hard, claim relations", True, "hard"),
        ("soft", False, "soft"),
        ("soft, claim relations", True, "soft"),
    ):
        reasoner = replace(REASONER, claim_relations=with_claims, factors=factors)
        runs[name] = assess(texts, said, reasoner, claim_relations if with_claims else lambda one: {})
        yield f"{name}: F1", with_interval(f1(runs[name]), len(texts), end=".3f")
        yield f"{name}: Brier", with_interval(brier(runs[name]), len(texts), end=".3f")
    for name in ("hard", "soft"):
        plain, own = runs[name], runs[f"{name}, claim relations"]
        for figure, of in (("F1", f1), ("Brier", brier)):
            yield f"{name}: gain in {figure}", with_interval(gain(of(own), of(plain)), len(texts), "+.3f", "+.3f")
    for name, true in (("texts without an error", True), ("texts with one", False)):
        yield f"{name}: share of claims in a contradiction", contradicted(texts, said, options, true=true)
    yield "calls, evidence", f"{len({pair for pairs in evidence for pair in pairs}):,}"
    yield "calls, claims", f"{len({pair for pairs in among for pair in pairs}):,}"


def contradicted(texts: Sequence[Response], said: Relations, options: Options, *, true: bool) -> str:
    """1 - coherence over the claims of the texts that people call true throughout, or of the others."""
    rows = [one for one in texts if all(claim.gold is GoldLabel.SUPPORTED for claim in one.claims or ()) is true]
    found = [related(one.claims or (), said, options, one.text).coherence for one in rows]
    claims = np.array([one.claims for one in found], dtype=float)
    against = Counted(claims * np.array([1 - (one.score or 0.0) for one in found]), claims)
    return f"{with_interval(ratio(against), len(rows), end='.3f')} of {len(rows)} texts" if rows else "no texts"


def directions(one: Response, first: int, second: int) -> tuple[Pair, Pair]:
    texts = [(one.claims or ())[place].text for place in (first, second)]
    return Pair(texts[0], texts[1]), Pair(texts[1], texts[0])


def f1(run: Sequence[Assessment]) -> Estimator:
    """F1 of the supported claims, over all claims of the texts that are drawn."""
    told = [[(gold, verdict.label is VerdictLabel.SUPPORTED) for gold, verdict in labelled_claims(one)] for one in run]
    right = np.array([2 * sum(gold and called for gold, called in each) for each in told], dtype=float)
    return ratio(Counted(right, np.array([sum(gold + called for gold, called in each) for each in told], dtype=float)))


def gain(own: Estimator, plain: Estimator) -> Estimator:
    return lambda chosen: own(chosen) - plain(chosen)


if __name__ == "__main__":
    main()
