"""What vLLM's processes are started with, and who ends them."""

import os

import pytest

from localfact.llm.cores.process_environment import warden


def test_nobody_watches_where_a_process_cannot_be_watched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "pidfd_open")
    assert warden([os.getpid()]) is None
