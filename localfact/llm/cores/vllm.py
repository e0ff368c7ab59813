"""The language model engine in this process: vLLM's asynchronous engine. The only file that knows vLLM.

It continues token ids, in batches, with prefixes cached, on CUDA or a CPU; what they mean is `llm/tokens/token_engine.py`'s.
"""

import asyncio
import atexit
import multiprocessing
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from localfact.errors import EngineError, InputError, MissingError, RequestError
from localfact.llm.cores.process_environment import (
    cache_on_cpu,
    environment,
    hidden_main,
    make_environment,
    quieten,
    silence,
    spare_from_interrupts,
    warden,
)
from localfact.llm.cores.ranks import Ranks
from localfact.llm.placing.settings import EngineSettings
from localfact.llm.tokens.chat import ChatLayout
from localfact.llm.tokens.token_engine import REPEATED, TokenAnswer, TokenEngine, TokenRequest
from localfact.runtime.cures import install_engine
from localfact.runtime.loop_thread import LoopThread

if TYPE_CHECKING:
    from vllm import SamplingParams

#: Seconds that the engine's processes have to end by themselves before they are killed; they hold no data to lose.
GRACE_SECONDS = 2.0
#: How often it is looked whether a process that was asked first is still alive.
SECONDS_BETWEEN_LOOKS = 1.0

#: How the names of the engine's processes begin: those that compute, and what counts the requests of several replicas.
_PROCESSES = ("EngineCore", "VLLM_DP_Coordinator")
#: Where vLLM finds `clearing_scheduler`.
_CLEARING = f"{__name__}.clearing_scheduler"
_DIED = (
    "The language model engine died (out of memory, or killed). Everything finished is kept: "
    "the same command goes on with the run folder where it stopped."
)


class VLLMEngine(TokenEngine):
    """An `Engine` over a folder of weights, in this process.

    Loads the model and blocks until it is ready; Ctrl-C ends that within seconds.

    Raises:
        MissingError: vLLM is not installed, or the folder has no tokenizer.
        EngineError: the engine could not start.
    """

    def __init__(self, settings: EngineSettings) -> None:
        on_cpu = _runs_on_cpu()
        # Before the model: a bad tokenizer is found in a second, while a large model takes minutes to load.
        trusted = bool(settings.arguments.get("trust_remote_code"))
        layout = ChatLayout(settings.folder, settings.template_arguments, trust_remote_code=trusted)
        thoughts = thoughts_reader(settings, layout)
        core = _Core(settings, on_cpu=on_cpu)
        super().__init__(settings.identity, layout, core, thought_tokens=settings.thought_tokens, thoughts=thoughts)


