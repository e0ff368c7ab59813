"""From a card and a machine to an engine's arguments: the choices, the identity, and what is too big is said before loading."""

import importlib.util
import json
import re
from pathlib import Path
from typing import Any

import pytest

from localfact.errors import InputError, MissingError
from localfact.llm.calls import CountCall
from localfact.llm.placing.hardware import GIB, Gpu, Hardware
from localfact.llm.placing.model_shape import ModelShape, shape_of_card, shape_of_folder
from localfact.llm.placing.placement import Placement
from localfact.llm.placing.planner import PlacementPlanner
from localfact.llm.placing.settings import (
    Placing,
    engine_settings,
    memory_to_reserve,
    placement_of,
    precision,
    vllm_arguments,
)
from localfact.llm.tokens.chat import template_hash
from localfact.models.card_parts import WeightsSize
from localfact.models.cards import list_cards, load_card
from localfact.models.model_card import ModelCard


def machine(count: int, memory_gib: float, capability: tuple[int, int], host_gib: float = 500) -> Hardware:
    gpu = Gpu(name="GPU", memory_gib=memory_gib, capability=capability)
    return Hardware(gpus=(gpu,) * count, memory_gib=host_gib)


AMPERE, HOPPER = (8, 0), (9, 0)
LAPTOP = Hardware(memory_gib=16)
CONFIG: dict[str, Any] = {
    "architectures": ["LlamaForCausalLM"],
    "dtype": "float32",
    "hidden_size": 64,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "num_hidden_layers": 3,
    "vocab_size": 100,
    "max_position_embeddings": 2048,
}


def placement_for(name: str, hardware: Hardware, reserved_gib: float = 0.0, **arguments: Any) -> Placement:
    card = load_card(name)
    shape = shape_of_card(card)
    assert shape is not None
    return placement_of(card, shape, hardware, arguments, reserved_gib)


def model_folder(folder: Path, size: int = 1000, **config: Any) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "config.json").write_text(json.dumps(CONFIG | config))
    (folder / "model.safetensors").write_bytes(b"w" * size)
    return folder


A100 = Hardware(gpus=(Gpu(name="NVIDIA A100-SXM4-80GB", memory_gib=79.2, capability=AMPERE),), memory_gib=500)


def test_one_gpu_of_80_gb_runs_a_70b_in_fp8_with_the_embedder_on_the_cpu() -> None:
    placing = Placing(load_card("llama-3.3-70b"), {}, A100, 0.0, 2.0)
    shape = shape_of_card(placing.card)
    assert shape is not None
    placed = placing.here(shape)
    assert (placed.told, placed.reserved_gib) == ({"embedder": "cpu"}, 0.0)
    assert (placed.placement.quantisation, placed.placement.window) == ("fp8_per_tensor", 5_120)
    roomy = Placing(load_card("llama-3.3-70b-w4a16"), {}, A100, 0.0, 2.0)
    weights = shape_of_card(roomy.card)
    assert weights is not None
    assert (roomy.here(weights).told, roomy.here(weights).reserved_gib) == ({}, 2.0)


def test_a_refusal_names_what_would_fit() -> None:
    with pytest.raises(MissingError) as refused:
        placement_for("llama-3.3-70b", A100, reserved_gib=2.0)
    for way in ("with --embedder none", "on 4 such GPU(s) as it is stored", "as llama-3.3-70b-w4a16"):
        assert way in str(refused.value)
    with pytest.raises(MissingError, match="It would fit with --engine-arg max_model_len=5120"):
        placement_for("llama-3.3-70b", A100, max_model_len=8192)


def test_a_plan_needs_neither_weights_nor_this_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    monkeypatch.delenv("LOCALFACT_WEIGHTS", raising=False)
    card = load_card("llama-3.1-70b")
    with pytest.raises(MissingError):
        engine_settings(card, hardware=LAPTOP)
    planned = engine_settings(card, hardware=LAPTOP, planning=True)
    assert (planned.machine["tensor_parallel"], planned.machine["found"]) == (2, "2 x NVIDIA A100 80GB with 79 GiB")
    assert "too big for this machine (CPU with 16 GiB)" in planned.machine["assumed"]
    assert "assumed" not in engine_settings(load_card("qwen2.5-0.5b"), hardware=LAPTOP, planning=True).machine


