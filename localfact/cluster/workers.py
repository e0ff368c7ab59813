"""The workers of a cluster, used as one assessor: a free worker gets the next response; those of a lost worker go to others."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

from localfact.cluster.joining import translate_error, worker_environment
from localfact.cluster.worker import Answer, Make, Worker
from localfact.errors import EngineError, InputError
from localfact.pipeline import Costs, Observer
from localfact.records import Assessment, Failure, Response

#: Seconds that are waited for a worker while there is none.
PATIENCE = 600.0
#: Seconds that a worker has to close what it opened before it is killed; it holds no data to lose.
GRACE = 5.0
#: Workers that may be lost one after the other, for each that was asked for, without one response assessed between.
LOSSES = 3


@dataclass(frozen=True)
class Resources:
    """The resources of one worker: CPUs and GPUs, all on one node of Ray."""

    cpus: int = 1
    gpus: int = 0


class _Actor(Worker):
    """A worker that knows where it is."""

    async def node(self) -> str:
        """The id of its node."""
        import ray

        return str(ray.get_runtime_context().get_node_id())


@dataclass(eq=False)
class _Member:
    """A worker that is ready: its actor, its node, and how many more responses it takes at once."""

    actor: Any
    node: str
    free: int


class Workers:
    """Assesses responses by the workers of the cluster that this process has joined: a `ResponseAssessor`.

    A response whose worker is lost is given to another worker, which assesses nothing else meanwhile. If that one is lost too,
    the response is taken for the cause and has failed. A response on a node that left the cluster is not suspected.

    Args:
        make: opens what a worker needs; it is sent to each.
        replicas: how many workers.
        slots: responses at once in each.
        resources: of each.

    Raises:
        LocalFactError: not one worker could open what it needs.
    """

    def __init__(self, make: Make, *, replicas: int, slots: int, resources: Resources) -> None:
        self.replicas, self.slots = replicas, slots
        self._make, self._resources = make, resources
        self._changed = asyncio.Condition()
        self._members: list[_Member] = []
        self._joining: dict[Any, asyncio.Task[None]] = {}
        self._alone_waiting = 0
        self._losses = 0
        self._refusals: list[str] = []
        self._begun = False
        self._actors = [self._start_actor() for _ in range(replicas)]
        self._wait_for_one()

    async def assess(self, index: int, response: Response, costs: Costs, observe: Observer) -> Assessment:
        """The assessment of a response by whichever worker is free; `costs` and `observe` get what it counted.

        Raises:
            LocalFactError: it could not be assessed, or no response can be any more.
        """
        self._begin()
        alone = False
        while True:
            async with self._seat(alone) as member:
                answer, suspected = await self._ask_worker(member, index, response)
            if answer is not None:
                break
            if alone and suspected:
                raise InputError("Two workers were lost while they were at work on it; the second did nothing else.")
            alone = alone or suspected
        self._losses = 0
        costs.seconds |= answer.costs.seconds
        costs.ledger.stages, costs.ledger.sent = answer.costs.ledger.stages, answer.costs.ledger.sent
        costs.ledger.window = answer.costs.ledger.window
        for what, number in answer.counted.items():
            observe(what, number)
        if isinstance(answer.result, Failure):
            raise InputError(answer.result.reason)
        return answer.result

    def notes(self) -> tuple[str, ...]:
        """Notes about the run as a whole, each once; a worker that is lost has none."""
        import ray

        notes: list[str] = []
        for member in self._members:
            with suppress(ray.exceptions.RayError):
                notes += ray.get(member.actor.notes.remote(), timeout=GRACE)
        return tuple(dict.fromkeys([*notes, *(f"A worker could not start: {reason}" for reason in self._refusals)]))

    async def aclose(self) -> None:
        """Ends the workers."""
        import ray

        for task in self._joining.values():
            task.cancel()
        closing = [asyncio.ensure_future(_await_quietly(member.actor.close.remote())) for member in self._members]
        if closing:
            await asyncio.wait(closing, timeout=GRACE)
        for actor in self._actors:
            with suppress(Exception):  # it may be gone
                ray.kill(actor)
        await asyncio.gather(*closing, return_exceptions=True)

    def _start_actor(self) -> Any:
        import ray

        return (
            ray.remote(_Actor)
            .options(
                num_cpus=self._resources.cpus,
                num_gpus=self._resources.gpus,
                max_concurrency=self.slots + 2,  # and being asked whether it is ready, and closed
                max_restarts=0,
                scheduling_strategy="SPREAD",
                runtime_env=worker_environment(),
            )
            .remote(self._make)
        )

    def _wait_for_one(self) -> None:
        """Blocks until a worker is ready."""
        import ray

        waiting = [actor.ready.remote() for actor in self._actors]
        while waiting:
            (first, *_), waiting = ray.wait(waiting, num_returns=1)
            try:
                ray.get(first)
            except ray.exceptions.RayError as error:
                refused = translate_error(error)
                self._refusals.append(str(refused))
                if not waiting:
                    raise refused from None
            else:
                self._refusals.clear()  # who cannot start says so again when it joins
                return

    def _begin(self) -> None:
        """On the event loop: lets those that were started join."""
        if not self._begun:
            self._begun = True
            for actor in self._actors:
                self._let_join(actor)

    def _let_join(self, actor: Any) -> None:
        self._joining[actor] = asyncio.get_running_loop().create_task(self._join(actor))

    async def _join(self, actor: Any) -> None:
        import ray

        try:
            await actor.ready.remote()
            node = await actor.node.remote()
        except ray.exceptions.RayError as error:
            self._refusals.append(str(translate_error(error)))
        else:
            self._members.append(_Member(actor, node, self.slots))
        async with self._changed:
            del self._joining[actor]  # before anybody looks whether one still comes
            self._changed.notify_all()

    @asynccontextmanager
    async def _seat(self, alone: bool) -> AsyncIterator[_Member]:
        """Reserves one slot of a worker; with `alone` all its slots, and other responses wait until such a worker is found."""
        async with self._changed:
            self._alone_waiting += alone
            try:
                while (member := self._free(alone)) is None:
                    await self._change()
            finally:
                self._alone_waiting -= alone
            taken = self.slots if alone else 1
            member.free -= taken
        try:
            yield member
        finally:
            member.free += taken
            async with self._changed:
                self._changed.notify_all()

    def _free(self, alone: bool) -> _Member | None:
        if self._alone_waiting and not alone:
            return None
        least = self.slots if alone else 1
        return max((member for member in self._members if member.free >= least), key=lambda one: one.free, default=None)

    async def _change(self) -> None:
        """Waits until a worker has joined, was lost, or has a free slot.

        Raises:
            EngineError: there is no worker, and none comes.
        """
        if self._members or self._joining:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait(), PATIENCE)
                return
        if not self._members:
            reason = self._refusals[-1] if self._refusals else f"none was ready in {PATIENCE:g} seconds"
            raise EngineError(
                f"The cluster has no worker left: {reason}. What is done is kept; the same command goes on with it."
            )

    async def _ask_worker(self, member: _Member, index: int, response: Response) -> tuple[Answer | None, bool]:
        """The worker's answer; or None where it was lost, and whether the response may have been why."""
        import ray

        try:
            return await member.actor.assess.remote(index, response), False
        except ray.exceptions.RayTaskError as error:
            cause = translate_error(error)
            if not isinstance(cause, EngineError):
                raise cause from None
        except ray.exceptions.RayError:
            pass
        gone = await asyncio.to_thread(_is_gone, member.node)
        self._lose(member)
        return None, not gone

    def _lose(self, member: _Member) -> None:
        """Replaces a lost worker once, even if several responses report the loss.

        Raises:
            EngineError: they are lost one after the other.
        """
        import ray

        if member not in self._members:
            return
        self._members.remove(member)
        self._actors.remove(member.actor)
        with suppress(Exception):
            ray.kill(member.actor)
        self._losses += 1
        if self._losses > LOSSES * self.replicas:
            raise EngineError(
                f"{self._losses} workers were lost one after the other (out of memory, perhaps), and nothing was assessed "
                "between. What is done is kept; the same command goes on with it."
            )
        actor = self._start_actor()
        self._actors.append(actor)
        self._let_join(actor)


async def _await_quietly(reference: Any) -> None:
    with suppress(Exception):  # it ends all the same
        await reference


def _is_gone(node: str) -> bool:
    """Whether the node has left the cluster."""
    import ray

    states: list[Mapping[str, Any]] = ray.nodes()
    return any(state["NodeID"] == node and not state["Alive"] for state in states)
