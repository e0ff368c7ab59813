"""A cross-encoder that lies in a folder as an ONNX file, run by ONNX Runtime on the CPU, with its tokenizer.

Below crossencoders.py, which asks it one pair at a time. Neither torch nor transformers is loaded: that would take seconds.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from localfact.errors import InputError
from localfact.models.files import ONNX_FILE
from localfact.models.match_types import CONFIGURED

CONFIGURATION_FILE, TOKENIZER_FILE, TOKENIZER_CONFIGURATION = "config.json", "tokenizer.json", "tokenizer_config.json"
#: What an ONNX file may ask of a pair.
FIELDS = ("input_ids", "token_type_ids", "attention_mask")
#: ONNX Runtime logs from this severity on; below are warnings about its own optimisations.
ERRORS_ONLY = 3


class OnnxConfig(NamedTuple):
    """What config.json says of a model, under the names that transformers has for it."""

    id2label: Mapping[int, str]
    model_type: str
    max_position_embeddings: int | None
    pad_token_id: int | None
    match_types: bool

    @property
    def num_labels(self) -> int:
        """How many outputs."""
        return len(self.id2label)


class OnnxModel:
    """A sequence-classification model in memory. Safe to call from several threads; each call runs on the caller's alone.

    The numbers of a pair depend on the pair alone, to the last bit: it is read by itself, on one thread.
    """

    def __init__(self, folder: Path) -> None:
        """Loads model.onnx and config.json of a folder.

        Raises:
            InputError: one of them cannot be used; the message says why.
        """
        import onnxruntime

        self.config = config_of(folder)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = ERRORS_ONLY
        try:
            self._session = onnxruntime.InferenceSession(folder / ONNX_FILE, options, providers=["CPUExecutionProvider"])
        except Exception as error:  # ONNX Runtime's errors have no base of their own
            raise InputError(f"{folder / ONNX_FILE} cannot be loaded: {' '.join(str(error).split())}") from error
        self._inputs = [each.name for each in self._session.get_inputs()]
        unknown = sorted(set(self._inputs) - set(FIELDS))
        if unknown:
            raise InputError(f"{folder / ONNX_FILE} asks for {', '.join(unknown)}; a cross-encoder reads {', '.join(FIELDS)}.")
        outputs = self._session.get_outputs()[0].shape[-1]
        if isinstance(outputs, int) and outputs != self.config.num_labels:
            raise InputError(f"{folder / ONNX_FILE} has {outputs} outputs, and config.json names {self.config.num_labels}.")

    def outputs(self, fields: Mapping[str, Sequence[int]]) -> list[float]:
        """What the model says about one pair, as its outputs stand."""
        given = {name: np.array([fields[name]], dtype=np.int64) for name in self._inputs}
        (row,) = self._session.run(None, given)[0].tolist()
        return list(map(float, row))


class OnnxTokenizer:
    """A tokenizer.json, called as transformers' tokenizers are, as far as a cross-encoder calls them.

    Texts are data: a mark of the tokenizer that is spelt in one ([SEP]) is read as letters.
    Not safe to call from several threads: truncation is state of the tokenizer.
    """

    def __init__(self, folder: Path) -> None:
        """Loads tokenizer.json and tokenizer_config.json of a folder.

        Raises:
            InputError: there is no tokenizer, or one that cannot be read.
        """
        from tokenizers import Tokenizer

        try:
            self._tokenizer = Tokenizer.from_file(str(folder / TOKENIZER_FILE))
        except Exception as error:  # the library raises nothing narrower
            raise InputError(f"{folder / TOKENIZER_FILE} cannot be loaded: {error}") from error
        self._tokenizer.encode_special_tokens = True
        self._tokenizer.no_padding()
        stated = json_file(folder / TOKENIZER_CONFIGURATION) if (folder / TOKENIZER_CONFIGURATION).is_file() else {}
        self.model_max_length: int | None = stated.get("model_max_length")

    @property
    def all_special_ids(self) -> list[int]:
        """The numbers of the tokenizer's own marks."""
        return [number for number, token in self._tokenizer.get_added_tokens_decoder().items() if token.special]

    def num_special_tokens_to_add(self, *, pair: bool) -> int:
        """How many tokens of the window are marks around one text, or around two."""
        return int(self._tokenizer.num_special_tokens_to_add(pair))

    def __call__(
        self,
        first: str,
        second: str | None = None,
        *,
        add_special_tokens: bool = True,
        truncation: Literal[False, "only_first", "only_second"] = False,
        max_length: int | None = None,
        return_offsets_mapping: bool = False,
        **_: object,
    ) -> dict[str, list[Any]]:
        """The tokens of a text, or of two: numbers, types and mask, and on demand where each begins and ends."""
        if truncation and max_length is not None:
            self._tokenizer.enable_truncation(max_length, strategy=truncation)
        else:
            self._tokenizer.no_truncation()
        encoded = self._tokenizer.encode(first, second, add_special_tokens=add_special_tokens)
        fields = dict(zip(FIELDS, (encoded.ids, encoded.type_ids, encoded.attention_mask), strict=True))
        return fields | ({"offset_mapping": encoded.offsets} if return_offsets_mapping else {})


def config_of(folder: Path) -> OnnxConfig:
    """What config.json says.

    Raises:
        InputError: it cannot be read, or does not name the outputs.
    """
    stated = json_file(folder / CONFIGURATION_FILE)
    names = stated.get("id2label")
    if not isinstance(names, dict) or not names or not all(map(str.isdecimal, names)):
        raise InputError(f"{folder / CONFIGURATION_FILE} does not name the model's outputs (id2label).")
    return OnnxConfig(
        id2label={int(index): str(name) for index, name in names.items()},
        model_type=str(stated.get("model_type", "")),
        max_position_embeddings=stated.get("max_position_embeddings"),
        pad_token_id=stated.get("pad_token_id"),
        match_types=stated.get(CONFIGURED) is True,
    )


def json_file(file: Path) -> dict[str, Any]:
    """The object in a JSON file.

    Raises:
        InputError: there is no such file, or something else in it.
    """
    try:
        read = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{file} cannot be read: {error}") from error
    if not isinstance(read, dict):
        raise InputError(f"{file} holds no JSON object.")
    return read
