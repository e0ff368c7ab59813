"""Teaches a cross-encoder labelled pairs, in stages; what was learned is kept on disk, so an interrupted run goes on.

The same pairs, settings and machine give the same weights; interrupted or not, the order of the pairs is the same.
"""

import math
import random
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

import torch
from scipy.optimize import minimize_scalar
from torch.nn.functional import cross_entropy, log_softmax

from scripts.training.relation_model.examples import digest

#: Steps between two states on disk: what an interruption loses.
STEPS_BETWEEN_STATES = 100
STATE_FILE = "state.pt"
#: Padded tokens that go through the model together: on a CPU so many that their activations fit the cache of a core.
MICRO_BATCH_TOKENS = {"cpu": 2_048, "cuda": 65_536}
#: In one micro-batch no pair is shorter than this share of the longest: the rest would be padding.
SHORTEST_SHARE = 0.75
#: Lengths and rows are padded to multiples: a shape that the library of kernels has not seen costs it more than the padding.
LENGTH_STEP, ROW_STEP = 8, 4
GRADIENT_NORM = 1.0
#: A set with fewer pairs in the development part says nothing that could be relied on.
FEWEST_WATCHED = 30
#: Confidence is mended at the end, so what training is watched by does not count it: the loss at the best of these.
TEMPERATURES = [0.7 * 1.1**power for power in range(14)]
WEIGHT_DECAY = 0.01


class Item(NamedTuple):
    """A pair as the model reads it: its tokens, which of the two texts each is of, the label's number."""

    ids: tuple[int, ...]
    types: tuple[int, ...]
    label: int


class Stage(NamedTuple):
    """Pairs that are learned together, and how.

    Attributes:
        epochs: the items of each epoch. rows: items of one step. rate: the highest learning rate, reached after `warm_up` of
            the steps and then falling to a tenth in half a cosine.
        agreement: how much counts, beside the labels, that two readings of an item under different dropout agree (R-Drop; Liang
            et al. 2021, equation 4); 0 to read each once, which takes half the time.
        average: weight that the running average of the weights, which is what a stage ends with, keeps at each step.
        keep_best: whether it ends with the average of the epoch that did best on the development part, or of the last one.
            The epochs of the stages just before, as far as they keep their best, too, are compared with: a stage that only made
            the model worse leaves it as it was.
    """

    name: str
    epochs: Sequence[Sequence[Item]]
    rate: float
    rows: int = 48
    agreement: float = 0.0
    warm_up: float = 0.06
    average: float = 0.995
    keep_best: bool = True


class Measured(NamedTuple):
    """Of a part: mean log loss, accuracy, and both per set."""

    loss: float
    accuracy: float
    sets: Mapping[str, tuple[float, float]]


