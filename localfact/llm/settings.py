"""From a model card and a machine to all that an engine needs to start: where the weights lie, precision, division.

Loads no model. What decides results is the identity; what only decides speed and memory is told apart from it.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import Field

from localfact.llm.engine import EngineIdentity
from localfact.records import Record


class EngineSettings(Record):
    """What `llm/vllm.py` starts an engine from.

    Attributes:
        folder: where weights, config.json and tokenizer lie.
        identity: what decides the answers.
        arguments: of vLLM's AsyncEngineArgs, besides the model's folder.
        machine: what was found and how it is divided, in plain values: for run.yaml and for the reader.
    """

    folder: Path
    identity: EngineIdentity
    arguments: Mapping[str, Any] = Field(default_factory=dict)
    machine: Mapping[str, Any] = Field(default_factory=dict)
