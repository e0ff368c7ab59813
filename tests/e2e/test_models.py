"""The commands about models, as a user would try them; the hub is one on loopback."""

import json
import struct
from pathlib import Path
from typing import Any

import pytest
from commands import CommandLine
from loopback_hub import COMMIT, TOKEN, LoopbackHub, Repository, serving

CONFIG = {
    "architectures": ["LlamaForCausalLM"],
    "dtype": "float32",
    "hidden_size": 64,
    "num_attention_heads": 4,
    "num_hidden_layers": 2,
    "vocab_size": 10,
    "max_position_embeddings": 512,
}


def tensors(count: int) -> bytes:
    """A .safetensors file of one tensor of so many bytes."""
    header = json.dumps({"x": {"dtype": "U8", "shape": [count], "data_offsets": [0, count]}}).encode()
    return struct.pack("<Q", len(header)) + header + bytes(count)


FILES = {
    "config.json": json.dumps(CONFIG).encode(),
    "tokenizer.json": b"{}",
    "chat_template.jinja": b"{{ messages }}",
    "model.safetensors": tensors(50_000),
}


@pytest.fixture
def lonely(localfact: CommandLine, tmp_path: Path) -> CommandLine:
    """The command line of a user with empty caches, no token, and no hub."""
    nowhere = {"HF_HOME": str(tmp_path / "hf"), "XDG_CACHE_HOME": str(tmp_path / "cache"), "HF_ENDPOINT": "http://127.0.0.1:1"}
    kept = {name: value for name, value in localfact.environment.items() if not name.startswith(("HF_", "LOCALFACT_"))}
    localfact.environment = kept | nowhere
    return localfact


