"""Why the folder of a model cannot be loaded. Weights and configuration are data; code beside them is never run."""

import pickle
from pathlib import Path

from localfact.errors import InputError
from localfact.models.files import CODE

#: The longest message of a library that is repeated.
LONGEST = 300


def loading_error(folder: Path, what: str, error: Exception) -> InputError:
    """The error for a folder that some library could not load.

    Args:
        what: the model, as in "the embedder 'minilm'".
        error: of any class; damaged files raise many.
    """
    names_code = any(CODE in file.read_bytes() for file in folder.glob("*config.json") if file.is_file())
    if isinstance(error, pickle.UnpicklingError):
        why = "its weights are pickled with more than numbers in them, which could run code. Give weights in safetensors."
    elif isinstance(error, MemoryError):
        why = "there is not enough memory."
    elif "trust_remote_code" in str(error) or names_code:
        why = "its configuration names code of its own, which localfact does not run. Give a model that transformers knows."
    else:
        why = " ".join(str(error).split())[:LONGEST] or type(error).__name__
    return InputError(f"The folder {folder} could not be loaded as {what}: {why}")
