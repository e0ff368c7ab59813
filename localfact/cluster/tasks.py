"""Calls of a function on the machines of a cluster; when a machine is lost, Ray repeats its calls on another."""

import asyncio
from collections.abc import Callable
from typing import Any, Generic, ParamSpec, TypeVar

from localfact.cluster.joining import translate_error, worker_environment
from localfact.errors import EngineError

#: Seconds that are waited for one answer.
PATIENCE = 600.0

Asked = ParamSpec("Asked")
Answer = TypeVar("Answer")


class RemoteTask(Generic[Asked, Answer]):
    """A function that runs on the machines of the cluster; Ray's processes keep what it caches from call to call.

    Args:
        function: at the top of a module; its answer depends on its arguments alone.
        cpus, gpus: what a call takes of its machine while it runs.
    """

    def __init__(self, function: Callable[Asked, Answer], *, cpus: int = 1, gpus: int = 0) -> None:
        import ray

        self._needs = f"{gpus} GPU" if gpus else f"{cpus} CPUs"
        # Without max_calls=0 a process that has a GPU would end after each call, and load its model again.
        options = {"num_cpus": cpus, "num_gpus": gpus, "max_calls": 0, "scheduling_strategy": "SPREAD"}
        self._remote = ray.remote(**options, runtime_env=worker_environment())(function)

    def begin(self, *asked: Asked.args, **named: Asked.kwargs) -> Any:
        """Begins a call, for `end` or `await_end`."""
        return self._remote.remote(*asked, **named)

    def end(self, begun: Any) -> Answer:
        """Waits for a call and returns its answer.

        Raises:
            LocalFactError: the function raised it. EngineError: it raised something else, was lost with its machine four times,
                or there was no answer for `PATIENCE` seconds.
        """
        import ray

        try:
            answer: Answer = ray.get(begun, timeout=PATIENCE)
        except ray.exceptions.GetTimeoutError:
            raise self._silence() from None
        except ray.exceptions.RayError as error:
            raise translate_error(error) from None
        return answer

    async def await_end(self, begun: Any) -> Answer:
        """The coroutine form of `end`."""
        import ray

        try:
            answer: Answer = await asyncio.wait_for(asyncio.wrap_future(begun.future()), PATIENCE)
        except TimeoutError:
            raise self._silence() from None
        except ray.exceptions.RayError as error:
            raise translate_error(error) from None
        return answer

    def _silence(self) -> EngineError:
        return EngineError(
            f"The cluster gave no answer for {PATIENCE:g} seconds: what is asked needs {self._needs} of one machine, which "
            "another run may have. What is done is kept; the same command goes on with it."
        )
