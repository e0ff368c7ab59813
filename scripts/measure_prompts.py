"""Compares ways to ask a language model for relations, True and False, or verdicts, on pairs that other people labelled.

    python -m scripts.measure_prompts DATA --model qwen2.5-coder-1.5b [--task factscore] [--prompts FOLDER ...] [--half 1]

DATA is the folder of public data sets. The prompt that ships comes first, then each folder, as --prompts takes it; by default
those of scripts/prompt_variants that have a file of the task: relation; factscore, of which a claim that its one passage
entails is true, and any other false; verification or veriscore, who write a verdict about a claim and its one passage, which is
right where it supports what is entailed, contradicts what is contradicted, and does neither where the passage says nothing.
Log loss, in nats, and macro-F1 are of answers by a map of the reference pairs, each prompt's own; of written verdicts the share
of wrong ones stands in its place. The draw has labels alike, and true and false claims weigh the same. Topics are cut in halves
by a hash: on half 0, the default, a prompt may be chosen, half 1 says whether it holds. A prompt is better where its loss is
lower on both sets, the whole interval of the paired difference below 0. Answers are kept in --work: the same command goes on
where it was interrupted, and asks nothing twice.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from localfact.assess.fastfact import FastFact
from localfact.assess.judges.assessor import PromptedJudge
from localfact.assess.judges.calibration import fit_truth_map
from localfact.assess.judges.styles import FACTSCORE, VERISCORE
from localfact.llm.engine import Engine
from localfact.methods.engine import open_engine
from localfact.methods.options import Options
from localfact.records import Claim, Distribution, Evidence, Hit, Pair, Passage, Response, passage_id
from localfact.relations.calibration import LabelledPair, fit_relation_map, probabilities_of
from localfact.relations.reference import reference_name, reference_pairs
from localfact.runtime.tasks import complete, together
from localfact.stages import Assessor
from localfact.vocabulary import RelationLabel, VerdictLabel
from scripts.assessing import half_of, parser_of
from scripts.labelled_sets import digest, json_lines, prompts_of_claims
from scripts.relation_answers import Answers, asked
from scripts.tables import markdown_table, mean_of, with_interval

VARIANTS = Path(__file__).parent / "prompt_variants"
FIGURES = ("less ours", "F1")
#: Pairs of each label in a half of a set.
EACH = 50
#: What verdicts say of a claim and its one passage; any other says that the passage settles nothing, and a failed one is wrong.
SAID: Mapping[VerdictLabel, str] = {
    VerdictLabel.SUPPORTED: RelationLabel.ENTAILMENT,
    VerdictLabel.CONTRADICTED: RelationLabel.CONTRADICTION,
    VerdictLabel.FAILED: VerdictLabel.FAILED,
}
STANCES = {
    "completely-support": RelationLabel.ENTAILMENT,
    "refute": RelationLabel.CONTRADICTION,
    "irrelevant": RelationLabel.NEUTRAL,
}
LABELS = tuple(STANCES.values())
#: Claims beside passages, with how people label them.
Labelled = Sequence[LabelledPair]
#: Makes an assessor that asks a language model.
Maker = Callable[[Engine], Assessor]


def main() -> None:
    parser = parser_of(__doc__, "runs/prompts")
    parser.add_argument("--task", choices=TASKS, default="relation", help="what the model is asked (relation)")
    parser.add_argument("--prompts", type=Path, action="append", help="a folder of templates; default: those that come along")
    parser.add_argument("--half", type=int, choices=(0, 1), default=0, help="of the topics (0)")
    parser.add_argument("--each", type=int, default=EACH, help=f"pairs of each label in a set ({EACH})")
    chosen = parser.parse_args()
    if chosen.model is None:
        parser.error("--model names the language model that is asked")
    sets = {
        "Factcheck-GPT": draw(factcheck_gpt(chosen.data, chosen.half), chosen.each),
        "Fool Me Twice": draw(fool_me_twice(chosen.data, chosen.half), chosen.each),
    }
    rows: list[list[str]] = []
    ours: list[Judged] = []
    for folder in (None, *(chosen.prompts or variants(chosen.task))):
        found = TASKS[chosen.task](Options(model=chosen.model, prompts=folder), list(sets.values()), chosen.work)
        ours = ours or found
        figures = [cell for one, shipped in zip(found, ours, strict=True) for cell in cells(one, shipped)]
        rows.append([folder.name if folder else "as it ships", *figures])
    loss = "wrong" if chosen.task in WRITERS else "log loss"
    heads = [f"{name}, {len(labelled)} pairs: {each}" for name, labelled in sets.items() for each in (loss, *FIGURES)]
    print(markdown_table(("prompt", *heads), rows))


def variants(task: str) -> list[Path]:
    """The folders that come along and have the template of a task, or its examples."""
    return sorted({file.parent for file in VARIANTS.glob(f"*/{task}.*")})


class Judged(NamedTuple):
    """How well a prompt's answers fit labels: each pair's log loss, in nats, or 1 for a wrong verdict; and macro-F1."""

    losses: NDArray[np.float64]
    f1: float


def cells(found: Judged, shipped: Judged) -> tuple[str, str, str]:
    """The mean loss, its difference from the prompt that ships with its interval, and F1."""
    apart = found.losses - shipped.losses
    return f"{found.losses.mean():.3f}", with_interval(mean_of(apart), len(apart), "+.3f", "+.3f"), f"{found.f1:.3f}"


def judge_relations(options: Options, sets: Sequence[Labelled], folder: Path) -> list[Judged]:
    """What the model's relations are worth on each of the sets."""
    pairs = [one.pair for labelled in (reference_pairs(), *sets) for one in labelled]
    answers = asked(options.model_copy(update={"relations": "llm"}), pairs, folder)
    return [judge(answers, labelled) for labelled in sets]


