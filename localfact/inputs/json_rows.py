"""What a row of a file is, and rows of JSON lines. An unusable row stops no other (`row_files.py` reads whole files)."""

import itertools
import json
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any

Row = Mapping[str, Any]

#: What json.loads raises: ValueError for no JSON and for numbers of thousands of digits, RecursionError for endless nesting.
UNPARSABLE = (ValueError, RecursionError)
#: Names of fields by which a table or a list inside an object is known for rows: of texts, and of what is no text.
_ANSWERS = frozenset({"response", "output", "generation", "answer", "completion", "actual_output"})
_TEXTS = _ANSWERS | {"prompt", "question", "input", "query", "topic"}
_OTHERS = frozenset({"user_input", "messages", "conversation", "conversations", "error_message", "claims", "atoms"})
NAMES = _TEXTS | _OTHERS | {"custom_id", "premise", "hypothesis"}
#: Names of fields whose cells are texts, even where one looks like a list.
TEXT_NAMES = _TEXTS | {"id", "model", "source"}
_LISTS = frozenset({"passages", "contexts", "retrieved_contexts", "reference_contexts", "annotation", "annotations"})
#: Names that are found however they are written.
KNOWN_NAMES = NAMES | TEXT_NAMES | _LISTS
#: Keys of one message or of a model's answer: what holds them is no table.
MESSAGE_KEYS = frozenset({"role", "from", "content", "parts", "message", "choices", "candidates", "body", "status_code"})


#: The most characters of another's error that are shown.
SHOWN = 300


class RowError(Exception):
    """Why one row cannot be used."""


def plain_name(name: str) -> str:
    """The name of a field as ours are written: "User Input" is user_input."""
    return "_".join(name.replace("\ufeff", "").casefold().split())


def as_row(value: object, what: str = "row") -> Row | RowError:
    """A row of a value of JSON, its names as ours are written; a list of messages is a row that has them."""
    if isinstance(value, UnparsedJsonError):
        return RowError(f"The {what} is not JSON: {value}.")
    if isinstance(value, RowError):
        return value
    if is_conversation(value):
        return {"messages": value}
    if not isinstance(value, dict):
        return RowError(f"The {what} is not a JSON object.")
    plain_names: dict[str, str] = {name: plain_name(name) for name in value if name not in KNOWN_NAMES}
    renamed: dict[str, str] = {
        name: plain for name, plain in plain_names.items() if plain in KNOWN_NAMES and plain not in value
    }
    return {renamed.get(name) or name: cell for name, cell in value.items()} if renamed else value


class UnparsedJsonError(RowError):
    """Why a text is not JSON."""


def parse_json(text: str) -> Any:
    """The value of a text of JSON; an UnparsedJsonError where it is none."""
    try:
        return json.loads(text)
    except UNPARSABLE as error:
        return UnparsedJsonError(str(error))


def parse_line(line: str) -> Row | RowError:
    """Parses one line of JSON lines."""
    return as_row(parse_json(line), "line")


def is_conversation(value: object) -> bool:
    """Whether a value is a list of messages."""
    return isinstance(value, list) and bool(value) and all(isinstance(one, dict) and is_message(one) for one in value)


def is_message(value: Mapping[str, Any]) -> bool:
    """Whether an object is a message of a conversation, as OpenAI, Gemini, LangChain or ShareGPT have them."""
    says_who = "role" in value or value.get("type") in ("human", "ai")
    says = not value.keys().isdisjoint(("content", "parts", "tool_calls", "data"))
    return (says_who and says) or value.keys() >= {"from", "value"}


def first(row: Row, keys: Sequence[str]) -> Any:
    """The value of the first of `keys` that the row has with a value other than null."""
    return next((row[key] for key in keys if row.get(key) is not None), None)


def find_unused_name(name: str, used: Container[str]) -> str:
    """The name, or the first of "name#2", "name#3", ... that is not used yet."""
    repetitions = (f"{name}#{count}" for count in itertools.count(2))
    return next(one for one in itertools.chain([name], repetitions) if one not in used)


def shown_error(error: object) -> str:
    """What another said went wrong, on one line of at most SHOWN characters, to stand within a sentence; "" for nothing."""
    return " ".join(str(error or "").split())[:SHOWN].rstrip(". ")


def names_of(row: Iterable[str], most: int = 12) -> str:
    """The names of a row's fields, for messages."""
    names = [name[:40] for name in row]
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
