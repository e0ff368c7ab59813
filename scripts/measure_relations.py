"""Measures relation models where they are used: on claims and snippets that other people collected, and on minimal pairs.

    python -m scripts.measure_relations DATA [--relations NAME ...] [--work FOLDER]

DATA is the folder of public data sets. A column a relation model: by default word overlap; NAME is a card, its file, or a
folder of weights. In brackets 95 % intervals, by a bootstrap over responses, or passages. Runs and answers are kept in FOLDER:
the same command goes on where it was interrupted.
"""

import argparse
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from localfact.api.evaluate import evaluate
from localfact.methods.options import Options
from localfact.methods.relations import LEXICAL
from localfact.records import Assessment, Distribution, Pair
from localfact.report.console import note
from localfact.runs.assessments import read_assessments
from localfact.scoring.bootstrap import Estimator
from localfact.scoring.roc import area_of_rows
from localfact.scoring.tally import labelled_claims
from localfact.vocabulary import RelationLabel, VerdictLabel
from scripts.labelled_sets import digest, json_lines, labelled_pairs
from scripts.relation_answers import Answers, asked
from scripts.tables import markdown_table, with_interval

#: Passages of two to four sentences, each with a true claim and one that differs from it little and is false.
MINIMAL_PAIRS = Path(__file__).parent / "minimal_pairs.jsonl"
METHOD = "builtin-fr2"
#: Of a claim, snippets of other responses' claims that it is asked about.
SILENT_SNIPPETS = 2

#: What is measured, what is aimed at, and the value with its interval for each relation model.
Row = list[str]


class Counted(NamedTuple):
    """For each response or passage how often something happened, and how often it could have: arrays of n numbers."""

    happened: NDArray[np.float64]
    could: NDArray[np.float64]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="the folder of public data sets")
    parser.add_argument("--relations", action="append", help=f"relation model, one or more; default: {LEXICAL}")
    parser.add_argument("--work", type=Path, default=Path("runs/relation-models-in-use"))
    options = parser.parse_args()
    names = options.relations or [LEXICAL]
    found = list(measured(options.data, names, options.work))
    print(markdown_table(("figure", "target", *map(title, names)), found))


def title(name: str) -> str:
    """A relation model as its column is headed: a card's file by the file's name."""
    return Path(name).stem if name.endswith(".yaml") else name


def measured(data: Path, names: Sequence[str], work: Path) -> Iterator[Row]:
    claims = data / "openfactcheck/responses.jsonl"
    yield from of_claims("openfactcheck", [run(claims, name, work) for name in names], (">= 0.65", ">= 0.62", "<= 0.12"))
    false, true = ([Pair(row["passage"], row[side]) for row in json_lines(MINIMAL_PAIRS)] for side in ("false", "true"))
    silent = silent_pairs(claims)
    labels = dict(labelled_pairs(data))
    entailed = [pair for pair, label in labels.items() if label is RelationLabel.ENTAILMENT]
    answers = [asked(Options(relations=name), [*false, *true, *silent, *labels], work) for name in names]
    for name, target, pairs, label in (
        ("minimal pairs: false ones entailed", "<= 0.20", false, RelationLabel.ENTAILMENT),
        ("minimal pairs: true ones contradicted", "<= 0.05", true, RelationLabel.CONTRADICTION),
        ("silent passages: called contradiction", "<= 0.03", silent, RelationLabel.CONTRADICTION),
        ("labelled pairs: entailed ones contradicted", "", entailed, RelationLabel.CONTRADICTION),
    ):
        yield share(name, target, [said(one, pairs, label) for one in answers])
    for label in (RelationLabel.ENTAILMENT, RelationLabel.CONTRADICTION):
        yield share(f"labelled pairs: called {label}, right", "", [right(one, labels, label) for one in answers])
    yield from of_claims("sample", [run(None, name, work) for name in names])


def run(data: Path | None, name: str, work: Path) -> list[Assessment]:
    """What the method says of labelled claims with that relation model."""
    source = data.parent.name if data else "sample"
    note(f"{source}: {METHOD}, {name}")
    out = work / source / name.strip("/").replace("/", "-")  # a card may be named by its path
    evaluate(data, method=METHOD, options=Options(claims="given", relations=name), out=out)
    return read_assessments(out)