def judge(answers: Answers, labelled: Labelled) -> Judged:
    """What relations are worth under the map of the reference pairs, among the labels that the set has.

    A pair without an answer counts as one of which nothing is known: all labels alike.
    """
    known = [(each, said) for each in reference_pairs() if isinstance(said := answers[each.pair], Distribution)]
    fitted = fit_relation_map([said for _, said in known], [each for each, _ in known], reference_name())
    present = [place for place, label in enumerate(LABELS) if any(one.label is label for one in labelled)]
    shares = np.full((len(labelled), len(present)), 1 / len(present))
    for row, each in enumerate(labelled):
        if isinstance(answer := answers[each.pair], Distribution):
            shares[row] = fitted.calibrate(probabilities_of([answer]))[0, present]
    return judged(shares / shares.sum(axis=1, keepdims=True), [present.index(LABELS.index(one.label)) for one in labelled])


def judge_truth(options: Options, sets: Sequence[Labelled], folder: Path) -> list[Judged]:
    """What FActScore's True and False are worth on each of the sets; true and false claims weigh the same in all."""
    folder.mkdir(parents=True, exist_ok=True)
    known = reference_pairs()
    said, *answers = complete(ask_truth(options.model_copy(update={"transcript": folder / "calls.sqlite"}), [known, *sets]))
    fitted = fit_truth_map(said, [is_true(one) for one in known])
    found = []
    for answered, labelled in zip(answers, sets, strict=True):
        true, truth = np.array([fitted(one) for one in answered]), np.array([is_true(one) for one in labelled], dtype=int)
        one = judged(np.stack([1 - true, true], axis=1), truth)
        found.append(one._replace(losses=one.losses * (len(truth) / (2 * np.bincount(truth)))[truth]))
    return found


async def ask_truth(options: Options, sets: Sequence[Labelled]) -> list[list[float]]:
    """The probability of True, as the model says it, of each set's pairs."""
    async with AsyncExitStack() as opened:
        judge = PromptedJudge(open_engine(options, opened), FACTSCORE)
        return [await together(judge.ask_truth(one.pair.hypothesis, one.pair.premise) for one in labelled) for labelled in sets]


def is_true(one: LabelledPair) -> bool:
    """Whether a claim is true by its one passage."""
    return one.label is RelationLabel.ENTAILMENT


