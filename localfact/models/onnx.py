"""A cross-encoder in an ONNX file, run by ONNX Runtime on the CPU, with its tokenizer.

Used by cross_encoder.py, one pair at a time. Neither torch nor transformers is loaded: that would take seconds.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from localfact.errors import InputError
from localfact.models.files import ONNX_FILE

CONFIGURATION_FILE, TOKENIZER_FILE, TOKENIZER_CONFIGURATION = "config.json", "tokenizer.json", "tokenizer_config.json"
#: The inputs that an ONNX file may have.
FIELDS = ("input_ids", "token_type_ids", "attention_mask")
#: The least severity that ONNX Runtime logs; lower ones are warnings about its own optimisations.
ERRORS_ONLY = 3


class OnnxConfig(NamedTuple):
    """The content of config.json, with transformers' names."""

    id2label: Mapping[int, str]
    model_type: str
    max_position_embeddings: int | None
    pad_token_id: int | None

    @property
    def num_labels(self) -> int:
        """The number of outputs."""
        return len(self.id2label)


class OnnxModel:
    """A sequence-classification model from a folder's model.onnx and config.json. Safe to call from several threads.

    A call runs on the caller's thread only. The result for a pair depends on the pair alone, to the last bit.

    Raises:
        InputError: one of the files cannot be used; the message says why.
    """

    def __init__(self, folder: Path) -> None:
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
        """The model's raw outputs for one pair."""
        given = {name: np.array([fields[name]], dtype=np.int64) for name in self._inputs}
        (row,) = self._session.run(None, given)[0].tolist()
        return list(map(float, row))


class OnnxTokenizer:
    """A tokenizer from a folder's tokenizer.json and tokenizer_config.json, called as transformers' tokenizers are.

    Texts are data: a special token spelt in one ([SEP]) is read as letters.
    Not safe to call from several threads, as truncation is state of the tokenizer.

    Raises:
        InputError: there is no tokenizer, or one that cannot be read.
    """

    def __init__(self, folder: Path) -> None:
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
        """The ids of the tokenizer's special tokens."""
        return [number for number, token in self._tokenizer.get_added_tokens_decoder().items() if token.special]

    def num_special_tokens_to_add(self, *, pair: bool) -> int:
        """How many special tokens are added to one text, or to two."""
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
        """The tokens of one text, or of two: ids, types and mask, and on demand the offsets of each."""
        if truncation and max_length is not None:
            self._tokenizer.enable_truncation(max_length, strategy=truncation)
        else:
            self._tokenizer.no_truncation()
        encoded = self._tokenizer.encode(first, second, add_special_tokens=add_special_tokens)
        fields = dict(zip(FIELDS, (encoded.ids, encoded.type_ids, encoded.attention_mask), strict=True))
        return fields | ({"offset_mapping": encoded.offsets} if return_offsets_mapping else {})


def config_of(folder: Path) -> OnnxConfig:
    """The content of config.json. Raises InputError where it cannot be read, or does not name the outputs."""
    stated = json_file(folder / CONFIGURATION_FILE)
    names = stated.get("id2label")
    if not isinstance(names, dict) or not names or not all(map(str.isdecimal, names)):
        raise InputError(f"{folder / CONFIGURATION_FILE} does not name the model's outputs (id2label).")
    return OnnxConfig(
        id2label={int(index): str(name) for index, name in names.items()},
        model_type=str(stated.get("model_type", "")),
        max_position_embeddings=stated.get("max_position_embeddings"),
        pad_token_id=stated.get("pad_token_id"),
    )


def json_file(file: Path) -> dict[str, Any]:
    """The object in a JSON file. Raises InputError where there is no such file, or it holds something else."""
    try:
        read = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{file} cannot be read: {error}") from error
    if not isinstance(read, dict):
        raise InputError(f"{file} holds no JSON object.")
    return read
