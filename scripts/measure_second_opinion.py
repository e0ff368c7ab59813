"""What a second opinion is worth: verdicts on claims that other people labelled, by a quick relation model, and by the same
with a language model asked again about a few of its pairs.

    python -m scripts.measure_second_opinion DATA [--model qwen2.5-coder-1.5b] [--work FOLDER]

Sets, halves and answers are those of measure_calibration.py, whose FOLDER it shares. A claim's pairs are asked again in the
order of how sure the quick model is that they speak ("spoken": those that it did not call neutral; "any": neutral ones, too).
"""

from dataclasses import replace

from localfact.methods.options import Options
from localfact.methods.relations import LEXICAL, LLM
from localfact.records import Distribution, Pair, Response
from localfact.vocabulary import RelationLabel
from scripts.assessing import OWN, pairs_of, parser_of
from scripts.measure_calibration import (
    WORK,
    labelled_sets,
    measure_reference,
    pairs_to_ask,
    table_of,
    with_found_shares,
)
from scripts.relation_answers import Answers, asked, change

#: The built-in method, over a claim and its own passages.
BUILTIN = replace(OWN, version=2, gate=0.8)


def main() -> None:
    parser = parser_of(__doc__, WORK)
    parser.set_defaults(model="qwen2.5-coder-1.5b")
    chosen = parser.parse_args()
    sets = labelled_sets(chosen.data)
    pairs = pairs_to_ask(sets)
    said = asked(Options(relations=LLM, model=chosen.model), pairs, chosen.work)
    second = change(said, with_found_shares(measure_reference(said)))
    first = asked(Options(relations=LEXICAL), pairs, chosen.work)
    for name, rows in sets.items():
        ways = {f"all by {LEXICAL}": first, "all by the language model": second}
        for which in ("spoken", "any"):
            for most in (1, 2, 3):
                again = {pair for row in rows for pair in asked_again(row, first, which, most)}
                ways[f"{LEXICAL}, {which}, {most} again"] = first | {pair: second[pair] for pair in again}
        print(table_of(name, rows, {way: (answers, BUILTIN) for way, answers in ways.items()}), "\n")


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
