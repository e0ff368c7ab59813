"""Compares ways to ask a language model for relations, on pairs that other people labelled: log loss and F1.

    python -m scripts.measure_prompts DATA --model qwen2.5-coder-1.5b [--prompts FOLDER ...] [--half 1] [--work FOLDER]

DATA is the folder of public data sets. The prompt that ships comes first, then each folder, as --prompts takes it; by default
those of scripts/prompt_variants. Every prompt has its own map of the reference pairs, for labels that are equally frequent, as
they are in the draw. Topics are cut in halves by a hash: on half 0, the default, a prompt may be chosen, half 1 says whether it
holds. A prompt is better where its log loss is lower on both sets, the whole interval of the paired difference below 0.
Answers are kept in --work: the same command goes on where it was interrupted, and asks nothing twice.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from localfact.methods.options import Options
from localfact.records import Distribution, Pair
from localfact.relations.calibration import LabelledPair, fit_relation_map, probabilities_of
from localfact.relations.reference import reference_name, reference_pairs
from localfact.vocabulary import RelationLabel
from scripts.assessing import half_of, parser_of
from scripts.labelled_sets import digest, json_lines, prompts_of_claims
from scripts.relation_answers import Answers, asked
from scripts.tables import markdown_table, mean_of, with_interval

VARIANTS = Path(__file__).parent / "prompt_variants"
FIGURES = ("log loss", "less ours", "F1")
#: Pairs of each label in a half of a set.
EACH = 50
STANCES = {
    "completely-support": RelationLabel.ENTAILMENT,
    "refute": RelationLabel.CONTRADICTION,
    "irrelevant": RelationLabel.NEUTRAL,
}
LABELS = tuple(STANCES.values())


def main() -> None:
    parser = parser_of(__doc__, "runs/prompts")
    parser.add_argument("--prompts", type=Path, action="append", help="a folder of templates; default: those that come along")
    parser.add_argument("--half", type=int, choices=(0, 1), default=0, help="of the topics (0)")
    chosen = parser.parse_args()
    if chosen.model is None:
        parser.error("--model names the language model that is asked")
    sets = {
        "Factcheck-GPT": list(factcheck_gpt(chosen.data, chosen.half)),
        "Fool Me Twice": list(fool_me_twice(chosen.data, chosen.half)),
    }
    rows: list[list[str]] = []
    ours: list[Judged] = []
    pairs = [one.pair for labelled in (reference_pairs(), *sets.values()) for one in labelled]
    for folder in (None, *(chosen.prompts or sorted(VARIANTS.iterdir()))):
        options = Options(relations="llm", model=chosen.model, prompts=folder)
        answers = asked(options, pairs, chosen.work)
        found = [judge(answers, labelled) for labelled in sets.values()]
        ours = ours or found
        figures = [cell for one, shipped in zip(found, ours, strict=True) for cell in cells(one, shipped)]
        rows.append([folder.name if folder else "as it ships", *figures])
    heads = [f"{name}, {len(labelled)} pairs: {each}" for name, labelled in sets.items() for each in FIGURES]
    print(markdown_table(("prompt", *heads), rows))


class Judged(NamedTuple):
    """How well a prompt's answers fit labels: each pair's log loss, in nats, and macro-F1."""

    losses: NDArray[np.float64]
    f1: float


def cells(found: Judged, shipped: Judged) -> tuple[str, str, str]:
    """The mean log loss, its difference from the prompt that ships with its interval, and F1."""
    apart = found.losses - shipped.losses
    return f"{found.losses.mean():.3f}", with_interval(mean_of(apart), len(apart), "+.3f", "+.3f"), f"{found.f1:.3f}"


def judge(answers: Answers, labelled: Sequence[LabelledPair]) -> Judged:
    """What the answers are worth under the map of the reference pairs, among the labels that the set has.

    A pair without an answer counts as one of which nothing is known: all labels alike.
    """
    from sklearn.metrics import f1_score

    known = [(each, said) for each in reference_pairs() if isinstance(said := answers[each.pair], Distribution)]
    fitted = fit_relation_map([said for _, said in known], [each for each, _ in known], reference_name())
    present = [place for place, label in enumerate(LABELS) if any(one.label is label for one in labelled)]
    shares = np.full((len(labelled), len(present)), 1 / len(present))
    for row, each in enumerate(labelled):
        if isinstance(answer := answers[each.pair], Distribution):
            shares[row] = fitted.calibrate(probabilities_of([answer]))[0, present]
    shares /= shares.sum(axis=1, keepdims=True)
    truth = np.array([present.index(LABELS.index(one.label)) for one in labelled])
    losses = -np.log(shares[np.arange(len(truth)), truth])
    return Judged(losses, float(f1_score(truth, shares.argmax(axis=1), average="macro")))


def factcheck_gpt(data: Path, half: int) -> Iterator[LabelledPair]:
    """Claims of ChatGPT's answers and snippets that were found for them, with what people say that the snippet does."""
    prompts = prompts_of_claims(data)
    rows = json_lines(data / "factcheck_gpt/subtask3_claim_evidence_stance.jsonl")
    kept = [row for row in rows if half_of(prompts.get(row["claim"], row["claim"])) == half and row["stance"] in STANCES]
    yield from draw([LabelledPair(Pair(row["evidence"], row["claim"]), STANCES[row["stance"]]) for row in kept])


def fool_me_twice(data: Path, half: int) -> Iterator[LabelledPair]:
    """Claims of players of a game and the sentences that decide them, which entail or contradict them."""
    labels = {"SUPPORTS": RelationLabel.ENTAILMENT, "REFUTES": RelationLabel.CONTRADICTION}
    rows = json_lines(data / "fool_me_twice/claims.jsonl.gz")
    yield from draw(
        [
            LabelledPair(Pair(" ".join(one["text"] for one in row["gold_evidence"]), row["text"]), labels[row["label"]])
            for row in rows
            if half_of(row["wikipedia_page"]) == half
        ]
    )


def draw(pairs: Sequence[LabelledPair]) -> Iterator[LabelledPair]:
    """As many of each label, by a hash; a pair once."""
    once: Mapping[Pair, LabelledPair] = {one.pair: one for one in pairs}
    for label in LABELS:
        of_it = [one for one in once.values() if one.label is label]
        yield from sorted(of_it, key=lambda one: digest(f"{one.pair.premise}\n{one.pair.hypothesis}"))[:EACH]


if __name__ == "__main__":
    main()
