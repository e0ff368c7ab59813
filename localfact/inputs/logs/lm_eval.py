"""Reads lm-evaluation-harness's `samples_TASK_TIME.jsonl` (`--log_samples`) as rows: the answers as the model gave them.

The file has a row a document and a filter, each with all answers of the model: they are read once. A document with several
answers gives a row each, numbered as epochs.
"""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from localfact.inputs.json_rows import Row, RowError
from localfact.inputs.logs.samples import sample_row

#: The name of such a file: its task, and when it was made, which the file of results beside it has in its name, too.
_NAME = re.compile(r"samples_(?P<task>.+)_(?P<time>\d{4}-\d\d-\d\dT[\d.\-]+)\.jsonl?")
#: The most bytes of a file of results that is read for the model's name.
LARGEST_RESULTS = 64 * 2**20
DEEPEST = 5

_FILTERS = "filters of lm-evaluation-harness"


class LmEvalRows:
    """Makes rows of the file's lines, one after the other.

    Args:
        path: of the file, whose name has the task, and beside which its results name the model.
        note: is told under a name what was left out so far.
    """

    def __init__(self, path: Path, note: Callable[[str, str], None]) -> None:
        named = _NAME.fullmatch(path.name)
        self._task = named["task"] if named else None
        self._results = results_beside(path)
        self._note = note
        self._given: Counter[str] = Counter()
        self._by_filter: Counter[tuple[str, str]] = Counter()
        self._repeated = 0
        self._model: str | None = None

    def rows(self, line: Row) -> Iterator[Row | RowError]:
        """The answers of a line; none where a line of another filter gave them."""
        said = [line.get(name) for name in ("doc_id", "doc_hash", "prompt_hash", "resps")]
        key = hashlib.sha256(json.dumps(said, default=str).encode()).hexdigest()
        filtered = (key, str(line.get("filter")))
        self._by_filter[filtered] += 1
        if self._by_filter[filtered] <= self._given[key]:
            self._repeated += 1
            self._note(_FILTERS, f"Rows of further filters, whose answers are read once: {self._repeated:,}.")
            return
        if not self._given and self._results is not None:
            self._model = _model_in(self._results)
        self._given[key] += 1
        yield from self._answers(line)

    def _answers(self, line: Row) -> Iterator[Row | RowError]:
        arguments = _arguments(line.get("arguments"))
        name = line.get("doc_id")
        if name is None:
            yield RowError("The row of lm-evaluation-harness has no doc_id.")
            return
        about: dict[str, Any] = {"task": self._task, "model": self._model, "data": line.get("doc")}
        problem = _without_text(line, arguments)
        answers = [] if problem else list(_texts(line))
        if not answers:
            problem = problem or "The row has no response: 'resps' and 'filtered_resps' of lm-evaluation-harness hold no text."
            yield sample_row(name, prompt=_prompt(arguments, 0), error_message=problem, **about)
        for number, (place, text) in enumerate(answers, start=1):
            epoch = number if len(answers) > 1 else None
            yield sample_row(name, epoch=epoch, prompt=_prompt(arguments, place), response=text, **about)


def is_line(value: object) -> bool:
    """Whether a row is one of lm-evaluation-harness's samples."""
    return (
        isinstance(value, Mapping)
        and "doc" in value
        and "response" not in value
        and not {"resps", "filtered_resps"}.isdisjoint(value)
    )


def results_beside(path: Path) -> Path | None:
    """The file of results that was written with a file of samples; None where it is not beside it."""
    named = _NAME.fullmatch(path.name)
    results = path.with_name(f"results_{named['time']}.json") if named else None
    return results if results is not None and results.is_file() and results.stat().st_size <= LARGEST_RESULTS else None


def _model_in(results: Path) -> str | None:
    try:
        said = json.loads(results.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    name = said.get("model_name") if isinstance(said, Mapping) else None
    return name if isinstance(name, str) and name else None


def _arguments(given: object) -> list[list[Any]]:
    """The arguments of each request: the prompt, then what was asked of the model (`gen_args_0`: `arg_0`, `arg_1`)."""
    each = _in_order(given)
    return [_in_order(one) for one in each] if isinstance(each, list) else []


def _in_order(value: object) -> list[Any]:
    if isinstance(value, Mapping):
        # Columns of a table have every request that any row has.
        return [value[name] for name in sorted(value, key=_number) if value[name] is not None]
    return list(value) if isinstance(value, list | tuple) else [value]


def _number(name: str) -> tuple[int, str]:
    found = re.search(r"\d+$", name)
    return (int(found[0]) if found else 0, name)


def _prompt(arguments: list[list[Any]], place: int) -> object:
    """What one request asked: a text, or a chat as JSON."""
    if not arguments:
        return None
    request = arguments[place] if place < len(arguments) else arguments[0]
    return request[0] if request else None


def _without_text(line: Row, arguments: list[list[Any]]) -> str | None:
    """Why a row has no answer in words: the model only weighed texts that it was given."""
    weighed = any(len(request) > 1 and isinstance(request[1], str) for request in arguments)
    rolling = bool(arguments) and all(len(request) == 1 for request in arguments) and _are_numbers(line.get("resps"))
    if weighed or rolling:
        return "The row has no response: its model gave likelihoods of given texts (lm-evaluation-harness), and wrote none."
    return None


def _are_numbers(value: object) -> bool:
    texts = [text for _, text in _flat(value, 0, DEEPEST)]
    return bool(texts) and all(re.fullmatch(r"-?(?:\d+(?:\.\d+)?(?:e[-+]?\d+)?|inf)|nan", text.strip()) for text in texts)


def _texts(line: Row) -> Iterator[tuple[int, str]]:
    """The place of its request, and each answer: as the model gave it, else as a filter left it."""
    for name in ("resps", "filtered_resps"):
        found = list(_flat(line.get(name), 0, DEEPEST))
        if found:
            yield from found
            return


def _flat(value: object, place: int, depth: int, *, outermost: bool = True) -> Iterator[tuple[int, str]]:
    """The texts in nested lists, each with its place in the outermost."""
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, list) and depth:
        for number, one in enumerate(value):
            yield from _flat(one, number if outermost else place, depth - 1, outermost=False)
