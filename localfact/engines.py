"""Opens the language model that the options name: vLLM in this process, recorded if wished, or a transcript in its stead.

Above `llm/`, below `methods.py` and the public functions, which all open their engine here.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from localfact.embedding import NO_EMBEDDER
from localfact.errors import InputError
from localfact.llm.engine import Engine, EngineIdentity
from localfact.options import Options

if TYPE_CHECKING:
    from localfact.llm.settings import EngineSettings


@dataclass(frozen=True)
class EngineFacts:
    """What is known of an engine before it is opened.

    Attributes:
        identity: what decides its answers. machine: how the hardware is divided; empty for a replay.
    """

    identity: EngineIdentity
    machine: Mapping[str, Any] = field(default_factory=dict)


def engine_facts(options: Options) -> EngineFacts:
    """Finds weights and hardware, or reads who answered in the transcript; loads no model.

    Raises:
        InputError: contradictory options, or a transcript of other models. MissingError: no weights, or too little memory.
    """
    if options.replay is not None:
        if options.transcript is not None:
            raise InputError("--replay answers from a transcript and --transcript makes one; name only one of them.")
        return EngineFacts(recorded_identity(options.replay, options.model))
    settings = start_settings(options)
    return EngineFacts(settings.identity, settings.machine)


def open_engine(options: Options) -> Engine:
    """Starts the engine (minutes, for a large model) or opens the transcript; every call is metered.

    Raises:
        EngineError: it cannot start. MissingError: no weights, or vLLM is not installed. InputError: as `engine_facts`.
    """
    from localfact.llm.metered import MeteredEngine
    from localfact.llm.transcript import RecordingEngine, ReplayEngine, described, prepare
    from localfact.llm.vllm import VLLMEngine

    if options.replay is not None:
        return MeteredEngine(ReplayEngine(options.replay, described(recorded_identity(options.replay, options.model))))
    settings = start_settings(options)
    if options.transcript is None:
        return MeteredEngine(VLLMEngine(settings))
    prepare(options.transcript)  # a file that cannot be used shall be said before the model is loaded
    return MeteredEngine(RecordingEngine(VLLMEngine(settings), options.transcript))


def start_settings(options: Options) -> "EngineSettings":
    """What vLLM would be started from."""
    from localfact.llm.settings import engine_settings, reserved_for
    from localfact.modelcards import load_card

    if options.model is None:
        raise InputError("Name a language model with --model: a card (`localfact models list`), a folder or a hub id.")
    beside = [] if options.embedder == NO_EMBEDDER else [load_card(options.embedder)]
    return engine_settings(load_card(options.model), engine_args=options.engine_args, reserved_gib=reserved_for(beside))


def recorded_identity(file: Path, model: str | None) -> EngineIdentity:
    """Who answered in the transcript. A model that was named by its path is also found by its folder's name.

    Raises:
        MissingError: there is no such file. InputError: it is no transcript, or `model` names none or several in it.
    """
    from localfact.llm.transcript import chosen_identity, described, identities

    known = identities(file)
    names = {one.model for one in known} | {described(one) for one in known}
    if model is not None and model not in names and "@" not in model:
        model = Path(model).resolve().name
    return chosen_identity(file, known, model)
