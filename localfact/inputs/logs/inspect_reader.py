"""Reads inspect_ai's logs by inspect_ai itself, where it is installed: it knows how its older versions wrote them."""

import importlib
import importlib.util
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

#: What is taken of a sample; its events and its store are long.
FIELDS = {"id", "epoch", "input", "output", "error", "limit", "metadata"}
#: References to texts are replaced by these, but for those in the events.
WHOLE: Mapping[str, Any] = {"resolve_attachments": "core"}
_NAME = "inspect_ai"

Note = Callable[[str], None]
Said = TypeVar("Said")


def read_sample(path: Path, name: str, epoch: int, note: Note) -> dict[str, Any] | None:
    """A sample of a `.eval` log, as its JSON would be; None where inspect_ai is not there, or could not, which is noted."""

    def read(log: Any) -> dict[str, Any]:
        long = {"events", "store", "timelines"}
        return _plain(log.read_eval_log_sample(str(path), name, epoch, format="eval", exclude_fields=long, **WHOLE))

    return _try(path, note, read)


def read_log(path: Path, note: Note) -> list[dict[str, Any]] | None:
    """All samples of a `.json` log; None as of `read_sample`."""

    def read(log: Any) -> list[dict[str, Any]]:
        whole = log.read_eval_log(str(path), format="json", **WHOLE)
        return [_plain(sample) for sample in whole.samples or ()]

    return _try(path, note, read)


def _try(path: Path, note: Note, read: Callable[[Any], Said]) -> Said | None:
    if not is_installed():
        return None
    try:
        return read(importlib.import_module(f"{_NAME}.log"))
    except Exception as error:  # whatever of theirs fails, the documented JSON is there
        note(f"inspect_ai could not read all of {path.name} ({type(error).__name__}); the rest was read as documented.")
        return None


def is_installed() -> bool:
    """Whether inspect_ai is in this environment."""
    return importlib.util.find_spec(_NAME) is not None


def _plain(sample: Any) -> dict[str, Any]:
    said: dict[str, Any] = sample.model_dump(mode="json", include=FIELDS)
    return said
