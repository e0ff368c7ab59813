"""A time of the benchmark is that of responses which were assessed."""

import pytest

from localfact.errors import InputError
from localfact.pipeline import Costs, Observer
from localfact.records import Assessment, Response
from scripts.bench.scale import Sleeping, responses_of, timed


class Failing(Sleeping):
    """An assessor with which the third response fails at once."""

    async def assess(self, index: int, response: Response, costs: Costs, observe: Observer) -> Assessment:
        if index == 2:
            raise InputError("no worker")
        return await super().assess(index, response, costs, observe)


async def test_a_run_whose_responses_fail_has_no_time() -> None:
    assert await timed(Sleeping(0.01), responses_of(4), 2) >= 0.02
    with pytest.raises(RuntimeError, match=r"1 of 4 responses failed: .*no worker"):
        await timed(Failing(0.0), responses_of(4), 2)
