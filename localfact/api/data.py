"""Reads what is to be evaluated: a file of responses, or responses as Python objects."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from localfact.api.arguments import is_there, kind_of
from localfact.errors import InputError
from localfact.inputs.columns import Columns
from localfact.inputs.json_rows import Row, parse_line
from localfact.inputs.json_shapes import unfold
from localfact.inputs.responses import MAX_WORDS, read_response_file, responses_of
from localfact.inputs.row_files import data_digest
from localfact.records import Response
from localfact.text import path_text

#: A file; or responses themselves, each a text or a mapping as in a file (docs/inputs.md), also as a frame of pandas or polars.
Data: TypeAlias = str | Path | Iterable[str | Row]


class ReadData(NamedTuple):
    """Responses, the hash of what they were read from, what that is called, and warnings about it."""

    responses: list[Response]
    sha256: str
    name: str
    warnings: tuple[str, ...] = ()


def read_data(data: Data, *, max_words: int = MAX_WORDS, limit: int | None = None) -> ReadData:
    """Reads all responses; `max_words` and `limit` as in `read_responses`.

    Raises:
        InputError: the file cannot be used, or the list is empty or holds what has no form in JSON.
    """
    columns = Columns()
    if isinstance(data, str | Path):
        path = path_of(data)
        responses, warnings = read_response_file(path, max_words=max_words, limit=limit, watch=columns.watch)
        return ReadData(responses, data_digest(path), path_text(path), (*warnings, *columns.notes()))
    rows = [{"response": row} if isinstance(row, str) else row for row in rows_in(data)]
    if not rows:
        raise InputError("There is no response to evaluate: the list is empty.")
    if not any(isinstance(row, Mapping) for row in rows):
        raise InputError(f"Responses are texts, or mappings with a 'response'; in this list is {kind_of(rows[0])}.")
    try:
        lines = [json.dumps(row, sort_keys=True, default=_plain) for row in rows]
    except (TypeError, ValueError) as error:
        raise InputError(f"Responses are texts, or mappings as in a file of JSON: {error}.") from None
    digest = hashlib.sha256("\n".join(lines).encode()).hexdigest()
    # Parsed again, so that what JSON has no form for (a tuple, a number as a key) reads as it would from a file.
    responses = responses_of(columns.watch(map(parse_line, lines)), max_words=max_words, limit=limit)
    return ReadData(responses, digest, f"{len(rows)} objects", columns.notes())


def path_of(data: str | Path) -> Path:
    """The path of a file or a folder.

    Raises:
        InputError: it is empty, or a text that is to be judged itself.
    """
    if data == "":
        raise InputError("data is an empty text: name a file or a folder, or give a list of texts.")
    if isinstance(data, str) and len(data.split()) > 3 and not is_there(data):
        raise InputError(
            "data is a text, and no file is called so: give a list of texts, evaluate([text]), or localfact.check(text)."
        )
    return Path(data)


def rows_in(data: Any) -> list[Any]:
    """The rows of a frame of pandas or polars, of a mapping in a form that a document of JSON may have, or of a list.

    Raises:
        InputError: it is none of these.
    """
    if hasattr(data, "to_dicts"):
        return list(data.to_dicts())
    if hasattr(data, "iterrows"):
        return list(data.to_dict(orient="records"))
    if not isinstance(data, Iterable):
        raise InputError(f"data takes a file, a folder, a list of texts or of mappings, or a frame, not {kind_of(data)}.")
    return unfold(dict(data), lambda note: None) if isinstance(data, Mapping) else list(data)


def _plain(value: Any) -> Any:
    """An array in a cell as a list."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} has no form in JSON")
