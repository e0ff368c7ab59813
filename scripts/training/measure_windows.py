"""What picking windows of a long premise loses, and what it saves, on the folder of public data sets:

python -m scripts.training.measure_windows DATA                    (how often WiCE's supporting sentences are in the windows)
python -m scripts.training.measure_windows DATA --relations MODEL  (accuracy and speed of a cross-encoder, all read or picked)
"""

import argparse
import asyncio
import json
import random
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from rich.console import Console
from rich.table import Table

from localfact.models.cards import load_card, weights_folder
from localfact.models.embedder import Embedder, load_embedder
from localfact.records import Distribution, Pair
from localfact.relations.crossencoder import CrossEncoderRelationModel
from localfact.relations.lexical.statements import ParsedClaim
from localfact.relations.window_selection import (
    LongPremise,
    Run,
    RunScore,
    TokenStarts,
    best_runs,
    claim_weights,
    idf_table,
)
from localfact.relations.windows import joined
from scripts.training.lexical_pairs import json_lines, passage_around, stances, wikipedia_claims
from scripts.training.relation_model.examples import LABELS, NEUTRAL, Example, Part, digest, split_by_topic

SIZES = (96, 128, 192)
MOST = (1, 2, 3, 4)
LEADS = (0, 24)
#: How windows are picked: the first ones; the most promising of windows that lie one behind the other; wherever they begin, as
#: at use; the same with the cosine of the nearest sentence's vector added; one window of sentences from all over the premise.
FIRST, TILES, ANYWHERE, VECTORS = "the first", "lexical, one behind the other", "lexical", "lexical and vectors"
SENTENCES = "lexical, sentences from all over"
#: What a word counts once a sentence that has it is in the window.
REPEATED = 0.2
#: A cosine of 1 counts as much as so large a part of the claim's words.
COSINE_SHARE = 0.5


class Reading(NamedTuple):
    """A way of picking, tokens of a premise read at once, windows read at most, tokens of the lead."""

    way: str
    size: int
    read: int | None
    lead: int


#: What the table of a model compares.
READINGS = (
    *(Reading(ANYWHERE, *limits) for limits in product(SIZES, (None, 1, 2, 3), LEADS)),
    *(Reading(SENTENCES, size, 1, 0) for size in SIZES),
)


class Supported(NamedTuple):
    """A claim, a passage, and the sentences of it that annotators rest their verdict on: alternative sets of them."""

    claim: str
    passage: str
    sets: tuple[tuple[str, ...], ...]


class Found(NamedTuple):
    """Shares of the claims in whose windows there is some supporting sentence; a set, in all of them; a set, in one of them."""

    some: float
    all: float
    together: float


Row = TypeVar("Row", Supported, Example)


def supported_claims(data: Path) -> list[Supported]:
    """WiCE's claims with a passage around the closest of their sets of supporting sentences, less those kept for testing."""
    found: dict[str, Supported] = {}
    examples = []
    for part in ("claim_dev", "claim_test"):
        for row in json_lines(data / f"wice/{part}.jsonl.gz"):
            page, sets = row["evidence"], [places for places in row["supporting_sentences"] if places]
            closest = min(sets, key=lambda places: max(places) - min(places), default=[0])
            passage = passage_around(page, min(closest), max(closest), random.Random(row["claim"]))
            if not sets or not passage:
                continue
            inside = [tuple(page[place] for place in places) for places in sets]
            whole = tuple(texts for texts in inside if all(text in passage for text in texts))
            found[row["claim"]] = Supported(row["claim"], passage, whole)
            topics = (row["meta"]["claim_title"], "\n".join(page))
            examples.append(Example("wice", part, passage, row["claim"], LABELS[0], topics))
    parts = split_by_topic(examples)
    return shuffled(found[one.hypothesis] for part in (Part.TRAINING, Part.DEVELOPMENT) for one in parts[part])


def shuffled(rows: Iterable[Row]) -> list[Row]:
    """Each of the rows once, in an order that does not depend on theirs."""
    return sorted(dict.fromkeys(rows), key=lambda row: digest("\n".join(map(str, row))))


def found_in(one: Supported, shown: Sequence[str]) -> Found:
    """Whether the windows hold the supporting sentences: each 0 or 1."""
    some = any(text in window for texts in one.sets for text in texts for window in shown)
    everything = any(all(any(text in window for window in shown) for text in texts) for texts in one.sets)
    together = any(all(text in window for text in texts) for texts in one.sets for window in shown)
    return Found(float(some), float(everything), float(together))


