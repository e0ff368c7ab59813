"""Measures relation models on labelled pairs of topics that none of ours is trained on: one table, a row a model.

    python -m scripts.training.evaluate DATA [CARD ...] [--json FILE] [--figures FOLDER] [--limit N] [--markdown]

DATA is the folder of public data sets. Measured are word overlap, the model that ships, and every CARD: a name, a file, or a
folder of weights. Answers are kept: the same command goes on where it was interrupted.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from localfact.errors import LocalFactError
from localfact.methods.relations import BUILTIN_NLI, LEXICAL
from localfact.records import Pair
from localfact.report.console import note, output
from localfact.report.plots import reliability_figure, rendered, roc_figure
from localfact.runtime.files import replace, write_errors
from localfact.scoring.calibration import reliability_bins
from scripts.training.relation_model.asking import Model, asked, line_reporter
from scripts.training.relation_model.card import put_figures
from scripts.training.relation_model.evaluated_sets import DRAWN, EvaluatedSet, held_out_sets, never_trained_on
from scripts.training.relation_model.examples import CONTRADICTION, ENTAILMENT
from scripts.training.relation_model.figure_tables import markdown, print_tables
from scripts.training.relation_model.figures import answered, evaluation
from scripts.training.relation_model.measuring import curve

CACHE = Path("runs/relation-models")
TITLES = {
    CONTRADICTION: ("relation-roc", "Contradiction: false completions among true ones"),
    ENTAILMENT: ("relation-roc-entailment", "Entailment: true completions among false ones"),
}


def main(arguments: Sequence[str] | None = None) -> None:
    options = parser().parse_args(arguments)
    try:
        held_out = held_out_sets(options.data, options.limit)
        unseen = never_trained_on(options.data, options.limit)
        models = answering(options.cards, [*held_out, *unseen], options.cache, time_again=options.time_again)
        found = evaluation(str(options.data), options.limit, models, held_out, unseen, options.seed)
        if options.json:
            write(options.json, found.model_dump_json(indent=1).encode())
        if options.card:
            put_figures(options.card, markdown(found))
        for file in figures(models, held_out, options.figures, options.seed) if options.figures else ():
            note(f"Drawn: {file}")
    except KeyboardInterrupt:
        note(f"Interrupted. The answers so far are in {options.cache}; the same command goes on from there.")
        sys.exit(130)
    except (LocalFactError, FileNotFoundError) as error:
        sys.exit(str(error))
    if options.markdown:
        print(markdown(found))
    else:
        print_tables(found, output())


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(description="Measures relation models on labelled pairs.")
    made.add_argument("data", type=Path, help="The folder of public data sets.")
    made.add_argument("cards", nargs="*", help="More relation models: a card's name, its file, or a folder of weights.")
    made.add_argument("--json", type=Path, help="Write all figures to this file.")
    made.add_argument("--figures", type=Path, help="Draw calibration and ROC curves into this folder, as SVG and PNG.")
    made.add_argument("--limit", type=int, help="About so many pairs of each set: whole topics until there are as many.")
    made.add_argument("--cache", type=Path, default=CACHE, help=f"Where answers and times are kept. Default: {CACHE}.")
    made.add_argument("--time-again", action="store_true", help="Time the models though they were timed before.")
    made.add_argument("--markdown", action="store_true", help="Print the figures for a README: a row a set.")
    made.add_argument("--card", type=Path, help="Put the figures into this model card (README.md of the model's folder).")
    made.add_argument("--seed", type=int, default=0, help="Of the intervals.")
    return made


def answering(cards: Sequence[str], sets: Sequence[EvaluatedSet], cache: Path, *, time_again: bool = False) -> list[Model]:
    """The models with their answers to all pairs: word overlap first, the one that ships, then the cards.

    Raises:
        InputError, MissingError: a card that is given is none, or its weights are not on this machine.
    """
    pairs = [Pair(example.premise, example.hypothesis) for one in sets for example in one.examples]
    names = dict.fromkeys((LEXICAL, BUILTIN_NLI, *cards))
    return [asked(name, pairs, cache, line_reporter(name), time_again=time_again) for name in names]


def figures(models: Sequence[Model], held_out: Sequence[EvaluatedSet], folder: Path, seed: int) -> list[Path]:
    """Draws how far the models can be taken at their word on all held-out pairs, and their curves on one set.

    Returns the files. A label that the set has not, or no other, has no curve.
    """
    drawn = {}
    bins = {}
    for model in models:
        answers = answered(model, held_out)
        bins[model.name] = reliability_bins(answers.stated, answers.outcomes)
    drawn["relation-reliability"] = reliability_figure(bins, "Probability stated and share right, pairs of held-out topics")
    chosen = [one for one in held_out if one.name == DRAWN]
    for label, (name, title) in TITLES.items():
        if chosen and len({example.label == label for example in chosen[0].examples}) == 2:
            curves = {model.name: curve(answered(model, chosen), label, seed) for model in models}
            drawn[name] = roc_figure(curves, title)
    files = []
    for name, figure in drawn.items():
        for suffix, content in rendered(figure).items():
            files.append(folder / f"{name}.{suffix}")
            write(files[-1], content)
    return files


def write(file: Path, content: bytes) -> None:
    with write_errors(file):
        file.parent.mkdir(parents=True, exist_ok=True)
        replace(file, content)


if __name__ == "__main__":
    main()
