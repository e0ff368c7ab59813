"""The language model engine in this process: vLLM's asynchronous engine. The only file that knows vLLM.

Chats become token ids (`llm/chat.py`), label sets become trees (`llm/labels.py`), and generated tokens get their places in the
text (`llm/offsets.py`); vLLM does the rest: batching, prefix caching, CUDA or CPU.
"""

import asyncio
import atexit
import math
import multiprocessing
import subprocess
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import count
from time import perf_counter
from typing import TYPE_CHECKING, Any, get_args

from localfact.errors import EngineError, InputError, MissingError, PromptTooLongError, RequestError
from localfact.llm.chat import ChatLayout
from localfact.llm.engine import Chat, Choice, EngineIdentity, Finish, Generation, Grammar, Token
from localfact.llm.labels import Ids, LabelTree, Node, checked, label_tree
from localfact.llm.loop_thread import LoopThread
from localfact.llm.offsets import Writing, write
from localfact.llm.process_environment import (
    cache_on_cpu,
    environment,
    inherited,
    quieten,
    silence,
    spare_from_interrupts,
    warden,
)
from localfact.llm.settings import EngineSettings
from localfact.runtime.tasks import together
from localfact.runtime.usage import Usage

if TYPE_CHECKING:
    from vllm import SamplingParams

#: The most tokens whose log-probabilities vLLM reports in one request.
MOST_CHILDREN = 128
#: An answer under a grammar ends where at least so many tokens stand three times in a row: more than one claim may have.
REPEATED = {"min_pattern_size": 25, "max_pattern_size": 200, "min_count": 3}
#: Seconds that the engine's processes have to end by themselves before they are killed; they hold no data to lose.
GRACE_SECONDS = 2.0

#: Where vLLM finds `clearing_scheduler`.
_CLEARING = f"{__name__}.clearing_scheduler"
_DIED = (
    "The language model engine died (out of memory, or killed). Everything finished is kept: "
    "the same command goes on with the run folder where it stopped."
)


