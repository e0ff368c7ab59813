"""Gathers what a machine without internet needs into one folder that is itself a checkout: `make bundle` calls this.

    python -m scripts.bundle FOLDER [--accelerator cpu|cuda] [--dev] [--models NAME...] [--corpora FOLDER...]

The project at the top, wheels/ (what `make setup` installs from), models/weights/NAME and index/NAME (where weights and
corpora are found without being told), README.txt, and MANIFEST.sha256, which `sha256sum` checks. Stopped, it goes on where
it was; called again with other models or corpora, it adds them.
"""

import argparse
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import yaml

from localfact.corpus.corpus import Corpus
from localfact.corpus.files import DESCRIPTION_FILE
from localfact.errors import InputError, LocalFactError, MissingError, WriteError
from localfact.models.cards import load_card, weights_folder
from localfact.models.files import hash_of_file
from localfact.models.weights import PULLED_FILE, read_link, read_pulled
from localfact.runtime.files import NEW, replace, write_errors
from localfact.runtime.locations import CHECKOUT

MANIFEST, README = "MANIFEST.sha256", "README.txt"
WHEELS, WEIGHTS, INDEX = Path("wheels"), Path("models/weights"), Path("index")
#: Made in a checkout and not of it, where git is not there to ask: anywhere, and at its top.
MADE = frozenset({"__pycache__"})
MADE_AT_THE_TOP = frozenset({".git", ".venv", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".hypothesis", "dist", "runs"})
#: Half-written files, and locks.
PASSING = (NEW, ".lock", ".part")
PIN = re.compile(r"^([A-Za-z0-9._-]+==[^\s\\;]+)", re.MULTILINE)
#: Asked for by hatchling where a project is installed editable; pyproject.toml names the rest of what builds it.
EDITABLE = "editables"
#: As coarse as memory sticks keep the time of a file.
COARSE_SECONDS = 2.0
CHUNK = 1 << 24
EXPLAINED = """\
A bundle of localfact: what sets it up and runs it without internet. For Linux on {machine} with Python {python} and make;
the language model engine in it is vLLM for {accelerator}.

Copy this folder to a disk of the other machine, go into it, and:

    make setup-llm           installs into .venv from wheels/ alone (make setup: without the language model engine)
    make eval ARGS=--offline scores the shipped sample; with MODEL=, CORPUS=, DATA= your own

MODEL= one of:  {models}
CORPUS= one of: {corpora}

Whether every file arrived as it was:   sha256sum --quiet -c MANIFEST.sha256
A checkout elsewhere can be set up too: make setup-llm WHEELS=/path/to/this/wheels
                                        export LOCALFACT_WEIGHTS=/path/to/this/models/weights
"""


@dataclass(frozen=True)
class BundledFile:
    """One file to carry: what it is here, and its name in the bundle."""

    source: Path
    name: Path


def project(root: Path) -> list[BundledFile]:
    """What git tracks, as it stands in the working tree; without git, whatever is not made in a checkout."""
    names = [Path(name) for name in list_tracked(root)] if (root / ".git").exists() else list(walk(root))
    return [BundledFile(root / name, name) for name in sorted(names) if (root / name).is_file()]


def list_tracked(root: Path) -> list[str]:
    try:
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise MissingError(f"git does not say which files {root} has ({error}). Install git, or mend the checkout.") from error
    return [name for name in listed.stdout.split("\0") if name]


def walk(root: Path) -> Iterator[Path]:
    for folder, folders, files in os.walk(root):
        inside = Path(folder).relative_to(root)
        folders[:] = [name for name in folders if of_project(inside / name)]
        yield from (inside / name for name in files if of_project(inside / name))


def of_project(name: Path) -> bool:
    """Whether a file or folder is neither carried beside the project nor written by this script."""
    corpus = name.is_relative_to(INDEX) and len(name.parts) > 1 and not name.parts[1].startswith("sample")
    made = name.name in MADE or name.parts[0] in MADE_AT_THE_TOP
    return not (
        made or corpus or name.is_relative_to(WHEELS) or name.is_relative_to(WEIGHTS) or str(name) in (MANIFEST, README)
    )


