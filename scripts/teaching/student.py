"""Trains the student: an encoder that comes in a wheel, first on sentences that people labelled, then on what the teacher did.

The teacher's probabilities and the label of the pair itself count alike where there are both: the teacher alone calls three in
four edits entailed, and half of the passages of other topics a contradiction. Training goes on where it was interrupted.
"""

import math
import random
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.functional import log_softmax

from localfact.models.onnx import OnnxTokenizer
from localfact.relations.calibration import LABELS
from localfact.report.console import note
from scripts.labelled_sets import digest
from scripts.teaching.labels import Labels, calibrated
from scripts.teaching.pairs import Lesson
from scripts.teaching.reading import FINDINGS, FIRST_FINDING, read_pair

SEED = 1
#: Pairs of a step; steps between two states on disk, which is what an interruption loses; batches that are sorted together.
ROWS, STEPS_BETWEEN_STATES, SORTED_BATCHES = 32, 100, 16
#: Lengths are padded to a multiple: a new shape costs more than the padding.
LENGTH_STEP = 8
WARM_UP, WEIGHT_DECAY, GRADIENT_NORM = 0.06, 0.01, 1.0
#: How sure a label is taken to be that people gave, or that a pair was made with.
SURE_LABEL = 0.9
#: For each type of a token the one of the encoder that it begins as.
FIRST_TYPES = (0, 1, 1, 0, *[0] * FINDINGS)


class Item(NamedTuple):
    """A pair as the network reads it, the probabilities that it should give, and what teacher and people said of it."""

    ids: list[int]
    types: list[int]
    target: list[float]
    teacher: list[float] | None
    label: str


class Stage(NamedTuple):
    """Items that are learned together. `rate`: the highest learning rate."""

    name: str
    items: Sequence[Item]
    epochs: int
    rate: float


def items_of(pairs: Sequence[Lesson], labels: Labels, tokenizer: OnnxTokenizer) -> list[Item]:
    """The pairs that have a label, of the teacher or of their own."""
    keys = [one.key for one in pairs if one.key in labels]
    said = dict(zip(keys, calibrated([labels[key] for key in keys]).tolist(), strict=True))
    found, rest = [], (1 - SURE_LABEL) / (len(LABELS) - 1)
    for one in pairs:
        teacher = said.get(one.key)
        own = [SURE_LABEL if label == one.label else rest for label in LABELS] if one.label else None
        if known := [each for each in (teacher, own) if each]:
            tokens = read_pair(tokenizer, one.pair).fields
            target = np.mean(known, axis=0).tolist()
            found.append(Item(tokens["input_ids"], tokens["token_type_ids"], target, teacher, one.label))
    return found


def new_student(base: Path) -> Any:
    """The encoder of a folder with a new head, whose tokens have the types of `reading.py`; its words stay as they are."""
    from transformers import AutoConfig, AutoModel, AutoModelForSequenceClassification
    from transformers.utils.logging import set_verbosity_error

    set_verbosity_error()  # type: ignore[no-untyped-call]
    torch.manual_seed(SEED)
    config = AutoConfig.from_pretrained(base, local_files_only=True)
    config.id2label, config.label2id = dict(enumerate(LABELS)), {label: place for place, label in enumerate(LABELS)}
    config.type_vocab_size = FIRST_FINDING + FINDINGS
    model = AutoModelForSequenceClassification.from_pretrained(
        base, config=config, local_files_only=True, ignore_mismatched_sizes=True, dtype=torch.float32
    )
    types = AutoModel.from_pretrained(base, local_files_only=True).embeddings.token_type_embeddings.weight
    with torch.no_grad():
        model.base_model.embeddings.token_type_embeddings.weight.copy_(types[[min(one, len(types) - 1) for one in FIRST_TYPES]])
    model.get_input_embeddings().weight.requires_grad_(False)
    return model


