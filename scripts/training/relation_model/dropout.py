"""Dropout for training on a CPU, where drawing a mask for each layer would cost a tenth of the time."""

from typing import Any

import torch


class Dropout(torch.nn.Module):
    """Dropout whose masks are cut from one large mask, at a place drawn anew each time: drawing masks costs a CPU a tenth."""

    POOL = 2**22

    def __init__(self, share: float) -> None:
        """Takes the share of values that is dropped."""
        super().__init__()
        keep = torch.rand(self.POOL, generator=torch.Generator().manual_seed(0)) >= share
        self._pool = (keep / (1 - share)).to(torch.bfloat16)

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        """The values, a share of them zero, the others larger in proportion; in evaluation the values."""
        if not self.training:
            return values
        size = values.numel()
        begin = int(torch.randint(self.POOL - size, ()))
        return values * self._pool[begin : begin + size].view_as(values)


def with_fast_dropout(model: Any, share: float) -> None:
    """Puts `Dropout` in place of every torch.nn.Dropout of the model that drops anything."""
    for module in list(model.modules()):
        for name, child in module.named_children():
            if isinstance(child, torch.nn.Dropout) and child.p > 0:
                setattr(module, name, Dropout(share))
