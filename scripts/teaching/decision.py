"""Applies the rule of teach_relations.py: the student beside word overlap with values, on what neither learned from."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from localfact.methods import relations
from localfact.methods.options import Options
from localfact.models.cards import load_card
from localfact.models.model_card import ModelCard
from localfact.records import Distribution, Pair
from localfact.scoring.bootstrap import Estimator, percentile_interval, resample
from localfact.vocabulary import RelationLabel
from scripts.labelled_sets import json_lines
from scripts.measure_relations import MINIMAL_PAIRS, posterior_area, run
from scripts.relation_answers import Answers, asked
from scripts.tables import markdown_table
from scripts.teaching.pairs import PAIR, WINDOW
from scripts.teaching.reading import StudentRelations, student_identity

STUDENT = "student"
SEED = 0


def compare(name: str, first: Estimator, second: Estimator, size: int, *, must_be_better: bool) -> list[str]:
    """A row: the student's figure and word overlap's, their difference's interval, and whether that is as the rule asks.

    Both are drawn alike, over `size` responses, passages or documents. Where the student must be better, the lower end is above
    0; else its figure is not lower.
    """
    drawn = resample(lambda chosen: first(chosen) - second(chosen), size, SEED)
    low, high = percentile_interval(drawn[np.isfinite(drawn)])
    own, other = (estimator(np.arange(size)) for estimator in (first, second))
    passes = low > 0 if must_be_better else own >= other
    return [name, f"{own:.3f}", f"{other:.3f}", f"[{low:+.3f}, {high:+.3f}]", "yes" if passes else "no"]


def decide(data: Path, folder: Path, work: Path) -> str:
    """A table of the rule's comparisons, for the student whose exported files lie in `folder`; answers are kept in `work`."""
    register(student_card(folder))
    names = (STUDENT, relations.LEXICAL)
    runs = [run(data / "openfactcheck/responses.jsonl", name, work) for name in names]
    rows, edits = json_lines(MINIMAL_PAIRS), json_lines(data / "summedits/summedits.jsonl.gz")
    sides = {side: [Pair(row["passage"], row[side]) for row in rows] for side in ("true", "false")}
    pairs = [*sides["true"], *sides["false"], *(Pair(row["doc"], row["summary"]) for row in edits)]
    said = [asked(Options(relations=name), pairs, work) for name in names]
    documents = len({row["doc"] for row in edits})
    area = [posterior_area(one) for one in runs]
    leaning = [of_minimal_pairs(sides, one) for one in said]
    balanced = [of_summedits(edits, one) for one in said]
    found = [
        compare("openfactcheck: area", *area, len(runs[0]), must_be_better=True),
        compare("minimal pairs: right", *leaning, len(rows), must_be_better=True),
        compare("SummEdits: balanced accuracy", *balanced, documents, must_be_better=False),
    ]
    return markdown_table(("figure", STUDENT, "word overlap", "difference", "as the rule asks"), found)


def student_card(folder: Path) -> ModelCard:
    """The card of an exported student: it reads one selected window of a premise."""
    read = {"window": PAIR, "premise_window": WINDOW, "windows_read": 1}
    return load_card(str(folder)).model_copy(update=read)


def register(card: ModelCard) -> None:
    """Makes the student a relation model by name, in this process."""
    kind = relations.RelationKind(
        lambda options: student_identity(card), lambda options, engine, opened: StudentRelations(card)
    )
    relations.KINDS = {**relations.KINDS, STUDENT: kind}


def of_minimal_pairs(sides: Mapping[str, Sequence[Pair]], answers: Answers) -> Estimator:
    """The share of claims on whose side the model leans rightly: entailment above contradiction for true ones, below for false.

    So a model that calls everything neutral gains nothing by that.
    """

    def leans(pair: Pair, sign: int) -> bool:
        said = answers[pair]
        return isinstance(said, Distribution) and sign * (said.entailment - said.contradiction) > 0

    both = zip(sides["true"], sides["false"], strict=True)
    right = np.array([(leans(true, 1) + leans(false, -1)) / 2 for true, false in both])
    return lambda chosen: float(right[chosen].mean())


def of_summedits(rows: Sequence[Mapping[str, object]], answers: Answers) -> Estimator:
    """The mean over domains of balanced accuracy, over documents: a summary is consistent where it is called entailed."""
    places = {doc: place for place, doc in enumerate(dict.fromkeys(str(row["doc"]) for row in rows))}
    domains = {name: place for place, name in enumerate(dict.fromkeys(str(row["domain"]) for row in rows))}
    counts: NDArray[np.float64] = np.zeros((len(places), len(domains), 2, 2))
    for row in rows:
        said = answers[Pair(str(row["doc"]), str(row["summary"]))]
        consistent = isinstance(said, Distribution) and said.label is RelationLabel.ENTAILMENT
        gold = row["label"] == 1
        counts[places[str(row["doc"])], domains[str(row["domain"])], int(gold), int(consistent == gold)] += 1

    def estimate(chosen: NDArray[np.int64]) -> float:
        drawn = counts[chosen].sum(axis=0)
        return float(np.nanmean(drawn[..., 1] / np.where(drawn.sum(axis=-1) > 0, drawn.sum(axis=-1), np.nan)))

    return estimate