def test_a_plan_for_a_window_that_was_set_takes_the_fewest_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LOCALFACT_WEIGHTS", raising=False)
    planned = engine_settings(
        load_card("llama-3.3-70b"), engine_args={"max_model_len": "8192"}, hardware=A100, reserved_gib=2.0, planning=True
    )
    assert planned.machine["found"].startswith("2 x NVIDIA A100")


@pytest.mark.parametrize(
    ("name", "hardware", "parallel", "quantisation"),
    [
        ("llama-3.1-70b", machine(2, 79.2, AMPERE), 2, "fp8_per_tensor"),
        ("llama-3.1-70b", machine(4, 79.2, AMPERE), 4, None),
        ("llama-3.1-70b", machine(1, 139.8, HOPPER), 1, "fp8_per_tensor"),
        ("llama-3.3-70b", machine(2, 139.8, HOPPER), 2, None),
        ("llama-3.1-8b", machine(1, 79.2, HOPPER), 1, None),
        ("mixtral-8x22b", machine(4, 79.2, AMPERE), 4, None),
        ("deepseek-v3", machine(8, 139.8, HOPPER), 8, None),
        ("qwen2.5-0.5b", machine(1, 7.7, (7, 5)), 1, None),
    ],
)
def test_the_card_chooses_by_what_is_there(name: str, hardware: Hardware, parallel: int, quantisation: str | None) -> None:
    placement = placement_for(name, hardware)
    assert (placement.tensor_parallel, placement.quantisation) == (parallel, quantisation)


@pytest.mark.parametrize("card", [card for card in list_cards() if card.hardware], ids=lambda card: card.name)
def test_every_choice_of_every_card_fits_the_least_machine_that_it_names(card: ModelCard) -> None:
    shape = shape_of_card(card)
    assert shape is not None
    for choice in card.hardware:
        hardware = machine(choice.gpus, choice.memory_gib, HOPPER)
        planner = PlacementPlanner(card, shape, hardware, {}, card.dtype, 0.0)
        placement = planner.on_gpus(choice.tensor_parallel, "fp8_per_tensor" if choice.quantisation else None)
        assert placement.fits(planner.needed), choice


def test_memory_for_others_is_taken_from_the_share_and_shown() -> None:
    alone, shared = (placement_for("llama-3.1-8b", machine(1, 80, HOPPER), reserved) for reserved in (0.0, 8.0))
    assert (alone.share, shared.share) == (0.92, 0.82)
    assert alone.cache - shared.cache == pytest.approx(0.8 * 0.1 * 80)
    small = memory_to_reserve([load_card("bge-small"), load_card("qwen3-embedding-0.6b")])
    assert small == pytest.approx(0.13 + 1.1 + 2 * 1.5)


def test_a_window_beyond_memory_is_shortened_to_whole_thousands() -> None:
    placement = placement_for("llama-3.1-8b", machine(1, 23.5, AMPERE))
    # 23.5 GiB x 0.92 - 15.0 of weights - what it works in, of which 0.8 are counted on, at 131,072 bytes a token.
    batch = 8_192 * (2 * 4_096 + 3 * 14_336) * 2 + 256 * 128_256 * 3 * 4
    assert placement.tokens == int(((23.5 * 0.92 - 15.0 - 2.5) * GIB - batch) * 0.8 / 131_072)
    assert placement.window == placement.tokens - placement.tokens % 1024 < 131_072


def test_too_big_is_said_with_the_numbers_and_what_would_fit() -> None:
    with pytest.raises(MissingError) as refused:
        placement_for("llama-3.1-70b", machine(1, 79.2, AMPERE), quantization=None)
    message = str(refused.value)
    assert "131.4 of weights" in message
    assert "1 x GPU with 79 GiB" in message
    assert "on 4 such GPU(s) as it is stored; on 2 such GPU(s) with --engine-arg quantization=fp8" in message


def test_weights_that_are_missing_are_told_with_the_places_and_that_they_would_be_too_big_too() -> None:
    card = load_card("llama-3.1-70b").model_copy(update={"name": "no-such-folder-of-weights", "folder": None})
    with pytest.raises(MissingError) as refused:
        engine_settings(card, hardware=LAPTOP)
    message = str(refused.value)
    assert message.index("models/weights/no-such-folder-of-weights") < message.index("LOCALFACT_WEIGHTS")
    assert "localfact models pull" in message
    assert message.index("localfact models pull") < message.index("too big for this machine (CPU with 16 GiB)")
    assert re.search(r"134\.\d GiB", message)
    with pytest.raises(MissingError, match="not on this machine"):
        engine_settings(card.model_copy(update={"hub": "nobody/nothing"}), hardware=machine(8, 139.8, HOPPER))