def of_claims(source: str, runs: Sequence[Sequence[Assessment]], targets: tuple[str, str, str] = ("", "", "")) -> Iterator[Row]:
    """How well the verdicts of runs tell true claims from false ones."""
    for name, target, estimator in zip(
        ("area under the ROC", "balanced accuracy", "true claims called contradicted"),
        targets,
        (posterior_area, balanced_accuracy, true_contradicted),
        strict=True,
    ):
        yield [f"{source}: {name}", target, *(with_interval(estimator(each), len(each), end=".3f") for each in runs)]
    for gold, verb in ((False, "false claims called supported"), (True, "true claims called supported")):
        yield share(f"{source}: {verb}", "", [verdicts(each, VerdictLabel.SUPPORTED, gold=gold) for each in runs])


def posterior_area(run: Sequence[Assessment]) -> Estimator:
    """The area under the ROC of the posterior, true claims against false ones."""
    rows = [
        (verdict.posterior, gold, place)
        for place, assessment in enumerate(run)
        for gold, verdict in labelled_claims(assessment)
        if verdict.posterior is not None
    ]
    posteriors, golds, places = zip(*rows, strict=True)
    return area_of_rows(np.array(posteriors), np.array(golds), np.array(places), len(run))


def balanced_accuracy(run: Sequence[Assessment]) -> Estimator:
    """The mean of the shares of true claims that are supported and of false claims that are not."""
    true, false = (verdicts(run, VerdictLabel.SUPPORTED, gold=gold) for gold in (True, False))
    return lambda chosen: (ratio(true)(chosen) + 1 - ratio(false)(chosen)) / 2


def true_contradicted(run: Sequence[Assessment]) -> Estimator:
    return ratio(verdicts(run, VerdictLabel.CONTRADICTED, gold=True))


def verdicts(run: Sequence[Assessment], label: VerdictLabel, *, gold: bool) -> Counted:
    """For each response how many of its claims with that gold label have that verdict."""
    own = [[verdict.label is label for true, verdict in labelled_claims(one) if true is gold] for one in run]
    return Counted(np.array([sum(each) for each in own], dtype=float), np.array([len(each) for each in own], dtype=float))


def said(answers: Answers, pairs: Sequence[Pair], label: RelationLabel) -> Counted:
    """For each pair whether a relation model gives it the label; a failed answer is none."""
    found = [answers[pair] for pair in pairs]
    happened = [isinstance(answer, Distribution) and answer.label is label for answer in found]
    return Counted(np.array(happened, dtype=float), np.ones(len(pairs)))


def right(answers: Answers, labels: Mapping[Pair, RelationLabel], label: RelationLabel) -> Counted:
    """For each pair whether a relation model gives it the label, and rightly."""
    called = said(answers, list(labels), label).happened
    return Counted(called * np.array([one is label for one in labels.values()]), called)


def share(name: str, target: str, counts: Sequence[Counted]) -> Row:
    return [name, target, *(with_interval(ratio(each), len(each.could), end=".3f") for each in counts)]


def ratio(counted: Counted) -> Estimator:
    """How often it happened of how often it could have, over the responses that are drawn."""

    def estimate(chosen: NDArray[np.int64]) -> float:
        could = counted.could[chosen].sum()
        return float(counted.happened[chosen].sum() / could) if could else float("nan")

    return estimate


def silent_pairs(file: Path) -> list[Pair]:
    """The claims of that file beside snippets that were found for claims of other responses, drawn by a hash."""
    rows = json_lines(file)
    snippets = [(row["id"], context["text"]) for row in rows for context in row["contexts"] if context["text"]]
    pairs = []
    for row in rows:
        foreign = [text for owner, text in snippets if owner != row["id"]]
        for atom in row["atoms"]:
            claim = atom["text"]
            drawn = sorted((digest(f"silent {claim} {text}"), text) for text in foreign)
            pairs += [Pair(text, claim) for _, text in drawn[:SILENT_SNIPPETS]]
    return pairs


if __name__ == "__main__":
    main()