class Trainer:
    """Takes a model through stages. `folder` holds its state; a run over the same stages goes on where that one was."""

    def __init__(
        self, model: Any, development: Mapping[str, Sequence[Item]], folder: Path, *, seed: int, say: Callable[[str], None]
    ) -> None:
        """Takes a sequence-classification model, on the device where it is trained, and the items that decide, set by set.

        They say which weights of a stage are kept. A set of few items decides nothing.
        """
        self.model = model
        self._device = next(model.parameters()).device
        self._development = {name: items for name, items in development.items() if len(items) >= FEWEST_WATCHED}
        self._folder = folder
        self._seed = seed
        self._say = say
        model.get_input_embeddings().weight.requires_grad_(False)  # a word seldom seen here keeps what it meant before
        self._parameters = [each for each in model.parameters() if each.requires_grad]
        self._average: list[torch.Tensor] = []
        self._best: tuple[float, dict[str, torch.Tensor]] | None = None

    def train(self, stages: Sequence[Stage]) -> None:
        """Leaves the model with the weights that did best on the development part, as the stages keep them."""
        at = self._resumed(stages)
        for number in range(at["stage"], len(stages)):
            self._train_stage(stages, number, at if number == at["stage"] else {"epoch": 0, "step": 0, "optimiser": None})

    def measure(self, sets: Mapping[str, Sequence[Item]]) -> Measured:
        """How the model as it is does on items."""
        found = {name: self._loss_and_accuracy(items) for name, items in sets.items() if items}
        losses, accuracies = zip(*found.values(), strict=True)
        return Measured(sum(losses) / len(losses), sum(accuracies) / len(accuracies), found)

    def _train_stage(self, stages: Sequence[Stage], number: int, at: Mapping[str, Any]) -> None:
        stage = stages[number]
        firsts = list(accumulate((math.ceil(len(items) / stage.rows) for items in stage.epochs), initial=0))
        total = firsts[-1]
        optimiser = torch.optim.AdamW(self._groups(), lr=stage.rate, weight_decay=WEIGHT_DECAY)
        if at["optimiser"]:
            optimiser.load_state_dict(at["optimiser"])
        else:
            self._average = [each.detach().clone() for each in self._parameters]
            if not (stage.keep_best and number and stages[number - 1].keep_best):
                self._best = None
        began, done = time.monotonic(), 0
        for epoch in range(at["epoch"], len(stage.epochs)):
            batches = list(self._batches(stage, epoch))
            losses: list[float] = []
            for step in range(at["step"] if epoch == at["epoch"] else 0, len(batches)):
                place = firsts[epoch] + step
                for group in optimiser.param_groups:
                    group["lr"] = stage.rate * schedule(place, total, stage.warm_up)
                torch.manual_seed(int(digest(f"{self._seed} {number} {place}"), 16) % 2**63)
                losses.append(self._step(batches[step], optimiser, stage.agreement))
                self._keep_average(min(stage.average, (1 + place) / (10 + place)))
                done += 1
                if place % 50 == 0:
                    left = (total - place - 1) * (time.monotonic() - began) / done
                    mean = sum(losses[-50:]) / len(losses[-50:])
                    self._say(f"{stage.name} epoch {epoch + 1} step {step} loss {mean:.4f}, {left / 60:.0f} min left")
                if place % STEPS_BETWEEN_STATES == STEPS_BETWEEN_STATES - 1:
                    self._write(number, epoch, step + 1, optimiser)
            self._look(stage, epoch)
            self._write(number, epoch + 1, 0, optimiser)
        if self._best:
            self.model.load_state_dict(self._best[1], strict=False)
        self._write(number + 1, 0, 0, None)

    def _groups(self) -> list[dict[str, Any]]:
        plain = [each for each in self._parameters if each.ndim < 2]
        return [{"params": [each for each in self._parameters if each.ndim >= 2]}, {"params": plain, "weight_decay": 0.0}]

    def _batches(self, stage: Stage, epoch: int) -> Iterator[list[Item]]:
        items = stage.epochs[epoch]
        order = list(range(len(items)))
        random.Random(f"{self._seed} {stage.name} {epoch}").shuffle(order)
        for begin in range(0, len(order), stage.rows):
            yield [items[place] for place in order[begin : begin + stage.rows]]

    def _step(self, batch: Sequence[Item], optimiser: torch.optim.Optimizer, agreement: float) -> float:
        self.model.train()
        optimiser.zero_grad(set_to_none=True)
        loss = 0.0
        for micro in micro_batches(batch, MICRO_BATCH_TOKENS[self._device.type]):
            labels = torch.tensor([item.label for item in micro], device=self._device)
            with torch.autocast(self._device.type, dtype=torch.bfloat16):
                logits = self._logits([*micro, *micro] if agreement else micro).float()
            if agreement:
                first, second = logits[: len(micro)], logits[len(micro) :]
                apart = agreement * disagreement(first, second)
                part = (
                    cross_entropy(first, labels, reduction="sum") + cross_entropy(second, labels, reduction="sum")
                ) / 2 + apart
            else:
                part = cross_entropy(logits, labels, reduction="sum")
            part = part / len(batch)
            part.backward()
            loss += float(part.detach())
        torch.nn.utils.clip_grad_norm_(self._parameters, GRADIENT_NORM)
        optimiser.step()
        return loss

    def _logits(self, items: Sequence[Item]) -> torch.Tensor:
        length = -(-max(len(item.ids) for item in items) // LENGTH_STEP) * LENGTH_STEP
        rows = len(items)
        items = [*items, *[items[-1]] * (-rows % ROW_STEP)]
        missing = [length - len(item.ids) for item in items]
        fields = {
            "input_ids": [[*item.ids, *[0] * pad] for item, pad in zip(items, missing, strict=True)],
            "token_type_ids": [[*item.types, *[0] * pad] for item, pad in zip(items, missing, strict=True)],
            "attention_mask": [[1] * len(item.ids) + [0] * pad for item, pad in zip(items, missing, strict=True)],
        }
        tensors = {name: torch.tensor(rows, device=self._device) for name, rows in fields.items()}
        logits: torch.Tensor = self.model(**tensors).logits
        return logits[:rows]

    def logits(self, items: Sequence[Item]) -> torch.Tensor:
        """(items, labels): what the model says, in the items' order."""
        self.model.eval()
        order = {id(item): place for place, item in enumerate(items)}
        found = torch.zeros(len(items), self.model.config.num_labels)
        with torch.inference_mode(), torch.autocast(self._device.type, dtype=torch.bfloat16):
            for micro in micro_batches(items, MICRO_BATCH_TOKENS[self._device.type]):
                found[[order[id(item)] for item in micro]] = self._logits(micro).float().cpu()
        return found

    def outputs(self) -> list[tuple[torch.Tensor, torch.Tensor]]:
        """What the model says of the development part, and the labels, set by set."""
        sets = self._development.values()
        return [(self.logits(items), torch.tensor([item.label for item in items])) for items in sets]

    def _loss_and_accuracy(self, items: Sequence[Item]) -> tuple[float, float]:
        logits = self.logits(items)
        labels = torch.tensor([item.label for item in items])
        loss = min(float(cross_entropy(logits / temperature, labels)) for temperature in TEMPERATURES)
        return loss, float((logits.argmax(1) == labels).float().mean())

    def _keep_average(self, keep: float) -> None:
        torch._foreach_mul_(self._average, keep)
        torch._foreach_add_(self._average, [each.detach() for each in self._parameters], alpha=1 - keep)

    def _look(self, stage: Stage, epoch: int) -> None:
        """Measures the running average on the development part and keeps it where it is the best of the stage so far."""
        learned = [each.detach().clone() for each in self._parameters]
        self._put(self._average)
        measured = self.measure(self._development)
        if self._best is None or not stage.keep_best or measured.loss < self._best[0]:
            names = {name for name, each in self.model.named_parameters() if each.requires_grad}
            state = self.model.state_dict()
            self._best = (measured.loss, {name: state[name].clone() for name in sorted(names)})
        self._put(learned)
        each = ", ".join(f"{name} {loss:.3f}/{accuracy:.3f}" for name, (loss, accuracy) in measured.sets.items())
        self._say(f"{stage.name} epoch {epoch + 1}: loss {measured.loss:.4f}, accuracy {measured.accuracy:.4f} ({each})")

    def _put(self, values: Sequence[torch.Tensor]) -> None:
        with torch.no_grad():
            for each, value in zip(self._parameters, values, strict=True):
                each.copy_(value)

    def _write(self, stage: int, epoch: int, step: int, optimiser: torch.optim.Optimizer | None) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        state = {
            "stage": stage,
            "epoch": epoch,
            "step": step,
            "model": self.model.state_dict(),
            "optimiser": optimiser.state_dict() if optimiser else None,
            "average": self._average,
            "best": self._best,
        }
        torch.save(state, self._folder / (STATE_FILE + ".part"))
        (self._folder / (STATE_FILE + ".part")).replace(self._folder / STATE_FILE)

    def _resumed(self, stages: Sequence[Stage]) -> dict[str, Any]:
        file = self._folder / STATE_FILE
        if not file.exists():
            return {"stage": 0, "epoch": 0, "step": 0, "optimiser": None}
        state: dict[str, Any] = torch.load(file, weights_only=True, map_location=self._device)
        self.model.load_state_dict(state["model"])
        self._average, self._best = state["average"], state["best"]
        name = stages[state["stage"]].name if state["stage"] < len(stages) else "the end"
        self._say(f"Goes on at {name}, epoch {state['epoch'] + 1}, step {state['step']}.")
        return state


def micro_batches(items: Sequence[Item], tokens: int) -> Iterator[list[Item]]:
    """Items of similar length together, at most so many tokens with their padding, the longest first."""
    ordered = sorted(items, key=lambda item: -len(item.ids))
    while ordered:
        longest = len(ordered[0].ids)
        size = max(1, tokens // longest // ROW_STEP * ROW_STEP)
        alike = sum(len(item.ids) >= SHORTEST_SHARE * longest for item in ordered[:size])
        yield ordered[:alike]
        ordered = ordered[alike:]


def best_temperature(outputs: Sequence[tuple[torch.Tensor, torch.Tensor]]) -> float:
    """What outputs are divided by for the least mean log loss, in which every set counts alike (temperature scaling)."""

    def loss(logarithm: float) -> float:
        losses = [float(cross_entropy(logits / math.exp(logarithm), labels)) for logits, labels in outputs]
        return sum(losses) / len(losses)

    return math.exp(minimize_scalar(loss, bounds=(math.log(0.2), math.log(10)), method="bounded").x)


def disagreement(first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
    """The sum over rows of the mean of the two Kullback-Leibler divergences of what logits (rows, labels) say."""
    one, other = log_softmax(first, dim=-1), log_softmax(second, dim=-1)
    return ((one.exp() - other.exp()) * (one - other)).sum() / 2


def schedule(step: int, total: int, warm_up: float) -> float:
    """The share of the highest learning rate at a step: rising in a line, then falling to a tenth in half a cosine."""
    rising = max(1, round(total * warm_up))
    if step < rising:
        return (step + 1) / rising
    return 0.1 + 0.45 * (1 + math.cos(math.pi * (step - rising) / max(1, total - rising)))


def by_set(items: Sequence[Item], names: Sequence[str]) -> dict[str, list[Item]]:
    """The items of each set."""
    found: dict[str, list[Item]] = defaultdict(list)
    for item, name in zip(items, names, strict=True):
        found[name].append(item)
    return dict(found)