def windows_by(way: str, cut: LongPremise, claim: ParsedClaim, most: int | None, similar: Callable[[str], float]) -> list[str]:
    """The windows picked in one of the ways; `similar` tells the cosine of a sentence and the claim."""
    if way == SENTENCES:
        return [best_sentences(cut, claim)]
    run_score = cut.run_score(claim)
    if way in (FIRST, TILES):
        tiles = best_runs(cut.counts, run_score, None, cut.size, cut.inside)
        best = tiles if way == FIRST else sorted(tiles, key=lambda run: -run_score(*run))
        return [cut.shown(run) for run in sorted(best[:most])]
    if way == VECTORS:
        run_score = with_cosine(run_score, claim, [similar(cut.text[span.start : span.end]) for span in cut.spans])
    return [cut.shown(run) for run in best_runs(cut.counts, run_score, most, cut.size, cut.inside)]


def best_sentences(cut: LongPremise, claim: ParsedClaim) -> str:
    """As many sentences as fit a window, each the one that adds most of the claim's words, in the order of the text.

    The beginning where no sentence has any.
    """
    weights = claim_weights(claim)
    held = [[stem for stem in weights if span in cut.places.get(stem, ())] for span in range(len(cut.spans))]
    chosen: list[int] = []
    seen: set[str] = set()
    while True:
        room = cut.size - sum(cut.counts[place] for place in chosen)
        open_ = [place for place in range(len(held)) if place not in chosen and held[place] and cut.counts[place] <= room]
        if not open_:
            break
        adds = {place: sum(weights[stem] * (REPEATED if stem in seen else 1.0) for stem in held[place]) for place in open_}
        best = max(open_, key=adds.__getitem__)
        chosen.append(best)
        seen.update(held[best])
    return " … ".join(cut.shown(Run(place, place + 1)) for place in sorted(chosen)) or cut.windows(claim, 1)[0]


def with_cosine(run_score: RunScore, claim: ParsedClaim, cosines: Sequence[float]) -> RunScore:
    """The score of a run with the cosine of its sentence nearest to the claim added."""

    def both(begin: int, end: int) -> float:
        return run_score(begin, end) + COSINE_SHARE * claim.total * max(cosines[begin:end])

    return both


def evidence_rows(
    claims: Sequence[Supported], starts: TokenStarts, embedder: Embedder | None, sizes: Sequence[int]
) -> Iterator[dict[str, Any]]:
    """What each way of picking finds, a row a size, number of windows, way and length of the lead."""
    vectors = vectors_of(embedder)
    for size, lead in product(sizes, LEADS):
        cuts = [(one, LongPremise(one.passage, starts, size, lead), ParsedClaim(one.claim, idf_table())) for one in claims]
        cuts = [(one, cut, claim) for one, cut, claim in cuts if len(cut.spans) > 1]
        ways = (FIRST, TILES, ANYWHERE, SENTENCES, *((VECTORS,) if embedder else ()))
        for most, way in product(MOST, ways):
            if (lead and way in (FIRST, TILES)) or ((lead or most > 1) and way == SENTENCES):
                continue
            found = [found_in(one, windows_by(way, cut, claim, most, partial(vectors, one.claim))) for one, cut, claim in cuts]
            shares = [sum(column) / len(found) for column in zip(*found, strict=True)]
            yield {"size": size, "lead": lead, "read": most, "way": way, "claims": len(found), **Found(*shares)._asdict()}


def vectors_of(embedder: Embedder | None) -> Callable[[str, str], float]:
    """The cosine of two texts; 0 without an embedder."""

    def cosine(left: str, right: str) -> float:
        if embedder is None:
            return 0.0
        one, other = embedder.encode([left, right])
        return float((one * other).sum())

    return cosine


def labelled_pairs(data: Path, most: int, starts: TokenStarts, longer_than: int) -> dict[str, list[tuple[Pair, str]]]:
    """So many pairs each of WiCE and of Factcheck-GPT's joined snippets whose premise has more tokens than that."""
    wice = wikipedia_claims(data)
    joined = (one for one in stances(data) if one.group == "factcheck_gpt_joined")
    pairs: dict[str, list[tuple[Pair, str]]] = {}
    for name, rows in (("WiCE", wice), ("Factcheck-GPT, joined", joined)):
        examples = [Example(name, one.group, one.premise, one.hypothesis, one.label, one.topics) for one in rows]
        parts = split_by_topic(examples)
        untested = shuffled([*parts[Part.TRAINING], *parts[Part.DEVELOPMENT]])
        long = (one for one in untested if len(starts(one.premise)) > longer_than)
        pairs[name] = [(Pair(one.premise, one.hypothesis), one.label) for one, _ in zip(long, range(most), strict=False)]
    return pairs


