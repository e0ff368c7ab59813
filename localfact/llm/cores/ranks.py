"""Which replica of a model answers a request: the one that has its beginning cached, unless another has much less to do.

An explicit rank takes the place of vLLM's own load balancing, which knows nothing of beginnings. By their number alone
premises with many claims can meet in one replica, while the other idles (`tests/llm/cores/test_ranks.py`).
"""

from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager

#: Tokens of prompts that a replica may have more to do than the least busy one and still get what it has cached: one batch.
SLACK = 16_384
#: Groups whose replica is remembered; caches hold fewer.
REMEMBERED = 10_000


class Ranks:
    """The replicas and what each has to do. Used from one event loop.

    Attributes:
        loads: tokens of prompts that each replica has still to answer.
    """

    def __init__(self, replicas: int) -> None:
        self.loads = [0] * replicas
        self._of: OrderedDict[int, int] = OrderedDict()

    @contextmanager
    def take(self, group: int, tokens: int) -> Iterator[int]:
        """Gives the replica for a request of so many tokens, which counts as its load until the block ends.

        Args:
            group: requests of one number begin alike.
            tokens: of the prompt.
        """
        least = min(range(len(self.loads)), key=self.loads.__getitem__)
        rank = self._of.pop(group, least)
        if self.loads[rank] - self.loads[least] > SLACK:
            rank = least
        self._of[group] = rank
        if len(self._of) > REMEMBERED:
            self._of.popitem(last=False)
        self.loads[rank] += tokens
        try:
            yield rank
        finally:
            self.loads[rank] -= tokens
