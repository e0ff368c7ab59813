"""What a second opinion is worth: verdicts on claims that other people labelled, by a quick relation model, and by the same
with a language model asked again about a few of its pairs.

    python -m scripts.measure_second_opinion DATA [--model qwen2.5-coder-1.5b] [--work FOLDER]

Sets, halves and answers are those of measure_calibration.py, whose FOLDER it shares. A claim's pairs are asked again in the
order of how sure the quick model is that they speak ("spoken": those that it did not call neutral; "any": neutral ones, too).
"""

import argparse
import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from localfact.methods.options import Options
from localfact.records import Distribution, Pair, Response
from localfact.relations.calibration import FOUND_SHARES
from localfact.relations.map_quality import measure_map
from localfact.relations.reference import reference_name, reference_pairs
from localfact.vocabulary import RelationLabel
from scripts.measure_calibration import HALVES, OWN, Way, assess, figures, half_of, labelled_sets, pairs_of
from scripts.relation_answers import Answers, asked
from scripts.tables import markdown_table

#: The built-in method, over a claim and its own passages.
BUILTIN = replace(OWN, version=2, gate=0.8)
QUICK = ("lexical",)
HEADS = ("area under the ROC", "balanced accuracy", "true ones contradicted", "Brier", "decided", "widest graph")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="the folder of public data sets")
    parser.add_argument("--model", default="qwen2.5-coder-1.5b", help="the language model that is asked again")
    parser.add_argument("--work", type=Path, default=Path("runs/calibration"))
    chosen = parser.parse_args()
    sets, reference = labelled_sets(chosen.data), reference_pairs()
    pairs = [one.pair for one in reference] + [pair for rows in sets.values() for row in rows for pair in pairs_of(row)]
    said = asked(Options(relations="llm", model=chosen.model), pairs, chosen.work)
    quality = measure_map(
        [one for each in reference if isinstance(one := said[each.pair], Distribution)], reference, reference_name(), ""
    )
    found = quality.relation_map.model_copy(update={"shares": FOUND_SHARES})
    second = {pair: found(one) if isinstance(one, Distribution) else one for pair, one in said.items()}
    first = {name: asked(Options(relations=name), pairs, chosen.work) for name in QUICK}
    for name, rows in sets.items():
        print(table_of(name, rows, first, second), "\n")


def table_of(name: str, rows: Sequence[Response], first: Mapping[str, Answers], second: Answers) -> str:
    """The table of one set: a row for each way to ask, and each half of the topics."""
    halves = [[row for row in rows if half_of(row) == half] for half in range(2)]
    halves = halves if all(len(half) > 1 for half in halves) else [list(rows)]
    ways = {f"all by {chosen}": answers for chosen, answers in (*first.items(), ("the language model", second))}
    for quick, answers in first.items():
        for which in ("spoken", "any"):
            for most in (1, 2, 3):
                again = {pair for row in rows for pair in asked_again(row, answers, which, most)}
                ways[f"{quick}, {which}, {most} again"] = answers | {pair: second[pair] for pair in again}
    table = [
        [way, half, *figures(asyncio.run(assess(group, answers, {}, Way(way, None, BUILTIN))))]
        for way, answers in ways.items()
        for half, group in zip(HALVES if len(halves) > 1 else ("all",), halves, strict=True)
    ]
    return markdown_table((f"{name}, {sum(len(row.claims or ()) for row in rows)} claims", "topics", *HEADS), table)


def asked_again(row: Response, answers: Answers, which: str, most: int) -> list[Pair]:
    """The pairs of a response that are asked again, at most so many of each claim."""
    read: dict[str, list[tuple[float, Pair]]] = {claim.text: [] for claim in row.claims or ()}
    for pair in pairs_of(row):
        said = answers[pair]
        if isinstance(said, Distribution) and (which == "any" or said.label is not RelationLabel.NEUTRAL):
            read[pair.hypothesis].append((said.neutral, pair))
    return [pair for spoken in read.values() for _, pair in sorted(spoken)[:most]]


if __name__ == "__main__":
    main()
