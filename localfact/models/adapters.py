"""LoRA adapters (Hu et al. 2021): low-rank updates to the weights of a language model, small enough to come with localfact.

The file holds for each changed matrix `NAME.down` (rank, columns) and `NAME.up` (rows, rank), NAME being the module's in the
model; their product is added to its weight once, when the model is loaded.
"""

from pathlib import Path
from typing import Any

from localfact.errors import InputError

ADAPTER_FILE = "adapter.safetensors"
DOWN, UP = ".down", ".up"


def add_adapter(model: Any, folder: Path) -> None:
    """Adds the adapter in a folder to the weights of a model.

    Raises:
        InputError: the folder has no adapter, or one of another model.
    """
    import torch
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        found = load_file(folder / ADAPTER_FILE)
    except (OSError, SafetensorError) as error:
        raise InputError(f"{folder / ADAPTER_FILE} cannot be read: {' '.join(str(error).split())}") from error
    modules = dict(model.named_modules())
    with torch.no_grad():
        for name in sorted({key.removesuffix(DOWN).removesuffix(UP) for key in found}):
            down, up = found.get(name + DOWN), found.get(name + UP)
            weight = getattr(modules.get(name), "weight", None)
            if down is None or up is None or weight is None or not fit(up, down, weight):
                raise InputError(f"{folder / ADAPTER_FILE} is no difference to this model: {name} does not fit.")
            weight += (up.float() @ down.float()).to(weight.dtype)


def fit(up: Any, down: Any, weight: Any) -> bool:
    """Whether two matrices can be multiplied and have the shape of the weight."""
    alike = up.ndim == down.ndim == 2 and up.shape[1] == down.shape[0]
    return alike and (up.shape[0], down.shape[1]) == tuple(weight.shape)
