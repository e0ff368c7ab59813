"""A layer: an engine that stands before another one and has one method, `answer`."""

from localfact.llm.client import CallingEngine


class Layer(CallingEngine):
    """A `CallingEngine` before another one, whose identity it has and which it ends with itself.

    Args:
        inner: the engine that answers what the layer hands on.
    """

    def __init__(self, inner: CallingEngine) -> None:
        self._inner = inner
        self.identity = inner.identity

    async def aclose(self) -> None:
        """Ends the inner engine."""
        await self._inner.aclose()
