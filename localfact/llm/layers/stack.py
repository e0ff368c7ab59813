"""The order of the layers that a call passes, in one place.

    stage -> policy -> metering -> recording -> sealing -> retrying -> model

Recording stands before sealing, as transcripts must hold on other machines, whose secrets differ; and behind metering, so
that a call costs in a replay what it cost when it was recorded.
"""

from collections.abc import Mapping
from pathlib import Path

from localfact.llm.client import CallingEngine
from localfact.llm.layers.metering import MeteringLayer
from localfact.llm.layers.policy import AskingPolicy, PolicyLayer
from localfact.llm.layers.recording import RecordingLayer
from localfact.llm.layers.retrying import RetryingLayer
from localfact.llm.layers.sealing import SealingLayer


def put_before_model(model: CallingEngine, *, secret: bytes, transcript: Path | None = None) -> CallingEngine:
    """Returns a running model behind the layers that a replay does not need.

    Args:
        secret: keys the markers around texts in what the model is sent.
        transcript: where its calls are recorded; None for nowhere.
    """
    sealing = SealingLayer(RetryingLayer(model), secret)
    return sealing if transcript is None else RecordingLayer(sealing, transcript)


def put_before_answers(
    answers: CallingEngine, policy: AskingPolicy, own_prompts: Mapping[str, str] | None = None
) -> PolicyLayer:
    """Returns the engine that stages call: the outer layers before the result of `put_before_model`, or a replay."""
    return PolicyLayer(MeteringLayer(answers), policy, own_prompts)
