"""Trains the small language model that takes sentences apart, and writes its difference to the public one to models/small-lm.

    python -m scripts.training.train_claims DATA [--work FOLDER] [--out models/small-lm]

DATA is the folder of public data sets. The public model's weights must be here (`localfact models pull smollm2-135m`). About an
hour on two cores; interrupted, the same command goes on from its last state in FOLDER.
"""

import argparse
import os
import random
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch.nn.functional import cross_entropy

from localfact.claims.small_lm.frame import answer
from localfact.models.adapters import ADAPTER_FILE
from localfact.models.cards import load_card, weights_folder
from scripts.training.claim_model.low_rank import LowRank, save, with_low_rank
from scripts.training.claim_model.sets import Row, rows
from scripts.training.relation_model.training import schedule

BASE = "smollm2-135m"
OUT = Path("models/small-lm")
STATE_FILE = "state.pt"
EPOCHS, STEP_ROWS, RATE, WARM_UP = 2, 8, 1e-3, 0.05
#: Rows among which those of similar length are put together.
ALIKE_ROWS = 128
#: A row that is longer, in tokens, is not learned from.
LONGEST = 512
STEPS_BETWEEN_STATES = 50
GRADIENT_NORM = 1.0
#: What no loss is taken of.
UNCOUNTED = -100


class Item(NamedTuple):
    """A row as the model reads it: its tokens, and where the claims begin."""

    ids: tuple[int, ...]
    begin: int


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="the folder of public data sets")
    parser.add_argument("--out", type=Path, default=OUT, help="where the difference is written")
    parser.add_argument("--work", type=Path, default=Path("small-lm-training"), help="where the state of the training is kept")
    parser.add_argument("--epochs", type=int, default=EPOCHS)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    train(arguments.data, arguments.work, arguments.out, arguments.epochs, arguments.seed)


def train(data: Path, work: Path, out: Path, epochs: int, seed: int) -> None:
    """Trains on all rows that are not for measuring; writes the difference."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from scripts.training.relation_model.exporting import stamp

    torch.set_num_threads(len(os.sched_getaffinity(0)))
    torch.manual_seed(seed)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    base = weights_folder(load_card(BASE))
    tokenizer = AutoTokenizer.from_pretrained(base, local_files_only=True, split_special_tokens=True)
    model = AutoModelForCausalLM.from_pretrained(base, local_files_only=True, dtype=torch.bfloat16)  # as it is kept
    learned = with_low_rank(model)
    model.to(device)
    learned_rows = [row for row in rows(data) if not row.is_test]
    items = [item for row in learned_rows if len((item := item_of(row, tokenizer)).ids) <= LONGEST]
    say(f"{len(items)} sentences, {sum(len(item.ids) for item in items)} tokens")
    learn(model, learned, items, work, epochs=epochs, seed=seed)
    save(learned, out)
    card = out.parent / f"{out.name}.yaml"
    if card.exists():
        stamp(card, out / ADAPTER_FILE)
    say(f"Written: {out}. Its figures: python -m scripts.training.measure_claims {data}")


def item_of(row: Row, tokenizer: Any) -> Item:
    """The tokens of a frame, of its claims, and of the end."""
    prompt = tokenizer(row.frame.prompt, add_special_tokens=False)["input_ids"]
    claims = tokenizer(answer(list(row.claims)), add_special_tokens=False)["input_ids"]
    return Item((*prompt, *claims, tokenizer.eos_token_id), len(prompt))


def learn(model: Any, learned: dict[str, LowRank], items: Sequence[Item], work: Path, *, epochs: int, seed: int) -> None:
    """Goes through the items `epochs` times; the state on disk says where it stands."""
    work.mkdir(parents=True, exist_ok=True)
    parameters = [part for one in learned.values() for part in (one.down, one.up)]
    optimiser = torch.optim.AdamW(parameters, lr=RATE, weight_decay=0.0)
    file, begin = work / STATE_FILE, 0
    if file.exists():
        state = torch.load(file, weights_only=True, map_location=parameters[0].device)
        with torch.no_grad():
            for part, kept in zip(parameters, state["parameters"], strict=True):
                part.copy_(kept)
        optimiser.load_state_dict(state["optimiser"])
        begin = state["step"]
        say(f"Goes on at step {begin}.")
    batches = [batch for epoch in range(epochs) for batch in batches_of(items, f"{seed} {epoch}")]
    started, losses = time.monotonic(), []
    model.train()
    for step in range(begin, len(batches)):
        for group in optimiser.param_groups:
            group["lr"] = RATE * schedule(step, len(batches), WARM_UP)
        losses.append(one_step(model, parameters, batches[step], optimiser))
        if step % 10 == 0:
            left = (len(batches) - step - 1) * (time.monotonic() - started) / (step - begin + 1)
            say(f"step {step} of {len(batches)}, loss {sum(losses[-50:]) / len(losses[-50:]):.4f}, {left / 60:.0f} min left")
        if step % STEPS_BETWEEN_STATES == STEPS_BETWEEN_STATES - 1 or step == len(batches) - 1:
            state = {"parameters": parameters, "optimiser": optimiser.state_dict(), "step": step + 1}
            torch.save(state, file.with_suffix(".part"))
            file.with_suffix(".part").replace(file)


def batches_of(items: Sequence[Item], seed: str) -> list[list[Item]]:
    """The items in an order of their own, so many at a time, those of similar length together: less is padding then."""
    chance = random.Random(seed)
    order = list(items)
    chance.shuffle(order)
    batches = []
    for begin in range(0, len(order), ALIKE_ROWS):
        alike = sorted(order[begin : begin + ALIKE_ROWS], key=lambda item: len(item.ids))
        batches += [alike[at : at + STEP_ROWS] for at in range(0, len(alike), STEP_ROWS)]
    chance.shuffle(batches)
    return batches


def one_step(
    model: Any, parameters: Sequence[torch.nn.Parameter], batch: Sequence[Item], optimiser: torch.optim.Optimizer
) -> float:
    """One step of learning; returns the mean loss of a token."""
    optimiser.zero_grad(set_to_none=True)
    loss = loss_of(model, batch) / sum(len(item.ids) - item.begin for item in batch)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(parameters, GRADIENT_NORM)
    optimiser.step()
    return float(loss.detach())


def loss_of(model: Any, items: Sequence[Item]) -> torch.Tensor:
    """The summed loss of the tokens of the claims; the table of all words is only multiplied with where it counts."""
    device = next(model.parameters()).device
    length = max(len(item.ids) for item in items)
    ids = torch.tensor([[*item.ids, *[0] * (length - len(item.ids))] for item in items], device=device)
    mask = torch.tensor([[1] * len(item.ids) + [0] * (length - len(item.ids)) for item in items], device=device)
    targets = torch.full_like(ids, UNCOUNTED)
    for place, item in enumerate(items):
        targets[place, item.begin - 1 : len(item.ids) - 1] = ids[place, item.begin : len(item.ids)]
    counted = targets != UNCOUNTED
    with torch.autocast(device.type, dtype=torch.bfloat16):
        hidden = model.model(input_ids=ids, attention_mask=mask, use_cache=False).last_hidden_state
        logits = model.lm_head(hidden[counted])
    return cross_entropy(logits.float(), targets[counted], reduction="sum")


def say(line: str) -> None:
    print(time.strftime("%H:%M:%S"), line, flush=True)


if __name__ == "__main__":
    main()
