"""Writes a trained relation model as it ships: one ONNX file in int8, its tokenizer and its configuration, and no more.

`localfact.models.onnx` reads what is written. The same weights give the same bytes.
"""

import copy
import json
import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import onnx
import torch
from onnxruntime.quantization import QuantType, quantize_dynamic
from onnxruntime.quantization.matmul_nbits_quantizer import MatMulNBitsQuantizer
from tokenizers import Tokenizer
from transformers import AutoModelForSequenceClassification

from localfact.models.files import ONNX_FILE
from localfact.models.onnx import CONFIGURATION_FILE, FIELDS, TOKENIZER_CONFIGURATION, TOKENIZER_FILE
from localfact.runtime.files import file_digest

#: Of ONNX's operators: the newest that torch's exporter of traced models writes is 20; LayerNormalization came with 17.
OPSET = 17
#: A pair that the network is traced with; any number of pairs of any length can be read later.
TRACED_PAIRS, TRACED_TOKENS = 2, 16
#: What is kept as integers: the layers' matrices, and the tables of words and places.
QUANTISED = ["MatMul", "Gather"]
#: Numbers of a row that have a scale of their own where a whole text with one scale would lose too much.
BLOCK = 128
#: Of config.json and tokenizer_config.json: what says how the model is built and read. Paths and versions stay here.
CONFIGURATION = (
    *("architectures", "model_type", "vocab_size", "type_vocab_size", "max_position_embeddings", "pad_token_id"),
    *("hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size", "hidden_act", "layer_norm_eps"),
    *("id2label", "label2id"),
)
TOKENIZER = ("model_max_length", "do_lower_case", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token")


class Logits(torch.nn.Module):
    """A classifier that takes its fields by place and answers with its outputs alone, as the exporter wants it."""

    def __init__(self, network: torch.nn.Module) -> None:
        super().__init__()
        self.network = network
        self.eval()  # or the exporter puts back what it takes for the state of before, and the network forgets at random

    def forward(self, *fields: torch.Tensor) -> torch.Tensor:
        """The outputs of each pair; `fields` in the order of FIELDS."""
        outputs: torch.Tensor = self.network(**dict(zip(FIELDS, fields, strict=True))).logits
        return outputs


def export(
    model: Path | torch.nn.Module, tokenizer_folder: Path, out: Path, *, temperature: float = 1.0, quantised: bool = True
) -> str:
    """Writes a BERT for sequence classification into the folder `out`, to be run by ONNX Runtime.

    Args:
        model: its folder, or the model itself, which stays as it is.
        tokenizer_folder: holds its tokenizer.json and tokenizer_config.json.
        out: made if need be; gets model.onnx, tokenizer.json, tokenizer_config.json and config.json.
        temperature: above 0; what the outputs are divided by. It goes into the last layer's weights.
        quantised: as it ships; else in float32, to measure what the integers cost.

    Returns:
        "sha256:" and the hash of model.onnx: the revision in the model's card.

    Raises:
        ValueError: the temperature is none, or the model is no BERT.
    """
    network = scale(model, temperature)
    out.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as scratch, quiet():
        traced, blocks = Path(scratch) / "traced.onnx", Path(scratch) / "blocks.onnx"
        trace(network, traced if quantised else out / ONNX_FILE)
        if quantised:
            quantise_in_blocks(traced, blocks, (network.config.intermediate_size, network.config.hidden_size))
            quantise(blocks, out / ONNX_FILE)
    stated = json.loads(network.config.to_json_string(use_diff=False))
    write_json(out / CONFIGURATION_FILE, {name: stated[name] for name in CONFIGURATION if name in stated})
    write_tokenizer(tokenizer_folder, out)
    return f"sha256:{file_digest(out / ONNX_FILE)}"


def scale(model: Path | torch.nn.Module, temperature: float) -> Any:
    """A copy of the model in float32 on the CPU whose outputs are divided by the temperature."""
    if not 0 < temperature < float("inf"):
        raise ValueError(f"A temperature is a number above 0, not {temperature}.")
    if isinstance(model, Path):
        network = AutoModelForSequenceClassification.from_pretrained(model, local_files_only=True, dtype=torch.float32)
    else:
        network = copy.deepcopy(model).to("cpu", torch.float32)
    if network.config.model_type != "bert":
        raise ValueError(f"Only a BERT can be exported, not a model of type {network.config.model_type}.")
    # The attention of one call would be a node of its own that the optimiser does not know.
    network.set_attn_implementation("eager")
    with torch.no_grad():
        network.classifier.weight /= temperature
        network.classifier.bias /= temperature
    return network


def trace(network: torch.nn.Module, file: Path) -> None:
    """Writes the network as ONNX in float32, for any number of pairs of any length."""
    shape = (TRACED_PAIRS, TRACED_TOKENS)
    # Half of the second text's types, so that the table of types is seen to be looked up.
    types = torch.zeros(shape, dtype=torch.long)
    types[:, TRACED_TOKENS // 2 :] = 1
    given = (torch.full(shape, 1, dtype=torch.long), types, torch.ones(shape, dtype=torch.long))
    # The exporter that traces: the newer one writes names and paths of the source into the file.
    torch.onnx.export(
        Logits(network),
        given,
        file,
        input_names=list(FIELDS),
        output_names=["logits"],
        dynamic_axes={**{name: {0: "pairs", 1: "tokens"} for name in FIELDS}, "logits": {0: "pairs"}},
        opset_version=OPSET,
        dynamo=False,
    )


def quantise_in_blocks(traced: Path, blocks: Path, shape: tuple[int, int]) -> None:
    """Keeps the matrices of that shape in 8 bits, with a scale for each block, as what they are multiplied with gets, too.

    These are the second ones of the feed-forward layers. What they read has a few numbers far above the rest, so that one scale
    for a whole text leaves little of the rest. On 300 pairs of SNLI and 60 of some 108 tokens, with a model of the first stage,
    probabilities then change by 0.014 and 0.017 on average instead of 0.022 and 0.043, for a tenth of the speed.
    """
    graph = onnx.load(traced).graph
    wide = {weights.name for weights in graph.initializer if tuple(weights.dims) == shape}
    others = [node.name for node in graph.node if not wide & set(node.input)]
    quantiser = MatMulNBitsQuantizer(
        onnx.load(traced), bits=8, block_size=BLOCK, is_symmetric=True, accuracy_level=4, nodes_to_exclude=others
    )
    quantiser.process()
    quantiser.model.save_model_to_file(str(blocks))


def quantise(traced: Path, out: Path) -> None:
    """Keeps the other matrices as whole numbers of 7 bits, a scale for each column; a text gets its scale while it is read.

    Seven, because processors with AVX2 and without VNNI add two products of 8 bits in 16, and where that is too little for
    the sum they answer with the largest number that is not. The last two layers, which read one token, stay as they are: they
    cost no time.
    """
    last = [node.name for node in onnx.load(traced).graph.node if node.op_type == "Gemm"]
    quantize_dynamic(
        traced,
        out,
        op_types_to_quantize=QUANTISED,
        nodes_to_exclude=[*last, *(f"{name}_MatMul" for name in last)],  # it renames them before it looks
        per_channel=True,
        reduce_range=True,
        weight_type=QuantType.QInt8,
        # What comes out of a kernel of ONNX Runtime's own has no type that could be inferred.
        extra_options={"DefaultTensorType": onnx.TensorProto.FLOAT},
    )


def write_tokenizer(folder: Path, out: Path) -> None:
    """The tokenizer without padding and truncation, which are the caller's, and what its configuration says of texts."""
    tokenizer = Tokenizer.from_file(str(folder / TOKENIZER_FILE))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    (out / TOKENIZER_FILE).write_text(tokenizer.to_str(pretty=False), encoding="utf-8")
    stated = json.loads((folder / TOKENIZER_CONFIGURATION).read_text(encoding="utf-8"))
    kept = {"tokenizer_class": "PreTrainedTokenizerFast"} | {name: stated[name] for name in TOKENIZER if name in stated}
    write_json(out / TOKENIZER_CONFIGURATION, kept)


def write_json(file: Path, content: dict[str, Any]) -> None:
    """One field a line."""
    file.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


@contextmanager
def quiet() -> Iterator[None]:
    """Without the remarks of tracing and quantising: they are about graphs in general."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)