class _Core:
    """vLLM's engine on an event loop of its own."""

    def __init__(self, settings: EngineSettings, *, on_cpu: bool) -> None:
        eager = bool(settings.arguments.get("enforce_eager"))
        self._numbers = count()
        replicas = int(settings.arguments.get("data_parallel_size") or 1)
        self._ranks = Ranks(replicas) if replicas > 1 else None
        self._llm: Any = None
        self._others = {process.pid for process in multiprocessing.active_children()}
        self._warden: subprocess.Popen[bytes] | None = None
        self._guarded: list[int] = []
        self._begun = False
        self._thread = LoopThread("language model engine")
        atexit.register(self.end)
        try:
            with hidden_main(), environment(make_environment(on_cpu=on_cpu, eager=eager, deterministic=settings.deterministic)):
                # As much as possible is done in this thread, where Ctrl-C interrupts it.
                make = self._configure(settings, {**cache_on_cpu(), "scheduler_cls": _CLEARING} if on_cpu else {})
                self.window = self._thread.wait(self._start(make), self._guard)
            self._guard()
            self._begun = True
        except BaseException as error:
            silence()
            self.end()
            if not isinstance(error, Exception):
                raise
            raise EngineError(f"The language model engine could not start: {told_in_a_sentence(error)}") from error
        silence()

    @staticmethod
    def _configure(settings: EngineSettings, added: Mapping[str, int | str]) -> Callable[[], Any]:
        from vllm import AsyncEngineArgs
        from vllm.usage.usage_lib import UsageContext
        from vllm.v1.engine.async_llm import AsyncLLM

        given = {
            "max_model_len": settings.identity.window,
            "dtype": settings.identity.dtype,
            "enable_prefix_caching": True,
            "disable_log_stats": True,
            "enable_log_requests": False,
            "use_tqdm_on_load": False,
            **added,
            **settings.arguments,
            "logprobs_mode": "raw_logprobs",
        }
        arguments = AsyncEngineArgs(model=str(settings.folder), **given)
        return partial(
            AsyncLLM.from_vllm_config,
            arguments.create_engine_config(UsageContext.ENGINE_CONTEXT),
            enable_log_requests=arguments.enable_log_requests,
            disable_log_stats=arguments.disable_log_stats,
        )

    async def _start(self, make: Callable[[], Any]) -> int:
        spare_from_interrupts()
        self._llm = make()
        # vLLM would ask this with the first request. Asked of a process that has just died, it waits without end.
        asked = asyncio.ensure_future(self._llm.get_supported_tasks())
        while not asked.done() and not self._llm.errored:
            await asyncio.wait([asked], timeout=SECONDS_BETWEEN_LOOKS)
        if self._llm.errored:
            asked.cancel()
            raise EngineError("its process died as soon as it had loaded; the machine may have too little memory for it")
        asked.result()
        return int(self._llm.model_config.max_model_len)

    @staticmethod
    def parameters(request: TokenRequest) -> "SamplingParams":
        """The request as vLLM has it."""
        from vllm import SamplingParams
        from vllm.exceptions import VLLMClientError
        from vllm.sampling_params import RepetitionDetectionParams, RequestOutputKind, StructuredOutputsParams

        given: dict[str, Any] = {"logprob_token_ids": list(request.children)} if request.children else {"logprobs": 0}
        if request.grammar is not None:
            given["structured_outputs"] = StructuredOutputsParams(regex=request.grammar)
            # A grammar that allows one more line tempts a small model to write the same one again without end.
            given["repetition_detection"] = RepetitionDetectionParams(**REPEATED)
        try:
            return SamplingParams(
                max_tokens=request.max_tokens,
                temperature=request.temperature,
                seed=request.seed,
                stop=list(request.stop),
                # The text is decoded here, token by token; vLLM decodes only what it searches for stop strings.
                detokenize=bool(request.stop),
                thinking_token_budget=request.thinking,
                output_kind=RequestOutputKind.FINAL_ONLY,
                **given,
            )
        except (VLLMClientError, ValueError, TypeError) as error:
            raise InputError(f"The engine refuses the request: {told_in_a_sentence(error)}") from error

    async def ask(self, ids: Sequence[int], request: TokenRequest) -> TokenAnswer:
        """Makes one request, which is aborted when the caller is cancelled."""
        output = await self._thread.call(self._ask(list(ids), request))
        said = output.outputs[0]
        return TokenAnswer(
            ids=said.token_ids,
            log_probs=[{token: one.logprob for token, one in entry.items()} for entry in said.logprobs],
            finish=said.finish_reason,
            stopped_by=said.stop_reason if isinstance(said.stop_reason, str) else None,
            text=said.text,
            prompt_tokens=len(output.prompt_token_ids),
            cached_tokens=output.num_cached_tokens or 0,
        )

    async def _ask(self, ids: list[int], request: TokenRequest) -> Any:
        from vllm.exceptions import VLLMClientError
        from vllm.inputs import tokens_input

        parameters, name = self.parameters(request), f"localfact-{next(self._numbers)}"
        try:
            with self._ranks.take(request.group, len(ids)) if self._ranks is not None else nullcontext() as rank:
                answer = self._llm.generate(tokens_input(ids), parameters, name, data_parallel_rank=rank)
                return [output async for output in answer][-1]
        except VLLMClientError as error:
            raise InputError(f"The engine refuses the request: {told_in_a_sentence(error)}") from error
        except Exception as error:
            if self._llm is None or self._llm.errored:
                raise EngineError(_DIED) from error
            raise RequestError(f"The engine failed at a request: {told_in_a_sentence(error)}") from error

    def end(self) -> None:
        try:
            self._thread.end(self._let_go, self._give_start_up)
        except KeyboardInterrupt:  # pressed again
            self._kill()
            raise
        atexit.unregister(self.end)

    async def _let_go(self) -> None:
        if self._llm is not None:
            self._llm.shutdown(timeout=GRACE_SECONDS)
            self._llm = None
        if self._warden is not None:
            self._warden.kill()
            self._warden.wait()

    def _give_start_up(self) -> None:
        if self._llm is None and not self._begun:  # vLLM blocks the loop until its processes have started or died
            self._kill()

    def _kill(self) -> None:
        from vllm.utils.system_utils import kill_process_tree

        # Once it has begun, what started later belongs to another engine.
        for process in self._guarded if self._begun else self._processes():
            kill_process_tree(process)

    def _guard(self) -> None:
        processes = self._processes()
        if processes and processes != self._guarded:  # replicas start one after the other
            if self._warden is not None:
                self._warden.kill()
                self._warden.wait()
            self._guarded, self._warden = processes, warden(processes)

    def _processes(self) -> list[int]:
        started = [process for process in multiprocessing.active_children() if process.pid not in self._others]
        return sorted(process.pid for process in started if process.pid is not None and process.name.startswith(_PROCESSES))


