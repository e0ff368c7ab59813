"""What all tests share: the public data sets, where they are there at all, and the embedder that ships."""

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar
from unittest.mock import patch

import pytest
import setuptools  # noqa: F401  # early: imported late, by vLLM in a busy worker, it met another distutils once; why is not known
from costs import Costs
from division import Division
from engines import Engines
from hypothesis import HealthCheck, settings
from taught_model import SECRET, Taught, taught

from localfact.llm.layers.sealing import SECRET_FILE
from localfact.models.cards import load_card
from localfact.models.embedder import Embedder, load_embedder
from localfact.web.pages import Page

# Each worker has one core: threads of a library's own would wait for one another, which costs more than they bring.
os.environ |= {"OMP_NUM_THREADS": "1", "VLLM_CPU_OMP_THREADS_BIND": "nobind"}

# A job in the background of a shell ignores Ctrl-C, and so would all that it starts; tests send it.
signal.signal(signal.SIGINT, signal.default_int_handler)

# No test asserts how fast the machine is. CI tries the same ten examples every time, `make test-all` a hundred that are new.
LENIENT = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow, HealthCheck.function_scoped_fixture]}
settings.register_profile("ten", max_examples=10, derandomize=True, **LENIENT)
settings.register_profile("hundred", max_examples=100, **LENIENT)
settings.load_profile("ten")

Point = TypeVar("Point")
SHARED = Path(__file__).resolve().parents[2] / "shared"

#: Fixtures whose making, or whose answer, takes seconds: whoever uses one is slow.
COSTLY = {"byte_engine", "piece_engine", "both", "vllm_at", "random_llama", "minilm", "school"}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--costs", action="store_true", help="tell at the end what the tests cost, by room, and the costliest")
    parser.addoption("--all", action="store_true", help="every point of a matrix, and a hundred new examples a property")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--all"):
        settings.load_profile("hundred")
    config.pluginmanager.register(Division())
    if config.getoption("--costs"):
        config.pluginmanager.register(Costs())


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks as slow what uses a costly fixture."""
    for item in items:
        if isinstance(item, pytest.Function) and COSTLY & set(item.fixturenames):
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session", autouse=True)
def state_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A home for what localfact keeps of this machine: with a secret that the taught model knows, and never the user's own."""
    home = tmp_path_factory.mktemp("state")
    (home / "localfact").mkdir()
    (home / "localfact" / SECRET_FILE).write_bytes(SECRET)
    with patch.dict(os.environ, {"XDG_STATE_HOME": str(home)}):
        yield home


@pytest.fixture(scope="session")
def some(request: pytest.FixtureRequest) -> Callable[[Sequence[Point]], Sequence[Point]]:
    """Of many points, such as those where something is killed, the first, the middle and the last; all of them with --all."""

    def chosen(points: Sequence[Point]) -> Sequence[Point]:
        whole = request.config.getoption("--all") or len(points) <= 3
        return points if whole else [points[0], points[len(points) // 2], points[-1]]

    return chosen


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of public data and reference graphs beside the checkout; the test is skipped where there is none."""
    if not SHARED.is_dir():
        pytest.skip("no folder of shared data beside the checkout")
    return SHARED


@pytest.fixture(scope="session")
def minilm() -> Embedder:
    """The default embedder, loaded once."""
    return load_embedder(load_card("minilm"))


@pytest.fixture(scope="session")
def engines() -> Iterator[Engines]:
    """Language models in real vLLM, each started once in this process."""
    opened = Engines()
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def school(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Taught:
    """A tiny Llama that answers its lessons in the formats of the prompts; kept between runs while the lessons are the same."""
    return taught(tmp_path_factory.mktemp("school"), request.config.cache.mkdir("taught"))


@pytest.fixture(scope="session")
def pages() -> list[Page]:
    """Eight short pages about two invented islands, one of them copied to another address with its last word changed."""
    harbour = (
        "The harbour of Norvik was dredged in 1884 by the engineer Tilda Brandt, who had studied in Uppsala. "
        "It was wide enough for twelve fishing boats, and the stone quay that she designed still stands today. "
        "A ferry to the mainland leaves from the quay every morning at seven, except on the first of January. "
    )
    texts = {
        "harbour": harbour,
        "harbour-copy": harbour.replace("January", "May"),
        "lighthouse": "The lighthouse on Cape Orm is made of red granite. Its lamp was first lit on 3 May 1862.",
        "wool": "Sheep outnumber people on Norvik by nine to one. The wool is spun in the village of Halla.",
        "storm": "The great storm of 1901 tore the roof from the church of Halla. Nobody was hurt.",
        "bridge": "A suspension bridge of 310 metres joins Norvik with Suderoy since 1957.",
        "bird": "Puffins nest on the western cliffs from April to August.",
        "zürich": "北京是中国的首都。长城很长。",
    }
    return [
        Page(link=f"https://{name}.example/page", title=name.title(), text=text, date="2020-01-01")
        for name, text in texts.items()
    ]