def answer(command: CommandLine, *words: str | Path) -> Any:
    done = command("models", *words, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.slow
def test_list_names_every_card_and_what_is_here(lonely: CommandLine) -> None:
    rows = {row["name"]: row for row in answer(lonely, "list")}
    assert len(rows) >= 13
    assert rows["minilm"]["weights"] is not None
    assert (rows["llama-3.1-70b"]["gated"], rows["llama-3.1-70b"]["weights"]) == (True, None)
    assert (rows["ms-marco-minilm"]["roles"], rows["ms-marco-minilm"]["weights"]) == (["reranker"], None)
    shown = lonely("models", "list").stdout
    assert {"yes", "never"} <= set(shown.split())  # minilm is here; most were never run


@pytest.mark.slow
def test_show_tells_the_card_and_why_it_would_not_run_here(lonely: CommandLine) -> None:
    shown = answer(lonely, "show", "deepseek-v3")
    assert (shown["hub"], shown["weights_gib"]) == ("deepseek-ai/DeepSeek-V3", {"stored": 641.3})
    assert "here" in shown
    assert "deepseek-ai/DeepSeek-V3" in lonely("models", "show", "deepseek-v3").stdout
    assert lonely("models", "show", "no-such-model").returncode == 3


@pytest.mark.slow
def test_pull_brings_a_model_that_check_then_finds_fit(lonely: CommandLine, tmp_path: Path) -> None:
    with serving(LoopbackHub({"someone/tiny": Repository(FILES, gated=True)})) as hub:
        lonely.environment["HF_ENDPOINT"] = hub.url
        refused = lonely("models", "pull", "someone/tiny", "--to", tmp_path / "weights")
        assert refused.returncode == 3
        assert "hf auth login" in refused.stderr
        lonely.environment["HF_TOKEN"] = TOKEN
        pulled = answer(lonely, "pull", "someone/tiny", "--to", tmp_path / "weights")
        assert all("/someone/tiny/" in path for _, path, _, _ in hub.asked)  # nothing is told or asked besides
    assert pulled == {
        "hub": "someone/tiny",
        "revision": COMMIT,
        "folder": str(tmp_path / "weights" / "tiny"),
        "bytes": sum(map(len, FILES.values())),
    }
    lonely.environment |= {"LOCALFACT_WEIGHTS": str(tmp_path / "weights"), "HF_ENDPOINT": "http://127.0.0.1:1"}
    (found,) = answer(lonely, "check", "someone/tiny")
    assert (found["found"], found["revision"], found["problems"], found["remarks"]) == (True, COMMIT, [], [])
    assert found["machine"]["window"] == 512
    assert answer(lonely, "show", "someone/tiny")["identity"] == f"tiny@{COMMIT[:12]}"


@pytest.mark.slow
def test_a_pull_that_was_killed_goes_on(lonely: CommandLine, tmp_path: Path) -> None:
    content = tensors(400_000)
    repository = Repository(FILES | {"model.safetensors": content})
    with serving(LoopbackHub({"someone/tiny": repository})) as hub:
        lonely.environment["HF_ENDPOINT"] = hub.url
        hub.cut = {"model.safetensors": [150_000, 0]}  # a break, and none that comes back: the command gives up
        broken = lonely("models", "pull", "someone/tiny", "--to", tmp_path)
        assert broken.returncode == 3
        assert "what came is kept" in broken.stderr
        assert answer(lonely, "pull", "someone/tiny", "--to", tmp_path)["revision"] == COMMIT
        assert hub.downloads("model.safetensors") == ["", "bytes=150000-", "bytes=150000-"]
    assert (tmp_path / "tiny" / "model.safetensors").read_bytes() == content


@pytest.mark.slow
def test_a_disk_that_fills_is_one_sentence_and_the_same_command_goes_on(lonely: CommandLine, tmp_path: Path) -> None:
    content = tensors(400_000)
    with serving(LoopbackHub({"someone/tiny": Repository(FILES | {"model.safetensors": content})})) as hub:
        lonely.environment["HF_ENDPOINT"] = hub.url
        full = lonely("models", "pull", "someone/tiny", "--to", tmp_path, largest_file=100_000)
        assert full.returncode == 2
        assert "cannot be written" in full.stderr
        assert "the same command goes on" in full.stderr
        assert "Traceback" not in full.stderr
        assert answer(lonely, "pull", "someone/tiny", "--to", tmp_path)["revision"] == COMMIT
        assert hub.downloads("model.safetensors") == ["", "bytes=100000-"]
    assert (tmp_path / "tiny" / "model.safetensors").read_bytes() == content


@pytest.mark.slow
def test_pull_without_a_network_is_one_sentence(lonely: CommandLine, tmp_path: Path) -> None:
    done = lonely("models", "pull", "qwen2.5-0.5b", "--to", tmp_path)
    assert done.returncode == 3
    assert "cannot be reached" in done.stderr
    assert "Traceback" not in done.stderr
    lonely.environment["HF_HUB_OFFLINE"] = "1"
    offline = lonely("models", "pull", "qwen2.5-0.5b", "--to", tmp_path)
    assert offline.returncode == 3
    assert "HF_HUB_OFFLINE is set" in offline.stderr


@pytest.mark.slow
def test_check_tells_what_is_wrong_with_a_folder(lonely: CommandLine, tmp_path: Path) -> None:
    folder = tmp_path / "tiny"
    folder.mkdir()
    for name, content in FILES.items():
        (folder / name).write_bytes(content)
    assert answer(lonely, "check", folder)[0]["problems"] == []
    (folder / "chat_template.jinja").unlink()
    assert answer(lonely, "check", folder)[0]["remarks"] == ["no chat template: messages are sent as plain text"]
    (folder / "model.safetensors").write_bytes(tensors(50_000)[:-1])
    (folder / "tokenizer.json").unlink()
    (folder / "config.json").write_text("{")
    done = lonely("models", "check", folder, "--json")
    assert done.returncode == 2
    damaged, config, tokenizer = json.loads(done.stdout)[0]["problems"]
    assert "damaged or cut short" in damaged
    assert "config.json cannot be read" in config
    assert "no tokenizer" in tokenizer
    assert "PROBLEM" in lonely("models", "check", folder).stdout


@pytest.mark.slow
@pytest.mark.parametrize(("stated", "outputs"), [({"id2label": {"0": "LABEL_0"}}, 1), ({"num_labels": 1}, 1), ({}, 2)])
def test_check_tells_a_reranker_by_its_one_output(
    lonely: CommandLine, tmp_path: Path, stated: dict[str, Any], outputs: int
) -> None:
    folder = tmp_path / "tiny"
    folder.mkdir()
    for name, content in FILES.items():
        (folder / name).write_bytes(content)
    (folder / "config.json").write_text(json.dumps(CONFIG | stated))
    card = tmp_path / "tiny.yaml"
    card.write_text(f"{{name: tiny, revision: abc, roles: [reranker], folder: {folder}}}")
    done = lonely("models", "check", card, "--json")
    expected = [] if outputs == 1 else [f"{folder}: the model has 2 outputs; a reranker has one"]
    assert json.loads(done.stdout)[0]["problems"] == expected
    assert done.returncode == (0 if outputs == 1 else 2)


@pytest.mark.slow
def test_check_says_before_loading_that_a_model_is_too_big(lonely: CommandLine, tmp_path: Path) -> None:
    folder = tmp_path / "huge"
    folder.mkdir()
    for name, content in FILES.items():
        (folder / name).write_bytes(content)
    header = json.dumps({"x": {"dtype": "U8", "shape": [1 << 43], "data_offsets": [0, 1 << 43]}}).encode()
    with (folder / "model.safetensors").open("wb") as file:  # 8 TiB of nothing, which the disk keeps as a hole
        file.write(struct.pack("<Q", len(header)) + header)
        try:
            file.truncate(8 + len(header) + (1 << 43))
        except OSError:
            pytest.skip("this file system keeps no files of 8 TiB")
    card = tmp_path / "huge.yaml"
    card.write_text(f"{{name: huge, revision: abc, roles: [llm], folder: {folder}}}")  # a card, so that nothing is hashed
    done = lonely("models", "check", card, "--json")
    assert done.returncode == 2
    assert "is too big for this machine" in json.loads(done.stdout)[0]["problems"][0]


@pytest.mark.slow
def test_check_tells_of_a_difference_whether_its_base_is_here_and_it_is_whole(lonely: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "difference").mkdir()
    (tmp_path / "difference" / "adapter.safetensors").write_bytes(tensors(100))
    fields = {"name": "mine", "roles": ["claims"], "folder": "difference", "base": "qwen2.5-0.5b", "revision": "sha256:1"}
    (tmp_path / "mine.yaml").write_text(json.dumps(fields))
    lonely.environment["LOCALFACT_WEIGHTS"] = str(tmp_path / "weights")
    missing = lonely("models", "check", "mine.yaml")
    assert missing.returncode == 3
    assert "localfact models pull qwen2.5-0.5b" in " ".join(missing.stdout.split())
    base = tmp_path / "weights" / "qwen2.5-0.5b"
    base.mkdir(parents=True)
    for name, content in FILES.items():
        (base / name).write_bytes(content)
    assert lonely("models", "check", "mine.yaml").returncode == 0
    (tmp_path / "difference" / "adapter.safetensors").write_bytes(tensors(100)[:-1])
    damaged = lonely("models", "check", "mine.yaml")
    assert damaged.returncode == 2
    assert "damaged or cut short" in " ".join(damaged.stdout.split())


@pytest.mark.slow
def test_check_without_a_name_looks_at_what_is_here(lonely: CommandLine) -> None:
    minilm = next(finding for finding in answer(lonely, "check") if finding["model"] == "minilm")
    assert (minilm["problems"], minilm["machine"]) == ([], None)
    missing = lonely("models", "check", "llama-3.1-70b")
    assert missing.returncode == 3
    assert "localfact models pull llama-3.1-70b" in " ".join(missing.stdout.split())
