"""Engines over tiny models, started once for all tests of this folder, and what transformers says about the same models."""

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from engines import Engines
from tiny_models import settings_of, tiny_llama
from vllm_server import VLLMServer, vllm_server

from localfact.llm.cores.endpoint import EndpointEngine, endpoint_settings
from localfact.llm.engine import Chat
from localfact.models.cards import load_card

WINDOW = 2048


@pytest.fixture(scope="session")
def byte_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_llama(tmp_path_factory.mktemp("models") / "bytes", "bytes", window=WINDOW)


@pytest.fixture(scope="session")
def piece_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_llama(tmp_path_factory.mktemp("models") / "pieces", "pieces", window=WINDOW)


@pytest.fixture(scope="session")
def byte_engine(byte_folder: Path, engines: Engines) -> Any:
    return engines(settings_of(byte_folder))


@pytest.fixture(scope="session")
def vllm_at(byte_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[VLLMServer]:
    with vllm_server(byte_folder, WINDOW, log=tmp_path_factory.mktemp("server") / "log") as server:
        yield server


@pytest.fixture(scope="session")
def endpoint_engine(byte_folder: Path, vllm_at: VLLMServer) -> Iterator[Any]:
    engine = EndpointEngine(endpoint_settings(load_card(str(byte_folder)), vllm_at.at))
    yield engine
    asyncio.run(engine.aclose())


@pytest.fixture(scope="session")
def piece_engine(piece_folder: Path, engines: Engines) -> Any:
    return engines(settings_of(piece_folder))


class Reference:
    """The same weights in transformers, float32, no cache, no batch: what an engine's numbers must be."""

    def __init__(self, folder: Path) -> None:
        from transformers import AutoModelForCausalLM, AutoTokenizer

        self.tokenizer: Any = AutoTokenizer.from_pretrained(folder)
        self.model: Any = AutoModelForCausalLM.from_pretrained(folder, dtype="float32").eval()

    def prompt(self, chat: Chat, prefix: str = "") -> str:
        messages = [{"role": message.role, "content": message.content} for message in chat]
        return self.tokenizer.apply_chat_template(messages, add_generation_prompt=True, tokenize=False) + prefix

    def ids(self, text: str) -> list[int]:
        return self.tokenizer(text, add_special_tokens=False)["input_ids"]

    def log_probs(self, ids: Sequence[int]) -> Any:
        """Of every token of the vocabulary as what comes next."""
        import torch

        with torch.no_grad():
            return torch.log_softmax(self.model(torch.tensor([list(ids)])).logits[0, -1].float(), dim=-1)

    def path(self, begun: Sequence[int], label: Sequence[int]) -> list[float]:
        """The log-probability of each token of `label` after `begun` and those before it."""
        return [float(self.log_probs([*begun, *label[:place]])[token]) for place, token in enumerate(label)]


@pytest.fixture(scope="session")
def byte_reference(byte_folder: Path) -> Reference:
    return Reference(byte_folder)


@pytest.fixture(scope="session")
def piece_reference(piece_folder: Path) -> Reference:
    return Reference(piece_folder)


@pytest.fixture(scope="session", params=["bytes", "pieces"])
def both(request: pytest.FixtureRequest) -> tuple[Any, Reference]:
    """Each engine with its reference."""
    kind = "byte" if request.param == "bytes" else "piece"
    return request.getfixturevalue(f"{kind}_engine"), request.getfixturevalue(f"{kind}_reference")
