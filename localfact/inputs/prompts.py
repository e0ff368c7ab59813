"""Reads prompts to be answered: LongFact's, FActScore's, VeriScore's, FaStfact's and lfqa's files unchanged, and plain text.

A row that cannot be used becomes a Prompt with a `problem`, which is carried along and counted, and stops no other.

    LongFact     {"prompt": "..."}                FActScore   {"input": "..."} or only {"topic": "a person"}
    VeriScore    {"question": "...", "prompt_source": "..."}
    FaStfact     {"question_id": "...", "question": "...", "prompt_source": "..."}, or "raw_question" alone
    lfqa         {"q_id": "...", "question_text": "..."}
    *.txt        one prompt a line; or one person a line, as in FActScore's lists of entities
"""

import html
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from localfact.errors import InputError
from localfact.inputs.answers import PROMPT_KEYS
from localfact.inputs.claims import optional_text
from localfact.inputs.json_rows import Row, RowError, find_unused_name, first
from localfact.inputs.responses import SOURCE_KEYS, name_of
from localfact.inputs.row_files import read_rows
from localfact.inputs.text_files import read_text
from localfact.records import Record
from localfact.text import readable

#: What a file of prompts holds, for messages.
PROMPTS = (
    "prompts, one JSON object a line, each with a 'prompt', a 'question' or a 'topic'; or, in a .txt file, one prompt a line"
)

HTML_KEY = "question_text"
TEXT_KEYS = (*PROMPT_KEYS, HTML_KEY, "raw_question")
ID_KEYS = ("id", "question_id", "q_id")
PLAIN_SUFFIX = ".txt"

#: FActScore's prompt about a person; its scores can only be compared between answers to exactly this prompt.
BIOGRAPHY = "Question: Tell me a bio of {topic}."

_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)


class Prompt(Record):
    """One prompt to be answered.

    Attributes:
        id: unique in its file; made from the line number where the file gives none.
        text: what the model is asked; "" only with a problem.
        topic: what the answer will be about (a person's name, for example); None when unknown.
        source: the set that it comes from.
        canary: a benchmark's mark for texts that must not enter training data; copied to the response.
        problem: why the row cannot be used, or None.
    """

    id: str
    text: str
    topic: str | None = None
    source: str | None = None
    canary: str | None = None
    problem: str | None = None


class PromptFile(NamedTuple):
    """The prompts of a file in order, each once, and how many rows only repeated an earlier id and text."""

    prompts: list[Prompt]
    repeated: int


def read_prompts(path: Path, *, entities: bool = False, limit: int | None = None) -> PromptFile:
    """Reads all prompts of a file.

    Args:
        path: JSON lines, a JSON list, a JSON object, or plain text with the suffix .txt; UTF-8.
        entities: the lines of a plain text name persons; each becomes the prompt for a biography.
        limit: reads only the first so many prompts.

    Raises:
        InputError: the file is missing, unreadable, empty, or not what it should hold.
    """
    plain = path.suffix.lower() == PLAIN_SUFFIX
    if entities and not plain:
        raise InputError(f"Entities are read from a {PLAIN_SUFFIX} file, one a line; {path} has prompts of its own.")
    rows = lines_as_rows(path, "topic" if entities else "prompt") if plain else read_rows(path, PROMPTS)
    prompts: dict[str, Prompt] = {}
    seen: set[tuple[str, str]] = set()
    repeated = 0
    for number, row in enumerate(rows, start=1):
        prompt = prompt_of(row, number)
        if (prompt.id, prompt.text) in seen and prompt.problem is None:
            repeated += 1
            continue
        if limit is not None and len(prompts) >= limit:
            break
        seen.add((prompt.id, prompt.text))
        name = find_unused_name(prompt.id, prompts)
        prompts[name] = prompt.model_copy(update={"id": name})
    return PromptFile(list(prompts.values()), repeated)


def lines_as_rows(path: Path, key: str) -> Iterator[Row]:
    """The lines of a plain text that are not blank, each as a row with that one key.

    Raises:
        InputError: the file is missing, unreadable or empty.
    """
    return ({key: line.strip()} for line in read_text(path, PROMPTS).split("\n") if line.strip())


def prompt_of(row: Row | RowError, number: int) -> Prompt:
    """The prompt of one row; `number` counts rows from 1 and makes the id of a row without one."""
    if isinstance(row, RowError):
        return Prompt(id=f"row-{number}", text="", problem=readable(str(row)))
    canary = optional_text(row.get("canary"))
    # LongFact's subject ("20th-century-events") is a field of study, to which "it" or "she" cannot refer.
    topic = None if canary else optional_text(row.get("topic"))
    given = first(row, ID_KEYS)
    prompt = Prompt(
        id=name_of(given, number),
        text="",
        topic=topic,
        source=optional_text(first(row, SOURCE_KEYS)),
        canary=canary,
    )
    text = read_prompt_text(row, topic)
    if text is None:
        keys = ", ".join(f"'{key}'" for key in (*TEXT_KEYS, "topic"))
        return prompt.model_copy(update={"problem": f"The row has no prompt: one of {keys} must hold a text."})
    return prompt.model_copy(update={"text": text})


def read_prompt_text(row: Row, topic: str | None) -> str | None:
    """The text of the prompt; None where the row has none."""
    key = next((key for key in TEXT_KEYS if row.get(key) is not None), None)
    if key is None:
        return BIOGRAPHY.format(topic=topic) if topic else None
    text = optional_text(row[key])
    return optional_text(html.unescape(_BREAK.sub("\n", text))) if text and key == HTML_KEY else text