def weights(name: str, passing: Path) -> list[BundledFile]:
    """A model's files, from wherever they lie on this machine; `passing` takes a note of what those of the hub's cache are.

    Raises:
        MissingError, InputError: there is no such model, or its weights are not here.
    """
    card = load_card(name)
    if card.package is not None:
        return []  # inside a wheel
    folder, home = weights_folder(card), WEIGHTS / card.name
    items = [BundledFile(file, home / file.relative_to(folder)) for file in files_below(folder)]
    known = read_link(folder)
    if known is not None and read_pulled(folder) is None:  # a copy is no link: without a note it would be another model
        note = passing / f"{card.name}.yaml"
        note.write_text(yaml.safe_dump(known.model_copy(update={"hub": card.hub or ""}).model_dump()), encoding="utf-8")
        items.append(BundledFile(note, home / PULLED_FILE))
    return items


def corpus(folder: Path) -> list[BundledFile]:
    """A corpus, as a folder of index/; what is no part of it stays here.

    Raises:
        MissingError: there is none. InputError: it has the name of the one that ships, is unfinished, or lacks a file.
    """
    with Corpus.open(folder, None) as opened:
        own = {folder / file for file in (DESCRIPTION_FILE, *opened.description.files)}
    name = folder.resolve().name
    if name.startswith("sample") and folder.resolve().parent != CHECKOUT / INDEX:
        raise InputError(f"{folder} has a name of those that ship with localfact. Give the folder another one.")
    return [BundledFile(file, INDEX / name / file.relative_to(folder)) for file in sorted(own & set(files_below(folder)))]


def files_below(folder: Path) -> list[Path]:
    return sorted(file for file in folder.rglob("*") if file.is_file() and not file.name.endswith(PASSING))


def open_bundle(bundle: Path) -> None:
    """Makes the folder, or knows it again.

    Raises:
        InputError: it holds something else.
    """
    readme = bundle / README
    ours = readme.is_file() and readme.read_text(encoding="utf-8", errors="replace").startswith(EXPLAINED[:20])
    if bundle.exists() and not ours and any(bundle.iterdir()):
        raise InputError(f"{bundle} is neither empty nor a bundle. Give BUNDLE another folder.")
    with write_errors(bundle):
        (bundle / WHEELS).mkdir(parents=True, exist_ok=True)
        replace(readme, EXPLAINED[:20].encode())  # so that a stopped start is known again


def carry(title: str, items: Sequence[BundledFile], bundle: Path) -> None:
    """Copies what is not there yet; says how much.

    Raises:
        WriteError: it does not fit, or the folder cannot be written.
    """
    waiting = [item for item in items if not is_there(item.source, bundle / item.name)]
    size = sum(item.source.stat().st_size for item in waiting)
    free = shutil.disk_usage(bundle).free
    say(f"{title}: {len(items):,} files, {len(waiting):,} to copy ({gigabytes(size)})")
    if size > free:
        raise WriteError(f"{title} needs {gigabytes(size)} in {bundle}, and {gigabytes(free)} are free.")
    for item in waiting:
        target = bundle / item.name
        beside = target.with_name(target.name + ".part")
        with write_errors(target):
            target.parent.mkdir(parents=True, exist_ok=True)
            if item.source.stat().st_size > CHUNK:
                say(f"  {item.name} ({gigabytes(item.source.stat().st_size)})")
            shutil.copy2(item.source, beside)
            beside.replace(target)


def remove_others(items: Sequence[BundledFile], kept: Collection[Path], bundle: Path) -> None:
    """Removes what an earlier call put where a model or a corpus lies that changed since; raises WriteError if it cannot."""
    parts = {home: len(home.parts) + 1 for home in (WEIGHTS, INDEX)}
    for home in sorted({Path(*item.name.parts[: parts[top]]) for item in items for top in parts if top in item.name.parents}):
        others = [file for file in (bundle / home).rglob("*") if file.is_file() and file.relative_to(bundle) not in kept]
        if others:
            say(f"{home}: {len(others):,} files are no part of it any more and are removed")
        with write_errors(bundle / home):
            for file in others:
                file.unlink()


def is_there(source: Path, target: Path) -> bool:
    """Whether a file was copied before: a copy has its size and its time."""
    if not target.is_file():
        return False
    here, there = source.stat(), target.stat()
    return here.st_size == there.st_size and abs(here.st_mtime - there.st_mtime) <= COARSE_SECONDS


