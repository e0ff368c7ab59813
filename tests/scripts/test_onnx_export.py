"""The relation model as it ships: what is written, that it says what the trained one says, and that it is always the same."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tiny_albert import tiny_albert
from tiny_models import tiny_bert, tiny_onnx

from localfact.models.onnx import OnnxModel, OnnxTokenizer
from localfact.runtime.files import file_digest

#: Each waits for torch and for what quantises.
pytestmark = pytest.mark.slow

FILES = {"model.onnx", "tokenizer.json", "tokenizer_config.json", "config.json"}
PAIRS = (
    ("Granite was cut in the quarries of the island.", "The quarries gave granite."),
    ("The lighthouse of Inverbeg was built in 1862 and stands 35 metres tall.", "It was built in 1902."),
    ("Mirela Vantos, a painter, was born in Split.", "Granite was shipped to the town."),
    ("The claim is known.", "Neither is supported by the passage."),
)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_bert(tmp_path_factory.mktemp("trained"))


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_onnx(tmp_path_factory.mktemp("exported"))


def outputs_of(folder: Path) -> np.ndarray:
    model, tokenizer = OnnxModel(folder), OnnxTokenizer(folder)
    return np.array([model.outputs(tokenizer(*pair)) for pair in PAIRS])


def plain_outputs(folder: Path) -> np.ndarray:
    import torch
    from transformers import AutoModelForSequenceClassification

    model, tokenizer = AutoModelForSequenceClassification.from_pretrained(folder).eval(), OnnxTokenizer(folder)
    with torch.inference_mode():
        return np.array([model(**tensors(tokenizer(*pair))).logits[0].numpy() for pair in PAIRS])


def tensors(fields: dict[str, list[int]]) -> dict[str, Any]:
    import torch

    return {name: torch.tensor([numbers]) for name, numbers in fields.items()}


def test_what_is_written_says_nearly_what_the_trained_model_says(trained: Path, shipped: Path) -> None:
    plain, exported = plain_outputs(trained), outputs_of(shipped)
    assert np.ptp(plain, axis=0).min() > 0.2, "pairs that are all predicted alike would tell nothing"
    assert np.abs(exported - plain).max() < 0.1 * np.ptp(plain)


def test_without_quantisation_it_says_just_what_the_trained_model_says(trained: Path, tmp_path: Path) -> None:
    from scripts.onnx_export import export

    export(trained, trained, tmp_path, quantised=False)
    assert {file.name for file in tmp_path.iterdir()} == FILES
    assert outputs_of(tmp_path) == pytest.approx(plain_outputs(trained), abs=1e-5)


def test_four_files_are_written_and_none_says_where(shipped: Path) -> None:
    assert {file.name for file in shipped.iterdir()} == FILES
    for file in shipped.iterdir():
        content = file.read_bytes()
        assert b"/tmp" not in content
        assert str(Path.home()).encode() not in content
        assert b".py" not in content
    assert json.loads((shipped / "config.json").read_text())["id2label"]["1"] == "contradiction"


def test_matrices_are_whole_numbers_of_seven_bits_or_in_blocks_of_eight_and_the_last_two_are_neither(shipped: Path) -> None:
    import onnx

    graph = onnx.load(shipped / "model.onnx").graph
    matrices = [each for each in map(onnx.numpy_helper.to_array, graph.initializer) if each.ndim == 2]
    signed = [each for each in matrices if each.dtype == np.int8]
    assert sorted({each.shape for each in signed}) == [(32, 32), (32, 64)]
    assert len(signed) == 2 * 5
    assert max(np.abs(each.astype(int)).max() for each in signed) == 64
    assert sum(node.op_type == "MatMulNBits" for node in graph.node) == 2
    scales = [(32, 1)] * 2
    assert sorted(each.shape for each in matrices if each.dtype == np.float32) == [*scales, (32, 3), (32, 32)]


def test_the_temperature_divides_the_outputs(trained: Path, shipped: Path, tmp_path: Path) -> None:
    from scripts.onnx_export import export

    export(trained, trained, tmp_path, temperature=2.5)
    assert outputs_of(tmp_path) * 2.5 == pytest.approx(outputs_of(shipped), abs=1e-4)


def test_a_model_in_memory_is_exported_like_its_folder_and_stays_as_it_is(trained: Path, shipped: Path, tmp_path: Path) -> None:
    import torch
    from transformers import AutoModelForSequenceClassification

    from scripts.onnx_export import export

    model = AutoModelForSequenceClassification.from_pretrained(trained).train()
    before = {name: weight.clone() for name, weight in model.state_dict().items()}
    export(model, trained, tmp_path / "once")
    assert file_digest(tmp_path / "once/model.onnx") == file_digest(shipped / "model.onnx")
    export(model, trained, tmp_path / "hot", temperature=3.0)
    assert model.training
    assert all(torch.equal(weight, before[name]) for name, weight in model.state_dict().items())


def test_the_same_weights_give_the_same_bytes_in_another_process(trained: Path, shipped: Path, tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from scripts.onnx_export import export\n"
        "folder, out = map(Path, sys.argv[1:]); print(export(folder, folder, out))"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "7"}
    command = [sys.executable, "-c", program, str(trained), str(tmp_path)]
    printed = subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout
    assert printed.split()[-1] == f"sha256:{file_digest(shipped / 'model.onnx')}"
    assert all((tmp_path / name).read_bytes() == (shipped / name).read_bytes() for name in FILES)


@pytest.mark.parametrize("temperature", [0.0, -1.0, float("nan"), float("inf")])
def test_a_temperature_that_is_none_is_refused(trained: Path, tmp_path: Path, temperature: float) -> None:
    from scripts.onnx_export import export

    with pytest.raises(ValueError, match="temperature"):
        export(trained, trained, tmp_path, temperature=temperature)


def test_another_kind_of_model_is_refused(tmp_path: Path) -> None:
    from scripts.onnx_export import export

    folder = tiny_albert(tmp_path / "albert")
    with pytest.raises(ValueError, match="type albert"):
        export(folder, folder, tmp_path / "out")
