"""Reads what `localfact calibrate` wrote: one record of JSON a file."""

import json
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from localfact.errors import InputError

Fitted = TypeVar("Fitted", bound=BaseModel)


def read_fitted(kind: type[Fitted], file: Path, what: str, cure: str) -> Fitted:
    """The record in a file.

    Args:
        what: what the file should be, as an error says it: "map of priors".
        cure: a sentence: how one is made.

    Raises:
        InputError: the file cannot be read, or is no such record.
    """
    try:
        return kind.model_validate(json.loads(file.read_text(encoding="utf-8")))
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror}. {cure}") from None
    except (ValueError, RecursionError) as error:
        why = error.errors()[0]["msg"] if isinstance(error, ValidationError) else error
        raise InputError(f"{file} is no {what} ({why}). {cure}") from None
