"""How much memory a language model needs: from its card, or from the configuration and files in its folder."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from localfact.errors import InputError
from localfact.llm.placing.hardware import GIB
from localfact.models.card_parts import WeightsSize
from localfact.models.files import weights_to_load
from localfact.models.model_card import ModelCard
from localfact.records import Record

#: Bytes of one number.
WIDTH = {"float32": 4, "float16": 2, "bfloat16": 2}
#: What a configuration calls the widths of `Shape`, and the number of experts.
WIDTHS = {"hidden": "hidden_size", "inner": "intermediate_size", "vocabulary": "vocab_size"}
EXPERTS = ("num_experts", "num_local_experts", "n_routed_experts")
#: Tokens of the window of a model that states none.
DEFAULT_WINDOW = 4096
#: Weights of less than this share of what their parameters take are stored in fewer bits; a card does not say by which method.
FEWER, STORED_IN_FEWER = 0.8, "fewer bits"
#: The largest number that is taken from a configuration.
MOST_STATED = 2**40


class ModelShape(Record):
    """The sizes of a language model that decide its memory.

    Attributes:
        weights: GiB, as stored and in fp8.
        dtype: of weights that are not quantised.
        quantised: the method by which the stored weights are quantised; None for none.
        window: the most tokens it reads.
        kv_bytes: bytes of one token in the cache at 16 bits, over all GPUs.
        kv_heads: the most GPUs that the cache can be split over.
        heads: number of attention heads, which tensor parallelism must divide.
        hidden, inner: widths of a layer and of its feed-forward part.
        vocabulary: number of tokens. What a file does not state is that of an 8B model.
        experts: whether each token goes to some of many experts, which replicas in one process would share out among them.
    """

    weights: WeightsSize
    dtype: str
    quantised: str | None = None
    window: int
    kv_bytes: int = 0
    kv_heads: int = 1
    heads: int | None = None
    hidden: int = 4_096
    inner: int = 14_336
    vocabulary: int = 128_256
    experts: bool = False

    def weights_gib(self, dtype: str, quantisation: str | None) -> float:
        """GiB of the weights in memory when computing in `dtype`, with that quantisation while loading or None."""
        if quantisation is not None and self.quantised is None:
            return self.weights.fp8 or self.weights.stored / 2
        return self.weights.stored * (1 if self.quantised else WIDTH[dtype] / WIDTH[self.dtype])


def shape_of_card(card: ModelCard) -> ModelShape | None:
    """The sizes on the card; None where it gives none."""
    if card.weights_gib is None or card.kv_bytes is None:
        return None
    whole = (card.parameters or 0) * 1e9 * WIDTH[card.precision] / GIB
    return ModelShape(
        weights=card.weights_gib,
        dtype=card.precision,
        quantised=STORED_IN_FEWER if card.weights_gib.stored < FEWER * whole else None,
        window=card.window or DEFAULT_WINDOW,
        kv_bytes=card.kv_bytes,
        kv_heads=card.kv_heads or 1,
    )


def shape_of_folder(folder: Path, card: ModelCard) -> ModelShape:
    """The sizes from the files in the folder, and from the card where they do not say.

    Raises:
        InputError: config.json is missing or is not a model's.
    """
    config = read_config(folder)
    text = text_config(folder, config)
    stored = sum(file.stat().st_size for file in weights_to_load(folder)) / GIB
    stated = text.get("dtype") or text.get("torch_dtype") or config.get("dtype") or config.get("torch_dtype")
    dtype = stated if isinstance(stated, str) and stated in WIDTH else "float32"
    quantised = config.get("quantization_config")
    method = quantised.get("quant_method") if isinstance(quantised, dict) else None
    kv_bytes, kv_heads = cache_of(text)
    return ModelShape(
        weights=WeightsSize(stored=max(stored, 1 / GIB), fp8=fp8_gib(stored, text, WIDTH[dtype])),
        dtype=dtype,
        quantised=method if isinstance(method, str) else None,
        window=number(text, "max_position_embeddings") or card.window or DEFAULT_WINDOW,
        kv_bytes=kv_bytes or card.kv_bytes or 0,
        kv_heads=kv_heads or card.kv_heads or 1,
        heads=number(text, "num_attention_heads"),
        experts=any(number(text, name) for name in EXPERTS),
        **{field: stated for field, name in WIDTHS.items() if (stated := number(text, name))},
    )


def read_config(folder: Path) -> dict[str, Any]:
    """config.json of a model. Raises InputError where it is missing or no JSON object."""
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"The folder {folder} is no model: its config.json cannot be read ({error}).") from None
    if not isinstance(config, dict):
        raise InputError(f"The folder {folder} is no model: its config.json is not a JSON object.")
    return config


def text_config(folder: Path, config: Mapping[str, Any]) -> Mapping[str, Any]:
    """The part of a configuration that is about text, with the values that a model leaves to its class in transformers.

    Gemma 3's file has neither its window nor its heads, for example. What transformers does not know is read as it stands.
    """
    nested = config.get("text_config")  # of models that read more than text
    stated: Mapping[str, Any] = nested if isinstance(nested, dict) else config
    from transformers import AutoConfig

    try:
        known = AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False).get_text_config()
    except Exception:  # transformers raises exceptions of any class for a configuration that it does not know
        return stated
    return {**known.to_dict(), **{name: value for name, value in stated.items() if value is not None}}


def number(config: Mapping[str, Any], name: str) -> int | None:
    """A whole number above 0, and of a model's size, in a configuration; None where it has none."""
    value = config.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value <= MOST_STATED else None


def cache_of(config: Mapping[str, Any]) -> tuple[int, int]:
    """(bytes of one token's keys and values at 16 bits, the most GPUs they can be split over); zeros where nothing is stated.

    Multi-head latent attention (DeepSeek-V2, section 2.1) keeps one vector a layer, and every GPU keeps it whole.
    """
    layers, heads = number(config, "num_hidden_layers"), number(config, "num_attention_heads")
    latent = number(config, "kv_lora_rank")
    if layers and latent:
        return layers * (latent + (number(config, "qk_rope_head_dim") or 0)) * 2, 1
    kv_heads = number(config, "num_key_value_heads") or heads
    hidden = number(config, "hidden_size")
    size = number(config, "head_dim") or (hidden // heads if hidden and heads else None)
    return (layers * kv_heads * size * 2 * 2, kv_heads) if layers and kv_heads and size else (0, 0)


def fp8_gib(stored: float, config: Mapping[str, Any], width: int) -> float:
    """GiB after quantisation: one byte a weight, except for the input and output embeddings, which are not quantised."""
    ends = 1 if config.get("tie_word_embeddings") else 2
    kept = (number(config, "vocab_size") or 0) * (number(config, "hidden_size") or 0) * ends * width / GIB
    kept = min(kept, stored)
    return max(kept + (stored - kept) / width, 1 / GIB)
