"""Holds the house: who may import whom, and that importing localfact costs nothing (ARCHITECTURE.md draws it)."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "localfact"

ANYONE = {"records", "errors", "vocabulary"}
ANYTHING = {"*"}
TOOLS = {
    *(
        "stages",
        "text",
        "files",
        "sqlitefiles",
        "tasks",
        "locations",
        "modelcards",
        "embedding",
        "crossencoders",
        "inference",
        "llm",
        "prompts",
        "usage",
    ),
}
STRATEGIES = {"claims", "evidence", "relations", "assess"}
#: Each module or folder, and what of localfact it may import besides itself, records and errors. A stage never names another.
MAY_IMPORT = {
    "errors": set(),
    "records": set(),
    "vocabulary": set(),
    "locations": set(),
    "stages": set(),
    "text": set(),
    "jsonrows": set(),
    "files": set(),
    "sqlitefiles": set(),
    "tasks": set(),
    "modelfiles": {"files"},
    "weights": {"locations", "modelfiles"},
    "modelcards": {"locations", "modelfiles", "weights"},
    "hub": set(),
    "pulling": {"hub", "modelcards", "modelfiles", "weights"},
    "modelcheck": {"llm", "modelcards", "modelfiles", "weights"},
    "embedding": {"text", "modelcards"},
    "matchmarks": set(),
    "onnxmodels": {"matchmarks", "modelfiles"},
    "crossencoders": {"embedding", "matchmarks", "modelcards", "modelfiles", "onnxmodels"},
    "usage": set(),
    "offline": set(),
    "llm": {"sqlitefiles", "modelcards", "modelfiles", "tasks", "text", "usage"},
    "prompts": {"llm", "text"},
    "inference": set(),
    "claims": TOOLS,
    "evidence": TOOLS,
    "relations": TOOLS,
    "assess": TOOLS,
    "scoring": set(),
    "claimrows": {"jsonrows", "text"},
    "inputs": {"claimrows", "jsonrows", "text"},
    "prompt_inputs": {"claimrows", "inputs", "jsonrows", "text"},
    "pipeline": {"stages", "usage"},
    "runfolder": {"files"},
    "run": {"pipeline", "runfolder", "tasks"},
    "outputfile": {"files", "runfolder", "text"},
    "passrows": {"claimrows", "llm", "outputfile", "prompt_inputs", "text"},
    "passes": {
        *("files", "inputs", "llm", "outputfile", "passrows", "pipeline", "prompt_inputs", "prompts", "run", "stages", "tasks"),
        "usage",
    },
    "options": set(),
    "completions": {"text"},
    "roc": {
        *("completions", "files", "methods", "options", "outputfile", "report", "run", "scoring", "stages", "text", "versions"),
        "wiring",
    },
    "papers": {
        *("evaluation", "evidence", "files", "inputs", "locations", "methods", "modelcards", "options", "outputfile", "report"),
        *("run", "runfolder", "scoring", "versions", "embedding", "engines", "jsonrows", "passes"),
    },
    "versions": set(),
    "engines": {"embedding", "llm", "modelcards", "options"},
    "methods": {"evidence", "modelcards", "options"},
    "settings": TOOLS | {*STRATEGIES, "methods", "options"},
    "sources": TOOLS | {"evidence", "options", "pipeline", "settings"},
    "wiring": TOOLS | {*STRATEGIES, "engines", "methods", "options", "pipeline", "settings", "sources"},
    "report": {"scoring", "text"},
    "evaluation": {
        *("engines", "files", "inputs", "locations", "methods", "options", "pipeline", "report", "run", "runfolder", "scoring"),
        *("settings", "sources", "text", "versions", "wiring"),
    },
    "gathering": {
        *(
            "embedding",
            "engines",
            "evaluation",
            "evidence",
            "methods",
            "options",
            "passes",
            "pipeline",
            "run",
            "sources",
            "stages",
        ),
        *("tasks", "usage", "wiring"),
    },
    "finished": {"report", "runfolder", "scoring"},
    "planning": {"evaluation", "text", "wiring"},
    "standalone": {
        *(
            "engines",
            "files",
            "inference",
            "inputs",
            "jsonrows",
            "llm",
            "options",
            "passes",
            "passrows",
            "pipeline",
            "run",
            "stages",
        ),
        *("settings", "text", "versions", "wiring"),
    },
    "calibrating": {
        *("assess", "engines", "inputs", "llm", "methods", "options", "passes", "pipeline", "run", "scoring", "tasks", "usage"),
        *("settings", "wiring"),
    },
    "doctor": {"evidence", "locations", "modelcards"},
    "console": {"text"},
    "arguments": set(),
    "eval_commands": ANYTHING,
    "llm_commands": ANYTHING,
    "corpus_commands": ANYTHING,
    "corpus_reading_commands": ANYTHING,
    "fetch_commands": ANYTHING,
    "models_commands": ANYTHING,
    "papers_commands": ANYTHING,
    "roc_commands": ANYTHING,
    "cli": ANYTHING,
    "__init__": {"evaluation", "options", "report", "standalone"},
    "__main__": {"cli"},
}
STAGES = tuple(sorted(STRATEGIES))
HEAVY = (
    "matplotlib",
    "sklearn",
    "torch",
    "faiss",
    "bm25s",
    "sentence_transformers",
    "transformers",
    "tokenizers",
    "onnxruntime",
    "onnx",
    "numba",
    "pgmpy",
    "trafilatura",
    "lxml",
    "pypdfium2",
    "charset_normalizer",
    "dateparser",
    "warcio",
    "httpx",
    "httpcore",
    "protego",
    "ddgs",
    "libzim",
    "scipy",
    "vllm",
)


def modules() -> Iterator[tuple[str, Path]]:
    for file in sorted(PACKAGE.rglob("*.py")):
        relative = file.relative_to(PACKAGE)
        yield (relative.parts[0] if len(relative.parts) > 1 else relative.stem), file


def imports(tree: ast.AST) -> Iterator[str]:
    """What a file imports, relative imports excluded by lint: full dotted names."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def ours(names: Iterator[str]) -> set[str]:
    return {name.split(".")[1] for name in names if name.startswith("localfact.")}


@pytest.mark.parametrize(
    ("owner", "file"), list(modules()), ids=lambda value: str(value.name) if isinstance(value, Path) else value
)
def test_a_file_imports_only_what_stands_below_it(owner: str, file: Path) -> None:
    assert owner in MAY_IMPORT, f"{file.name} is new: give it its place in MAY_IMPORT"
    allowed = MAY_IMPORT[owner]
    found = ours(imports(ast.parse(file.read_text(encoding="utf-8")))) - {owner} - ANYONE
    if allowed != ANYTHING:
        assert found <= allowed, f"{file.relative_to(PACKAGE)} may not import {sorted(found - allowed)}"


def test_vllm_is_named_in_one_file_only() -> None:
    named = [
        file for _, file in modules() if any(name.split(".")[0] == "vllm" for name in imports(ast.parse(file.read_text())))
    ]
    assert {file.name for file in named} <= {"vllm.py"}


def test_the_table_of_layers_names_no_stage_above_its_users() -> None:
    for stage in STAGES:
        assert not MAY_IMPORT[stage] & set(STAGES), f"{stage} may import another stage"


def test_importing_the_public_names_loads_no_heavy_library() -> None:
    program = f"import sys, localfact, localfact.cli; print([n for n in {HEAVY!r} if n in sys.modules])"
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert printed.strip() == "[]"
