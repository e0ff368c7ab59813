"""Holds the house: who may import whom, and that importing localfact costs nothing (ARCHITECTURE.md draws it)."""

import ast
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "localfact"

#: What everybody may import.
ANYONE = {"errors", "records", "vocabulary"}
#: Each folder, and the modules that stand beside the folders: what of localfact it may import besides itself and those.
#: Whatever stands further down may never be imported: imports run downwards, which here is up this table.
HOUSE = """
errors:
vocabulary:
records:
inference:
runtime:
scoring:
stages:
prose:
sentence_ends:
text: sentence_ends
thoughts:
inputs: prose runtime text
models: runtime text
assembling: stages
pipeline: assembling runtime stages
report: scoring text
web: runtime text
corpus: models runtime text web
llm: models runtime
prompts: llm runtime text
runs: inputs pipeline runtime text
assess: inference llm prompts runtime stages text thoughts
claims: corpus llm prompts prose runtime stages text thoughts
evidence: corpus llm models prompts prose runtime stages text thoughts web
relations: llm models prompts runtime stages text
coherence: relations stages text
citations: claims relations runtime stages text web
recall: assess citations claims models relations stages text
correcting: assembling llm pipeline prompts relations runtime scoring stages text
methods: assess citations claims coherence corpus evidence llm models pipeline prompts recall relations runtime stages \
 text web
api: assess claims correcting corpus evidence inference inputs llm methods models pipeline prompts report runs runtime scoring \
 stages text
__init__: api correcting methods report
papers: api corpus evidence inputs llm methods models pipeline prompts report runs runtime scoring
cluster: api llm methods models pipeline prompts runs runtime web
annotation: inputs report runs runtime scoring text
integrations: annotation api inputs methods report runs runtime scoring text web
cli: annotation api cluster corpus inputs integrations llm methods models papers report runs runtime scoring web
__main__: cli
"""
MAY_IMPORT = {owner: frozenset(allowed.split()) for owner, allowed in (row.split(":") for row in HOUSE.strip().splitlines())}
STAGES = ("assess", "claims", "evidence", "relations")
HEAVY = (
    "matplotlib",
    "sklearn",
    "torch",
    "faiss",
    "sentence_transformers",
    "py3langid",
    "transformers",
    "tokenizers",
    "numba",
    "pgmpy",
    "trafilatura",
    "lxml",
    "tinycss2",
    "cssselect",
    "accelerate",
    "gguf",
    "pypdfium2",
    "w3lib",
    "charset_normalizer",
    "dateparser",
    "warcio",
    "httpx",
    "httpcore",
    "httpx2",
    "huggingface_hub",
    "protego",
    "ddgs",
    "libzim",
    "scipy",
    "starlette",
    "uvicorn",
    "mcp",
    "vllm",
    "ray",
    "pyarrow",
    "inspect_ai",
)


#: Below the package.
FILES = [file.relative_to(PACKAGE) for file in sorted(PACKAGE.rglob("*.py"))]


@cache
def trees() -> dict[Path, ast.Module]:
    """Each file's syntax tree, read once, when a test asks for it and not where tests are collected."""
    return {file: ast.parse((PACKAGE / file).read_text(encoding="utf-8")) for file in FILES}


def owner(file: Path) -> str:
    """The folder that a file stands in, or the file itself where it stands beside the folders."""
    return file.parts[0] if len(file.parts) > 1 else file.stem


def imports(tree: ast.AST) -> Iterator[str]:
    """What a file imports, relative imports excluded by lint: full dotted names."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def ours(names: Iterator[str]) -> set[str]:
    return {name.split(".")[1] for name in names if name.startswith("localfact.")}


@pytest.mark.parametrize("floor", sorted({owner(file) for file in FILES}))
def test_a_file_imports_only_what_stands_below_it(floor: str) -> None:
    assert floor in MAY_IMPORT, f"{floor} is new: give it its place in HOUSE"
    for file, tree in trees().items():
        if owner(file) == floor:
            above = ours(imports(tree)) - {floor} - ANYONE - MAY_IMPORT[floor]
            assert not above, f"{file} may not import {sorted(above)}"


def test_vllm_is_named_in_one_file_only() -> None:
    named = {file.name for file, tree in trees().items() if any(name.split(".")[0] == "vllm" for name in imports(tree))}
    assert named <= {"vllm.py"}


def test_the_table_of_the_house_lets_no_import_run_upwards() -> None:
    floors = list(MAY_IMPORT)
    for owner, allowed in MAY_IMPORT.items():
        above = {name for name in allowed if floors.index(name) >= floors.index(owner)}
        assert not above, f"{owner} may import {sorted(above)}, which stand above it"


def test_no_stage_may_import_another() -> None:
    for stage in STAGES:
        assert not MAY_IMPORT[stage] & set(STAGES), f"{stage} may import another stage"


def test_every_class_has_a_name_of_its_own() -> None:
    names = Counter(node.name for tree in trees().values() for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    assert [name for name, times in names.items() if times > 1] == []


@pytest.mark.slow
def test_importing_the_public_names_loads_no_heavy_library() -> None:
    program = f"import sys, localfact, localfact.cli.main; print([n for n in {HEAVY!r} if n in sys.modules])"
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert printed.strip() == "[]"