def clearing_scheduler(*, kv_cache_config: Any, **given: Any) -> Any:
    """vLLM's scheduler for CPUs, with each block of the cache cleared before another request has it.

    On a CPU, attention multiplies the unused end of a block by zero; a NaN that an earlier request left there would make NaN of
    whatever is asked next.
    """
    from vllm.v1.core.sched.scheduler import Scheduler
    from vllm.v1.kv_cache_interface import KVCacheConfig

    class Cleared(KVCacheConfig):
        needs_kv_cache_zeroing = True

    return Scheduler(kv_cache_config=Cleared(**vars(kv_cache_config)), **given)


def thoughts_reader(settings: EngineSettings, layout: ChatLayout) -> Callable[[list[int]], Sequence[int]] | None:
    """What finds the answer behind a model's thoughts; None for a model without, or whose channels only vLLM's server reads.

    Raises:
        InputError: vLLM has no such reader. MissingError: vLLM is not installed.
    """
    name = settings.arguments.get("reasoning_parser")
    if not name:
        return None
    try:
        from vllm.reasoning import ReasoningParserManager
    except ImportError as error:
        raise MissingError(
            f"vLLM, which reads this model's thoughts, is not installed ({error}). Run `{install_engine()}`."
        ) from error
    try:
        parser = ReasoningParserManager.get_reasoning_parser(name)(layout.tokenizer)
        parser.extract_content_ids([])
    except NotImplementedError:
        return None
    except (KeyError, ValueError, RuntimeError) as error:
        raise InputError(
            f"vLLM cannot read the thoughts of {settings.identity.model} with {name}: {told_in_a_sentence(error)}"
        ) from error
    read: Callable[[list[int]], Sequence[int]] = parser.extract_content_ids
    return read


def _runs_on_cpu() -> bool:
    quieten()
    try:
        from vllm.platforms import current_platform
    except ImportError as error:
        raise MissingError(f"vLLM is not installed ({error}). Run `{install_engine()}`.") from error
    return current_platform.is_cpu()


def told_in_a_sentence(error: BaseException) -> str:
    """What an error of vLLM says, on one line, without the form that pydantic gives its own."""
    said = "; ".join(one["msg"] for one in error.errors()) if isinstance(error, ValidationError) else str(error)
    return " ".join(said.split()) or type(error).__name__
