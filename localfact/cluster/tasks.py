"""A function on the machines of the cluster: what it is asked on a machine that is lost is asked of another."""

from collections.abc import Callable
from typing import Any, Generic, ParamSpec, TypeVar

from localfact.cluster.joining import inherited, told

Asked = ParamSpec("Asked")
Answer = TypeVar("Answer")


class Task(Generic[Asked, Answer]):
    """A function that depends on its arguments alone. Ray's processes keep what it caches from call to call.

    Args:
        function: at the top of a module. cpus, gpus: what a call takes of its machine while it runs.
    """

    def __init__(self, function: Callable[Asked, Answer], *, cpus: int = 1, gpus: int = 0) -> None:
        import ray

        # Without max_calls=0 a process that has a GPU would end after each call, and load its model again.
        options = {"num_cpus": cpus, "num_gpus": gpus, "max_calls": 0, "scheduling_strategy": "SPREAD"}
        self._remote = ray.remote(**options, runtime_env=inherited())(function)

    def begin(self, *asked: Asked.args, **named: Asked.kwargs) -> Any:
        """Begins a call, for `end` or `awaited`."""
        return self._remote.remote(*asked, **named)

    def end(self, begun: Any) -> Answer:
        """Waits for a call and returns its answer.

        Raises:
            LocalFactError: the function raised it. EngineError: it raised something else, or three machines were lost.
        """
        import ray

        try:
            answer: Answer = ray.get(begun)
        except ray.exceptions.RayError as error:
            raise told(error) from None
        return answer

    async def awaited(self, begun: Any) -> Answer:
        """As `end`, on an event loop."""
        import ray

        try:
            answer: Answer = await begun
        except ray.exceptions.RayError as error:
            raise told(error) from None
        return answer