def train(model: Any, stage: Stage, folder: Path) -> None:
    """Takes the model through a stage; a stage that is done is only loaded, one that was interrupted goes on."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{stage.name}.pt"
    learned = [one for one in model.parameters() if one.requires_grad]
    optimiser = torch.optim.AdamW(learned, lr=stage.rate, weight_decay=WEIGHT_DECAY)
    steps, done = [batch for epoch in range(stage.epochs) for batch in batches(stage, epoch)], 0
    if file.exists():
        state = torch.load(file, weights_only=True)
        model.load_state_dict(state["model"])
        done = state["step"]
        if state["optimiser"]:
            optimiser.load_state_dict(state["optimiser"])
    began, first, losses = time.monotonic(), done, []
    for step in range(done, len(steps)):
        for group in optimiser.param_groups:
            group["lr"] = stage.rate * schedule(step, len(steps))
        torch.manual_seed(int(digest(f"{SEED} {stage.name} {step}"), 16) % 2**63)
        losses.append(_step(model, [stage.items[place] for place in steps[step]], learned, optimiser))
        if (step + 1) % STEPS_BETWEEN_STATES == 0 or step + 1 == len(steps):
            kept = optimiser.state_dict() if step + 1 < len(steps) else None
            torch.save({"model": model.state_dict(), "optimiser": kept, "step": step + 1}, file.with_suffix(".part"))
            file.with_suffix(".part").replace(file)
            pace = (time.monotonic() - began) / (step + 1 - first)
            recent = np.mean(losses[-STEPS_BETWEEN_STATES:])
            left = f"{pace:.2f} s a step, {pace * (len(steps) - step - 1) / 60:.0f} min left"
            note(f"{stage.name}: step {step + 1:,} of {len(steps):,}, loss {recent:.4f}, {left}")


def _step(model: Any, items: Sequence[Item], learned: Sequence[torch.Tensor], optimiser: torch.optim.Optimizer) -> float:
    model.train()
    optimiser.zero_grad(set_to_none=True)
    targets = torch.tensor([item.target for item in items])
    with torch.autocast("cpu", dtype=torch.bfloat16):
        logits = _logits(model, items)
    loss = -(targets * log_softmax(logits.float(), dim=-1)).sum(dim=-1).mean()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(learned, GRADIENT_NORM)
    optimiser.step()
    return float(loss.detach())


def _logits(model: Any, items: Sequence[Item]) -> torch.Tensor:
    length = -(-max(len(item.ids) for item in items) // LENGTH_STEP) * LENGTH_STEP
    empty = [[0] * (length - len(item.ids)) for item in items]
    fields = {
        "input_ids": [item.ids + pad for item, pad in zip(items, empty, strict=True)],
        "token_type_ids": [item.types + pad for item, pad in zip(items, empty, strict=True)],
        "attention_mask": [[1] * len(item.ids) + pad for item, pad in zip(items, empty, strict=True)],
    }
    logits: torch.Tensor = model(**{name: torch.tensor(rows) for name, rows in fields.items()}).logits
    return logits


def logits_of(model: Any, items: Sequence[Item]) -> NDArray[np.float64]:
    """(n, 3) what the network says of the items, in their order."""
    model.eval()
    order = sorted(range(len(items)), key=lambda place: len(items[place].ids))
    found = np.zeros((len(items), len(LABELS)))
    with torch.inference_mode():
        for begin in range(0, len(order), ROWS):
            places = order[begin : begin + ROWS]
            found[places] = _logits(model, [items[place] for place in places]).float().numpy()
    return found


def measure(logits: NDArray[np.float64], items: Sequence[Item]) -> tuple[float, float, float]:
    """Cross-entropy with the teacher, agreement with its label and with the pairs' own; not a number where there is none."""
    taught = [place for place, item in enumerate(items) if item.teacher]
    teacher = np.array([items[place].teacher for place in taught], dtype=float).reshape(-1, len(LABELS))
    logs = logits - np.logaddexp.reduce(logits, axis=1, keepdims=True)
    judged = [place for place, item in enumerate(items) if item.label]
    truth = np.array([LABELS.index(items[place].label) for place in judged])
    return (
        float(-(teacher * logs[taught]).sum(axis=1).mean()) if taught else math.nan,
        float((logs[taught].argmax(axis=1) == teacher.argmax(axis=1)).mean()) if taught else math.nan,
        float((logs[judged].argmax(axis=1) == truth).mean()) if judged else math.nan,
    )


def best_temperature(logits: NDArray[np.float64], items: Sequence[Item]) -> float:
    """What outputs are divided by for the least cross-entropy with the teacher."""
    tried = [0.5 * 1.1**power for power in range(20)]
    return min(tried, key=lambda one: measure(logits / one, items)[0])


def batches(stage: Stage, epoch: int) -> Iterator[list[int]]:
    """The places of the items of each step of an epoch: shuffled, those of one step about as long."""
    chance = random.Random(f"{SEED} {stage.name} {epoch}")
    order = list(range(len(stage.items)))
    chance.shuffle(order)
    found = []
    for begin in range(0, len(order), ROWS * SORTED_BATCHES):
        alike = sorted(order[begin : begin + ROWS * SORTED_BATCHES], key=lambda place: len(stage.items[place].ids))
        found += [alike[first : first + ROWS] for first in range(0, len(alike), ROWS)]
    chance.shuffle(found)
    yield from found


def schedule(step: int, steps: int) -> float:
    """The share of the highest learning rate at a step: rising in a line, then falling in a line."""
    rising = max(1, round(steps * WARM_UP))
    return (step + 1) / rising if step < rising else (steps - step) / max(1, steps - rising)
