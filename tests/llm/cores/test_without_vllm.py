"""An engine where vLLM is not installed."""

import sys
from pathlib import Path

import pytest

from localfact.errors import MissingError
from localfact.llm.cores.vllm import VLLMEngine
from localfact.llm.engine import EngineIdentity
from localfact.llm.placing.settings import EngineSettings


def test_an_engine_that_cannot_be_imported_is_missing_and_the_message_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    identity = EngineIdentity(model="any", revision="1", dtype="float32", window=256)
    monkeypatch.setitem(sys.modules, "vllm.platforms", None)
    with pytest.raises(MissingError, match="make setup-llm"):
        VLLMEngine(EngineSettings(folder=tmp_path, identity=identity, arguments={}))
