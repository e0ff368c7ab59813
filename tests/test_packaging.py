"""The package is whole, an index would take it, and it works where there is no checkout."""

import json
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from email import message_from_string
from pathlib import Path

import pytest

from localfact.runtime.locations import data_folder

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, made of the source archive beside it, as whoever releases makes both."""
    folder = tmp_path_factory.mktemp("dist")
    build = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    subprocess.run(build, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    return wheel


@pytest.mark.slow
def test_the_wheel_is_whole_and_an_index_would_take_it(built: Path) -> None:
    with zipfile.ZipFile(built) as archive:
        names = set(archive.namelist())
        (name,) = (name for name in names if name.endswith(".dist-info/METADATA"))
        metadata = message_from_string(archive.read(name).decode())
    assert {str(file.relative_to(ROOT)) for file in (ROOT / "localfact").rglob("*.py")} <= names
    assert {f"localfact/_data/{file.relative_to(ROOT)}" for file in shipped_files()} <= names
    assert {"localfact/py.typed", "localfact/_data/models/minilm.yaml", "localfact/prompts/extraction.jinja"} <= names
    assert "localfact/integrations/lm_eval_tasks/localfact_longform.yaml" in names
    (source,) = built.parent.glob("*.tar.gz")
    with tarfile.open(source) as archive:
        names |= set(archive.getnames())
    assert not any("models/weights/" in name or name.startswith(("tests", "scripts", "runs")) for name in names)
    subprocess.run([sys.executable, "-m", "twine", "check", "--strict", built, source], check=True)
    links = [link.partition(",")[0] for link in metadata.get_all("Project-URL", [])]
    assert links == ["Repository", "Documentation", "Changelog", "Issues"]


def shipped_files() -> list[Path]:
    folders = (ROOT / "index/sample", ROOT / "models/small-lm", ROOT / "models/relation-maps")
    inside = [file for folder in folders for file in folder.rglob("*") if file.is_file()]
    return [*inside, *(ROOT / "index").glob("sample-*.jsonl"), ROOT / "index/sample-recording.sqlite"]


@pytest.mark.slow
def test_installed_in_an_environment_of_its_own_it_needs_no_checkout(built: Path, tmp_path: Path) -> None:
    """Its libraries are those of this environment, but for localfact itself, which is the wheel's."""
    venv.create(tmp_path / "venv", with_pip=False)
    python = tmp_path / "venv/bin/python"
    site = next((tmp_path / "venv/lib").glob("python*")) / "site-packages"
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-index", "--no-deps", "--no-compile", built]
    subprocess.run(pip, check=True)
    (site / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n")
    folder = tmp_path / "empty"
    folder.mkdir()
    (folder / "answer.txt").write_text("Marie Curie was born in Warsaw.")

    def run(*words: str, program: str = "localfact") -> str:
        environment = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
        command = [tmp_path / "venv/bin" / program, *words]
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr + done.stdout
        return done.stdout

    without_vectors = ("--embedder", "none", "--relations", "lexical", "--json")
    (verdict,) = json.loads(run("check", "answer.txt", *without_vectors))["verdicts"]
    assert verdict["label"] == "supported"
    assert json.loads(run("eval", "--limit", "1", *without_vectors))["responses"] == 1
    cards = {card["name"]: card for card in json.loads(run("models", "list", "--json"))}
    assert cards["small-lm"]["weights"].startswith(str(site / "localfact/_data/models/small-lm"))
    (folder / "test_fixture.py").write_text("def test_it(factuality): assert factuality.assert_supported")
    assert "1 passed" in run("-m", "pytest", "-q", program="python")  # pytest found the plugin by its entry point


def test_in_a_checkout_its_own_folders_come_first() -> None:
    assert data_folder("models") == ROOT / "models"
