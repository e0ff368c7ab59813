"""Pulling weights from a hub on loopback: what is fetched, what is refused first, and that an interruption loses nothing."""

import multiprocessing
import os
import shutil
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from loopback_hub import COMMIT, TOKEN, LoopbackHub, Repository, serving

from localfact.errors import InputError, MissingError, WriteError
from localfact.models import download, files
from localfact.models.cards import find_card, load_card, weights_folder
from localfact.models.download import RemoteFile, choose_files, plan_pull, pull
from localfact.models.files import content_hash, has_mark
from localfact.models.model_card import ModelCard
from localfact.models.tokenizers import tokenizer_folder
from localfact.models.weights import missing_weights

SHARDS = {f"model-0000{number}-of-00002.safetensors": bytes([number]) * 300_000 for number in (1, 2)}
FILES = {
    "config.json": b"{}",
    "tokenizer.json": b'{"model": {}}',
    "1_Pooling/config.json": b"{}",
    "LICENSE": b"to be kept",
    "model.safetensors.index.json": b'{"weight_map": {"a": "model-00001-of-00002.safetensors"}}',
    **SHARDS,
}
FOREIGN = {
    "pytorch_model.bin": b"the same again" * 100,
    "original/consolidated.00.pth": b"the same again",
    "onnx/model.onnx": b"the same again",
    "onnx/config.json": b"{}",
    "consolidated.safetensors": b"the same again" * 100,
    "README.md": b"read me",
    ".gitattributes": b"",
    "../outside.json": b"{}",
}
CARD = ModelCard(name="tiny", hub="someone/tiny", revision="main", roles=("llm",))


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LoopbackHub]:
    """A hub with one open and one gated model, and a user without a token."""
    for name in ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HF_HUB_OFFLINE", "LOCALFACT_WEIGHTS", "HF_HUB_CACHE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("huggingface_hub.constants.HF_TOKEN_PATH", str(tmp_path / "no-token"))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_DISABLE_TELEMETRY", True)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    monkeypatch.chdir(tmp_path)
    models = {"someone/tiny": Repository(FILES | FOREIGN), "someone/gated": Repository(FILES, gated=True)}
    with serving(LoopbackHub(models)) as running:
        at(running.url, monkeypatch)
        yield running


