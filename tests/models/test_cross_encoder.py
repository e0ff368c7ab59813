"""What relation models and rerankers share: how much a model reads, and how pairs are put together."""

import os
import random
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tiny_albert import WINDOW, tiny_albert
from tiny_models import tiny_onnx

from localfact.errors import InputError
from localfact.models.cards import load_card, runs_on_onnx
from localfact.models.cross_encoder import ALONE, BATCHED, BatchShape, CrossEncoder, Tokens, batches_of, window_of
from localfact.models.model_card import ModelCard
from localfact.models.onnx import OnnxModel


def own_card(folder: Path, **stated: Any) -> ModelCard:
    return load_card(str(folder)).model_copy(update=stated)


def test_batches_go_by_length_and_by_a_budget_of_tokens() -> None:
    lengths = [5, 60, 64, 65, 130, 3, 128]
    batches = list(batches_of(lengths, BatchShape(step=64, tokens=256)))
    assert batches == [[4], [6, 3], [2, 1, 0, 5]]
    assert list(batches_of(lengths, BatchShape(step=64, tokens=128))) == [[4], [6], [3], [2, 1], [0, 5]]
    assert list(batches_of([4, 9, 4], ALONE)) == [[1], [0], [2]]
    assert [BATCHED.rows(BATCHED.length(tokens)) for tokens in (1, 64, 65, 512, 5_000)] == [64, 64, 32, 8, 1]


def test_the_window_is_the_least_of_what_is_stated(tmp_path: Path) -> None:
    from transformers import AutoConfig, AutoTokenizer

    folder = tiny_albert(tmp_path)
    config, tokenizer = AutoConfig.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)
    card = own_card(folder)
    assert window_of(card, config, tokenizer) == WINDOW
    assert window_of(own_card(folder, window=20), config, tokenizer) == 20
    assert window_of(own_card(folder, window=2_000), config, tokenizer) == WINDOW

    class Unlimited:
        model_max_length = int(1e30)

    class Roberta:
        model_type, max_position_embeddings, pad_token_id = "roberta", 514, 1

    class Silent:
        model_type = "own"

    assert window_of(card, Roberta(), Unlimited()) == 512
    with pytest.raises(InputError, match="`window` in its card"):
        window_of(card, Silent(), Unlimited())


def test_either_text_can_be_the_one_that_is_cut(tmp_path: Path) -> None:
    encoder = CrossEncoder(load_card(str(tiny_albert(tmp_path))), "relations", device="cpu")
    short, long = "Granite.", "stone " * WINDOW
    first = encoder.tokens(long, short, cut="only_first")
    second = encoder.tokens(short, long, cut="only_second")
    assert first.length == second.length == WINDOW
    assert sum(first.fields["token_type_ids"]) == encoder.length(short) + 1
    assert WINDOW - sum(second.fields["token_type_ids"]) == encoder.length(short) + 2


def test_what_a_model_is_no_good_for_is_said_in_the_words_of_its_use(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"these are not weights")
    card = load_card(str(tmp_path))
    with pytest.raises(InputError, match="could not be loaded as the reranker"):
        CrossEncoder(card, "reranker", device="cpu")
    with pytest.raises(InputError, match="no relation model; its roles are: reranker"):
        CrossEncoder(card.model_copy(update={"roles": ("reranker",)}), "relations", device="cpu")


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_onnx(tmp_path_factory.mktemp("onnx"))


@pytest.fixture(scope="module")
def onnx_encoder(shipped: Path) -> CrossEncoder:
    return CrossEncoder(load_card(str(shipped)), "relations")


def mixed_tokens(encoder: CrossEncoder, count: int) -> list[Tokens]:
    words = ["granite", "lighthouse", "painter", "island", "quarry", "town", "claim", "passage"]
    chosen = random.Random(3)
    texts = [" ".join(chosen.choices(words, k=chosen.randint(1, 12))) for _ in range(2 * count)]
    return [encoder.tokens(*pair, cut="only_first") for pair in zip(texts[::2], texts[1::2], strict=True)]


@pytest.mark.slow
def test_an_onnx_file_is_read_on_the_cpu_whatever_device_is_asked_for(shipped: Path) -> None:
    encoder = CrossEncoder(load_card(str(shipped)), "relations", device="cuda:1", precision="bfloat16")
    assert isinstance(encoder.model, OnnxModel)
    assert encoder.shape == ALONE
    assert encoder.workers_count == len(os.sched_getaffinity(0))
    assert (dict(encoder.names), encoder.window) == ({0: "entailment", 1: "contradiction", 2: "neutral"}, 64)
    assert len(encoder.outputs(mixed_tokens(encoder, 1))[0]) == 3


