"""What all tests share: the public data sets, where they are there at all, and the embedder that ships."""

import signal
from pathlib import Path

import pytest
from taught_model import Taught, taught

from localfact.embedding import Embedder, load_embedder
from localfact.modelcards import load_card

# A job in the background of a shell ignores Ctrl-C, and so would all that it starts; tests send it.
signal.signal(signal.SIGINT, signal.default_int_handler)

SHARED = Path(__file__).resolve().parents[2] / "shared"


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
def school(tmp_path_factory: pytest.TempPathFactory) -> Taught:
    """A tiny Llama that answers its lessons in the formats of the prompts; made once, in half a minute."""
    return taught(tmp_path_factory.getbasetemp() / "taught")
