"""Loads the templates and examples beside this file, and hashes their wording for run.yaml."""

import hashlib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import yaml

from localfact.prompts.boundary import RULE, Boundary, wording

if TYPE_CHECKING:
    from jinja2 import Template

FOLDER = Path(__file__).parent
#: Digits of a prompt's hash.
HASH_DIGITS = 12

Task = Literal[
    "extraction",
    "verification",
    "relation",
    "generation",
    "atomization",
    "revision",
    "query",
    "factscore",
    "factverify",
    "veriscore",
    "deepseek",
    "factool",
    "safe",
    "decomposition",
    "relevance",
    "next_query",
    "failure",
    "failures",
    "missing",
]
TASKS: tuple[Task, ...] = get_args(Task)


def render(task: Task, boundary: Boundary, **fields: Any) -> str:
    """Fills in the template of a task. Values are text, never templates; a missing field is an error."""
    return _template(task).render(enclose=boundary.enclose, examples=_examples(task), **fields).strip()


def examples_of(task: Task) -> list[Any]:
    """The examples beside a task's template; empty where it has none."""
    return list(_examples(task))


def prompt_hashes(*tasks: Task) -> dict[str, str]:
    """Task -> the first digits of the SHA-256 of its template, its examples and the boundary's wording.

    For the named tasks, in that order; for all where none is named.
    """
    shown = wording()
    return {task: _hash(task, shown) for task in tasks or TASKS}


def _hash(task: Task, shown: str) -> str:
    files = (FOLDER / f"{task}{suffix}" for suffix in (".jinja", ".yaml"))
    sources = [file.read_text(encoding="utf-8") for file in files if file.is_file()]
    return hashlib.sha256("\0".join((*sources, shown)).encode()).hexdigest()[:HASH_DIGITS]


@cache
def _template(task: Task) -> "Template":
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(FOLDER),
        undefined=jinja2.StrictUndefined,
        autoescape=False,  # a prompt is plain text, not HTML
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(f"{task}.jinja", globals={"rule": RULE})


@cache
def _examples(task: Task) -> Any:
    file = FOLDER / f"{task}.yaml"
    return yaml.safe_load(file.read_text(encoding="utf-8")) if file.is_file() else []
