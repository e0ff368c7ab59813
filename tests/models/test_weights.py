"""Where weights are found, when they count as there, and which commit of the hub they are of."""

import json
import shutil
from pathlib import Path

import pytest
from loopback_hub import COMMIT, LoopbackHub, Repository, serving

from localfact.errors import MissingError
from localfact.models import weights
from localfact.models.cards import load_card, resolve_card, weights_folder
from localfact.models.files import content_hash, git_hash
from localfact.models.model_card import ModelCard
from localfact.models.weights import find_weights, hub_cache, missing_weights, read_pulled, revision_of

HUB = "someone/tiny"
CARD = ModelCard(name="tiny", hub=HUB, revision=COMMIT, roles=("llm",))
OTHER = "f" * 40


@pytest.fixture(autouse=True)
def own_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A current folder, a cache and a folder of weights that hold nothing."""
    for name in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("LOCALFACT_WEIGHTS", str(tmp_path / "own"))
    monkeypatch.chdir(tmp_path)


def put(folder: Path, *names: str, revision: str | None = None, hub: str = HUB) -> Path:
    """A folder with such files of weights, and what `models pull` writes beside them."""
    folder.mkdir(parents=True)
    for name in names or ("model.safetensors",):
        (folder / name).write_bytes(name.encode())
    if revision is not None:
        marks = {file.name: git_hash(file) for file in folder.iterdir()}
        (folder / "pulled.yaml").write_text(json.dumps({"hub": hub, "revision": revision, "files": marks}))
    return folder


def in_cache(tmp_path: Path, commit: str, branch: str = "main") -> Path:
    repository = tmp_path / "cache" / "huggingface" / "hub" / "models--someone--tiny"
    (repository / "refs").mkdir(parents=True)
    (repository / "refs" / branch).write_text(commit)
    return put(repository / "snapshots" / commit)


def test_the_places_are_looked_at_in_their_order(tmp_path: Path) -> None:
    cached = in_cache(tmp_path, COMMIT)
    assert find_weights("tiny", HUB, COMMIT) == cached
    own = put(tmp_path / "own" / "tiny", revision=COMMIT)
    assert find_weights("tiny", HUB, COMMIT) == own
    here = put(tmp_path / "models" / "weights" / "tiny", revision=COMMIT)
    assert find_weights("tiny", HUB, COMMIT) == here


def test_weights_of_a_checkout_come_before_those_of_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checkout = tmp_path / "checkout"
    checkout.mkdir()
    (checkout / "pyproject.toml").touch()
    monkeypatch.setattr(weights, "CHECKOUT", checkout)
    put(tmp_path / "models" / "weights" / "tiny", revision=COMMIT)
    first = put(checkout / "models" / "weights" / "tiny", revision=COMMIT)
    assert find_weights("tiny", HUB, COMMIT) == first


def test_a_branch_stands_for_the_commit_that_is_in_the_cache(tmp_path: Path) -> None:
    cached = in_cache(tmp_path, OTHER)
    assert find_weights("tiny", HUB, "main") == cached
    assert find_weights("tiny", HUB, COMMIT) is None  # a card that names a commit wants that one


def test_missing_weights_are_one_sentence_with_the_three_places_and_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(MissingError) as missed:
        weights_folder(CARD)
    message = str(missed.value)
    for told in (
        str(tmp_path / "models" / "weights" / "tiny"),
        "$LOCALFACT_WEIGHTS/tiny",
        f"the Hugging Face cache {tmp_path / 'cache' / 'huggingface' / 'hub'}",
        "localfact models pull someone/tiny",
    ):
        assert told in message
    assert ". " not in message
    monkeypatch.delenv("LOCALFACT_WEIGHTS")
    with pytest.raises(MissingError, match=r"\$LOCALFACT_WEIGHTS \(not set\)"):
        weights_folder(CARD)


@pytest.mark.parametrize(
    ("names", "revision", "hub", "state"),
    [
        (("model-00001-of-00003.safetensors",), None, HUB, "unfinished, model-00002-of-00003.safetensors is not there"),
        (("model.safetensors",), OTHER, HUB, "another revision, ffffffffffff"),
        (("model.safetensors",), COMMIT, "else/tiny", "another model, else/tiny"),
    ],
)
def test_weights_that_are_not_the_ones_are_passed_over_and_told(
    tmp_path: Path, names: tuple[str, ...], revision: str | None, hub: str, state: str
) -> None:
    put(tmp_path / "own" / "tiny", *names, revision=revision, hub=hub)
    with pytest.raises(MissingError, match=state):
        weights_folder(CARD)


def test_weights_that_were_copied_there_are_known_by_their_hash(tmp_path: Path) -> None:
    folder = put(tmp_path / "own" / "tiny")
    card = resolve_card(CARD)
    assert card.folder == folder
    assert card.revision == content_hash(folder) == load_card(str(folder)).revision


def noted(folder: Path, commit: str, *names: str) -> Path:
    """What `hf download --local-dir` notes beside such files."""
    notes = folder / ".cache" / "huggingface" / "download"
    notes.mkdir(parents=True, exist_ok=True)
    for name in names:
        (notes / f"{name}.metadata").write_text(f"{commit}\n{git_hash(folder / name)}\n1.0\n")
    return folder


def test_weights_that_the_hub_s_own_tool_fetched_are_known_by_their_commit(tmp_path: Path) -> None:
    folder = put(tmp_path / "own" / "tiny", "model.safetensors", "config.json")
    noted(folder, COMMIT, "model.safetensors", "config.json")
    assert resolve_card(CARD).revision == COMMIT
    noted(folder, OTHER, "config.json")  # of another commit than the weights
    assert revision_of(folder) == content_hash(folder)


def test_a_pulled_model_is_its_commit_under_any_name_until_a_file_is_edited(tmp_path: Path) -> None:
    folder = put(tmp_path / "own" / "tiny", "model.safetensors", "config.json", "README.md", revision=COMMIT)
    assert resolve_card(CARD).revision == COMMIT
    copy = Path(shutil.copytree(folder, tmp_path / "copy"))
    assert load_card(str(copy)).revision == COMMIT
    (folder / "README.md").write_text("read by people alone")
    assert resolve_card(CARD).revision == COMMIT
    for name in ("config.json", "model.safetensors"):
        before = (folder / name).read_bytes()
        (folder / name).write_bytes(bytes(reversed(before)))
        assert resolve_card(CARD).revision == content_hash(folder) == load_card(str(folder)).revision
        (folder / name).write_bytes(before)
    assert resolve_card(CARD).revision == COMMIT
    (folder / "generation_config.json").write_text("{}")  # which the commit does not have
    assert resolve_card(CARD).revision == content_hash(folder)


def test_a_commit_that_nothing_vouches_for_is_not_believed(tmp_path: Path) -> None:
    folder = put(tmp_path / "own" / "tiny", revision=COMMIT)
    (folder / "pulled.yaml").write_text(f"{{hub: {HUB}, revision: {COMMIT}}}")
    assert resolve_card(CARD).revision == content_hash(folder)


def test_what_huggingface_hub_caches_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from huggingface_hub import snapshot_download

    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    files = {"config.json": b"{}", "model.safetensors": b"w" * 2000}
    with serving(LoopbackHub({HUB: Repository(files)})) as hub:
        cached = snapshot_download(HUB, cache_dir=hub_cache(), endpoint=hub.url, token=False)
    found = find_weights("tiny", HUB, "main")
    assert found == Path(cached)
    assert revision_of(found) == COMMIT
    config = found / "config.json"
    config.unlink()  # an editor puts a file of its own in the link's place
    config.write_text('{"rope_theta": 1}')
    assert revision_of(found) == content_hash(found)


def test_the_cache_is_where_its_variables_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert hub_cache() == tmp_path / "cache" / "huggingface" / "hub"
    monkeypatch.setenv("HF_HOME", "/hf")
    assert hub_cache() == Path("/hf/hub")
    monkeypatch.setenv("HF_HUB_CACHE", "/elsewhere")
    assert hub_cache() == Path("/elsewhere")


def test_every_shard_of_an_index_must_be_there(tmp_path: Path) -> None:
    folder = put(tmp_path / "model", "a.safetensors")
    index = {"weight_map": {"x": "a.safetensors", "y": "b.safetensors"}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))

    assert missing_weights(folder) == ["b.safetensors is not there"]
    (folder / "b.safetensors").touch()
    assert missing_weights(folder) == []
    (folder / "model.safetensors.index.json").write_text("[]")
    assert missing_weights(folder) == ["model.safetensors.index.json is not an index of weights"]


def test_one_whole_format_is_enough(tmp_path: Path) -> None:
    folder = put(tmp_path / "model", "model.safetensors", "pytorch_model-00001-of-00002.bin")
    assert missing_weights(folder) == []


def test_a_note_that_is_damaged_is_no_note(tmp_path: Path) -> None:
    folder = put(tmp_path / "model")
    for text in ("[unclosed", "- 1", "{hub: a/b}"):
        (folder / "pulled.yaml").write_text(text)
        assert read_pulled(folder) is None
