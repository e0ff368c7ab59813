"""How the tests are divided among workers that steal from one another's end (`--dist worksteal`): the long ones come first.

Each of two workers begins with one half of what was collected. Files whose tests may ask a shared engine begin the first half,
so one worker starts it; tests with processes of their own begin the second half. What is stolen in the end is short.
"""

import pytest

ROOMS = ("models", "pages")


class Division:
    """Puts the tests in that order, the same in every worker."""

    @pytest.hookimpl(trylast=True)  # when those that are not chosen are gone
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        files = {item.path for item in items if isinstance(item, pytest.Function) and "engines" in item.fixturenames}
        engine: list[pytest.Item] = []
        own: list[pytest.Item] = []
        rest: list[pytest.Item] = []
        for item in items:
            room = any(item.get_closest_marker(name) for name in ROOMS)
            (engine if item.path in files else own if room else rest).append(item)
        first = max(len(items) // 2 - len(engine), 0)
        items[:] = [*engine, *rest[:first], *own, *rest[first:]]
