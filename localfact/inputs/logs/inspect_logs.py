"""Reads the logs of inspect_ai, `.eval` and `.json`, as rows: by inspect_ai itself where it is installed, else as documented.

The answer is the sample's output, as inspect_ai's own scorers read it; a sample that an error stopped is a bad row.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from localfact.errors import InputError
from localfact.inputs.json_rows import Row, RowError, first, shown_error
from localfact.inputs.logs.eval_archive import EvalArchive, MemberError
from localfact.inputs.logs.inspect_reader import read_log, read_sample
from localfact.inputs.logs.samples import sample_row

#: Where a `.eval` log has what it says of the whole: once it is finished, and before.
HEADS = ("header.json", "_journal/start.json")
#: A sample's member: whole, or the shell of one whose long parts stand in members of their own.
_MEMBER = re.compile(r"samples/(?P<id>.+)_epoch_(?P<epoch>\d+)(?:\.json|/sample\.json)")
#: How inspect_ai writes that a text stands elsewhere, today and formerly.
_REFERENCE = re.compile(r"(?:attachment|tc)://(.+)", re.DOTALL)
#: Reasons to stop that cut an answer off, under the name by which others are read.
CUT_SHORT = frozenset({"max_tokens", "model_length", "length"})
DEEPEST = 20

Note = Callable[[str], None]


class LogHead(NamedTuple):
    """What a log says of all its samples. `places`: a sample's id -> its place in the data set."""

    task: object
    model: object
    places: Mapping[str, int]


def is_eval_archive(path: Path) -> bool:
    """Whether a zip is a log of inspect_ai's."""
    try:
        names = EvalArchive(path).names
    except MemberError:
        return path.suffix.lower() == ".eval"
    return any(name in HEADS for name in names) or any(map(_MEMBER.fullmatch, names))


def is_inspect_log(document: Mapping[str, Any]) -> bool:
    """Whether a document of JSON is a log of inspect_ai's."""
    spec = document.get("eval")
    return isinstance(spec, Mapping) and "task" in spec and ("samples" in document or {"status", "plan"} <= document.keys())


def archive_rows(path: Path, note: Note) -> Iterator[Row | RowError]:
    """The samples of a `.eval` log in the order of their data set, each epoch of a sample after the one before.

    Raises:
        InputError: the log has no sample at all, or is no archive.
    """
    try:
        archive = EvalArchive(path)
        members = {name: found for name in archive.names if (found := _MEMBER.fullmatch(name)) is not None}
        head = _head(_document_head(archive), len(members), note)
    except MemberError as error:
        raise InputError(f"{path} cannot be read as a log of inspect_ai: {error}.") from None
    if not members:
        raise InputError(f"{path} is a log of inspect_ai without a sample in it.")

    def place(name: str) -> tuple[int, str, int]:
        found = members[name]
        return head.places.get(found["id"], len(head.places)), found["id"], int(found["epoch"])

    for name in sorted(members, key=place):
        try:
            own = _read_member(archive, name)
        except MemberError as error:
            yield RowError(f"The sample {members[name]['id']} of epoch {members[name]['epoch']} cannot be read: {error}.")
            continue
        read = read_sample(path, members[name]["id"], int(members[name]["epoch"]), note)
        yield _row_of(own if read is None else read, head)


def document_rows(path: Path, document: Mapping[str, Any], note: Note) -> Iterator[Row | RowError]:
    """The samples of a `.json` log, in the same order.

    Raises:
        InputError: the log has no sample.
    """
    own = document.get("samples")
    if not isinstance(own, list) or not own:
        raise InputError(f"{path} is a log of inspect_ai without a sample in it.")
    head = _head(document, len(own), note)
    read = read_log(path, note)
    # What inspect_ai leaves out of a log with bad samples must not be lost.
    samples = read if read is not None and len(read) == len(own) else own

    def place(sample: object) -> tuple[int, int]:
        said = sample if isinstance(sample, Mapping) else {}
        epoch = said.get("epoch")
        return head.places.get(str(said.get("id")), len(head.places)), epoch if isinstance(epoch, int) else 0

    for sample in sorted(samples, key=place):
        resolved = _resolve(sample, _attachments_in(sample))
        yield _row_of(resolved, head)


def _document_head(archive: EvalArchive) -> object:
    """What an archive says of the whole; nothing where it says nothing, or that cannot be read: its samples can be, still."""
    for name in HEADS:
        if name in archive.names:
            try:
                return archive.read_json(name)
            except MemberError:
                continue
    return {}