class VLLMEngine:
    """An `Engine` over a folder of weights. Any event loop may use it, also several, one after the other.

    Loads the model and blocks until it is ready; Ctrl-C ends that within seconds.

    Raises:
        MissingError: vLLM is not installed, or the folder has no tokenizer.
        EngineError: the engine could not start.
    """

    def __init__(self, settings: EngineSettings) -> None:
        self.identity: EngineIdentity = settings.identity
        on_cpu = _runs_on_cpu()
        # Before the model: a bad tokenizer is found in a second, while a large model takes minutes to load.
        trusted = bool(settings.arguments.get("trust_remote_code"))
        self._layout = ChatLayout(settings.folder, settings.template_arguments, trust_remote_code=trusted)
        self._thought_tokens = settings.thought_tokens
        self._thinking = _thinking(settings, self._layout)
        self._core = _Core(settings, on_cpu=on_cpu)
        self._window = min(self.identity.window, self._core.window)

    async def count(self, chat: Chat, *, prefix: str = "") -> int:
        """Returns how many tokens the chat has as sent."""
        text = partial(self._layout.asked, prefix=prefix) if prefix else self._layout.text
        return len(await asyncio.to_thread(lambda: self._layout.ids(text(chat))))

    async def generate(
        self,
        chat: Chat,
        *,
        max_tokens: int,
        stop: Sequence[str] = (),
        grammar: Grammar | None = None,
        temperature: float = 0.0,
        seed: int = 0,
        stage: str,
    ) -> Generation:
        """Returns the model's answer, of at most `max_tokens` tokens and no more than the window leaves room for.

        Raises:
            PromptTooLongError: the window has no room for even one token of an answer.
            InputError: vLLM refuses a parameter, an empty stop string for example.
            RequestError: the engine failed at this request. EngineError: the engine has ended.
        """
        started = perf_counter()
        ids = await asyncio.to_thread(lambda: self._layout.ids(self._layout.text(chat)))
        self._admit(ids)
        parameters = self._core.parameters(
            max_tokens=min(max_tokens + self._thought_tokens, self._window - len(ids)),
            thinking_token_budget=self._thought_tokens if self._thinking is not None else None,
            temperature=temperature,
            seed=seed if temperature > 0 else None,
            stop=list(stop),
            # The text is decoded here, token by token; vLLM decodes only what it searches for stop strings.
            detokenize=bool(stop),
            logprobs=0,
            **self._core.constrained(grammar),
        )
        output = await self._core.ask(ids, parameters)
        said = output.outputs[0]
        if said.finish_reason not in get_args(Finish):
            raise RequestError(f"The engine gave a request up ({said.finish_reason}).")
        writing = await asyncio.to_thread(self._written, ids, said, stop)
        log_probs = [_number(entry[token].logprob) for token, entry in zip(said.token_ids, said.logprobs, strict=False)]
        begin = self._answer(said.token_ids, writing)
        tokens = tuple(
            Token(log_prob=log_probs[place.number], start=place.start - begin, end=place.end - begin)
            for place in writing.places
            if place.start >= begin
        )
        usage = _usage([output], started, output_tokens=len(said.token_ids))
        return Generation(
            text=writing.text[begin:],
            tokens=tokens,
            finish=said.finish_reason,
            thoughts=writing.text[:begin],
            masked=grammar is not None,
            usage=usage,
        )

    async def choose(self, chat: Chat, labels: Sequence[str], *, prefix: str = "", whole: bool = False, stage: str) -> Choice:
        """Returns the labels' log-probabilities: exact, over the full vocabulary, one request for each node of their tree.

        Labels are tokenised together with the prompt (`labels.label_tree`); decodes nothing.

        Raises:
            InputError: no labels, an empty one, one twice, or two that have the same tokens.
            PromptTooLongError: the window has no room for chat and labels.
            RequestError: the engine failed at this request. EngineError: the engine has ended.
        """
        started = perf_counter()
        tree = await asyncio.to_thread(self._tree, chat, checked(labels), prefix)
        asked = [path[:-1] for path in tree.paths.values()] if whole else [node.stem for node in tree.nodes]
        self._admit(tree.prompt + max(asked, key=len))
        answers, outputs = await self._probed(tree, tree.nodes)
        choice = Choice(log_probs=tree.log_probs(answers))
        if whole:
            forced = tree.rest(choice.best)
            further, more = await self._probed(tree, forced)
            outputs += more
            steps = [log_prob for node in forced for log_prob in further[node.stem].values()]
            choice = choice.model_copy(update={"whole": choice.log_probs[choice.best] + sum(steps)})
        return choice.model_copy(update={"usage": _usage(outputs, started, output_tokens=0)})

    async def _probed(self, tree: LabelTree, nodes: Sequence[Node]) -> tuple[dict[Ids, dict[int, float]], list[Any]]:
        """The log-probabilities at some places of a tree, and the engine's outputs."""
        asked = [(node, part) for node in nodes for part in node.parts(MOST_CHILDREN)]
        outputs = await together(self._probe(tree, node, part) for node, part in asked)
        answers: dict[Ids, dict[int, float]] = {}
        for (node, part), output in zip(asked, outputs, strict=True):
            (entry,) = output.outputs[0].logprobs
            answers.setdefault(node.stem, {}).update({child: _number(entry[child].logprob) for child in part})
        return answers, list(outputs)

    async def aclose(self) -> None:
        """Ends the engine and its processes; open calls fail. May be called again."""
        await asyncio.to_thread(self._core.end)

    def _tree(self, chat: Chat, labels: Sequence[str], prefix: str) -> LabelTree:
        prompt_ids, written = self._layout.continued(self._layout.asked(chat, prefix), labels)
        return label_tree(prompt_ids, dict(zip(labels, written, strict=True)))

    async def _probe(self, tree: LabelTree, node: Node, children: Sequence[int]) -> Any:
        parameters = self._core.parameters(max_tokens=1, temperature=0, logprob_token_ids=list(children), detokenize=False)
        return await self._core.ask([*tree.prompt, *node.stem], parameters)

    def _written(self, prompt: Sequence[int], said: Any, stop: Sequence[str]) -> Writing:
        ended_itself = said.finish_reason == "stop" and not isinstance(said.stop_reason, str)
        spoken = said.token_ids[:-1] if ended_itself else said.token_ids
        writing = write(self._layout.decoder, prompt, spoken, self._layout.silent)
        return writing.fitted(said.text, stop) if isinstance(said.stop_reason, str) else writing

    def _answer(self, ids: Sequence[int], writing: Writing) -> int:
        """Where in the text the answer itself begins, behind the thoughts: their white space at its beginning is theirs."""
        if self._thinking is None:
            return 0
        first = len(ids) - len(self._thinking.extract_content_ids(list(ids)))
        begin = min((place.start for place in writing.places if place.number >= first), default=len(writing.text))
        return begin + len(writing.text[begin:]) - len(writing.text[begin:].lstrip())

    def _admit(self, ids: Sequence[int]) -> None:
        room = self._window - len(ids)
        if room < 1:
            raise PromptTooLongError(
                f"The prompt has {len(ids):,} tokens and needs room for at least 1 of an answer; "
                f"the window of {self.identity.model} has {self._window:,}. "
                "Shorten the text, or take a model with a larger window."
            )


