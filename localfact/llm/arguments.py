"""`--engine-arg key=value`: read, checked by name without importing vLLM, and told apart by whether they change answers."""

import ast
import difflib
import importlib.util
import json
from collections.abc import Mapping
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
}
#: Arguments that decide speed and memory alone, or stand in the identity by themselves (dtype, quantization, max_model_len).
# fmt: off
NEUTRAL = frozenset(
    {
        "dtype", "quantization", "max_model_len", "tensor_parallel_size", "pipeline_parallel_size", "data_parallel_size",
        "distributed_executor_backend", "gpu_memory_utilization", "kv_cache_memory_bytes", "cpu_offload_gb", "block_size",
        "num_gpu_blocks_override", "enable_prefix_caching", "prefix_caching_hash_algo", "max_num_batched_tokens",
        "max_num_seqs", "max_logprobs", "enable_chunked_prefill", "scheduling_policy", "async_scheduling",
        "stream_interval", "enforce_eager", "optimization_level", "compilation_config", "cudagraph_capture_sizes",
        "max_cudagraph_capture_size", "disable_custom_all_reduce", "enable_expert_parallel", "safetensors_load_strategy",
        "download_dir", "max_parallel_loading_workers", "use_tqdm_on_load", "disable_log_stats", "enable_log_requests",
        "log_level", "shutdown_timeout", "device_ids", "disable_cascade_attn", "enable_sleep_mode", "trust_remote_code",
        "numa_bind", "enable_flashinfer_autotune",
    }
)
# fmt: on
DTYPES = {"float16": "float16", "half": "float16", "bfloat16": "bfloat16", "float32": "float32", "float": "float32"}
NOTHING = ("none", "null")
#: How many near names an unknown one is answered with.
NEAR = 3


def read_arguments(typed: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments with their values as what they look like: whole and decimal numbers, true, false, none, JSON, else text.

    Raises:
        InputError: vLLM has no such argument, or it is one that localfact sets itself.
    """
    read = {}
    for typed_name, value in typed.items():
        name = typed_name.strip().replace("-", "_")
        if name in OURS:
            raise InputError(f"--engine-arg {name} is not for you to set; use {OURS[name]}.")
        known = known_names()
        if known is not None and name not in known:
            near = difflib.get_close_matches(name, known, NEAR)
            raise InputError(
                f"vLLM has no engine argument '{name}'."
                + (f" Near: {', '.join(near)}." if near else " See vLLM's documentation of AsyncEngineArgs.")
            )
        read[name] = read_value(value) if isinstance(value, str) else value
    return read


def read_value(text: str) -> Any:
    """What a text stands for: a number, true, false, none, a JSON object or list; else itself."""
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
def known_names() -> frozenset[str] | None:
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
    """A number above 0 among the arguments, or the default.

    Raises:
        InputError: it is no such number.
    """
    value = arguments.get(name)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int if kind is int else int | float) or value <= 0:
        raise InputError(f"--engine-arg {name} must be a {'whole ' if kind is int else ''}number above 0, not {value!r}.")
    return value


def dtype_of(arguments: Mapping[str, Any]) -> str | None:
    """The precision that was asked for; None for the model's own.

    Raises:
        InputError: there is no such precision.
    """
    asked = arguments.get("dtype")
    if asked in (None, "auto"):
        return None
    if asked not in DTYPES:
        raise InputError(f"--engine-arg dtype must be one of {', '.join(DTYPES)} or auto, not {asked!r}.")
    return DTYPES[str(asked)]


def answer_changing(arguments: Mapping[str, Any]) -> str:
    """The arguments that are not known to leave answers alone, as a suffix of the weights' revision: "" for none.

    A transcript recorded with other rotary scaling, another cache precision or random weights is one of another model.
    """
    changing = {name: arguments[name] for name in sorted(arguments) if name not in NEUTRAL}
    return "".join(f"+{name}={json.dumps(value, sort_keys=True, default=str)}" for name, value in changing.items())
