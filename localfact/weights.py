"""Where the weights of a model lie on this machine, and which weights they are. Asks no network. Beside the road.

Three places are looked at in turn: models/weights/NAME (of the checkout, then of the current folder), $LOCALFACT_WEIGHTS/NAME,
the Hugging Face cache. An unfinished download counts as absent.
"""

import hashlib
import json
import os
import re
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import yaml
from pydantic import ValidationError

from localfact.files import file_digest
from localfact.locations import CHECKOUT
from localfact.records import Record

WEIGHT_PATTERNS = ("*.safetensors", "*.bin")
#: A commit of the hub; every other revision is the name of a branch or tag, which can move.
COMMIT = re.compile(r"[0-9a-f]{40}")
SHARD = re.compile(r"(?P<stem>.+)-(?P<number>\d{5})-of-(?P<count>\d{5})(?P<suffix>\.\w+)")
#: What `localfact models pull` writes last into a folder: a folder without it was copied there, or is unfinished.
PULLED_FILE = "pulled.yaml"
WEIGHTS_VARIABLE = "LOCALFACT_WEIGHTS"

#: Hashes of files from this size on are kept between runs: reading 140 GB takes minutes.
KEPT_BYTES = 64 << 20
#: A file changed less than so many seconds ago may change again within the same tick of the file system's clock.
SETTLED_SECONDS = 2.0
#: Files hashed at once.
HASHERS = 4


class Pulled(Record):
    """Where the weights in a folder came from: the id on the hub and the commit there."""

    hub: str
    revision: str


@dataclass(frozen=True)
class Place:
    """One place that weights may lie in.

    Attributes:
        shown: the place as told to a user. folder: None where the place itself does not exist. revision: the commit, if the
            place alone says it.
    """

    shown: str
    folder: Path | None
    revision: str | None = None


@dataclass(frozen=True)
class Found:
    """Weights that are all there, and their commit on the hub; None where nothing beside them tells it."""

    folder: Path
    revision: str | None


def weights_homes() -> list[Path]:
    """The folders models/weights of the checkout, if this is one, and of the current folder."""
    bases = [CHECKOUT] if (CHECKOUT / "pyproject.toml").is_file() else []
    if Path.cwd() not in bases:
        bases.append(Path.cwd())
    return [base / "models" / "weights" for base in bases]


def hub_cache() -> Path:
    """The Hugging Face cache, found as huggingface_hub finds it, without importing that."""
    for variable in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"):
        if os.environ.get(variable):
            return Path(os.environ[variable]).expanduser()
    home = os.environ.get("HF_HOME") or Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "huggingface"
    return Path(home).expanduser() / "hub"


def places(name: str, hub: str, revision: str) -> Iterator[Place]:
    """Where weights of that name, hub id and revision are looked for, in this order."""
    for home in weights_homes():
        yield Place(str(home / name), home / name)
    own = os.environ.get(WEIGHTS_VARIABLE)
    yield (
        Place(f"${WEIGHTS_VARIABLE}/{name}", Path(own).expanduser() / name)
        if own
        else Place(f"${WEIGHTS_VARIABLE} (not set)", None)
    )
    repository = hub_cache() / f"models--{hub.replace('/', '--')}"
    commit = revision
    if not COMMIT.fullmatch(revision):
        branch = repository / "refs" / revision
        commit = branch.read_text(encoding="utf-8").strip() if branch.is_file() else ""
    yield Place(
        f"the Hugging Face cache {hub_cache()}", repository / "snapshots" / commit if commit else None, revision=commit or None
    )


def find_weights(name: str, hub: str, revision: str) -> Found | None:
    """The first place that holds all of the weights, at the wanted commit as far as the place tells."""
    for place in places(name, hub, revision):
        if place.folder is None or state_of(place, hub, revision):
            continue
        pulled = pulled_of(place.folder)
        return Found(place.folder, place.revision or (pulled.revision if pulled else None))
    return None


