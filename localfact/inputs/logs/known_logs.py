"""Which tool's log a document of JSON, or a row of one, is, and the rows that its reader makes of it."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from localfact.inputs.json_rows import Row, RowError
from localfact.inputs.logs import deepeval, lm_eval, promptfoo
from localfact.inputs.logs.inspect_logs import document_rows, is_inspect_log


def log_rows(path: Path, document: object, note: Callable[[str], None]) -> Iterator[Row | RowError] | None:
    """The rows of a document that is a log of inspect_ai, promptfoo or deepeval as a whole; None for any other.

    Raises:
        InputError: while rows are taken, of a log without a sample.
    """
    if not isinstance(document, Mapping):
        return None
    if is_inspect_log(document):
        return document_rows(path, document, note)
    if promptfoo.is_results(document):
        return promptfoo.document_rows(document, note)
    if deepeval.is_test_run(document):
        return deepeval.document_rows(document, note)
    return None


class LogLines:
    """Makes rows of the values in a file, of which some tool's logs have one a line; any other value is handed on.

    Args:
        notes: gets what a reader must know of the rows taken so far, by any name.
    """

    def __init__(self, path: Path, notes: dict[str, str]) -> None:
        self._lm_eval = lm_eval.LmEvalRows(path, notes.__setitem__)
        self._results = 0

    def rows(self, value: Any) -> Iterator[Any]:
        """The rows of one value."""
        if lm_eval.is_line(value):
            yield from self._lm_eval.rows(value)
        elif promptfoo.is_result(value):
            self._results += 1
            yield promptfoo.result_row(value, self._results - 1)
        else:
            yield value
