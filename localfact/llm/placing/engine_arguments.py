"""Parses and checks `--engine-arg key=value`, without importing vLLM, and says which arguments may change answers."""

import ast
import difflib
import importlib.util
import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from localfact.errors import InputError

#: Arguments that localfact sets itself, and what to use instead.
OURS = {
    "model": "--model",
    "model_weights": "--model",
    "tokenizer": "--model with a folder that holds the tokenizer",
    "revision": "the model card",
    "tokenizer_revision": "the model card",
    "logprobs_mode": "nothing: label probabilities need raw log-probabilities",
    "skip_tokenizer_init": "nothing: prompts are counted in tokens",
    "runner": "nothing: a language model generates",
    # Arguments are written to run.yaml and transcripts in clear text.
    "hf_token": "HF_TOKEN in the environment, with `localfact models pull`: the engine itself asks no hub",
}
#: Arguments that change no answers: they concern speed, memory, logs and measurements, or are fields of the identity
#: (dtype, quantization, max_model_len). A seed is sent with every call that samples.
# fmt: off
NEUTRAL = frozenset(
    {
        "dtype", "quantization", "max_model_len", "seed",
        # How the model is divided over devices and machines.
        "tensor_parallel_size", "pipeline_parallel_size", "prefill_context_parallel_size", "decode_context_parallel_size",
        "data_parallel_size", "data_parallel_size_local", "data_parallel_rank", "data_parallel_start_rank",
        "data_parallel_address", "data_parallel_rpc_port", "data_parallel_backend", "data_parallel_hybrid_lb",
        "data_parallel_external_lb", "data_parallel_multi_port_external_lb", "distributed_executor_backend", "master_addr",
        "master_port", "nnodes", "node_rank", "distributed_timeout_seconds", "cpu_distributed_timeout_seconds", "device_ids",
        "numa_bind", "numa_bind_nodes", "numa_bind_cpus", "enable_expert_parallel", "disable_custom_all_reduce",
        "disable_nccl_for_dp_synchronization", "dp_sync_interval", "enable_shm_tensor_arena", "enable_nccl_comm_suspend",
        "fault_tolerance_config", "enable_fault_tolerance",
        # Memory: of weights, and of the cache of keys and values.
        "gpu_memory_utilization", "kv_cache_memory_bytes", "block_size", "num_gpu_blocks_override", "enable_prefix_caching",
        "prefix_caching_hash_algo", "prefix_cache_retention_interval", "cpu_offload_gb", "cpu_offload_params",
        "offload_backend", "offload_group_size", "offload_num_in_group", "offload_prefetch_step", "offload_params",
        "kv_offloading_size", "kv_offloading_backend", "kv_events_config", "enable_sleep_mode",
        "sleep_mode_offload_cudagraph", "enable_cumem_allocator",
        # Loading.
        "download_dir", "safetensors_load_strategy", "safetensors_prefetch_num_threads", "safetensors_prefetch_block_size",
        "max_parallel_loading_workers", "pt_load_map_location", "use_tqdm_on_load", "trust_remote_code",
        # Which request is computed when, and compiling.
        "max_num_batched_tokens", "max_num_scheduled_tokens", "max_num_seqs", "max_num_active_seqs", "max_num_queued_reqs",
        "max_num_queued_tokens", "long_prefill_token_threshold", "long_prefill_token_threshold_adaptive", "max_logprobs",
        "enable_chunked_prefill", "scheduling_policy", "scheduler_reserve_full_isl", "prefill_schedule_interval", "watermark",
        "async_scheduling", "stream_interval", "enforce_eager", "optimization_level", "compilation_config",
        "cudagraph_capture_sizes", "max_cudagraph_capture_size", "disable_cascade_attn", "enable_flashinfer_autotune",
        # Names, logs and measurements.
        "served_model_name", "disable_log_stats", "aggregate_engine_logging", "enable_log_requests", "log_level",
        "log_config_file", "logging_config", "show_hidden_metrics_for_version", "otlp_traces_endpoint",
        "collect_detailed_traces", "per_request_spec_decode_metrics", "kv_cache_metrics", "kv_cache_metrics_sample",
        "custom_histogram_buckets", "cudagraph_metrics", "enable_layerwise_nvtx_tracing", "enable_mfu_metrics",
        "enable_logging_iteration_details", "jit_monitor_mode", "jit_monitor_verbose", "ray_workers_use_nsight",
        "profiler_config", "fail_on_environ_validation", "shutdown_timeout",
    }
)
# fmt: on
#: Matches names of arguments, and of keys at any depth inside them, whose value is a secret and must not be stored.
SECRET = re.compile(
    r"secret|passw|credential|(api|access|private|auth)_?key|(hf|api|auth|access|bearer|session)_?token|^token$", re.I
)
DTYPES = {"float16": "float16", "half": "float16", "bfloat16": "bfloat16", "float32": "float32", "float": "float32"}
NOTHING = ("none", "null")
#: How many similar names the message about an unknown one suggests.
NEAR = 3