class _Core:
    """vLLM's engine on an event loop of its own."""

    def __init__(self, settings: EngineSettings, *, on_cpu: bool) -> None:
        eager = bool(settings.arguments.get("enforce_eager"))
        self._numbers = count()
        self._llm: Any = None
        self._others = {process.pid for process in multiprocessing.active_children()}
        self._warden: subprocess.Popen[bytes] | None = None
        self._thread = LoopThread("language-model")
        atexit.register(self.end)
        try:
            with environment(inherited(compile_nothing=on_cpu and eager, deterministic=settings.deterministic and not on_cpu)):
                # As much as possible is done in this thread, where Ctrl-C interrupts it.
                make = self._configured(settings, {**cache_on_cpu(), "scheduler_cls": _CLEARING} if on_cpu else {})
                self.window = self._thread.wait(self._start(make), self._guard)
            self._guard()
        except BaseException as error:
            silence()
            self.end()
            if not isinstance(error, Exception):
                raise
            raise EngineError(f"The language model engine could not start: {_sentence(error)}") from error
        silence()

    @staticmethod
    def _configured(settings: EngineSettings, added: Mapping[str, int | str]) -> Callable[[], Any]:
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
        # vLLM would ask this with the first request, and hang if its process died just then.
        await self._llm.get_supported_tasks()
        return int(self._llm.model_config.max_model_len)

    @staticmethod
    def parameters(**given: Any) -> "SamplingParams":
        from vllm import SamplingParams
        from vllm.exceptions import VLLMClientError
        from vllm.sampling_params import RequestOutputKind

        try:
            return SamplingParams(**given, output_kind=RequestOutputKind.FINAL_ONLY)
        except (VLLMClientError, ValueError, TypeError) as error:
            raise InputError(f"The engine refuses the request: {_sentence(error)}") from error

    @staticmethod
    def constrained(grammar: Grammar | None) -> dict[str, Any]:
        from vllm.sampling_params import RepetitionDetectionParams, StructuredOutputsParams

        if grammar is None:
            return {}
        return {
            "structured_outputs": StructuredOutputsParams(regex=grammar),
            # A grammar that allows one more line tempts a small model to write the same one again without end.
            "repetition_detection": RepetitionDetectionParams(**REPEATED),
        }

    async def ask(self, ids: Sequence[int], parameters: "SamplingParams") -> Any:
        """Makes one request, which is aborted when the caller is cancelled."""
        return await self._thread.call(self._asked(list(ids), parameters))

    async def _asked(self, ids: list[int], parameters: "SamplingParams") -> Any:
        from vllm.exceptions import VLLMClientError
        from vllm.inputs import tokens_input

        try:
            answer = self._llm.generate(tokens_input(ids), parameters, f"localfact-{next(self._numbers)}")
            return [output async for output in answer][-1]
        except VLLMClientError as error:
            raise InputError(f"The engine refuses the request: {_sentence(error)}") from error
        except Exception as error:
            if self._llm is None or self._llm.errored:
                raise EngineError(_DIED) from error
            raise RequestError(f"The engine failed at a request: {_sentence(error)}") from error

    def end(self) -> None:
        try:
            self._thread.end(self._let_go, self._give_start_up)
        except KeyboardInterrupt:  # pressed again
            self._kill()
            raise
        atexit.unregister(self.end)

    def _let_go(self) -> None:
        if self._llm is not None:
            self._llm.shutdown(timeout=GRACE_SECONDS)
            self._llm = None
        if self._warden is not None:
            self._warden.kill()
            self._warden.wait()

    def _give_start_up(self) -> None:
        if self._llm is None:  # vLLM blocks the loop until its processes have started or died
            self._kill()

    def _kill(self) -> None:
        from vllm.utils.system_utils import kill_process_tree

        for process in self._processes():
            kill_process_tree(process)

    def _guard(self) -> None:
        if self._warden is None and (processes := self._processes()):
            self._warden = warden(processes)

    def _processes(self) -> list[int]:
        started = [process for process in multiprocessing.active_children() if process.pid not in self._others]
        return [process.pid for process in started if process.pid is not None and process.name.startswith("EngineCore")]


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


def _thinking(settings: EngineSettings, layout: ChatLayout) -> Any:
    """vLLM's parser of the thoughts before an answer; None for a model without, or whose channels only vLLM's server reads."""
    name = settings.arguments.get("reasoning_parser")
    if not name:
        return None
    from vllm.reasoning import ReasoningParserManager

    try:
        parser = ReasoningParserManager.get_reasoning_parser(name)(layout.tokenizer)
        parser.extract_content_ids([])
    except NotImplementedError:
        return None
    except (KeyError, ValueError, RuntimeError) as error:
        raise InputError(
            f"vLLM cannot read the thoughts of {settings.identity.model} with {name}: {_sentence(error)}"
        ) from error
    return parser


def _runs_on_cpu() -> bool:
    quieten()
    try:
        from vllm.platforms import current_platform
    except ImportError as error:
        raise MissingError(f"vLLM is not installed ({error}). Run `make setup-llm`.") from error
    return current_platform.is_cpu()


def _usage(outputs: Sequence[Any], started: float, *, output_tokens: int) -> Usage:
    return Usage(
        requests=len(outputs),
        prompt_tokens=sum(len(output.prompt_token_ids) for output in outputs),
        cached_tokens=sum(output.num_cached_tokens or 0 for output in outputs),
        output_tokens=output_tokens,
        seconds=perf_counter() - started,
    )


def _number(log_prob: float) -> float:
    if math.isnan(log_prob):
        raise RequestError("The model answers with numbers that are none (NaN): run it with another dtype or quantisation.")
    return log_prob


def _sentence(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__
