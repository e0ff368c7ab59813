"""Checks whether a model can be used here: complete weights, readable configuration, a chat template, enough memory."""

import json
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from localfact.errors import LocalFactError
from localfact.llm.placing.hardware import Hardware
from localfact.llm.placing.model_shape import number, read_config
from localfact.llm.placing.settings import engine_settings
from localfact.llm.tokens.chat import PLAIN, template_hash
from localfact.models.cards import load_card, weights_folder
from localfact.models.files import TOKENIZER_FILES, weight_files
from localfact.models.model_card import ModelCard
from localfact.models.weights import missing_weights
from localfact.records import Record

#: A header of a .safetensors file begins with its own length.
HEADER = struct.Struct("<Q")
LONGEST_HEADER = 100_000_000


class Findings(Record):
    """The result of checking a model.

    Attributes:
        found: whether its weights are on this machine.
        folder: where.
        problems: why it cannot be used.
        remarks: other things worth knowing.
        machine: of a language model, its placement on this machine.
    """

    model: str
    revision: str
    found: bool
    folder: str | None = None
    problems: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    machine: dict[str, Any] | None = None


def check_model(card: ModelCard, hardware: Hardware | None = None) -> Findings:
    """Checks a model's files and the machine; loads no weights, uses no network."""
    try:
        folder = weights_folder(card)
        base = weights_folder(load_card(card.base)) if card.base is not None else None
    except LocalFactError as error:
        return Findings(model=card.name, revision=card.revision, found=False, problems=(str(error),))
    problems = list(folder_problems(folder) if base is None else difference_problems(folder, base))
    remarks, machine = [], None
    if "llm" in card.roles and not problems and generates(folder):
        if template_hash(folder) == PLAIN:
            remarks.append("no chat template: messages are sent as plain text")
        try:
            machine = dict(engine_settings(card, hardware=hardware).machine)
        except LocalFactError as error:
            problems.append(str(error))
    if card.roles == ("reranker",) and not problems and outputs_of(folder) != 1:
        problems.append(f"{folder}: the model has {outputs_of(folder)} outputs; a reranker has one")
    return Findings(
        model=card.name,
        revision=card.revision,
        found=True,
        folder=str(folder),
        problems=tuple(problems),
        remarks=tuple(remarks),
        machine=machine,
    )


def folder_problems(folder: Path) -> Iterator[str]:
    """What is missing or damaged in a folder of weights, one sentence each."""
    for missing in missing_weights(folder):
        yield f"{folder}: {missing}"
    for file in weight_files(folder):
        if file.suffix == ".safetensors" and not is_whole(file):
            yield f"{file} is damaged or cut short"
    try:
        read_config(folder)
    except LocalFactError as error:
        yield str(error)
    if not any((folder / name).is_file() for name in TOKENIZER_FILES):
        yield f"{folder}: there is no tokenizer ({', '.join(TOKENIZER_FILES[:3])} ...)"


def difference_problems(folder: Path, base: Path) -> Iterator[str]:
    """What is missing or damaged in a folder of weight differences, or in its base model's folder, one sentence each."""
    for file in weight_files(folder):
        if not is_whole(file):
            yield f"{file} is damaged or cut short"
    yield from folder_problems(base)


def generates(folder: Path) -> bool:
    """Whether a folder holds a language model, going by the architecture in its configuration."""
    architectures = read_config(folder).get("architectures") or []
    return any(str(name).endswith(("ForCausalLM", "LMHeadModel", "ForConditionalGeneration")) for name in architectures)


def outputs_of(folder: Path) -> int:
    """The number of a classifier's outputs, by its configuration; two where it does not say, as in transformers."""
    config = read_config(folder)
    named = config.get("id2label")
    return len(named) if isinstance(named, dict) else number(config, "num_labels") or 2


def is_whole(file: Path) -> bool:
    """Whether a .safetensors file has the length that its header implies."""
    size = file.stat().st_size
    with file.open("rb") as stream:
        start = stream.read(HEADER.size)
        if len(start) < HEADER.size:
            return False
        (length,) = HEADER.unpack(start)
        if length > min(size, LONGEST_HEADER):
            return False
        try:
            header = json.loads(stream.read(length))
            ends = [entry["data_offsets"][1] for name, entry in header.items() if name != "__metadata__"]
        except (ValueError, KeyError, TypeError, IndexError, AttributeError):
            return False
    return bool(size == HEADER.size + length + max(ends, default=0))
