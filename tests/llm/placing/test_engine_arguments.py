"""`--engine-arg`: values are read as what they look like, names are vLLM's, and no secret comes through."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localfact.errors import InputError
from localfact.llm.placing.engine_arguments import NEUTRAL, OURS, argument_names, read_arguments, read_value


def test_values_are_read_as_what_they_look_like() -> None:
    texts = ["8", "0.5", "true", "None", '{"a": 1}', "auto"]
    assert [read_value(text) for text in texts] == [8, 0.5, True, None, {"a": 1}, "auto"]


@given(st.one_of(st.integers(), st.floats(allow_nan=False), st.booleans()))
def test_a_printed_value_is_read_back(value: float) -> None:
    assert read_value(str(value)) == value


def test_names_of_vllm_are_those_of_its_class() -> None:
    names = argument_names()
    if names is None:
        pytest.skip("vLLM is not installed")
    assert {"dtype", "max_model_len", "kv_cache_memory_bytes", "enable_log_requests"} <= names
    assert read_arguments({"gpu-memory-utilization": "0.5"}) == {"gpu_memory_utilization": 0.5}


def test_all_names_that_leave_answers_alone_are_arguments_of_vllm() -> None:
    names = argument_names()
    if names is None:
        pytest.skip("vLLM is not installed")
    assert NEUTRAL | set(OURS) <= names


def test_tokens_that_are_no_secrets_are_let_through() -> None:
    assert read_arguments({"hf_overrides": '{"eos_token_id": 2}', "max_num_batched_tokens": "64"}) == {
        "hf_overrides": {"eos_token_id": 2},
        "max_num_batched_tokens": 64,
    }


@pytest.mark.parametrize(
    ("name", "value", "cure"),
    [
        ("hf_token", "hf_SECRET", "HF_TOKEN"),
        ("hf-token", "hf_SECRET", "HF_TOKEN"),
        ("model_loader_extra_config", '{"s3": [{"aws_secret_access_key": "hf_SECRET"}]}', "environment variable"),
        ("kv_transfer_config", '{"api_key": "hf_SECRET"}', "environment variable"),
    ],
)
def test_a_secret_is_refused_and_not_repeated(name: str, value: str, cure: str) -> None:
    with pytest.raises(InputError, match=cure) as refused:
        read_arguments({name: value})
    assert "hf_SECRET" not in str(refused.value)
