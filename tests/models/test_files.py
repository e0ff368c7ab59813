"""Which files make a model: those change its hash, and nothing else does; large ones are read once."""

import hashlib
import json
import os
import shutil
from pathlib import Path

import pytest

from localfact.models import files
from localfact.models.files import content_hash, git_hash, has_mark, hash_of_file, remember, weights_to_load

#: A sharded model, small.
FILES = {
    "config.json": '{"rope_theta": 10000.0}',
    "generation_config.json": '{"eos_token_id": 2}',
    "tokenizer.json": "{}",
    "tokenizer_config.json": "{}",
    "tokenizer.model": "pieces",
    "chat_template.jinja": "{{ messages }}",
    "1_Pooling/config.json": "{}",
    "2_Dense/model.safetensors": "dense",
    "model-1.safetensors": "one",
    "model-2.safetensors": "two",
}


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def model(folder: Path, **more: str) -> Path:
    for name, content in ({"model.safetensors": "model.safetensors"} | more).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)
    return folder


@pytest.fixture
def whole(tmp_path: Path) -> Path:
    folder = model(tmp_path / "whole", **FILES)
    (folder / "model.safetensors").unlink()
    return folder


@pytest.mark.parametrize("name", FILES)
def test_every_file_that_decides_answers_decides_the_hash(whole: Path, name: str) -> None:
    before = content_hash(whole)
    content = (whole / name).read_text()
    (whole / name).write_text(content + " ")
    assert content_hash(whole) != before
    (whole / name).unlink()
    assert content_hash(whole) != before
    (whole / name).write_text(content)
    assert content_hash(whole) == before


@pytest.mark.parametrize(
    "name",
    ["training_args.bin", "optimizer.bin", "pytorch_model.bin", "README.md", "trainer_state.json", "pulled.yaml", "run.py"],
)
def test_what_no_engine_loads_decides_nothing(whole: Path, name: str) -> None:
    before = content_hash(whole)
    (whole / name).write_text("left here")
    assert content_hash(whole) == before


def test_neither_the_folder_s_name_nor_its_time_decides_anything(whole: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(whole, tmp_path / "another-name", copy_function=shutil.copyfile))
    assert content_hash(copy) == content_hash(whole)


def test_configuration_and_tokenizer_are_not_mistaken_for_each_other(whole: Path) -> None:
    before = content_hash(whole)
    config, tokenizer = whole / "config.json", whole / "tokenizer.json"
    contents = config.read_text(), tokenizer.read_text()
    config.write_text(contents[1])
    tokenizer.write_text(contents[0])
    assert content_hash(whole) != before


def test_a_file_that_the_index_of_weights_leaves_out_is_not_loaded(whole: Path) -> None:
    (whole / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {"a": "model-1.safetensors"}}))
    assert [file.name for file in weights_to_load(whole)] == ["model-1.safetensors"]
    (whole / "model.safetensors.index.json").write_text("[]")
    assert [file.name for file in weights_to_load(whole)] == ["model-1.safetensors", "model-2.safetensors"]


def test_bin_is_loaded_where_there_is_nothing_safer_and_never_what_a_trainer_left(tmp_path: Path) -> None:
    for name in ("pytorch_model.bin", "training_args.bin"):
        (tmp_path / name).write_text(name)
    assert [file.name for file in weights_to_load(tmp_path)] == ["pytorch_model.bin"]


def test_the_model_s_own_code_decides_where_its_configuration_has_it_run(whole: Path) -> None:
    (whole / "config.json").write_text('{"auto_map": {"AutoModel": "modeling.Own"}}')
    (whole / "modeling.py").write_text("x = 1")
    before = content_hash(whole)
    (whole / "modeling.py").write_text("x = 2")
    assert content_hash(whole) != before


def test_the_hub_knows_a_file_by_its_sha256_or_by_git_s_id(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_bytes(b"what is up, doc?")
    assert git_hash(file) == "bd9dbf5aae1a3862dd1526723246b20206e5fc37"
    assert has_mark(file, "bd9dbf5aae1a3862dd1526723246b20206e5fc37")
    assert has_mark(file, hashlib.sha256(b"what is up, doc?").hexdigest())
    assert not any(has_mark(file, mark) for mark in ("", "etag", "0" * 40, "0" * 64))


def test_a_large_file_that_was_just_made_sure_of_is_not_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "KEPT_BYTES", 1)
    file = tmp_path / "a.bin"
    file.write_bytes(b"one")
    remember(file, "its hash")
    assert hash_of_file(file) == "its hash"
    file.write_bytes(b"changed")
    assert hash_of_file(file) == hashlib.sha256(b"changed").hexdigest()


def test_the_hash_of_a_large_file_is_computed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "KEPT_BYTES", 1)
    monkeypatch.setattr(files, "SETTLED_SECONDS", -3600.0)
    file = model(tmp_path / "model") / "model.safetensors"
    read: list[object] = []
    real = hashlib.file_digest
    monkeypatch.setattr(hashlib, "file_digest", lambda stream, name: read.append(name) or real(stream, name))
    once = content_hash(file.parent)
    assert content_hash(file.parent) == once
    assert len(read) == 1
    file.write_bytes(b"changed, and longer")
    assert content_hash(file.parent) != once
    assert len(read) == 2


def test_a_file_of_the_same_size_and_time_is_another_when_its_inode_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "KEPT_BYTES", 1)
    monkeypatch.setattr(files, "SETTLED_SECONDS", -3600.0)
    file, other = tmp_path / "a.bin", tmp_path / "b.bin"
    file.write_bytes(b"one")
    before = hash_of_file(file)
    time = file.stat().st_mtime_ns
    other.write_bytes(b"two")
    os.utime(other, ns=(time, time))
    other.replace(file)
    assert hash_of_file(file) == hashlib.sha256(b"two").hexdigest() != before


def test_a_file_written_just_now_is_not_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "KEPT_BYTES", 1)
    file = tmp_path / "a.bin"
    file.write_bytes(b"one")
    hash_of_file(file)
    assert not files.hash_store().exists()


def test_a_remembered_hash_that_is_damaged_or_cannot_be_written_is_done_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "KEPT_BYTES", 1)
    monkeypatch.setattr(files, "SETTLED_SECONDS", -3600.0)
    file = tmp_path / "a.bin"
    file.write_bytes(b"one")
    right = hash_of_file(file)
    (kept,) = files.hash_store().iterdir()
    kept.write_text("{not json")
    assert hash_of_file(file) == right
    monkeypatch.setenv("XDG_CACHE_HOME", str(file))  # a file where a folder should be
    assert hash_of_file(file) == right