@pytest.mark.slow
def test_a_folder_is_run_as_its_configuration_says_on_a_cpu(tmp_path: Path) -> None:
    card = load_card(str(model_folder(tmp_path / "tiny")))
    settings = engine_settings(card, hardware=LAPTOP)
    identity = settings.identity
    assert (identity.model, identity.dtype, identity.quantisation) == ("tiny", "float32", None)
    assert (identity.template, identity.window, identity.revision) == ("plain", 2048, card.revision)
    assert settings.folder == tmp_path / "tiny"
    # 3 layers x 2 heads x 16 x keys and values x 4 bytes = 768 bytes a token; 32 full windows.
    assert settings.arguments == {
        "dtype": "float32",
        "max_model_len": 2048,
        "max_num_batched_tokens": 4_096,
        "max_num_seqs": 256,
        "kv_cache_memory_bytes": 32 * 2048 * 768,
        "enforce_eager": True,
    }
    assert settings.machine["found"] == "CPU with 16 GiB"
    assert json.loads(json.dumps(dict(settings.machine))) == settings.machine


def test_arguments_of_the_user_go_before_all_and_into_the_identity(tmp_path: Path) -> None:
    card = load_card(str(model_folder(tmp_path / "tiny", dtype="bfloat16")))
    typed = {
        "dtype": "float",
        "max-model-len": "512",
        "kv_cache_memory_bytes": "1048576",
        "max_num_seqs": "4",
        "enforce_eager": "false",
    }
    settings = engine_settings(card, engine_args=typed, hardware=LAPTOP)
    assert (settings.identity.dtype, settings.identity.window) == ("float32", 512)
    assert settings.identity.revision == card.revision
    assert settings.arguments == {
        "dtype": "float32",
        "max_model_len": 512,
        "max_num_batched_tokens": 4_096,
        "max_num_seqs": 4,
        "kv_cache_memory_bytes": 1_048_576,
        "enforce_eager": False,
    }


@pytest.mark.parametrize(("gib", "compiler", "eager"), [(0.5, True, True), (3.3, True, False), (3.3, False, True)])
def test_a_model_is_compiled_for_a_cpu_where_it_is_large_and_there_is_a_compiler(
    gib: float, compiler: bool, eager: bool
) -> None:
    placement = Placement(dtype="bfloat16", share=0, weights=gib, cache=1, tokens=4096, window=4096)
    given = vllm_arguments(placement, Hardware(memory_gib=64, compiler=compiler), {})
    assert given["enforce_eager"] is eager


def test_an_argument_that_may_change_answers_makes_another_revision(tmp_path: Path) -> None:
    card = load_card(str(model_folder(tmp_path / "tiny")))
    dummy = engine_settings(card, engine_args={"load_format": "dummy"}, hardware=LAPTOP).identity
    assert dummy.revision == f'{card.revision}+load_format="dummy"'


@pytest.mark.parametrize(
    "argument",
    [
        {"seed": "7"},
        {"served_model_name": "mine"},
        {"max_num_queued_reqs": "9"},
        {"log_config_file": "log.json"},
        {"kv_cache_metrics": "true"},
        {"data_parallel_backend": "mp"},
    ],
)
def test_an_argument_of_logs_names_queues_or_seeds_makes_no_other_model(tmp_path: Path, argument: dict[str, str]) -> None:
    card = load_card(str(model_folder(tmp_path / "tiny")))
    assert engine_settings(card, engine_args=argument, hardware=LAPTOP).identity.revision == card.revision


@pytest.mark.parametrize(
    ("file", "content"),
    [("config.json", json.dumps(CONFIG | {"rope_theta": 5e5})), ("tokenizer.json", "{}"), ("generation_config.json", "{}")],
)
def test_a_folder_is_another_model_once_a_file_that_decides_answers_is_edited(tmp_path: Path, file: str, content: str) -> None:
    folder = model_folder(tmp_path / "tiny")
    before = engine_settings(load_card(str(folder)), hardware=LAPTOP).identity
    (folder / file).write_text(content)
    edited = engine_settings(load_card(str(folder)), hardware=LAPTOP).identity
    assert edited.model_copy(update={"revision": before.revision}) == before
    assert CountCall((), "", "").keys(edited) != CountCall((), "", "").keys(before)