def download(bundle: Path, accelerator: str, *, dev: bool) -> None:
    """Lets pip put into wheels/ what `make setup-llm` installs: the pinned files by their hashes, torch with its dependencies.

    Raises:
        MissingError: pip could not get something; it has said what.
    """
    files = [f"requirements/{name}.txt" for name in ("base", f"llm-{accelerator}", *(["dev"] if dev else []))]
    pins = sorted({pin for file in files for pin in PIN.findall((CHECKOUT / file).read_text(encoding="utf-8"))})
    build = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["build-system"]["requires"]
    for wheel in (bundle / WHEELS).glob("*.whl"):
        if not zipfile.is_zipfile(wheel):  # cut short by a kill; pip would take it for whole where it has no hash
            wheel.unlink()
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as constraints:
        constraints.write("\n".join(pins))
        constraints.flush()
        wanted = [
            ("torch", ["-r", "requirements/torch.txt", "-c", constraints.name]),
            *((file, ["--no-deps", "-r", file]) for file in files),
            ("what builds the project", [*build, EDITABLE]),
        ]
        for number, (title, words) in enumerate(wanted, 1):
            say(f"wheels {number}/{len(wanted)}: {title}; {gigabytes(size_of(bundle / WHEELS))} are there")
            pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "--quiet", "--progress-bar=off"]
            command = [*pip, "--only-binary=:all:", "--dest", str((bundle / WHEELS).resolve()), *words]
            if subprocess.run(command, cwd=CHECKOUT).returncode:
                raise MissingError(f"pip could not download {title}. What came is kept; the same command goes on from there.")
    if accelerator == "cuda" and list((bundle / WHEELS).glob("torch-*+cpu-*")):
        raise InputError("pip found the CPU build of torch, and vLLM for CUDA needs the other one. Mend pip's configuration.")


def finish(bundle: Path, accelerator: str) -> None:
    """Writes what the folder holds: for a reader, and every file's SHA-256 for `sha256sum`."""
    names = [path.name for path in sorted((bundle / WEIGHTS).glob("*/"))]
    models = [name if (bundle / f"models/{name}.yaml").is_file() else str(WEIGHTS / name) for name in names]
    explained = EXPLAINED.format(
        machine=platform.machine(),
        python=".".join(platform.python_version_tuple()[:2]),
        accelerator=accelerator,
        models=", ".join(models) or "none",
        corpora=", ".join(str(INDEX / path.name) for path in sorted((bundle / INDEX).glob("*/"))),
    )
    say("hashes")
    with write_errors(bundle):
        replace(bundle / README, explained.encode())
        files = [file for file in files_below(bundle) if file.name != MANIFEST]
        lines = [f"{hash_of_file(file)}  ./{file.relative_to(bundle).as_posix()}\n" for file in files]
        replace(bundle / MANIFEST, "".join(lines).encode())
    parts = {str(part): size_of(bundle / part) for part in (WHEELS, WEIGHTS, INDEX)}
    sizes = ", ".join(f"{part} {gigabytes(size)}" for part, size in parts.items())
    say(f"{bundle} is whole: {len(files):,} files, {gigabytes(size_of(bundle))} ({sizes})")


def size_of(folder: Path) -> int:
    """Bytes in all files below a folder."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def gigabytes(size: int) -> str:
    return f"{size / 1e9:.2f} GB" if size >= 1e7 else f"{size / 1e6:.2f} MB"


def say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def gather(arguments: argparse.Namespace) -> None:
    bundle: Path = arguments.bundle
    with tempfile.TemporaryDirectory() as passing:
        # What is missing is known before anything is written.
        loads = {name: weights(name, Path(passing)) for name in arguments.models}
        loads |= {str(folder): corpus(folder) for folder in arguments.corpora}
        names = [item.name for item in chain.from_iterable(loads.values())]
        if len(names) != len(set(names)):
            raise InputError("Two of the models or corpora would be the same folder of the bundle. Give one another name.")
        open_bundle(bundle)
        shipped = project(CHECKOUT)
        carry("project", shipped, bundle)
        for title, items in loads.items():
            remove_others(items, {*names, *(item.name for item in shipped)}, bundle)
            carry(title, items, bundle)
    download(bundle, arguments.accelerator, dev=arguments.dev)
    finish(bundle, arguments.accelerator)


def main() -> None:
    parser = argparse.ArgumentParser(prog="make bundle", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("bundle", type=Path)
    parser.add_argument("--accelerator", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--dev", action="store_true")
    parser.add_argument("--models", nargs="*", default=[])
    parser.add_argument("--corpora", nargs="*", type=Path, default=[])
    try:
        gather(parser.parse_args())
    except LocalFactError as error:
        say(f"Error: {error}")
        sys.exit(error.exit_code)


if __name__ == "__main__":
    main()
