"""The row of one sample of another tool's log, whatever the tool: what all their readers hand on."""

from collections.abc import Mapping
from typing import Any

from localfact.inputs.json_rows import Row, is_conversation, is_message, parse_json
from localfact.inputs.passages import CONTEXT_KEYS, PASSAGE_KEYS

#: What is taken of a sample's own data beside prompt and answer: its passages, and what it is about.
TAKEN = (*PASSAGE_KEYS, *CONTEXT_KEYS)


def sample_row(
    name: object,
    *,
    task: object = None,
    epoch: object = None,
    prompt: object = None,
    model: object = None,
    data: object = None,
    place: str = "",
    **said: Any,
) -> Row:
    """The row of a sample.

    Args:
        name: the sample's id in its log.
        epoch: which answer to the same sample it is, from 1. An answer after the first has it in its id.
        prompt: a text, messages of which the user's last counts, or messages as JSON.
        data: the sample's own fields, of which TAKEN and a `topic` are.
        place: what tells apart answers to one sample besides the epoch; part of the id.
        said: `response`, or `error_message`, as rows have them.
    """
    counted = read_epoch(epoch)
    sample = {"id": str(name), "task": _text(task), "epoch": counted}
    row = {
        "id": f"{name}{place}" + (f"/epoch-{counted}" if counted is not None and counted > 1 else ""),
        **prompt_fields(prompt),
        "model": _text(model),
        "source": _text(task),
        "sample": {field: value for field, value in sample.items() if value is not None},
        **_take_data(data),
        **said,
    }
    return {field: value for field, value in row.items() if value is not None}


def read_epoch(value: object) -> int | None:
    """Which answer to a sample it is, from 1; None where that is no such number."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def prompt_fields(prompt: object) -> dict[str, Any]:
    """A prompt as a field of a row: a text as such, a conversation under a name by which its last question is found."""
    if isinstance(prompt, list) and len(prompt) == 1 and isinstance(prompt[0], str):
        prompt = prompt[0]
    if isinstance(prompt, str) and prompt.lstrip().startswith(("[", "{")):
        parsed = parse_json(prompt)
        parsed = parsed.get("messages") if isinstance(parsed, dict) else parsed
        prompt = parsed if is_conversation(parsed) else prompt
    if isinstance(prompt, Mapping) and is_message(prompt):
        prompt = [prompt]
    if isinstance(prompt, list) and is_conversation(prompt):
        return {"request": {"messages": prompt}}
    return {"prompt": prompt} if isinstance(prompt, str) else {}


def _take_data(data: object) -> dict[str, Any]:
    if not isinstance(data, Mapping):
        return {}
    found = {name: data[name] for name in TAKEN if _are_passages(data.get(name))}
    return found | ({"topic": data["topic"]} if isinstance(data.get("topic"), str) else {})


def _are_passages(value: object) -> bool:
    if isinstance(value, str):
        return bool(value.strip())
    return isinstance(value, list) and all(isinstance(one, str | Mapping | list) for one in value)


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value.strip() else None