@pytest.mark.parametrize(("capability", "shown"), [(AMPERE, "fp8_per_tensor (weights only)"), (HOPPER, "fp8_per_tensor")])
def test_fp8_by_hand_is_what_this_vllm_calls_it_and_ampere_is_told_apart(
    tmp_path: Path, capability: tuple[int, int], shown: str
) -> None:
    card = load_card(str(model_folder(tmp_path / "tiny", dtype="bfloat16")))
    settings = engine_settings(card, engine_args={"quantization": "fp8"}, hardware=machine(1, 79.2, capability))
    assert settings.arguments["quantization"] == "fp8_per_tensor"
    assert settings.identity.quantisation == shown


def test_weights_that_are_quantised_already_are_known_as_such(tmp_path: Path) -> None:
    folder = model_folder(tmp_path / "tiny", dtype="bfloat16", quantization_config={"quant_method": "awq"})
    settings = engine_settings(load_card(str(folder)), hardware=machine(1, 79.2, HOPPER))
    assert settings.identity.quantisation == "awq"
    assert "quantization" not in settings.arguments


def test_old_gpus_compute_in_float16(tmp_path: Path) -> None:
    shape = shape_of_folder(
        model_folder(tmp_path / "tiny", dtype="bfloat16"), ModelCard(name="t", revision="r", roles=("llm",))
    )
    card = ModelCard(name="t", revision="r", roles=("llm",))
    assert precision(card, shape, machine(1, 16, (7, 5))) == "float16"
    assert precision(card, shape, machine(1, 16, AMPERE)) == precision(card, shape, LAPTOP) == "bfloat16"


def test_processors_without_bfloat16_compute_in_float32_where_half_of_the_memory_is_left() -> None:
    card = ModelCard(name="t", revision="r", roles=("llm",), dtype="bfloat16")
    shape = ModelShape(weights=WeightsSize(stored=4), dtype="bfloat16", window=32_768, kv_bytes=600_000, kv_heads=8, heads=40)
    found = {gib: precision(card, shape, Hardware(memory_gib=gib, bfloat16=False)) for gib in (15, 16)}
    assert found == {15: "bfloat16", 16: "float32"}
    assert precision(card, shape, Hardware(memory_gib=16, bfloat16=True)) == "bfloat16"
    assert precision(card, shape, machine(1, 80, HOPPER).model_copy(update={"bfloat16": False})) == "bfloat16"
    quantised = shape.model_copy(update={"quantised": "awq"})
    assert precision(card, quantised, Hardware(memory_gib=16, bfloat16=False)) == "bfloat16"


def test_without_a_choice_on_the_card_the_fewest_gpus_that_hold_the_window_are_taken() -> None:
    card = ModelCard(name="own", revision="r", roles=("llm",))
    shape = ModelShape(
        weights=WeightsSize(stored=60, fp8=32), dtype="bfloat16", window=32_768, kv_bytes=600_000, kv_heads=8, heads=40
    )
    best = {count: placement_of(card, shape, machine(count, 44, AMPERE), {}, 0.0) for count in (1, 2, 3, 4, 8)}
    chosen = {count: (placement.tensor_parallel, placement.quantisation) for count, placement in best.items()}
    assert chosen == {
        1: (1, "fp8_per_tensor"),
        2: (2, None),
        3: (2, None),
        4: (4, None),
        8: (4, None),
    }
    assert [best[count].window == 32_768 for count in (2, 4)] == [False, True]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"max_model_lenn": "8"}, r"no engine argument 'max_model_lenn'. Near: .*max_model_len"),
        ({"model": "other"}, "use --model"),
        ({"dtype": "int3"}, "dtype must be one of"),
        ({"max_model_len": "8k"}, "whole number above 0, not '8k'"),
        ({"max_model_len": "100000"}, "at most 2048 tokens"),
        ({"kv_cache_memory_bytes": "-1"}, "above 0"),
        ({"hf_overrides": "{broken"}, "is not JSON"),
    ],
)
def test_an_argument_that_cannot_be_is_refused(tmp_path: Path, arguments: dict[str, str], complaint: str) -> None:
    if "lenn" in str(arguments) and importlib.util.find_spec("vllm") is None:
        pytest.skip("names are read from vLLM's source")
    card = load_card(str(model_folder(tmp_path / "tiny")))
    with pytest.raises(InputError, match=complaint):
        engine_settings(card, engine_args=arguments, hardware=LAPTOP)