def state_of(place: Place, hub: str, revision: str) -> str:
    """What keeps a place from being used; "" for nothing."""
    if place.folder is None or not place.folder.is_dir():
        return "nothing there"
    missing = missing_weights(place.folder)
    if missing:
        return f"unfinished, {missing[0]}"
    pulled = pulled_of(place.folder)
    if pulled and pulled.hub not in ("", hub):
        return f"another model, {pulled.hub}"
    if pulled and COMMIT.fullmatch(revision) and pulled.revision != revision:
        return f"another revision, {pulled.revision[:12]}"
    return ""


def weight_files(folder: Path) -> list[Path]:
    """The files of weights in a folder, by name."""
    return sorted(file for pattern in WEIGHT_PATTERNS for file in folder.glob(pattern))


def missing_weights(folder: Path) -> list[str]:
    """What is not there of the weights: shards that an index, or another shard's own name, speaks of; or all."""
    present = {file.name for file in weight_files(folder)}
    if not present:
        return ["no weights"]
    wanted: set[str] = set()
    for index in folder.glob("*.index.json"):
        try:
            wanted |= set(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values())
        except (ValueError, KeyError, TypeError, AttributeError):
            return [f"{index.name} is not an index of weights"]
    for shard in filter(None, map(SHARD.fullmatch, present)):
        count = int(shard["count"])
        wanted |= {f"{shard['stem']}-{number:05}-of-{count:05}{shard['suffix']}" for number in range(1, count + 1)}
    # A repository may carry the same weights twice (.safetensors and .bin); one whole set is enough.
    if any(file.endswith(".safetensors") for file in present):
        wanted = {file for file in wanted if file.endswith(".safetensors")}
    return [f"{file} is not there" for file in sorted(wanted - present)]


def pulled_of(folder: Path) -> Pulled | None:
    """Where the weights in a folder came from, as `models pull` or `hf download --local-dir` wrote it beside them."""
    try:
        return Pulled.model_validate(yaml.safe_load((folder / PULLED_FILE).read_text(encoding="utf-8")))
    except (OSError, yaml.YAMLError, UnicodeDecodeError, ValidationError):
        pass
    try:
        lines = (folder / ".cache/huggingface/download/config.json.metadata").read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return None
    return Pulled(hub="", revision=lines[0]) if lines and COMMIT.fullmatch(lines[0]) else None


def hash_of_weights(folder: Path) -> str:
    """ "sha256:" and the hash of all weights in a folder, so that changed weights are another model.

    The hash of a large file is computed once, and again only when size, inode or a time of the file has changed.
    """
    digest = hashlib.sha256()
    with ThreadPoolExecutor(HASHERS) as pool:
        for one in pool.map(hash_of_file, weight_files(folder)):
            digest.update(bytes.fromhex(one))
    return f"sha256:{digest.hexdigest()}"


def hash_of_file(file: Path) -> str:
    """SHA-256 of a file in hexadecimal, remembered between runs where the file is large."""
    before = signature(file)
    kept = hash_store() / f"{hashlib.sha256(str(file.resolve()).encode()).hexdigest()}.json"
    large = before["size"] >= KEPT_BYTES
    if large:
        try:
            entry = json.loads(kept.read_text(encoding="utf-8"))
            if entry["signature"] == before:
                return str(entry["sha256"])
        except (OSError, ValueError, KeyError, TypeError):
            pass
    computed = file_digest(file)
    settled = time.time() - max(before["modified"], before["changed"]) / 1e9 > SETTLED_SECONDS
    if large and settled and signature(file) == before:
        keep(kept, json.dumps({"signature": before, "sha256": computed}))
    return computed


def signature(file: Path) -> dict[str, int]:
    """What changes when a file is written to."""
    status = file.stat()
    return {
        "size": status.st_size,
        "inode": status.st_ino,
        "modified": status.st_mtime_ns,
        "changed": status.st_ctime_ns,
    }


def hash_store() -> Path:
    """Where hashes of large files are remembered; it can be deleted at any time."""
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "localfact" / "hashes"


def keep(file: Path, text: str) -> None:
    """Writes a file whole or not at all. One that cannot be written is done without."""
    passing = file.with_suffix(f".{os.getpid()}")
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        passing.write_text(text, encoding="utf-8")
        passing.replace(file)
    with suppress(OSError):
        passing.unlink()