def _head(document: object, found: int, note: Note) -> LogHead:
    said = document if isinstance(document, Mapping) else {}
    spec = said.get("eval")
    spec = spec if isinstance(spec, Mapping) else {}
    status = said.get("status", "started")
    if spec and status != "success":
        note(f"The log of inspect_ai is of a run with the status {str(status)[:40]!r}: {found:,} samples are in it.")
    if not spec:
        note("The log of inspect_ai says nothing of its task and its model that could be read.")
    data = spec.get("dataset")
    ids = data.get("sample_ids") if isinstance(data, Mapping) else None
    places = {str(name): place for place, name in enumerate(ids)} if isinstance(ids, list) else {}
    model = spec.get("model")
    return LogHead(spec.get("task"), None if model in ("none", "none/none") else model, places)


def _read_member(archive: EvalArchive, name: str) -> object:
    """A sample, with what it refers to in its place."""
    sample = archive.read_json(name)
    if not name.endswith("/sample.json") or not isinstance(sample, dict):
        return _resolve(sample, _attachments_in(sample))
    folder = name.removesuffix("sample.json")
    if f"{folder}metadata.json" in archive.names:
        sample = {**sample, "metadata": archive.read_json(f"{folder}metadata.json")}
    if "attachment://" not in str(_take_needed(sample)):
        return sample
    parts = [one for one in archive.names if one.startswith(f"{folder}attachments/")]
    parts.sort(key=lambda one: int(found[0]) if (found := re.findall(r"(\d+)\.json$", one)) else 0)
    read = (archive.read_json(part) for part in parts)
    texts = [text for part in read if isinstance(part, list) for text in part]
    return _resolve(sample, {str(place): text for place, text in enumerate(texts) if isinstance(text, str)})


def _attachments_in(sample: object) -> Mapping[str, Any]:
    said = sample.get("attachments") if isinstance(sample, Mapping) else None
    return said if isinstance(said, Mapping) else {}


def _take_needed(sample: Mapping[str, Any]) -> dict[str, Any]:
    return {name: sample[name] for name in ("id", "epoch", "input", "output", "error", "limit", "metadata") if name in sample}


def _resolve(sample: object, attachments: Mapping[str, Any]) -> object:
    """What is needed of a sample, its references replaced by their texts."""
    if not isinstance(sample, Mapping):
        return sample
    needed = _take_needed(sample)
    if not attachments:
        return needed

    def resolve(value: Any, depth: int) -> Any:
        if isinstance(value, str) and (found := _REFERENCE.fullmatch(value)):
            text = attachments.get(found[1], value)
            return text if isinstance(text, str) else value
        if depth and isinstance(value, list):
            return [resolve(one, depth - 1) for one in value]
        if depth and isinstance(value, Mapping):
            return {name: resolve(one, depth - 1) for name, one in value.items()}
        return value

    return resolve(needed, DEEPEST)


def _row_of(sample: object, head: LogHead) -> Row | RowError:
    if not isinstance(sample, Mapping) or sample.get("id") is None:
        return RowError("The log's sample is no object with an id.")
    output = sample.get("output")
    output = output if isinstance(output, Mapping) else {}
    row = sample_row(
        sample["id"],
        task=head.task,
        epoch=sample.get("epoch"),
        prompt=sample.get("input"),
        model=head.model or output.get("model"),
        data=sample.get("metadata"),
        response=_answer(output),
    )
    source = sample["metadata"].get("source") if isinstance(sample.get("metadata"), Mapping) else None
    problem = reason_unanswered(sample, output) if sample.get("error") or "response" not in row else None
    more = {"source": source if isinstance(source, str) else None, "error_message": problem}
    return {**row, **{name: value for name, value in more.items() if value is not None}}


def _answer(output: Mapping[str, Any]) -> dict[str, Any] | None:
    """The output in the form of a server's answer; None where it has none."""
    given = output.get("choices")
    choices = [one for one in given if isinstance(one, Mapping)] if isinstance(given, list) else []
    completion = output.get("completion")
    # The field decides, as it does for inspect_ai's scorers; of parts it has the texts alone.
    if isinstance(completion, str) and completion.strip():
        message: Any = {"role": "assistant", "content": completion}
    elif choices:
        message = choices[0].get("message")
    else:
        return None
    reason = first(choices[0], ("stop_reason", "finish_reason")) if choices else None
    answer = {"message": message, "finish_reason": "length" if isinstance(reason, str) and reason in CUT_SHORT else reason}
    return {"choices": [answer, *choices[1:]]}


def reason_unanswered(sample: Mapping[str, Any], output: Mapping[str, Any]) -> str:
    """Why a sample has no answer to judge, by its log or as much of that as is known, and by the output in it."""
    if sample.get("error"):
        return f"The sample ended with an error: {_message(sample['error'])}."
    if output.get("error"):
        return f"The sample has no answer, as the model's side said: {_message(output['error'])}."
    met = sample.get("limit")
    if not isinstance(met, Mapping):
        return "The sample has no answer."
    return f"The sample has no answer: it met its limit, {str(met.get('type'))[:40]} {str(met.get('limit'))[:20]}."


def _message(error: object) -> str:
    said = error.get("message") if isinstance(error, Mapping) else error
    return shown_error(said) or "no reason is given"
