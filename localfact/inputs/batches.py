"""Finds the requests of a batch beside its output, which has the answers alone: the prompts are joined by `custom_id`."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from localfact.inputs.json_rows import Row, parse_json

SUFFIX = ".jsonl"
#: The most files in the folder that are looked into, the most characters of a line, and the most requests that are kept.
MOST_FILES, LONGEST_LINE, MOST_REQUESTS = 100, 4_000_000, 1_000_000
#: What a line of a batch's output has one of, of OpenAI and of Anthropic.
_ANSWERS = ("response", "result", "error")
#: What a request has one of: what would be sent.
_SENT = ("body", "params")


def requests_beside(path: Path) -> list[Path]:
    """The files of requests in the folder of a batch's output; none where it is no such output. Several cannot be told apart.

    A file has them if it begins with a request, and one of its requests has an id of the output's first answers.
    """
    if path.suffix.lower() != SUFFIX or not (ids := _output_ids(path)):
        return []
    try:
        beside = [one for one in sorted(path.parent.iterdir()) if one.suffix.lower() == SUFFIX and one.is_file()]
    except OSError:
        return []
    return [one for one in beside[:MOST_FILES] if one != path and not ids.isdisjoint(_requests(one))]


class Prompts:
    """Puts the requests of a batch beside its answers.

    Args:
        path: of the file of requests.
        note: is told under a name how many answers have their request.
    """

    def __init__(self, path: Path, note: Callable[[str, str], None]) -> None:
        self._requests = {str(line["custom_id"]): _sent(line) for line in _lines(path, MOST_REQUESTS) if _is_request(line)}
        self._name, self._note = path.name, note
        self._joined = self._alone = 0

    def join(self, row: Any) -> Any:
        """The row with its request, where it is an answer of the batch that has one."""
        if not isinstance(row, Mapping) or not _is_answer(row):
            return row
        asked = self._requests.get(str(row["custom_id"]))
        self._joined += asked is not None
        self._alone += asked is None
        alone = f"; {self._alone:,} have none there" if self._alone else ""
        self._note("batch", f"The prompts of {self._joined:,} answers are those of {self._name}, beside them{alone}.")
        return row if asked is None else {**row, "request": asked}


def _sent(line: Row) -> Mapping[str, Any]:
    sent: Mapping[str, Any] = next(line[name] for name in _SENT if isinstance(line.get(name), Mapping))
    return {name: sent[name] for name in ("messages", "input", "prompt") if name in sent}


def _output_ids(path: Path) -> set[str]:
    """The ids of a batch's first answers; none where the file begins with something else."""
    head = list(_lines(path, 20))
    return {str(line["custom_id"]) for line in head} if head and all(map(_is_answer, head)) else set()


def _requests(path: Path) -> set[str]:
    head = list(_lines(path, 1))
    if not head or not _is_request(head[0]):
        return set()
    return {str(line["custom_id"]) for line in _lines(path, MOST_REQUESTS) if _is_request(line)}


def _is_answer(line: Mapping[str, Any]) -> bool:
    return "custom_id" in line and any(name in line for name in _ANSWERS) and not _is_request(line)


def _is_request(line: Mapping[str, Any]) -> bool:
    return "custom_id" in line and any(isinstance(line.get(name), Mapping) for name in _SENT)


def _lines(path: Path, most: int) -> Iterator[Row]:
    """The first objects in a file of JSON lines; none of one that cannot be read."""
    try:
        with path.open(encoding="utf-8-sig", errors="replace") as file:
            for _ in range(most):
                line = file.readline(LONGEST_LINE)
                if not line:
                    return
                said = parse_json(line)
                if isinstance(said, dict):
                    yield said
    except OSError:
        return
