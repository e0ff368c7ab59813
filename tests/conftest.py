"""What all tests share: the public data sets, where they are there at all, and the embedder that ships."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import pytest
from engines import Engines
from hypothesis import settings
from taught_model import SECRET, Taught, taught

from localfact.models.cards import load_card
from localfact.models.embedder import Embedder, load_embedder
from localfact.prompts.sealing import SECRET_FILE
from localfact.web.pages import Page

# A job in the background of a shell ignores Ctrl-C, and so would all that it starts; tests send it.
signal.signal(signal.SIGINT, signal.default_int_handler)

# No test asserts how fast the machine is.
settings.register_profile("any machine", deadline=None)
settings.load_profile("any machine")

SHARED = Path(__file__).resolve().parents[2] / "shared"


#: Fixtures that take seconds to make: whoever uses one is slow.
COSTLY = {"engines", "minilm", "school"}


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
def school(tmp_path_factory: pytest.TempPathFactory) -> Taught:
    """A tiny Llama that answers its lessons in the formats of the prompts; made once, in half a minute, for all processes."""
    own = tmp_path_factory.getbasetemp()
    return taught((own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "taught")


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
