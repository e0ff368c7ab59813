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
SHIPPED = "as it ships"
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
    losses: dict[str, list[NDArray[np.float64]]] = {}
    rows = []
    for folder in (None, *(chosen.prompts or sorted(VARIANTS.iterdir()))):
        name = folder.name if folder else SHIPPED
        options = Options(relations="llm", model=chosen.model, prompts=folder)
        answers = asked(
            options, [one.pair for labelled in (reference_pairs(), *sets.values()) for one in labelled], chosen.work
        )
        found = [calibrated(answers, labelled) for labelled in sets.values()]
        losses[name] = [loss for loss, _ in found]
        rows.append(
            [
                name,
                *(
                    cell
                    for (_, f1), *pair in zip(found, losses[name], losses[SHIPPED], strict=True)
                    for cell in cells(*pair, f1)
                ),
            ]
        )
    heads = [
        f"{name}, {len(labelled)} pairs: {figure}"
        for name, labelled in sets.items()
        for figure in ("log loss", "against ours", "F1")
    ]
    print(markdown_table(("prompt", *heads), rows))


def cells(loss: NDArray[np.float64], ours: NDArray[np.float64], f1: float) -> Iterator[str]:
    """The mean log loss, its difference from the prompt that ships, and F1."""
    yield f"{loss.mean():.3f}"
    yield with_interval(mean_of(loss - ours), len(loss), "+.3f", "+.3f") if loss is not ours else ""
    yield f"{f1:.3f}"


def calibrated(answers: Answers, labelled: Sequence[LabelledPair]) -> tuple[NDArray[np.float64], float]:
    """Each pair's log loss under the map of the reference pairs, in nats, and macro-F1, over the labels that the set has.

    A pair without an answer counts as one of which nothing is known: all labels alike.
    """
    reference = reference_pairs()
    known = [one for one in reference if isinstance(answers[one.pair], Distribution)]
    said = [one for each in known if isinstance(one := answers[each.pair], Distribution)]
    fitted = fit_relation_map(said, known, reference_name())
    present = [place for place, label in enumerate(LABELS) if any(one.label is label for one in labelled)]
    shares = np.full((len(labelled), len(present)), 1 / len(present))
    for row, one in enumerate(labelled):
        if isinstance(answer := answers[one.pair], Distribution):
            shares[row] = fitted.calibrate(probabilities_of([answer]))[0, present]
    shares /= shares.sum(axis=1, keepdims=True)
    truth = np.array([present.index(LABELS.index(one.label)) for one in labelled])
    return -np.log(shares[np.arange(len(truth)), truth]), macro_f1(truth, shares.argmax(axis=1), len(present))


def macro_f1(truth: NDArray[np.int64], said: NDArray[np.int64], labels: int) -> float:
    """The mean over labels of the harmonic mean of precision and recall."""
    hits, true, claimed = (np.bincount(places, minlength=labels) for places in (truth[truth == said], truth, said))
    return float(np.mean(2 * hits / (true + claimed)))


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
