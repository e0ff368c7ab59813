"""What the package imports is what it says it needs: a user has no tools of development."""

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
#: Imported where it is there, and only then or after its cure was told.
OPTIONAL = {"llm-cpu", "llm-cuda", "serve", "ray", "zim", "pytest"}
#: Part of how a library that is declared is used -> that library, which always brings it along.
BROUGHT = {"annotated-types": "pydantic", "markupsafe": "jinja2", "primp": "ddgs", "safetensors": "transformers"}


def imported() -> dict[str, set[str]]:
    """Top-level module -> the files that import it."""
    found: dict[str, set[str]] = {}
    for file in (ROOT / "localfact").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module] if isinstance(node, ast.ImportFrom) and node.module and not node.level else []
            for name in names:
                found.setdefault(name.partition(".")[0], set()).add(str(file.relative_to(ROOT)))
    return found


def plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", re.split(r"[<>=\[ ]", name)[0]).lower()


@pytest.mark.slow
def test_every_library_that_is_imported_is_declared() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    declared = {plain(name) for name in (*project["dependencies"], *(one for extra in OPTIONAL for one in extras[extra]))}
    assert set(BROUGHT.values()) <= declared
    declared |= BROUGHT.keys()
    known = packages_distributions()
    undeclared = {
        module: sorted(files)
        for module, files in imported().items()
        if module not in sys.stdlib_module_names
        and module != "localfact"
        and not declared & {plain(name) for name in known.get(module, [module])}
    }
    assert undeclared == {}
