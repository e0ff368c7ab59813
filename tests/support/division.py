"""How the tests are divided among workers that steal from one another's end (`--dist worksteal`): the long ones come first.

Each worker begins with an equal share of what was collected. Files whose tests may ask a shared engine begin the first worker's
share, so that one worker starts it; tests with processes of their own begin the second's. What is stolen in the end is short.
"""

import pytest

ROOMS = ("models", "pages")


class Division:
    """Puts the tests in that order, the same in every worker."""

    @pytest.hookimpl(trylast=True)  # when those that are not chosen are gone
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        files = {item.path for item in items if isinstance(item, pytest.Function) and "engines" in item.fixturenames}
        engine: list[pytest.Item] = []
        own: list[pytest.Item] = []
        rest: list[pytest.Item] = []
        for item in items:
            room = any(item.get_closest_marker(name) for name in ROOMS)
            (engine if item.path in files else own if room else rest).append(item)
        workers = getattr(config, "workerinput", {}).get("workercount", 1)
        first = max(len(items) // workers - len(engine), 0)
        items[:] = [*engine, *rest[:first], *own, *rest[first:]]
