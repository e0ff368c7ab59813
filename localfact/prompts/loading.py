"""Finds the template and the examples of a task, ours beside this file or a user's own, and fills them in."""

import hashlib
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from localfact.prompts.boundary import NONE_OWN, RULE, Boundary, OwnFiles, describe_enclosing
from localfact.prompts.fields import TASKS, Task
from localfact.runtime.plain_yaml import read_yaml

FOLDER = Path(__file__).parent
#: How the files of a task end: its template, and its examples where it has some.
TEMPLATE, EXAMPLES = ".jinja", ".yaml"
#: Digits of a prompt's hash.
HASH_DIGITS = 12


def render(task: Task, boundary: Boundary, **given: Any) -> str:
    """Fills in the template of a task. Values are text, never templates; a missing field is an error."""
    return write(task, boundary, given, exploring=False)


def write(task: Task, boundary: Boundary, given: Mapping[str, Any], *, exploring: bool) -> str:
    """The text of a task's template with these fields; `exploring` goes every way of it (`language.py`).

    Raises:
        TemplateError: a user's own names a field that there is not, or says what a template may not.
    """
    from localfact.prompts.language import TemplateWriter

    template, examples = _kept(task, TEMPLATE, boundary.own), _kept(task, EXAMPLES, boundary.own)
    shown = {"examples": read_examples(examples) if examples else [], "rule": RULE, **given}
    return TemplateWriter(boundary.enclose, boundary.bare, exploring).write(template or "", shown).strip()


def has_parts(task: Task, boundary: Boundary) -> bool:
    """Whether a task's template has two parts, as ours have: what never changes, then what is asked."""
    from localfact.prompts.language import fields_named

    own = boundary.own.get(f"{task}{TEMPLATE}")
    return own is None or "part" in fields_named(own)


def examples_of(task: Task, own: OwnFiles = NONE_OWN) -> list[Any]:
    """The examples beside a task's template; empty where it has none."""
    source = _kept(task, EXAMPLES, own)
    return list(read_examples(source)) if source else []


def prompt_hashes(*tasks: Task, own: OwnFiles = NONE_OWN) -> dict[str, str]:
    """Task -> the first digits of the SHA-256 of its template, its examples and the boundary's wording.

    For the named tasks, in that order; for all where none is named.
    """
    shown = describe_enclosing()
    return {task: _hash(task, shown, own) for task in tasks or TASKS}


def _hash(task: Task, shown: str, own: OwnFiles) -> str:
    sources = [source for suffix in (TEMPLATE, EXAMPLES) if (source := _source(task, suffix, own)) is not None]
    return hashlib.sha256("\0".join((*sources, shown)).encode()).hexdigest()[:HASH_DIGITS]


def _source(task: Task, suffix: str, own: OwnFiles) -> str | None:
    """The text of a file of a task, the user's own before ours; None where there is none."""
    name = f"{task}{suffix}"
    return own[name] if name in own else read_shipped(FOLDER / name)


def _kept(task: Task, suffix: str, own: OwnFiles) -> str | None:
    """As `_source`, ours read once."""
    name = f"{task}{suffix}"
    return own[name] if name in own else _read_once(FOLDER / name)


@lru_cache(maxsize=64)
def read_examples(source: str) -> list[Any]:
    """The examples of a file: a list.

    Raises:
        ValueError: it is not YAML, or no list.
    """
    found = read_yaml(source)
    if not isinstance(found, list):
        raise ValueError("it should hold a list of examples")
    return found


def read_shipped(file: Path) -> str | None:
    """The text of one of our files; None where there is none."""
    return file.read_text(encoding="utf-8") if file.is_file() else None


_read_once = cache(read_shipped)
