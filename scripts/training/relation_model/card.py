"""The model card: what the shipped relation model is, what it learned from and under which licences, and how well it does.

`train_relation_model` writes it; `evaluate_relation_models --card` puts the figures in.
"""

import subprocess
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from scripts.training.relation_model.examples import LABELS, Example
from scripts.training.relation_model.licences import LICENCES

CARD_FILE = "README.md"
#: Between these lines stand the figures of the evaluation, and between those the ones in use.
BEGIN, END = "<!-- figures -->", "<!-- end of figures -->"
BEGIN_USE, END_USE = "<!-- in use -->", "<!-- end of in use -->"

TEMPLATE = Path(__file__).with_name("model_card.md")


def write_card(
    out: Path,
    examples: Sequence[Example],
    *,
    seed: int,
    temperature: float,
    development: Mapping[str, float],
    percent: int,
    made_at: str,
) -> None:
    """Writes the card into the model's folder; figures of an evaluation that stood there are gone, since they are of another.

    Args:
        examples: all that was learned from. development: accuracy a set. percent: topics of a set that are kept for measuring.
        made_at: the commit of the training, before it wrote anything.
    """
    text = TEMPLATE.read_text(encoding="utf-8").format(
        labels=", ".join(LABELS),
        seed=seed,
        commit=made_at,
        temperature=temperature,
        percent=percent,
        data=data_table(examples),
        begin=BEGIN,
        end=END,
        begin_use=BEGIN_USE,
        end_use=END_USE,
        development=", ".join(f"{name} {accuracy:.3f}" for name, accuracy in sorted(development.items())),
    )
    (out / CARD_FILE).write_text(text, encoding="utf-8")


def data_table(examples: Sequence[Example]) -> str:
    """A row a set: how many pairs of each label, a pair that is learned in several epochs once; licence and source."""
    each_once = {(example.set, example.label, example.premise, example.hypothesis) for example in examples}
    counts = Counter((name, label) for name, label, _, _ in each_once)
    rows = ["| set | " + " | ".join(LABELS) + " | licence | source |", "| --- | " + "--- | " * (len(LABELS) + 2)]
    for name in sorted({example.set for example in examples}):
        licence = LICENCES.get(name)
        shown = f"{licence.name} | {licence.source}" if licence else "as their sources | made by rule"
        numbers = " | ".join(str(counts[name, label]) for label in LABELS)
        rows.append(f"| {name} | {numbers} | {shown} |")
    return "\n".join(row.strip() for row in rows)


def put_figures(card: Path, figures: str) -> None:
    """Puts the tables of an evaluation into a card, in place of those that stand there.

    Raises:
        ValueError: the card has no place for them.
    """
    put(card, figures, BEGIN, END)


def put_use(card: Path, figures: str) -> None:
    """Puts the table of `measure_use` into a card, as `put_figures` does those of an evaluation."""
    put(card, figures, BEGIN_USE, END_USE)


def put(card: Path, figures: str, begin: str, end: str) -> None:
    """Puts figures between two lines of a card."""
    text = card.read_text(encoding="utf-8")
    if text.count(begin) != 1 or text.count(end) != 1:
        raise ValueError(f"{card} has no place for figures, between the lines {begin} and {end}.")
    before, _, rest = text.partition(begin)
    _, _, after = rest.partition(end)
    card.write_text(f"{before}{begin}\n{figures.strip()}\n{end}{after}", encoding="utf-8")


def commit() -> str:
    """The commit that the working tree is at, with a plus where it differs; "unknown" outside a repository."""
    shown = subprocess.run(
        ["git", "describe", "--always", "--abbrev=12", "--dirty=+"], capture_output=True, text=True, check=False
    )
    return shown.stdout.strip() or "unknown"
