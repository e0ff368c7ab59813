"""The wheel is whole: what a checkout keeps beside the package is inside it, and other weights and corpora are not."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from localfact.runtime.locations import data_folder

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.slow
def test_the_wheel_carries_cards_sample_and_types(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        archive.extractall(tmp_path / "installed")
    assert "localfact/py.typed" in names
    assert {str(file.relative_to(ROOT)) for file in (ROOT / "localfact").rglob("*.py")} <= names
    assert "localfact/_data/models/minilm.yaml" in names
    assert {f"localfact/_data/{file.relative_to(ROOT)}" for file in shipped_files()} <= names
    assert {"localfact/_data/models/llama-3.1-70b.yaml", "localfact/prompts/extraction.jinja"} <= names
    assert not any("models/weights/" in name or name.startswith(("tests", "scripts", "runs")) for name in names)

    program = "from localfact.runtime.locations import data_folder; print(data_folder('index') / 'sample')"
    printed = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        check=True,
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(tmp_path / "installed"), "PATH": ""},
    ).stdout
    assert Path(printed.strip()) == tmp_path / "installed/localfact/_data/index/sample"


def shipped_files() -> list[Path]:
    folders = (ROOT / "index/sample", ROOT / "models/builtin-nli", ROOT / "models/small-lm")
    inside = [file for folder in folders for file in folder.rglob("*") if file.is_file()]
    return [*inside, *(ROOT / "index").glob("sample-*.jsonl")]


def test_in_a_checkout_its_own_folders_come_first() -> None:
    assert data_folder("models") == ROOT / "models"
