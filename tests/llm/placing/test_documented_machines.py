"""The README's table of machines and models says what the planner plans."""

import re
from pathlib import Path

import pytest

from localfact.llm.placing.hardware import Gpu, Hardware
from localfact.llm.placing.model_shape import shape_of_card
from localfact.llm.placing.settings import memory_to_reserve, placement_of
from localfact.models.cards import find_card

README = Path(__file__).resolve().parents[3] / "README.md"
A100 = Gpu(name="NVIDIA A100-SXM4-80GB", memory_gib=79.2, capability=(8, 0))
#: As such machines report themselves.
MACHINES = {
    "laptop, 16 GB, no GPU": Hardware(memory_gib=15.5),
    "one GPU of 24 GB": Hardware(
        gpus=(Gpu(name="NVIDIA GeForce RTX 4090", memory_gib=23.6, capability=(8, 9)),), memory_gib=64
    ),
    "one A100 of 80 GB": Hardware(gpus=(A100,), memory_gib=128),
    "four A100s of 80 GB": Hardware(gpus=(A100,) * 4, memory_gib=512),
}
ROW = re.compile(r"^\| ([\w ,]*?) *\| ([\w.-]+)(, fp8|, 4 bits)? \| ([\d.]+) GiB \| ([\d,]+) \|$", re.MULTILINE)


def rows() -> list[tuple[str, str, str, str, str]]:
    """Machine, model, precision, weights and window of each row; a machine stands in the first of its rows."""
    found, machine = [], ""
    for row in ROW.finditer(README.read_text(encoding="utf-8")):
        machine = row[1] or machine
        found.append((machine, row[2], row[3] or "", row[4], row[5]))
    return found


def test_every_machine_is_in_the_table() -> None:
    assert {row[0] for row in rows()} == MACHINES.keys()


@pytest.mark.parametrize(("machine", "name", "precision", "weights", "window"), rows())
def test_the_table_says_what_is_planned(machine: str, name: str, precision: str, weights: str, window: str) -> None:
    card = find_card(name)
    shape = shape_of_card(card)
    assert shape is not None
    placement = placement_of(card, shape, MACHINES[machine], {}, memory_to_reserve([find_card("minilm")]))
    assert (f"{placement.weights:.1f}", f"{placement.window:,}") == (weights, window)
    assert (placement.quantisation is not None) == (precision == ", fp8")
