"""What a person runs by hand still agrees with the package: every script can be imported, and those without other tests run."""

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "scripts"


@pytest.mark.parametrize(
    "script",
    # What imports torch is imported by its own tests.
    sorted({*SCRIPTS.rglob("*.py")} - {SCRIPTS / "onnx_export.py"}),
    ids=lambda file: str(file.relative_to(SCRIPTS)),
)
def test_a_script_imports(script: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(SCRIPTS))  # as for `python scripts/NAME.py`
    module = ".".join(script.relative_to(SCRIPTS.parent).with_suffix("").parts)
    importlib.import_module(module.removesuffix(".__init__").removesuffix(".__main__"))


def run(folder: Path, name: str, *words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", f"scripts.{name}", *words],
        capture_output=True,
        text=True,
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.exhaustive
def test_the_collapse_is_drawn(tmp_path: Path) -> None:
    run(tmp_path, "plot_collapse", "--seeds", "1", "--out", "collapse.svg")
    assert "<svg" in (tmp_path / "collapse.svg").read_text(encoding="utf-8")


@pytest.mark.exhaustive
def test_the_gate_is_measured(tmp_path: Path) -> None:
    row = {"response": "She was born in Warsaw.", "topic": "Marie Curie", "passages": [{"text": "She was born in Warsaw."}]}
    row["claims"] = [{"text": "Marie Curie was born in Warsaw.", "label": "S"}]
    (tmp_path / "rows.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    assert run(tmp_path, "measure_gate", "rows.jsonl", "--limit", "1")