def test_more_gpus_than_there_are_are_refused() -> None:
    with pytest.raises(InputError, match="needs 4 GPUs; this machine has 2"):
        placement_for("llama-3.1-8b", machine(2, 79.2, HOPPER), tensor_parallel_size=4)


def test_a_model_without_the_role_and_a_folder_without_configuration_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no language model"):
        engine_settings(load_card("minilm"), hardware=LAPTOP)
    (tmp_path / "model.safetensors").write_bytes(b"w")
    with pytest.raises(InputError, match=r"config\.json cannot be read"):
        engine_settings(load_card(str(tmp_path)), hardware=LAPTOP)


def test_latent_attention_keeps_one_vector_that_is_not_divided(tmp_path: Path) -> None:
    folder = model_folder(tmp_path / "mla", num_hidden_layers=61, kv_lora_rank=512, qk_rope_head_dim=64)
    shape = shape_of_folder(folder, ModelCard(name="mla", revision="r", roles=("llm",)))
    card = load_card("deepseek-v3")
    assert (shape.kv_bytes, shape.kv_heads) == (card.kv_bytes, card.kv_heads) == (70_272, 1)


def test_what_the_card_of_llama_says_follows_from_its_configuration(tmp_path: Path) -> None:
    llama = {
        "dtype": "bfloat16",
        "hidden_size": 8192,
        "num_attention_heads": 64,
        "num_key_value_heads": 8,
        "num_hidden_layers": 80,
        "vocab_size": 128_256,
        "max_position_embeddings": 131_072,
    }
    folder = model_folder(tmp_path / "llama", **llama)
    card = load_card("llama-3.1-70b")
    shape = shape_of_folder(folder, ModelCard(name="llama", revision="r", roles=("llm",)))
    assert (shape.kv_bytes, shape.kv_heads, shape.window) == (card.kv_bytes, card.kv_heads, card.window)


@pytest.mark.slow
def test_what_a_configuration_leaves_to_its_class_is_known(tmp_path: Path) -> None:
    """Gemma 3 states neither its window nor its heads: 34 layers, 4 key-value heads of 256, 131,072 tokens."""
    text = {"hidden_size": 2560, "intermediate_size": 10240, "model_type": "gemma3_text", "num_hidden_layers": 34}
    config = {"model_type": "gemma3", "architectures": ["Gemma3ForConditionalGeneration"], "text_config": text}
    (tmp_path / "config.json").write_text(json.dumps({**config, "torch_dtype": "bfloat16"}), encoding="utf-8")
    (tmp_path / "model.safetensors").write_bytes(b"weights")
    shape = shape_of_folder(tmp_path, ModelCard(name="gemma", revision="0", roles=("llm",)))
    assert (shape.window, shape.kv_heads, shape.heads) == (131_072, 4, 8)
    assert shape.kv_bytes == 34 * 4 * 256 * 2 * 2


def test_a_configuration_that_no_class_knows_is_read_as_it_stands(tmp_path: Path) -> None:
    config = {"model_type": "nobodys", "max_position_embeddings": 512, "num_hidden_layers": 2, "num_attention_heads": 2}
    (tmp_path / "config.json").write_text(json.dumps({**config, "hidden_size": 64}), encoding="utf-8")
    (tmp_path / "model.safetensors").write_bytes(b"weights")
    shape = shape_of_folder(tmp_path, ModelCard(name="own", revision="0", roles=("llm",)))
    assert (shape.window, shape.kv_bytes) == (512, 2 * 2 * 32 * 2 * 2)


@pytest.mark.parametrize("value", [[], {}, "x", -1, 10**400, True, [[[]]], {"quant_method": []}])
@pytest.mark.parametrize(
    "name", ["dtype", "torch_dtype", "quantization_config", "max_position_embeddings", "hidden_size", "num_hidden_layers"]
)
def test_a_configuration_with_values_that_no_model_has_gives_a_shape_without_them(
    tmp_path: Path, name: str, value: Any
) -> None:
    folder = model_folder(tmp_path, **{"model_type": "unknown", name: value})
    assert shape_of_folder(folder, load_card(str(folder))).window < 2**41


@pytest.mark.parametrize("written", ["[1]", "{", '{"chat_template": [1]}', '{"chat_template": 5}', "[" * 100_000])
def test_a_chat_template_that_cannot_be_read_is_one_sentence(tmp_path: Path, written: str) -> None:
    (tmp_path / "tokenizer_config.json").write_text(written, encoding="utf-8")
    with pytest.raises(InputError, match="The chat template in"):
        template_hash(tmp_path)
