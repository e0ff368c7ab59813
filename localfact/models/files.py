"""Which files in a model's folder decide its answers, and their hashes.

Weights as they are loaded, configuration, tokenizer and chat template decide. The folder's name and other files do not.
"""

import hashlib
import json
import os
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from localfact.runtime.files import file_digest
from localfact.runtime.locations import user_folder

WEIGHT_PATTERNS = ("*.safetensors", "*.bin")
#: Files that trainers leave beside the weights with the same suffix; no engine loads them.
LEFT_BY_TRAINERS = ("training_args.bin", "optimizer.bin", "scheduler.bin", "scaler.bin")
INDEX = "model.safetensors.index.json"
TOKENIZER_FILES = ("tokenizer.json", "tokenizer.model", "spiece.model", "vocab.txt", "vocab.json", "tekken.json")
#: Files besides the weights that decide the answers of a language model or an embedder.
CONFIGURATION = (
    *TOKENIZER_FILES,
    *("tokenizer_config.json", "special_tokens_map.json", "added_tokens.json", "merges.txt", "sentencepiece.bpe.model"),
    *("config.json", "generation_config.json", "params.json", "chat_template.jinja", "chat_template.json"),
    *("hf_quant_config.json", "quantize_config.json", "quant_config.json"),
    *("modules.json", "config_sentence_transformers.json", "sentence_bert_config.json"),
)
#: The folders of an embedder's further modules: 1_Pooling, 2_Dense.
MODULES = "[0-9]_*"
#: A configuration with this key runs the model's own code, which then lies beside it.
CODE = b'"auto_map"'

#: Hashes of files from this size in bytes on are stored between runs: reading 140 GB takes minutes.
KEPT_BYTES = 64 << 20
#: A file changed less than so many seconds ago may change again within the same tick of the file system's clock.
SETTLED_SECONDS = 2.0
#: Files hashed at once.
HASHERS = 4
CHUNK = 1 << 20
#: Lengths of the hub's hashes in hexadecimal digits: SHA-256 of large files, git's object id of others.
SHA256_DIGITS, GIT_DIGITS = 64, 40


def weight_files(folder: Path) -> list[Path]:
    """The files of weights in a folder, by name, in every format that is there."""
    found = (file for pattern in WEIGHT_PATTERNS for file in folder.glob(pattern))
    return sorted(file for file in found if not file.name.endswith(LEFT_BY_TRAINERS))


def weights_to_load(folder: Path) -> list[Path]:
    """The files of weights that are loaded: those in one format where a folder has two, and only those that an index names."""
    files = weight_files(folder)
    safe = [file for file in files if file.suffix == ".safetensors"]
    try:
        indexed = set(json.loads((folder / INDEX).read_text(encoding="utf-8"))["weight_map"].values())
    except (OSError, ValueError, RecursionError, KeyError, TypeError, AttributeError):
        return safe or files
    # Mistral's own files are in no index; vLLM prefers them to all others.
    return [file for file in safe if file.name in indexed or file.name.startswith("consolidated")] or safe or files


def configuration_files(folder: Path) -> list[Path]:
    """The files besides the weights that decide answers, by name."""
    found = [file for name in CONFIGURATION if (file := folder / name).is_file()]
    for module in folder.glob(MODULES):
        found += [file for file in (module / "config.json", *weight_files(module)) if file.is_file()]
    code = folder.glob("*.py") if any(CODE in file.read_bytes() for file in found if file.name.endswith("config.json")) else ()
    return sorted([*found, *code])


def content_hash(folder: Path) -> str:
    """The hash of all that decides a model's answers, as "sha256:...", so that a changed file makes another model.

    Weights count by content alone, other files by name and content. The hash of a large file is computed once, and again only
    when the file's size, inode or times have changed.
    """
    weights, others = weights_to_load(folder), configuration_files(folder)
    with ThreadPoolExecutor(HASHERS) as pool:
        hashes = list(pool.map(hash_of_file, [*weights, *others]))
    lines = sorted(f"weights {one}" for one in hashes[: len(weights)])
    lines += [f"{name_in(folder, file)} {one}" for file, one in zip(others, hashes[len(weights) :], strict=True)]
    return "sha256:" + hashlib.sha256("\n".join(lines).encode()).hexdigest()


def is_as_marked(folder: Path, marks: Mapping[str, str]) -> bool:
    """Whether every file that decides answers has the hub's hash for it (name in the folder -> hash)."""
    files = [*weights_to_load(folder), *configuration_files(folder)]
    if not all(name_in(folder, file) in marks for file in files):
        return False
    with ThreadPoolExecutor(HASHERS) as pool:
        return all(pool.map(lambda file: has_mark(file, marks[name_in(folder, file)]), files))


def name_in(folder: Path, file: Path) -> str:
    """A file's name in its folder, with slashes, as the hub has it."""
    return file.relative_to(folder).as_posix()


def has_mark(file: Path, mark: str) -> bool:
    """Whether a file's content has the hub's hash `mark`: its SHA-256, or its git object id."""
    if len(mark) == SHA256_DIGITS:
        return hash_of_file(file) == mark
    return len(mark) == GIT_DIGITS and git_hash(file) == mark


def git_hash(file: Path) -> str:
    """The git object id of a file's content."""
    digest = hashlib.sha1(f"blob {file.stat().st_size}\0".encode(), usedforsecurity=False)
    with file.open("rb") as stream:
        while chunk := stream.read(CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def hash_of_file(file: Path) -> str:
    """SHA-256 of a file in hexadecimal, stored between runs where the file is large."""
    before = signature(file)
    large = before["size"] >= KEPT_BYTES
    if large:
        try:
            entry = json.loads(memory_of(file).read_text(encoding="utf-8"))
            if entry["signature"] == before:
                return str(entry["sha256"])
        except (OSError, ValueError, RecursionError, KeyError, TypeError):
            pass
    computed = file_digest(file)
    settled = time.time() - max(before["modified"], before["changed"]) / 1e9 > SETTLED_SECONDS
    if large and settled and signature(file) == before:
        write_if_possible(memory_of(file), json.dumps({"signature": before, "sha256": computed}))
    return computed


def remember(file: Path, sha256: str) -> None:
    """Stores the hash of a large file that the caller has just verified, so that `hash_of_file` need not read it."""
    status = signature(file)
    if status["size"] >= KEPT_BYTES:
        write_if_possible(memory_of(file), json.dumps({"signature": status, "sha256": sha256}))


def signature(file: Path) -> dict[str, int]:
    """Properties of a file that change when it is written to."""
    status = file.stat()
    return {
        "size": status.st_size,
        "inode": status.st_ino,
        "modified": status.st_mtime_ns,
        "changed": status.st_ctime_ns,
    }


def memory_of(file: Path) -> Path:
    """The file in which a file's hash is stored."""
    return hash_store() / f"{hashlib.sha256(os.fsencode(file.resolve())).hexdigest()}.json"


def hash_store() -> Path:
    """The folder in which hashes of large files are stored; it can be deleted at any time."""
    return user_folder("XDG_CACHE_HOME", "~/.cache") / "localfact" / "hashes"


def write_if_possible(file: Path, text: str) -> None:
    """Writes a file completely or not at all; errors are ignored."""
    passing = file.with_suffix(f".{os.getpid()}")
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        passing.write_text(text, encoding="utf-8")
        passing.replace(file)
    with suppress(OSError):
        passing.unlink()
