"""Compares marginals with the reference that a graph file may have: the errors over its claims.

A reference is the result of a slower, trusted method: `reference` in the file, with `marginals`, `tolerance` and `log_z`.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import NoneType
from typing import Any

from localfact.errors import GraphError
from localfact.inference.solve import Marginals


@dataclass(frozen=True)
class Deviation:
    """How far marginals are from a reference, over the claims of the graph.

    Attributes:
        largest, mean: of the absolute differences.
        flips: how many claims are on the other side of one half, beyond the tolerance.
        log_z: the difference of the logs of the sums of weights; None where either is unknown.
        tolerance: how far the reference itself may be off.
        consistent: whether both find the graph consistent, or both do not.
    """

    largest: float
    mean: float
    flips: int
    log_z: float | None
    tolerance: float
    consistent: bool


def deviation_of(path: Path, found: Marginals) -> Deviation | None:
    """Compares with the reference marginals in a graph file that was read without errors; None if it has none.

    Raises:
        GraphError: its tolerance or log_z is no number.
    """
    content: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8-sig"))
    reference = content.get("reference")
    if not isinstance(reference, dict):
        return None
    for name in ("tolerance", "log_z"):
        if not isinstance(reference.get(name, 0.0), float | int | NoneType):
            raise GraphError(f"{path}: {name} of its reference is no number.")
    expected, tolerance = reference.get("marginals"), float(reference.get("tolerance") or 0.0)
    agree = reference.get("consistent", True) is found.consistent
    if not isinstance(expected, dict) or found.marginals is None:
        return Deviation(0.0, 0.0, 0, None, tolerance, agree)
    claims = [name for name in content.get("atoms", {}) if isinstance(expected.get(name), int | float)]
    if not claims:
        return None
    errors = [abs(found.marginals[name] - expected[name]) for name in claims]
    flips = sum(
        (found.marginals[name] > 0.5) != (expected[name] > 0.5) and abs(found.marginals[name] - expected[name]) > tolerance
        for name in claims
    )
    log_z = reference.get("log_z")
    apart = None if log_z is None or found.log_z is None else abs(found.log_z - float(log_z))
    return Deviation(max(errors), sum(errors) / len(errors), flips, apart, tolerance, agree)