def judge_verdicts(
    options: Options, sets: Sequence[Labelled], folder: Path, made: Callable[[Engine], Assessor]
) -> list[Judged]:
    """How often the verdicts of an assessor that writes are wrong on each of the sets."""
    from sklearn.metrics import f1_score

    folder.mkdir(parents=True, exist_ok=True)
    said = complete(ask_verdicts(options.model_copy(update={"transcript": folder / "calls.sqlite"}), sets, made))
    found = []
    for verdicts, labelled in zip(said, sets, strict=True):
        truth, told = [one.label for one in labelled], [SAID.get(verdict, RelationLabel.NEUTRAL) for verdict in verdicts]
        wrong = np.array([one != other for one, other in zip(truth, told, strict=True)], dtype=float)
        found.append(Judged(wrong, float(f1_score(truth, told, labels=sorted(set(truth)), average="macro", zero_division=0))))
    return found


async def ask_verdicts(options: Options, sets: Sequence[Labelled], made: Maker) -> list[list[VerdictLabel]]:
    """The verdict about each of the sets' claims by its one passage."""
    async with AsyncExitStack() as opened:
        assessor = made(open_engine(options, opened))
        return [await decide(assessor, labelled) for labelled in sets]


async def decide(assessor: Assessor, labelled: Labelled) -> list[VerdictLabel]:
    """The verdict about each claim by its one passage."""
    claims = [Claim(id=f"c{place}", text=one.pair.hypothesis) for place, one in enumerate(labelled)]
    passages = {passage_id(one.pair.premise): one.pair.premise for one in labelled}
    hits = {
        claim.id: (Hit(passage_id=passage_id(one.pair.premise), rank=1, score=1.0),)
        for claim, one in zip(claims, labelled, strict=True)
    }
    evidence = Evidence(passages=tuple(Passage(id=name, text=text) for name, text in passages.items()), hits=hits)
    judgement = await assessor.assess(Response(id="pairs", text=""), claims, evidence, {})
    return [verdict.label for verdict in judgement.verdicts]


def judged(shares: NDArray[np.float64], truth: ArrayLike) -> Judged:
    """How well probabilities (n, labels) fit labels (n,)."""
    from sklearn.metrics import f1_score

    losses = -np.log(shares[np.arange(len(shares)), truth])
    return Judged(losses, float(f1_score(truth, shares.argmax(axis=1), average="macro")))


def factcheck_gpt(data: Path, half: int) -> Iterator[LabelledPair]:
    """Claims of ChatGPT's answers and snippets that were found for them, with what people say that the snippet does."""
    prompts = prompts_of_claims(data)
    rows = json_lines(data / "factcheck_gpt/subtask3_claim_evidence_stance.jsonl")
    kept = [row for row in rows if half_of(prompts.get(row["claim"], row["claim"])) == half and row["stance"] in STANCES]
    yield from (LabelledPair(Pair(row["evidence"], row["claim"]), STANCES[row["stance"]]) for row in kept)


def fool_me_twice(data: Path, half: int) -> Iterator[LabelledPair]:
    """Claims of players of a game and the sentences that decide them, which entail or contradict them."""
    labels = {"SUPPORTS": RelationLabel.ENTAILMENT, "REFUTES": RelationLabel.CONTRADICTION}
    rows = json_lines(data / "fool_me_twice/claims.jsonl.gz")
    yield from (
        LabelledPair(Pair(" ".join(one["text"] for one in row["gold_evidence"]), row["text"]), labels[row["label"]])
        for row in rows
        if half_of(row["wikipedia_page"]) == half
    )


def draw(pairs: Iterable[LabelledPair], each: int) -> list[LabelledPair]:
    """So many of each label, by a hash; a pair once."""
    once: Mapping[Pair, LabelledPair] = {one.pair: one for one in pairs}
    drawn = sorted(once.values(), key=lambda one: digest(f"{one.pair.premise}\n{one.pair.hypothesis}"))
    return [one for label in LABELS for one in [pair for pair in drawn if pair.label is label][:each]]


#: Assessors that write about a claim before or after its verdict, by the name of their template.
WRITERS: Mapping[str, Maker] = {
    "verification": FastFact,
    "veriscore": lambda engine: PromptedJudge(engine, VERISCORE),
}
#: What a model may be asked, by the name of its template.
TASKS: Mapping[str, Callable[[Options, Sequence[Labelled], Path], list[Judged]]] = {
    "relation": judge_relations,
    "factscore": judge_truth,
    **{task: partial(judge_verdicts, made=made) for task, made in WRITERS.items()},
}

if __name__ == "__main__":
    main()
