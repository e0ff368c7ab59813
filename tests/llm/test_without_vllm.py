"""An engine where vLLM is not installed."""

import sys
from pathlib import Path

import pytest
from tiny_models import settings_of, tiny_llama

from localfact.errors import MissingError
from localfact.llm.vllm import VLLMEngine


def test_an_engine_that_cannot_be_imported_is_missing_and_the_message_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = settings_of(tiny_llama(tmp_path / "model", window=256))
    monkeypatch.setitem(sys.modules, "vllm.platforms", None)
    with pytest.raises(MissingError, match="make setup-llm"):
        VLLMEngine(settings)
