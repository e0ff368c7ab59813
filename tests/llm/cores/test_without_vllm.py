"""An engine where vLLM is not installed, or refuses its arguments."""

import sys
from pathlib import Path

import pytest
from pydantic import TypeAdapter, ValidationError

from localfact.errors import MissingError
from localfact.llm.cores.vllm import VLLMEngine, told_in_a_sentence
from localfact.llm.engine import EngineIdentity
from localfact.llm.placing.settings import EngineSettings


def test_an_engine_that_cannot_be_imported_is_missing_and_the_message_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    identity = EngineIdentity(model="any", revision="1", dtype="float32", window=256)
    monkeypatch.setitem(sys.modules, "vllm.platforms", None)
    with pytest.raises(MissingError, match="make setup-llm"):
        VLLMEngine(EngineSettings(folder=tmp_path, identity=identity, arguments={}))


def test_why_arguments_are_refused_is_a_sentence_without_the_form_of_the_error() -> None:
    with pytest.raises(ValidationError) as refused:
        TypeAdapter(int).validate_python("nine")
    said = told_in_a_sentence(refused.value)
    assert "valid integer" in said
    assert "validation error" not in said
    assert (told_in_a_sentence(ValueError("a\n b")), told_in_a_sentence(ValueError())) == ("a b", "ValueError")
