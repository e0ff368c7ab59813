"""Replicas by load: what begins alike stays together while neither idles, however uneven the premises are."""

from collections.abc import Callable
from contextlib import ExitStack

from localfact.llm.cores.ranks import SLACK, Ranks

#: (group, prompts): few premises have most of the claims; all numbers even, as a hash of few premises may well be.
UNEVEN = [(2 * number, 40 if number < 3 else 2) for number in range(20)]
TOKENS = 1_500


def busy(choose: Callable[[int], int] | None, replicas: int = 2, at_once: int = 64) -> list[float]:
    """The share of the time that each replica works: a prompt each a step, `at_once` under way; by load, or as is chosen."""
    ranks = Ranks(replicas)
    waiting = [group for group, count in UNEVEN for _ in range(count)]
    queues: list[list[ExitStack]] = [[] for _ in range(replicas)]
    worked, steps = [0] * replicas, 0
    while waiting or any(queues):
        while waiting and sum(map(len, queues)) < at_once:
            group, held = waiting.pop(0), ExitStack()
            rank = held.enter_context(ranks.take(group, TOKENS)) if choose is None else choose(group)
            queues[rank].append(held)
        for rank, queue in enumerate(queues):
            if queue:
                queue.pop(0).close()
                worked[rank] += 1
        steps += 1
    return [one / steps for one in worked]


def test_one_replica_idles_where_its_number_decides_and_none_where_the_load_does() -> None:
    assert busy(lambda group: group % 2) == [1.0, 0.0]
    assert min(busy(None)) > 0.9


def test_what_begins_alike_meets_in_one_replica_until_that_has_a_batch_more_to_do() -> None:
    ranks = Ranks(2)
    with ExitStack() as held:
        took = [held.enter_context(ranks.take(7, 1_000)) for _ in range(SLACK // 1_000 + 3)]
    assert (took[0], set(took[: SLACK // 1_000]), took[-1]) == (0, {0}, 1)
    assert ranks.loads == [0, 0]
    with ranks.take(7, 10) as rank:
        assert rank == 1  # where it was last
