"""What a person runs by hand still agrees with the package: every script can be imported."""

import importlib
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"


@pytest.mark.parametrize(
    "script",
    sorted(SCRIPTS.rglob("*.py")),
    ids=lambda file: str(file.relative_to(SCRIPTS)),
)
def test_a_script_imports(script: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(SCRIPTS))  # as for `python scripts/NAME.py`
    module = ".".join(script.relative_to(SCRIPTS.parent).with_suffix("").parts)
    importlib.import_module(module.removesuffix(".__init__").removesuffix(".__main__"))
