"""How long tokens take where nothing was measured: by the arithmetic of data sheets, and a share of it. Always called so.

A dense model does two operations a parameter and token it reads (Kaplan et al. 2020, section 2.1). Writing is bound by memory:
one written token is counted as so many read ones.
"""

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

from localfact.llm.placing.hardware import has_bfloat16

#: Part of a GPU's name -> operations a second by its data sheet, in 10^12, dense: with 16 bits on tensor cores, and in float32.
#: The first that is in the name counts.
PEAKS: tuple[tuple[str, float, float], ...] = (
    ("B200", 2250, 75),
    ("H200", 989, 67),
    ("H100", 989, 67),
    ("A100", 312, 19.5),
    ("L40S", 362, 91.6),
    ("L40", 181, 90.5),
    ("A6000", 155, 38.7),
    ("4090", 165, 82.6),
    ("3090", 71, 35.6),
    ("A10", 125, 31.2),
    ("L4", 121, 30.3),
    ("V100", 125, 15.7),
    ("T4", 65, 8.1),
)
#: A GPU that is not among them counts as an A100.
UNKNOWN = (312.0, 19.5)
#: The share of that which reading in full batches reaches, and how many read tokens a written one stands for: rough figures.
SHARE = 0.4
WRITTEN_AS_READ = 5
#: Operations a second of one core, in 10^12, as runs had them: without instructions for bfloat16 smollm2-135m read 115 tokens a
#: second on two cores; with them qwen2.5-coder-1.5b related a pair in 0.78 s, and smollm2-135m scored the sample in 8 minutes.
CORE, BFLOAT16_CORE = 115 * 2 * 0.135e9 / 2 / 1e12, 0.3
#: The same of a cross-encoder of six layers, in int8: 114 pairs of 256 tokens took 5 s on two cores that others used.
ENCODER_CORE = 0.13
#: How rates that were not measured are called.
SAID = "by data-sheet rates; nothing was measured"


class TokenWork(NamedTuple):
    """Tokens to be read that no cache has, and to be written."""

    read: float
    written: float = 0.0


def hours_of(
    work: TokenWork, parameters: float, machine: Mapping[str, Any], *, encoder: bool = False, full_width: bool = False
) -> float:
    """Hours that a model takes for work that keeps all its replicas busy; starting is left out.

    Args:
        work: of the whole run.
        parameters: that compute, in 10^9: of a mixture of experts those of one token.
        machine: as `describe_placement` has it: device, found (the GPU's name is in it), tensor_parallel, replicas.
        encoder: whether it reads each text alone, as a relation model does. full_width: whether it computes in float32.
    """
    operations = (work.read + WRITTEN_AS_READ * work.written) * 2 * parameters * 1e9
    if machine.get("device") == "cpu":
        core = ENCODER_CORE if encoder else BFLOAT16_CORE if has_bfloat16() else CORE
        speed = core * len(os.sched_getaffinity(0))
    else:
        found = str(machine.get("found", ""))
        peak = next((row[1:] for row in PEAKS if row[0] in found), UNKNOWN)[full_width]
        speed = peak * SHARE * int(machine.get("tensor_parallel", 1)) * int(machine.get("replicas", 1))
    return operations / (speed * 1e12) / 3600
