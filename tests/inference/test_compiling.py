"""Without numba, or without a folder for its cache, every solver still answers."""

import subprocess
import sys

import numba
import pytest

from localfact.inference import compiling

#: Solvers on three variables of one ring, in a process of its own: what is imported there is not what was imported here.
SOLVE = """
import sys
sys.modules["numba"] = None
import numpy as np
from localfact.inference import FactorGraph, marginals
graph = FactorGraph(("a", "b", "c"), np.array([0.9, 0.5, 0.2]), np.array([[0, 1], [1, 2], [2, 0]]), np.full((3, 2, 2), 0.5))
for solver in ("auto", "bp"):
    found = marginals(graph, solver=solver)
    print(solver, *(round(value, 6) for value in found.marginals.values()))
"""


@pytest.mark.slow
def test_every_solver_of_our_own_answers_without_numba():
    done = subprocess.run([sys.executable, "-c", SOLVE], capture_output=True, text=True, check=False)
    assert done.stdout.split("\n")[:2] == [f"{solver} 0.9 0.5 0.2" for solver in ("auto", "bp")], done.stderr


def test_a_cache_that_cannot_be_written_is_done_without(monkeypatch):
    asked = []

    def njit(**options):
        asked.append(options)
        if options.get("cache"):
            raise RuntimeError("cannot cache function: no locator available")
        return numba.njit(**options)

    monkeypatch.setattr(compiling, "njit", njit)

    def half(number):
        return number / 2

    assert compiling.compile_lazily(half)(3) == 1.5
    assert asked == [{"cache": True, "nogil": True}, {"nogil": True}]


def test_the_loop_of_belief_propagation_is_compiled_in_one_way(monkeypatch):
    from localfact.inference import message_passing

    monkeypatch.setattr(compiling, "njit", None)
    assert hasattr(message_passing.iterate, "py_func")
    assert compiling.compile_lazily(message_passing.iterate.py_func) is message_passing.iterate.py_func


@pytest.mark.parametrize("decorate", [compiling.compile_lazily, compiling.compile_inline])
def test_without_numba_a_function_is_itself(decorate, monkeypatch):
    monkeypatch.setattr(compiling, "njit", None)
    assert decorate(len) is len