def at(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Puts the hub at an address, as HF_ENDPOINT does where huggingface_hub is not imported yet."""
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", url)
    monkeypatch.setattr(
        "huggingface_hub.constants.HUGGINGFACE_CO_URL_TEMPLATE", url + "/{repo_id}/resolve/{revision}/{filename}"
    )


def test_weights_configuration_and_tokenizer_come_and_nothing_else(hub: LoopbackHub, tmp_path: Path) -> None:
    plan = plan_pull(CARD, tmp_path / "to")
    assert (plan.revision, plan.size, plan.missing) == (COMMIT, sum(map(len, FILES.values())), plan.size)
    counts: list[int] = []
    folder = pull(plan, counts.append)
    assert folder == tmp_path / "to" / "tiny"
    brought = {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}
    noted = yaml.safe_load(brought.pop("pulled.yaml"))
    assert (noted["hub"], noted["revision"], set(noted["files"])) == ("someone/tiny", COMMIT, set(FILES))
    assert all(has_mark(folder / name, mark) for name, mark in noted["files"].items())
    brought.pop(download.LOCK_FILE)
    assert brought == FILES
    assert sum(counts) == plan.size


@pytest.mark.slow
def test_what_was_pulled_is_found_and_known_by_its_commit(
    hub: LoopbackHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(MissingError, match="localfact models pull someone/tiny"):
        weights_folder(find_card("someone/tiny"))
    pull(plan_pull(find_card("someone/tiny"), tmp_path / "models" / "weights"))
    card = load_card("someone/tiny")
    assert (card.revision, card.identity) == (COMMIT, f"tiny@{COMMIT[:12]}")
    assert weights_folder(card) == tmp_path / "models" / "weights" / "tiny"
    shutil.move(tmp_path / "models" / "weights", tmp_path / "elsewhere")
    monkeypatch.setenv("LOCALFACT_WEIGHTS", str(tmp_path / "elsewhere"))
    assert load_card("someone/tiny").revision == COMMIT
    edited = tmp_path / "elsewhere" / "tiny"
    (edited / "config.json").write_text('{"rope_theta": 1}')
    assert load_card("someone/tiny").revision == content_hash(edited)


def test_weights_that_were_pulled_are_not_read_again_at_first_use(
    hub: LoopbackHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(files, "KEPT_BYTES", 300_000)
    pull(plan_pull(CARD, tmp_path / "models" / "weights"))
    read: list[str] = []
    real = files.file_digest
    monkeypatch.setattr(files, "file_digest", lambda file: read.append(file.suffix) or real(file))
    assert load_card("someone/tiny").revision == COMMIT
    assert ".safetensors" not in read


def test_a_broken_connection_is_taken_up_where_it_broke(hub: LoopbackHub, tmp_path: Path) -> None:
    shard = next(iter(SHARDS))
    hub.cut = {shard: [100_000, 50_000]}
    pull(plan_pull(CARD, tmp_path))
    assert hub.downloads(shard) == ["", "bytes=100000-", "bytes=150000-"]
    assert (tmp_path / "tiny" / shard).read_bytes() == SHARDS[shard]


def test_an_interrupted_pull_goes_on_from_every_byte_that_it_has(
    hub: LoopbackHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(download, "CONNECTIONS", 1)
    first, second = SHARDS
    came = 0

    def interrupt(count: int) -> None:
        nonlocal came
        came += count
        if came >= 320_000:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pull(plan_pull(CARD, tmp_path), interrupt)
    folder = tmp_path / "tiny"
    assert (folder / first).read_bytes() == SHARDS[first]
    (part,) = folder.glob(f"{second}.*.part")
    have = part.stat().st_size
    assert 20_000 <= have == came - len(SHARDS[first]) < len(SHARDS[second])
    assert missing_weights(folder) == [f"{second} is not there"]
    again = plan_pull(CARD, tmp_path)
    assert again.missing == again.size - len(SHARDS[first]) - have
    hub.asked.clear()
    pull(again)
    assert (hub.downloads(first), hub.downloads(second)) == ([], [f"bytes={have}-"])
    assert (folder / second).read_bytes() == SHARDS[second]
    assert not list(folder.glob("*.part"))


def test_a_pull_whose_process_is_killed_goes_on_from_what_it_wrote(hub: LoopbackHub, tmp_path: Path) -> None:
    came = 0

    def kill(count: int) -> None:
        nonlocal came
        came += count
        if came >= 400_000:
            os.kill(os.getpid(), signal.SIGKILL)

    plan = plan_pull(CARD, tmp_path)
    child = multiprocessing.get_context("fork").Process(target=pull, args=(plan, kill))
    child.start()
    child.join()
    assert child.exitcode == -signal.SIGKILL
    folder = tmp_path / "tiny"
    assert missing_weights(folder)
    assert not (folder / "pulled.yaml").exists()
    wrote = {name: sum(part.stat().st_size for part in folder.glob(f"{name}.*.part")) for name in SHARDS}
    assert any(wrote.values())
    hub.asked.clear()
    pull(plan_pull(CARD, tmp_path))
    for name, size in wrote.items():
        assert (folder / name).read_bytes() == SHARDS[name]
        assert hub.downloads(name) in ([[f"bytes={size}-"], []] if size else [[""], []])


def test_a_finished_pull_fetches_nothing_again(hub: LoopbackHub, tmp_path: Path) -> None:
    pull(plan_pull(CARD, tmp_path))
    hub.asked.clear()
    plan = plan_pull(CARD, tmp_path)
    pull(plan)
    assert plan.missing == 0
    assert [path for _, path, _, _ in hub.asked if "resolve" in path] == []


def test_another_revision_replaces_files_that_have_the_same_size(hub: LoopbackHub, tmp_path: Path) -> None:
    pull(plan_pull(CARD, tmp_path))
    shard = next(iter(SHARDS))
    changed = b"x" * len(SHARDS[shard])
    hub.repositories["someone/tiny"] = Repository(FILES | {shard: changed}, commit="f" * 40)
    pull(plan_pull(CARD, tmp_path))
    assert (tmp_path / "tiny" / shard).read_bytes() == changed
    assert yaml.safe_load((tmp_path / "tiny" / "pulled.yaml").read_text())["revision"] == "f" * 40


@pytest.mark.parametrize("name", ["config.json", next(iter(SHARDS))])
def test_a_file_that_comes_damaged_is_not_kept(hub: LoopbackHub, tmp_path: Path, name: str) -> None:
    hub.spoilt = {name}
    with pytest.raises(InputError, match=f"{name} came damaged"):
        pull(plan_pull(CARD, tmp_path))
    assert not (tmp_path / "tiny" / name).exists()
    assert not (tmp_path / "tiny" / "pulled.yaml").exists()
    hub.spoilt = set()
    pull(plan_pull(CARD, tmp_path))
    assert (tmp_path / "tiny" / name).read_bytes() == FILES[name]


def test_a_gated_model_without_a_token_is_refused_before_the_network(hub: LoopbackHub, tmp_path: Path) -> None:
    card = CARD.model_copy(update={"name": "gated", "hub": "someone/gated", "gated": True})
    with pytest.raises(MissingError, match=r"gated and no token was found.*hf auth login"):
        plan_pull(card, tmp_path)
    assert hub.asked == []
    with pytest.raises(MissingError, match="gated and no token was found"):  # not told by a card, so the hub tells
        plan_pull(find_card("someone/gated"), tmp_path)


def test_a_token_opens_a_gated_model_and_a_wrong_one_does_not(
    hub: LoopbackHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    card = CARD.model_copy(update={"name": "gated", "hub": "someone/gated", "gated": True})
    monkeypatch.setenv("HF_TOKEN", "hf_wrong")
    with pytest.raises(MissingError, match="your token does not open it"):
        plan_pull(card, tmp_path)
    assert not (tmp_path / "gated").exists()
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    assert (pull(plan_pull(card, tmp_path)) / "config.json").is_file()


def test_the_token_goes_to_the_hub_alone(hub: LoopbackHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    with serving(LoopbackHub(hub.repositories)) as elsewhere:
        hub.cdn = elsewhere.url
        pull(plan_pull(find_card("someone/gated"), tmp_path))
        shard = next(iter(SHARDS))
        assert elsewhere.downloads(shard) == [""]
        assert {authorization for _, _, _, authorization in elsewhere.asked} == {""}
    assert {authorization for _, _, _, authorization in hub.asked} == {f"Bearer {TOKEN}"}


def test_a_small_disk_is_told_before_anything_is_downloaded(
    hub: LoopbackHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage(tmp_path)._replace(free=600_000)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage)
    with pytest.raises(WriteError, match=r"needs 0\.0 GiB on the disk of .*tiny, where 0\.0 GiB are free.*--to"):
        plan_pull(CARD, tmp_path)
    assert not (tmp_path / "tiny").exists()


@pytest.mark.parametrize(
    ("name", "revision", "complaint"),
    [("nobody/nothing", "main", "has no model 'nobody/nothing'"), ("someone/tiny", "a" * 40, "not the revision")],
)
def test_what_the_hub_does_not_have_is_said(hub: LoopbackHub, tmp_path: Path, name: str, revision: str, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        plan_pull(CARD.model_copy(update={"hub": name, "revision": revision}), tmp_path)


def test_a_model_without_readable_weights_and_one_from_a_wheel_are_refused(hub: LoopbackHub, tmp_path: Path) -> None:
    hub.repositories["someone/tiny"] = Repository({"config.json": b"{}", "model.gguf": b"x"})
    with pytest.raises(InputError, match="holds no weights"):
        plan_pull(CARD, tmp_path)
    with pytest.raises(InputError, match="nothing to pull"):
        plan_pull(load_card("minilm"), tmp_path)


def test_no_network_is_one_sentence_with_the_way_round(
    hub: LoopbackHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at("http://127.0.0.1:1", monkeypatch)
    with pytest.raises(MissingError, match=r"cannot be reached.*copy the folder into models/weights"):
        plan_pull(CARD, tmp_path)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(MissingError, match="HF_HUB_OFFLINE is set"):
        plan_pull(CARD, tmp_path)


@pytest.mark.parametrize("page", ["LICENSE", "config.json"])
def test_a_page_of_something_else_is_not_taken_for_the_hub(
    hub: LoopbackHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, page: str
) -> None:
    at(f"{hub.url}/someone/tiny/resolve/main/{page}?", monkeypatch)
    with pytest.raises(MissingError, match="is not the Hugging Face hub"):
        plan_pull(CARD, tmp_path)


def test_two_pulls_into_one_folder_are_one_too_many(hub: LoopbackHub, tmp_path: Path) -> None:
    plan = plan_pull(CARD, tmp_path)
    plan.folder.mkdir()
    with download.alone(plan.folder), pytest.raises(InputError, match="Another process downloads"):
        pull(plan)


def test_bin_is_taken_where_there_is_nothing_safer() -> None:
    files = [RemoteFile(name, 1, "") for name in ("pytorch_model.bin", "config.json", "training_args.bin", "tf_model.h5")]
    assert [file.name for file in choose_files(files)] == ["pytorch_model.bin", "config.json"]
    assert [file.name for file in choose_files([RemoteFile("consolidated.safetensors", 1, "")])] == ["consolidated.safetensors"]


@pytest.mark.parametrize(
    "listed",
    [
        ("config.json", 2, "/../../../outside"),
        ("config.json", -1, "0" * 40),
        ("config.json", "2", "0" * 40),
        ("config.json", 10**30, "0" * 40),
    ],
)
def test_a_hash_or_a_size_that_no_file_has_makes_no_path(listed: tuple[str, int, str]) -> None:
    with pytest.raises((ValueError, TypeError)):
        download.remote_file(*listed)


@pytest.mark.parametrize(
    "name", ["a\0.json", "a\n.json", "a//b.json", "x" * 300 + ".json", "a/../../b.json", "/a.json", "a\\b.json"]
)
def test_names_that_are_no_path_below_the_folder_are_left_out(name: str) -> None:
    weights = RemoteFile("model.safetensors", 1, "0" * 40)
    assert choose_files([weights, RemoteFile(name, 1, "0" * 40)]) == [weights]


def test_more_bytes_than_the_hub_told_of_are_not_written(hub: LoopbackHub, tmp_path: Path) -> None:
    plan = plan_pull(CARD, tmp_path)
    short = [replace(file, size=file.size - 100_000) if file.size > 200_000 else file for file in plan.files]
    with pytest.raises(InputError, match="longer on the hub than the hub says"):
        pull(replace(plan, files=tuple(short)))
    assert max(file.stat().st_size for file in (tmp_path / "tiny").iterdir()) <= 200_000


def test_a_pull_writes_through_no_link(hub: LoopbackHub, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    (tmp_path / "tiny").mkdir()
    (tmp_path / "tiny" / ".pull.lock").symlink_to(tmp_path / "mine.txt")
    with pytest.raises(InputError, match="symbolic link"):
        pull(plan_pull(CARD, tmp_path))
    assert (tmp_path / "mine.txt").read_text() == "mine"


def test_a_tokenizer_alone_is_pulled_beside_no_weights_which_can_follow(hub: LoopbackHub, tmp_path: Path) -> None:
    home = tmp_path / "models" / "weights"
    plan = plan_pull(CARD, home, tokenizer_only=True)
    assert not any(file.name.endswith((".safetensors", ".bin")) for file in plan.files)
    folder = pull(plan)
    assert tokenizer_folder(CARD) == (folder, COMMIT)
    with pytest.raises(MissingError, match="not on this machine"):
        weights_folder(CARD)
    assert weights_folder(load_card(str(pull(plan_pull(CARD, home))))) == folder
    with pytest.raises(InputError, match="its tokenizer with them"):
        plan_pull(CARD, home, tokenizer_only=True)