def quality(said: Sequence[str], labels: Sequence[str]) -> dict[str, float]:
    """Accuracy, and F1 averaged over the labels that occur."""
    scores = []
    for label in dict.fromkeys(labels):
        hits = sum(one == right == label for one, right in zip(said, labels, strict=True))
        scores.append(2 * hits / (said.count(label) + labels.count(label)))
    right = sum(one == other for one, other in zip(said, labels, strict=True))
    return {"accuracy": right / len(labels), "macro_f1": sum(scores) / len(scores)}


def model_rows(
    name: str,
    pairs: Mapping[str, Sequence[tuple[Pair, str]]],
    readings: Sequence[Reading],
    starts: TokenStarts,
) -> Iterator[dict[str, Any]]:
    """Accuracy, macro-F1 and pairs per second, picking included, of a relation model; a row a way of reading and set.

    The model is asked by itself: word overlap, where its card pools the two, reads everything all the same.
    """
    card = load_card(name).model_copy(update={"premise_window": None, "windows_read": None, "pool": None})
    model = CrossEncoderRelationModel(card)
    asyncio.run(model.relate([Pair("The sea is deep.", "The sea is shallow.")]))  # what is loaded late is not timed
    idf_table()
    for reading, (group, rows) in product(readings, pairs.items()):
        begin = time.perf_counter()
        read = [read_in(reading, pair, starts) for pair, _ in rows]
        said = iter(asyncio.run(model.relate([window for several in read for window in several])))
        whole = [joined([next(said) for _ in several]) for several in read]
        seconds = time.perf_counter() - begin
        labels = [one.label.value if isinstance(one, Distribution) else "failed" for one in whole]
        yield {
            "set": group,
            **reading._asdict(),
            "pairs": len(rows),
            "windows": sum(map(len, read)) / len(read),
            **quality(labels, [label for _, label in rows]),
            "neutral": labels.count(NEUTRAL) / len(labels),
            "pairs_per_second": len(rows) / seconds,
        }
    model.close()


def read_in(reading: Reading, pair: Pair, starts: TokenStarts) -> list[Pair]:
    """The pairs that are read in place of one."""
    cut = LongPremise(pair.premise, starts, reading.size, reading.lead)
    shown = windows_by(reading.way, cut, ParsedClaim(pair.hypothesis, idf_table()), reading.read, lambda _: 0.0)
    return [Pair(window, pair.hypothesis) for window in shown]


def token_starts(name: str) -> TokenStarts:
    """Of the tokenizer of a model that lies on this machine, by `tokenizers` alone."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(weights_folder(load_card(name)) / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return lambda text: [start for start, _ in tokenizer.encode(text, add_special_tokens=False).offsets]


def shown(rows: Sequence[Mapping[str, Any]]) -> Table:
    """The rows as a table."""
    table = Table()
    for name in rows[0]:
        table.add_column(name.replace("_", " "))
    for row in rows:
        table.add_row(*map(cell, row.values()))
    return table


def cell(value: float | str | None) -> str:
    """A value as the table has it; None is no limit."""
    return "all" if value is None else f"{value:.3f}" if isinstance(value, float) else str(value)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="the folder of public data sets")
    parser.add_argument("--relations", help="a cross-encoder: a card's name or a path")
    parser.add_argument("--tokenizer", default="minilm", help="whose tokens windows are measured in, without a model")
    parser.add_argument("--embedder", help="whose vectors are tried beside the words; none if left out")
    parser.add_argument("--most", type=int, default=150, help="pairs of a set")
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES), help="tokens of a window")
    parser.add_argument("--json", type=Path, help="a file for the rows")
    given = parser.parse_args()
    starts = token_starts(given.relations or given.tokenizer)
    if given.relations:
        readings = [reading for reading in READINGS if reading.size in given.sizes]
        pairs = labelled_pairs(given.data, given.most, starts, max(SIZES))
        rows = list(model_rows(given.relations, pairs, readings, starts))
    else:
        embedder = load_embedder(load_card(given.embedder)) if given.embedder else None
        rows = list(evidence_rows(supported_claims(given.data)[: given.most], starts, embedder, given.sizes))
    if given.json:
        given.json.write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")
    Console(width=140).print(shown(rows))


if __name__ == "__main__":
    main()
