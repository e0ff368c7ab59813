"""Writes docs/api.md: every public name of localfact, from signatures and docstrings (`python -m scripts.api_page`)."""

import ast
import inspect
import re
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic_core import PydanticUndefined

import localfact

PAGE = Path(__file__).resolve().parents[1] / "docs" / "api.md"
HEAD = """# localfact from Python

<!-- Made by scripts/api_page.py from signatures and docstrings; tests/test_api_page.py holds it to them. -->
"""
#: Sections of docstrings, and an entry of one.
SECTION = re.compile(r"^(Args|Attributes|Returns|Raises|Yields):(?: (.*))?$")
ENTRY = re.compile(r"^([A-Za-z_][\w, ]*): (.*)$")
#: Where an error with its reason begins, of several in one line.
ERROR = re.compile(r"(?:(?<=\. )|^)(\w+Error): ")


def page() -> str:
    """The page, of the names in the order of `localfact.__all__`: functions first."""
    named = {name: getattr(localfact, name) for name in localfact.__all__}
    functions = {name: value for name, value in named.items() if inspect.isfunction(value)}
    classes = {name: value for name, value in named.items() if name not in functions}
    parts = [HEAD, (localfact.__doc__ or "").strip(), "", *(function_text(name, value) for name, value in functions.items())]
    return "\n".join([*parts, *(class_text(name, value) for name, value in classes.items())]).rstrip() + "\n"


def function_text(name: str, function: Callable[..., Any]) -> str:
    """A function under its signature."""
    return f"## {name}\n\n{textwrap.indent(signature(name, function), '    ')}\n\n{markdown(inspect.getdoc(function) or '')}\n"


def signature(name: str, function: Callable[..., Any]) -> str:
    """A signature as its source has it."""
    (node,) = ast.parse(textwrap.dedent(inspect.getsource(function))).body
    assert isinstance(node, ast.FunctionDef)
    arguments = node.args
    defaults: list[ast.expr | None] = [None] * (len(arguments.args) - len(arguments.defaults))
    given = [argument(one, default) for one, default in zip(arguments.args, [*defaults, *arguments.defaults], strict=True)]
    by_name = [argument(one, default) for one, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)]
    every = [*given, *(["*", *by_name] if by_name else [])]
    returned = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return f"{name}(\n" + "".join(f"    {one},\n" for one in every) + f"){returned}"


def argument(one: ast.arg, default: ast.expr | None) -> str:
    """An argument with its type and its default."""
    typed = f": {ast.unparse(one.annotation)}" if one.annotation else ""
    return one.arg + typed + (f" = {ast.unparse(default)}" if default is not None else "")


def class_text(name: str, cls: type) -> str:
    """A class: what it is, its fields, its properties, and its methods of its own."""
    parts = [f"## {name}", "", markdown(inspect.getdoc(cls) or ""), ""]
    if issubclass(cls, BaseModel):
        described = [(field, info) for field, info in cls.model_fields.items() if info.description]
        parts += ["| field | default | |", "| --- | --- | --- |"] if described else []
        for field, info in described:
            parts += [f"| `{field}` | {default_of(info)} | " + one_line(info.description).replace("|", "\\|") + " |"]
        parts += [""] if described else []
    for attribute, value in vars(cls).items():
        if attribute.startswith("_"):
            continue
        called = isinstance(value, classmethod | staticmethod) or inspect.isfunction(value)
        if called or isinstance(value, property):
            parts += [f"- `{attribute}{'()' * called}`: {one_line(value.__doc__)}"]
    return "\n".join(parts).rstrip() + "\n"


def one_line(text: str | None) -> str:
    """A text without line breaks."""
    return " ".join((text or "").split())


def default_of(info: Any) -> str:
    """The default of a field as code; nothing where it is None or made anew."""
    return "" if info.default is None or info.default is PydanticUndefined else f"`{info.default}`"


def markdown(docstring: str) -> str:
    """A docstring as Markdown: the entries of its sections as a list."""
    lines: list[str] = []
    section = ""
    for line in docstring.splitlines():
        if found := SECTION.match(line):
            section = found[1]
            lines += [f"**{section}**", "", *([found[2]] if found[2] else [])]
        elif section and line.startswith("    ") and not line.startswith("     "):
            lines += entries(line.strip(), section)
        elif section and line.startswith("     "):
            lines[-1] += " " + line.strip()
        else:
            lines.append(line)
    return "\n".join(lines).strip()


def entries(line: str, section: str) -> list[str]:
    """The entries of a line in a section: of errors, each by itself."""
    if section == "Raises":
        return [f"- `{name}`: {why.strip()}" for name, why in zip(*[iter(ERROR.split(line)[1:])] * 2, strict=True)] or [line]
    entry = ENTRY.match(line)
    if entry is None:
        return [f"- {line}"]
    return [f"- {', '.join(f'`{name.strip()}`' for name in entry[1].split(','))}: {entry[2]}"]


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
