"""Low-rank differences to the matrices of a language model that learn in their place (LoRA; Hu et al. 2021)."""

import math
from pathlib import Path
from typing import Any

import torch

from localfact.models.adapters import ADAPTER_FILE, DOWN, UP

RANK = 32
#: The matrices that get one: all of a layer.
MATRICES = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")


class LowRank(torch.nn.Module):
    """A linear layer whose own weights stay as they are, and the difference to them: `up` @ `down`, zero at the beginning."""

    def __init__(self, inner: torch.nn.Linear, rank: int) -> None:
        super().__init__()
        self.inner = inner
        self.down = torch.nn.Parameter(torch.randn(rank, inner.in_features) / math.sqrt(inner.in_features))
        self.up = torch.nn.Parameter(torch.zeros(inner.out_features, rank))

    def forward(self, given: torch.Tensor) -> torch.Tensor:
        """(..., columns) to (..., rows)."""
        learned: torch.Tensor = self.inner(given) + (given @ self.down.T) @ self.up.T
        return learned


def with_low_rank(model: Any, rank: int = RANK) -> dict[str, LowRank]:
    """Freezes the model and puts a difference on each of its matrices; returns them by the matrix's name."""
    model.requires_grad_(False)
    found = {}
    for name, module in list(model.named_modules()):
        place, _, last = name.rpartition(".")
        if last in MATRICES:
            found[name] = LowRank(module, rank)
            setattr(model.get_submodule(place), last, found[name])
    return found


def save(learned: dict[str, LowRank], folder: Path) -> None:
    """Writes the differences as `models.adapters` reads them, in 16 bits."""
    from safetensors.torch import save_file

    folder.mkdir(parents=True, exist_ok=True)
    parts = {name + DOWN: one.down for name, one in learned.items()} | {name + UP: one.up for name, one in learned.items()}
    save_file({name: part.detach().to(torch.bfloat16).contiguous() for name, part in parts.items()}, folder / ADAPTER_FILE)
