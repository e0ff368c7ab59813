"""Dividing a model over GPUs: no more of them than there are, however many ways of dividing are asked for at once."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localfact.errors import InputError, LocalFactError
from localfact.llm.placing.hardware import Gpu, Hardware
from localfact.llm.placing.model_shape import shape_of_card
from localfact.llm.placing.placement import Placement
from localfact.llm.placing.planner import PlacementPlanner
from localfact.models.cards import find_card, list_cards

LLMS = [card.name for card in list_cards() if "llm" in card.roles]


def gpus(count: int, memory_gib: float = 79.2) -> Hardware:
    return Hardware(gpus=(Gpu(name="GPU", memory_gib=memory_gib, capability=(9, 0)),) * count, memory_gib=500)


def division(name: str, hardware: Hardware, **arguments: Any) -> Placement:
    card = find_card(name)
    shape = shape_of_card(card)
    assert shape is not None
    return PlacementPlanner(card, shape, hardware, arguments, card.dtype, 0.0).best()


@pytest.mark.parametrize(
    ("arguments", "chosen", "weights"),
    [
        ({}, (4, None), 131.4 / 4),
        ({"data_parallel_size": 2}, (2, "fp8_per_tensor"), 67.6 / 2),
        ({"prefill_context_parallel_size": 2}, (2, "fp8_per_tensor"), 67.6 / 2),
        ({"data_parallel_size": 2, "quantization": None}, (2, None), 131.4 / 2),
        ({"pipeline_parallel_size": 2}, (2, None), 131.4 / 4),
        ({"pipeline_parallel_size": 4}, (1, None), 131.4 / 4),
        ({"tensor_parallel_size": 2, "pipeline_parallel_size": 2}, (2, None), 131.4 / 4),
    ],
)
def test_a_choice_of_the_card_is_taken_only_if_there_are_gpus_for_all_its_parts_and_copies(
    arguments: dict[str, Any], chosen: tuple[int, str | None], weights: float
) -> None:
    found = division("llama-3.1-70b", gpus(4), **arguments)
    assert (found.tensor_parallel, found.quantisation) == chosen
    assert found.weights == pytest.approx(weights, abs=0.1)


@pytest.mark.parametrize(
    ("count", "arguments", "complaint"),
    [
        (1, {"pipeline_parallel_size": 2}, "pipeline_parallel_size=2 needs 2 GPUs; this machine has 1"),
        (4, {"data_parallel_size": 8}, "data_parallel_size=8 needs 8 GPUs; this machine has 4"),
        (
            4,
            {"tensor_parallel_size": 2, "pipeline_parallel_size": 2, "data_parallel_size": 2},
            "tensor_parallel_size=2, pipeline_parallel_size=2, data_parallel_size=2 needs 8 GPUs; this machine has 4",
        ),
    ],
)
def test_more_parts_than_gpus_are_refused_with_all_that_makes_them(
    count: int, arguments: dict[str, int], complaint: str
) -> None:
    with pytest.raises(InputError, match=complaint):
        division("llama-3.1-8b", gpus(count), **arguments)


@given(
    st.sampled_from(LLMS),
    st.integers(1, 9),
    st.sampled_from([23.5, 79.2, 139.8]),
    st.dictionaries(
        st.sampled_from(["tensor_parallel_size", "pipeline_parallel_size", "data_parallel_size"]), st.integers(1, 5)
    ),
)
def test_no_division_takes_more_gpus_than_there_are(
    name: str, count: int, memory_gib: float, arguments: dict[str, int]
) -> None:
    try:
        chosen = division(name, gpus(count, memory_gib), **arguments)
    except LocalFactError:
        return
    assert chosen.tensor_parallel * arguments.get("pipeline_parallel_size", 1) * chosen.replicas <= count
    assert chosen.replicas == arguments.get("data_parallel_size", chosen.replicas)
    assert chosen.weights <= memory_gib * chosen.share


@pytest.mark.parametrize(
    ("name", "hardware", "chosen"),
    [
        ("llama-3.1-8b", gpus(1), (1, 1)),
        ("llama-3.1-8b", gpus(4), (1, 4)),
        ("llama-3.1-70b", gpus(4), (4, 1)),
        ("llama-3.1-70b", gpus(8), (4, 2)),
        ("llama-3.1-70b", gpus(9), (4, 2)),
        ("llama-3.1-70b", gpus(4, 139.8), (2, 2)),
    ],
)
def test_every_gpu_is_used_by_as_many_replicas_as_there_is_room_for(
    name: str, hardware: Hardware, chosen: tuple[int, int]
) -> None:
    found = division(name, hardware)
    assert (found.tensor_parallel, found.replicas) == chosen


def test_a_model_of_experts_is_one_replica_unless_asked_for_more() -> None:
    card = find_card("llama-3.1-8b")
    shape = shape_of_card(card)
    assert shape is not None
    shape = shape.model_copy(update={"experts": True})

    def replicas(**arguments: Any) -> int:
        return PlacementPlanner(card, shape, gpus(4), arguments, card.dtype, 0.0).best().replicas

    assert replicas() == 1
    assert replicas(data_parallel_size=2) == 2


def test_batches_are_those_of_vllms_offline_class_where_their_working_memory_leaves_room() -> None:
    assert division("llama-3.1-8b", gpus(1)).batch == (16_384, 1_024)
    assert division("llama-3.1-8b", gpus(1, 39.4)).batch == (8_192, 256)
    assert division("llama-3.1-8b", gpus(1, 23.5), max_num_batched_tokens=300).batch == (300, 256)
    # 15 GiB of weights: what the larger batches take is what the cache needs.
    assert division("llama-3.1-8b", gpus(1, 21.2), quantization=None, max_model_len=8_192).batch == (2_048, 128)
    a100 = Gpu(name="NVIDIA A100-SXM4-80GB", memory_gib=79.2, capability=(8, 0))
    assert division("llama-3.1-8b", Hardware(gpus=(a100,), memory_gib=500)).batch == (8_192, 256)


def test_replicas_on_a_cpu_share_its_memory() -> None:
    alone = division("smollm2-135m", Hardware(memory_gib=6))
    shared = division("smollm2-135m", Hardware(memory_gib=6), data_parallel_size=2)
    assert (alone.replicas, shared.replicas) == (1, 2)
    assert shared.cache < alone.cache


def test_a_model_is_split_over_numbers_of_gpus_that_share_its_key_value_heads_evenly() -> None:
    """Phi-4 has ten of them: one or two GPUs, and not four."""
    card = find_card("phi-4")
    shape = shape_of_card(card)
    assert shape is not None
    planner = PlacementPlanner(card, shape, gpus(8), {}, card.dtype, 0.0)
    assert planner.parallels(8) == [1, 2]