def read_arguments(typed: Mapping[str, Any]) -> dict[str, Any]:
    """Parses the arguments' values: whole and decimal numbers, true, false, none, JSON, else text.

    Raises:
        InputError: vLLM has no such argument, localfact sets it itself, or it holds a secret.
    """
    read = {}
    for typed_name, value in typed.items():
        name = typed_name.strip().replace("-", "_")
        if name in OURS:
            raise InputError(f"--engine-arg {name} is not for you to set; use {OURS[name]}.")
        known = argument_names()
        if known is not None and name not in known:
            near = difflib.get_close_matches(name, known, NEAR)
            raise InputError(
                f"vLLM has no engine argument '{name}'."
                + (f" Near: {', '.join(near)}." if near else " See vLLM's documentation of AsyncEngineArgs.")
            )
        read[name] = read_value(value) if isinstance(value, str) else value
        secret = next(filter(SECRET.search, names_within(read[name])), None)
        if secret is not None:
            raise InputError(
                f"--engine-arg {name} holds '{secret}', and engine arguments are kept in run.yaml, in the clear; "
                "give it to vLLM in an environment variable."
            )
    return read


def names_within(value: Any) -> Iterator[str]:
    """All keys in an argument's value, at any depth."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield str(name)
            yield from names_within(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from names_within(inner)


def read_value(text: str) -> Any:
    """Parses a text: a number, true, false, none, a JSON object or list; any other text is returned unchanged."""
    stripped = text.strip()
    lower = stripped.lower()
    if lower in ("true", "false"):
        return lower == "true"
    if lower in NOTHING:
        return None
    for kind in (int, float):
        try:
            return kind(stripped)
        except ValueError:
            continue
    if stripped[:1] in ("{", "["):
        try:
            return json.loads(stripped)
        except ValueError:
            raise InputError(f"--engine-arg: {stripped!r} is not JSON.") from None
    return stripped


@cache
def argument_names() -> frozenset[str] | None:
    """The names of vLLM's engine arguments, read from its source (an import takes seconds); None where it is not installed."""
    found = importlib.util.find_spec("vllm")
    if found is None or not found.submodule_search_locations:
        return None
    source = Path(next(iter(found.submodule_search_locations))) / "engine" / "arg_utils.py"
    try:
        tree = ast.parse(source.read_text(encoding="utf-8"))
    except (OSError, SyntaxError):
        return None
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef) and node.name in ("EngineArgs", "AsyncEngineArgs")]
    fields = [field.target for node in classes for field in node.body if isinstance(field, ast.AnnAssign)]
    return frozenset(target.id for target in fields if isinstance(target, ast.Name)) or None


def positive(arguments: Mapping[str, Any], name: str, kind: type[int] | type[float], default: float | None) -> Any:
    """The argument of that name, a number above 0; the default where it is not given.

    Raises:
        InputError: it is no number above 0.
    """
    value = arguments.get(name)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int if kind is int else int | float) or value <= 0:
        raise InputError(f"--engine-arg {name} must be a {'whole ' if kind is int else ''}number above 0, not {value!r}.")
    return value


def dtype_of(arguments: Mapping[str, Any]) -> str | None:
    """The precision that the user asked for; None for the model's own. Raises InputError for an unknown one."""
    asked = arguments.get("dtype")
    if asked in (None, "auto"):
        return None
    if asked not in DTYPES:
        raise InputError(f"--engine-arg dtype must be one of {', '.join(DTYPES)} or auto, not {asked!r}.")
    return DTYPES[str(asked)]


def answer_changing(arguments: Mapping[str, Any]) -> str:
    """The arguments that may change answers, as a suffix of the weights' revision; "" for none.

    Answers recorded with other rotary scaling, another cache precision or random weights are not mixed with those of the model.
    """
    changing = {name: arguments[name] for name in sorted(arguments) if name not in NEUTRAL}
    return "".join(f"+{name}={json.dumps(value, sort_keys=True, default=str)}" for name, value in changing.items())
