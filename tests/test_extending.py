"""docs/internals/extending.md is true: its files and lines, put into a copy of the package, do what it says."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
GUIDE = (ROOT / "docs/internals/extending.md").read_text(encoding="utf-8")
BLOCK = re.compile(
    r"```python\n# (?P<file>\S+?)(?:, (?P<where>above|below) \"(?P<anchor>[^\n]*)\")?\n(?P<content>.*?)```", re.DOTALL
)
KINDS = re.findall(r"^## (.*)$", GUIDE, re.MULTILINE)


def section(kind: str) -> str:
    return GUIDE.partition(f"## {kind}\n")[2].partition("\n## ")[0]


def extended(folder: Path, kind: str) -> dict[str, int]:
    """Copies the package into the folder and adds what a section says; how many files are new, and lines in others."""
    shutil.copytree(ROOT / "localfact", folder / "localfact")  # with what is compiled, which fits files of the same time
    (folder / "index").mkdir()
    for shared in ("models", "pyproject.toml", "index/sample", "index/sample-responses.jsonl"):
        (folder / shared).symlink_to(ROOT / shared)
    added = {"files": 0, "lines": 0, "imports": 0}
    for block in BLOCK.finditer(section(kind)):
        file = folder / block["file"]
        if block["where"] is None:
            assert not file.exists()
            file.write_text(block["content"], encoding="utf-8")
            added["files"] += 1
            continue
        lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
        places = [number for number, line in enumerate(lines) if line.startswith(block["anchor"])]
        assert len(places) == 1, f"{file.name} has {len(places)} lines that begin with {block['anchor']}"
        lines.insert(places[0] + (block["where"] == "below"), block["content"])
        file.write_text("".join(lines), encoding="utf-8")
        assert block["content"].count("\n") == 1
        added["imports" if "import" in block["content"] else "lines"] += 1
    return added


def told(folder: Path, kind: str) -> list[str]:
    """What the section's commands print, given in the folder one after the other."""
    (folder / "answers.jsonl").write_text(json.dumps({"response": "Marie Curie was born in Warsaw."}) + "\n")
    (folder / "bookmarks.jsonl").write_text(json.dumps({"url": "https://a.example/", "title": "Marie Curie in Warsaw"}) + "\n")
    printed = []
    for command in re.findall(r"^    (?=(?:\w+=\S+ )?localfact )(.*)$", section(kind), re.MULTILINE):
        variables, _, words = command.partition("localfact ")
        named = dict(one.split("=") for one in variables.split())
        environment = {**os.environ, **named, "PYTHONPATH": str(folder), "COLUMNS": "200"}
        run = [sys.executable, "-m", "localfact", *shlex.split(words)]
        done = subprocess.run(run, capture_output=True, text=True, cwd=folder, env=environment)
        assert done.returncode == 0, done.stderr
        printed.append(done.stdout)
    return printed


def test_the_guide_has_the_six_kinds() -> None:
    assert len(KINDS) == 6


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_what_the_guide_adds_is_one_file_and_one_line_and_does_what_it_says(kind: str, tmp_path: Path) -> None:
    added = extended(tmp_path, kind)
    assert (added["files"], added["lines"]) == (1, 1)
    assert added["imports"] <= 1
    printed = told(tmp_path, kind)
    checks = {
        "A claim extractor": lambda: json.loads(printed[0])["claims"] > 20,
        "A relation model of a new kind": lambda: json.loads(printed[0])["verdicts"]["contradicted"] == 0,
        "A method": lambda: json.loads(printed[0])["verdicts"]["supported"] > 0 and "anybody" in printed[1],
        "A score": lambda: 0 < {one["name"]: one["value"] for one in json.loads(printed[0])["scores"]}["undecided"] < 1,
        "A search provider": lambda: json.loads(printed[0])["searches_now"] > 0,
        "A command": lambda: "6" in printed[0],
    }
    assert checks[kind](), printed


def test_a_claim_extractor_takes_thirty_lines() -> None:
    (first, *_) = BLOCK.finditer(section("A claim extractor"))
    assert first["content"].count("\n") <= 30