@pytest.mark.slow
def test_an_onnx_pair_has_the_same_outputs_to_the_last_bit_alone_among_others_and_on_many_threads(
    onnx_encoder: CrossEncoder,
) -> None:
    tokens = mixed_tokens(onnx_encoder, 24)
    alone = [onnx_encoder.outputs([each])[0] for each in tokens]
    assert len({tuple(outputs) for outputs in alone}) > 20
    assert onnx_encoder.outputs(tokens[::-1])[::-1] == alone
    with ThreadPoolExecutor(8) as pool:
        for _ in range(5):
            assert [outputs for (outputs,) in pool.map(onnx_encoder.outputs, [[each] for each in tokens])] == alone


def test_the_tokenizer_of_an_onnx_file_reads_as_the_one_of_transformers(onnx_encoder: CrossEncoder, shipped: Path) -> None:
    torch_encoder = CrossEncoder(load_card(str(shipped.parent / "trained")), "relations", device="cpu")
    texts = ("Granite.", "The lighthouse of Inverbeg, [SEP] built in 1862; é ★ <pad>", "stone " * 100, "")
    assert onnx_encoder.room == torch_encoder.room
    for text in texts:
        assert onnx_encoder.starts(text) == torch_encoder.starts(text)
        assert onnx_encoder.length(text) == torch_encoder.length(text)
    for first, second in ((texts[1], texts[0]), (texts[2], texts[1])):
        assert onnx_encoder.tokens(first, second, cut="only_first") == torch_encoder.tokens(first, second, cut="only_first")
        assert onnx_encoder.tokens(second, first, cut="only_second") == torch_encoder.tokens(second, first, cut="only_second")


def test_marks_of_the_tokenizer_in_a_text_are_letters_to_an_onnx_file(onnx_encoder: CrossEncoder) -> None:
    plain = onnx_encoder.tokens("granite", "stone", cut="only_first").fields["input_ids"]
    marks = {plain[0], plain[-1]}
    spelt = onnx_encoder.tokens("granite [SEP] town [CLS]", "[SEP] stone [CLS] [SEP]", cut="only_first").fields["input_ids"]
    assert len(marks) == 2
    assert [number for number in spelt if number in marks] == [number for number in plain if number in marks]


@pytest.mark.slow
def test_an_onnx_file_is_read_without_torch_or_transformers(shipped: Path) -> None:
    program = (
        "import sys; from localfact.models.cross_encoder import CrossEncoder; from localfact.models.cards import load_card\n"
        f"encoder = CrossEncoder(load_card({str(shipped)!r}), 'relations')\n"
        "tokens = encoder.tokens('granite', 'stone', cut='only_first')\n"
        "print(len(list(encoder.workers.map(encoder.outputs, [[tokens]]))))\n"
        "print([name for name in ('torch', 'transformers') if name in sys.modules])"
    )
    printed = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout
    assert printed.split() == ["1", "[]"]


def test_an_onnx_file_serves_relations_and_reranking_and_nothing_else(shipped: Path) -> None:
    card = load_card(str(shipped))
    assert set(card.roles) == {"relations", "reranker"}
    assert runs_on_onnx(card)
    assert not runs_on_onnx(card.model_copy(update={"folder": None}))


def test_weights_for_torch_go_before_an_onnx_file_beside_them(shipped: Path, tmp_path: Path) -> None:
    folder = tiny_albert(tmp_path)
    before = load_card(str(folder))
    shutil.copy(shipped / "model.onnx", folder)
    assert load_card(str(folder)) == before
    assert not runs_on_onnx(before)


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("model.onnx", "this is no graph", "model.onnx cannot be loaded"),
        ("config.json", "{}", "does not name the model's outputs"),
        ("config.json", '{"id2label": {"0": "entailment", "1": "neutral"}}', "has 3 outputs, and config.json names 2"),
        ("config.json", "[", "config.json cannot be read"),
        ("tokenizer.json", "{}", "tokenizer.json cannot be loaded"),
        ("tokenizer_config.json", "[]", "holds no JSON object"),
    ],
)
def test_a_damaged_folder_of_an_onnx_file_is_refused_with_what_is_wrong(
    shipped: Path, tmp_path: Path, name: str, content: str, complaint: str
) -> None:
    folder = tmp_path / "damaged"
    shutil.copytree(shipped, folder)
    (folder / name).write_text(content)
    with pytest.raises(InputError, match=complaint):
        CrossEncoder(load_card(str(folder)), "relations")


def test_an_onnx_file_that_asks_for_more_than_a_pair_is_refused(shipped: Path, tmp_path: Path) -> None:
    import onnx

    folder = tmp_path / "asking"
    shutil.copytree(shipped, folder)
    graph = onnx.load(folder / "model.onnx")
    graph.graph.input.append(onnx.helper.make_tensor_value_info("past", onnx.TensorProto.FLOAT, [1]))
    onnx.save(graph, folder / "model.onnx")
    with pytest.raises(InputError, match="asks for past"):
        CrossEncoder(load_card(str(folder)), "relations")
