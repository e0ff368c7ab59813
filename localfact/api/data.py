"""Reads what is to be evaluated: a file of responses, or responses as Python objects."""

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple, TypeAlias

from localfact.errors import InputError
from localfact.inputs.columns import Columns
from localfact.inputs.json_rows import Row, parse_line, read_rows
from localfact.inputs.responses import MAX_WORDS, RESPONSES, responses_of, warnings_about
from localfact.records import Response
from localfact.runtime.files import file_digest
from localfact.text import path_text

#: A file; or responses themselves, each a text or a mapping in a schema of `inputs/responses.py`.
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
        path = Path(data)
        responses = responses_of(columns.watch(read_rows(path, RESPONSES)), max_words=max_words, limit=limit)
        return ReadData(responses, file_digest(path), path_text(path), (*warnings_about(path), *columns.notes()))
    rows = [{"response": row} if isinstance(row, str) else row for row in data]
    if not rows:
        raise InputError("There is no response to evaluate: the list is empty.")
    try:
        lines = [json.dumps(row, sort_keys=True) for row in rows]
    except (TypeError, ValueError) as error:
        raise InputError(f"Responses are texts, or mappings as in a file of JSON: {error}.") from None
    digest = hashlib.sha256("\n".join(lines).encode()).hexdigest()
    # Parsed again, so that what JSON has no form for (a tuple, a number as a key) reads as it would from a file.
    responses = responses_of(columns.watch(map(parse_line, lines)), max_words=max_words, limit=limit)
    return ReadData(responses, digest, f"{len(rows)} objects", columns.notes())
