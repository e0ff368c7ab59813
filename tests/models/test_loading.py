"""Folders of models that others made: code beside the weights is never run, whatever is answered on standard input."""

import io
import json
import pickle
from collections.abc import Callable
from pathlib import Path

import pytest
from tiny_albert import tiny_albert

from localfact.errors import InputError
from localfact.models.cards import load_card
from localfact.models.cross_encoder import CrossEncoder
from localfact.models.embedder import load_embedder

EVIL = """
from pathlib import Path
Path({mark!r}).write_text("it ran")
from transformers import AlbertConfig as Config, AlbertForSequenceClassification as Model
"""


def relations(folder: Path) -> object:
    return CrossEncoder(load_card(str(folder)), "relations", device="cpu")


def reranker(folder: Path) -> object:
    return CrossEncoder(load_card(str(folder)).model_copy(update={"roles": ("reranker",)}), "reranker", device="cpu")


def embedder(folder: Path) -> object:
    return load_embedder(load_card(str(folder)).model_copy(update={"roles": ("embedder",)}))


def with_code(folder: Path) -> Path:
    """A folder whose configuration names a module beside it, and the file that the module would make."""
    tiny_albert(folder)
    mark = folder.parent / "it-ran"
    (folder / "evil.py").write_text(EVIL.format(mark=str(mark)))
    config = json.loads((folder / "config.json").read_text())
    names = {"AutoConfig": "evil.Config", "AutoModel": "evil.Model", "AutoModelForSequenceClassification": "evil.Model"}
    (folder / "config.json").write_text(json.dumps(config | {"model_type": "evil", "auto_map": names}))
    return mark


@pytest.mark.slow
@pytest.mark.parametrize("load", [relations, reranker, embedder])
def test_a_folders_own_code_is_not_run_and_nobody_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, load: Callable[[Path], object]
) -> None:
    mark = with_code(tmp_path / "model")
    monkeypatch.setattr("sys.stdin", io.StringIO("y\ny\ny\n"))
    with pytest.raises(InputError, match="code of its own, which localfact does not run"):
        load(tmp_path / "model")
    assert not mark.exists()


class Runs:
    """Makes a file when it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[Callable[..., object], tuple[object, ...]]:
        return (Path.touch, (self.mark,))


@pytest.mark.slow
@pytest.mark.parametrize("load", [relations, embedder])
def test_pickled_weights_with_code_in_them_are_refused_in_a_sentence(tmp_path: Path, load: Callable[[Path], object]) -> None:
    folder, mark = tmp_path / "model", tmp_path / "it-ran"
    tiny_albert(folder)
    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps({"albert.weight": Runs(mark)}))
    with pytest.raises(InputError, match="could not be loaded as the") as refused:
        load(folder)
    assert not mark.exists()
    assert len(str(refused.value).splitlines()) == 1


@pytest.mark.parametrize("content", [b"{", b"[]", b'{"model_type": 3}', b"\xff\xfe", b"[" * 5_000])
def test_a_damaged_configuration_is_a_sentence(tmp_path: Path, content: bytes) -> None:
    tiny_albert(tmp_path)
    card = load_card(str(tmp_path))
    (tmp_path / "config.json").write_bytes(content)
    with pytest.raises(InputError, match="could not be loaded") as refused:
        CrossEncoder(card, "relations", device="cpu")
    assert len(str(refused.value).splitlines()) == 1
