"""How often a passage that was found for another claim says something of this one, and what knowing that does to verdicts.

    python -m scripts.measure_other_pairs DATA --model qwen2.5-coder-1.5b [--work FOLDER]

DATA is the folder of public data sets. The shares of the three relations, among claims with their own passages and with those
of other claims of the response, are estimated without any label from calibrated probabilities (Saerens et al. 2002); those that
ship are of OpenFactCheck's half of topics on which anything may be chosen. Then claims that people labelled are judged by their
own passages, by all as if each had been found for every claim, and by all with the shares of either kind. Answers are kept in
FOLDER: the same command goes on where it was interrupted, and asks nothing twice.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from localfact.assess.factreasoner import FactReasoner
from localfact.inputs.responses import MAX_WORDS, response_of
from localfact.methods.options import Options
from localfact.records import Assessment, Distribution, Evidence, Pair, Response
from localfact.relations.calibration import LABELS, SEARCHED, probabilities_of
from localfact.relations.label_shift import LabelShift
from localfact.relations.reference import reference_pairs
from scripts.assessing import OWN, assess, half_of, pairs_of, parser_of
from scripts.benchmark_models import draw
from scripts.labelled_sets import labelled_rows
from scripts.measure_calibration import HALVES, HEADS, figures, measure_reference
from scripts.relation_answers import Answers, asked, change
from scripts.tables import markdown_table

WORK = "runs/other-pairs"
#: A claim beside every passage of its response.
EVERY = replace(OWN, version=2)
#: Responses drawn of each set.
DRAWN = {"openfactcheck": 40, "factcheck_gpt": 20}
SHARE_HEADS = ("claims", "topics", "passages", "pairs", *LABELS)
#: Steps of the estimate, after which it no longer moves.
STEPS = 2000


def main() -> None:
    chosen = parser_of(__doc__, WORK).parse_args()
    sets = labelled_rows(chosen.data)
    drawn = {
        name: [response_of(row, number, MAX_WORDS) for number, row in enumerate(draw(sets[name], most), start=1)]
        for name, most in DRAWN.items()
    }
    pairs = [pair for responses in drawn.values() for row in responses for pair in every_pair(row)]
    options = Options(relations="llm", model=chosen.model)
    answers = asked(options, [*(one.pair for one in reference_pairs()), *pairs], chosen.work)
    relation_map = measure_reference(answers).relation_map
    searched = relation_map.model_copy(update=SEARCHED)
    print(markdown_table(SHARE_HEADS, list(share_rows(drawn, change(answers, relation_map)))), "\n")
    print(markdown_table(("claims", "topics", "passages", *HEADS), list(verdict_rows(drawn, change(answers, searched)))))


def every_pair(row: Response) -> Sequence[Pair]:
    """A response's claims, each with every passage."""
    return EVERY.pairs(row.claims or (), row.evidence or Evidence())


def halves_of(drawn: Mapping[str, Sequence[Response]]) -> Iterator[tuple[str, str, list[Response]]]:
    """Each set's name, half of its topics, and the responses of that half."""
    for name, responses in drawn.items():
        for half, told in enumerate(HALVES):
            yield name, told, [row for row in responses if half_of(row.prompt or row.topic or row.text) == half]


def share_rows(drawn: Mapping[str, Sequence[Response]], balanced: Answers) -> Iterator[list[str]]:
    """The rows of the first table. balanced: answers for equally frequent relations."""
    for name, told, rows in halves_of(drawn):
        own = list(dict.fromkeys(pair for row in rows for pair in pairs_of(row)))
        others = {pair for row in rows for pair in every_pair(row)} - set(own)
        for kind, pairs in (("its own", own), ("of other claims", sorted(others))):
            said = [one for pair in pairs if isinstance(one := balanced[pair], Distribution)]
            shares = estimate_shares(probabilities_of(said))
            yield [name, told, kind, f"{len(said):,}", *(f"{share:.3f}" for share in shares)]


def estimate_shares(balanced: NDArray[np.float64]) -> NDArray[np.float64]:
    """(3,) the shares of the relations among n pairs, from their probabilities where each is as frequent, (n, 3)."""
    shares = np.full(3, 1 / 3)
    for _ in range(STEPS):
        weighed = balanced * shares
        shares = (weighed / weighed.sum(axis=1, keepdims=True)).mean(axis=0)
    return shares


def verdict_rows(drawn: Mapping[str, Sequence[Response]], answers: Answers) -> Iterator[list[str]]:
    """The rows of the second table. answers: calibrated, for the shares of found passages."""

    def judged(row: Response, reasoner: FactReasoner, *, shifted: bool = False) -> Assessment:
        known = LabelShift().recalibrate(answers_to(row, answers), row.claims or (), row.evidence or Evidence())
        return assess([row], known if shifted else answers, reasoner)[0]

    for name, told, rows in halves_of(drawn):
        yield [name, told, "its own", *figures([judged(row, OWN) for row in rows])]
        yield [name, told, "all, as if found for it", *figures([judged(row, EVERY) for row in rows])]
        yield [name, told, "**all, by either's shares**", *figures([judged(row, EVERY, shifted=True) for row in rows])]


def answers_to(row: Response, answers: Answers) -> Answers:
    """The answers about one response."""
    return {pair: answers[pair] for pair in every_pair(row)}


if __name__ == "__main__":
    main()
