"""What this machine has to run a language model on: its GPUs as torch reports them, and its memory. Loads nothing onto them."""

import os
import re
import shutil
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from localfact.records import Record

GIB = 1 << 30
#: Files with a container's memory limit in bytes, of cgroups version 2 and 1.
MEMORY_LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))
#: Where Linux says what its processors can do, and the names of what computes with bfloat16, on x86 and on Arm.
PROCESSORS = Path("/proc/cpuinfo")
BFLOAT16 = re.compile(r"\b(?:avx512_bf16|amx_bf16|bf16)\b")


class Gpu(Record):
    """One GPU: its name, memory in GiB, and CUDA compute capability, for example (9, 0) for an H100."""

    name: str
    memory_gib: Annotated[float, Field(gt=0)]
    capability: tuple[int, int]


class Hardware(Record):
    """A machine: memory in GiB of the host, or of the container where that is limited; `gpus` is empty without CUDA.

    `bfloat16`: whether its processors have instructions for it; without them it is several times slower than float32.
    `compiler`: whether it has the C++ compiler that torch takes, without which a model is not compiled for a CPU.
    """

    gpus: tuple[Gpu, ...] = ()
    memory_gib: Annotated[float, Field(gt=0)]
    bfloat16: bool = True
    compiler: bool = False

    @property
    def device(self) -> Literal["cuda", "cpu"]:
        """The device that models run on here."""
        return "cuda" if self.gpus else "cpu"

    @property
    def gpu_memory_gib(self) -> float:
        """Memory of the smallest GPU, which limits a model that is split evenly; 0 without GPUs."""
        return min((gpu.memory_gib for gpu in self.gpus), default=0.0)

    @property
    def capability(self) -> tuple[int, int]:
        """Compute capability of the oldest GPU; (0, 0) without GPUs."""
        return min((gpu.capability for gpu in self.gpus), default=(0, 0))

    def describe(self) -> str:
        """The machine in a few words, for messages."""
        if not self.gpus:
            return f"CPU with {self.memory_gib:.0f} GiB"
        kinds = dict.fromkeys((gpu.name, f"{gpu.memory_gib:.0f}") for gpu in self.gpus)
        counts = {kind: sum((gpu.name, f"{gpu.memory_gib:.0f}") == kind for gpu in self.gpus) for kind in kinds}
        return ", ".join(f"{count} x {name} with {memory} GiB" for (name, memory), count in counts.items())


def detect() -> Hardware:
    """The GPUs of this machine that CUDA_VISIBLE_DEVICES leaves visible, its memory, and what its processors can do."""
    import torch

    gpus = []
    if torch.cuda.is_available():
        for index in range(torch.cuda.device_count()):
            found = torch.cuda.get_device_properties(index)
            gpus.append(Gpu(name=found.name, memory_gib=found.total_memory / GIB, capability=(found.major, found.minor)))
    compiler = shutil.which(os.environ.get("CXX") or "g++") is not None
    return Hardware(gpus=tuple(gpus), memory_gib=host_memory() / GIB, bfloat16=has_bfloat16(), compiler=compiler)


def host_memory(limits: tuple[Path, ...] = MEMORY_LIMITS) -> int:
    """The most bytes of memory that this process may use."""
    physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    stated = [file.read_text(encoding="ascii").strip() for file in limits if file.is_file()]
    return min([physical, *(int(text) for text in stated if text.isdigit() and int(text) > 0)])


def has_bfloat16(processors: Path = PROCESSORS) -> bool:
    """Whether the processors compute with bfloat16; where the system does not say, they do."""
    try:
        return BFLOAT16.search(processors.read_text(encoding="utf-8", errors="replace")) is not None
    except OSError:
        return True
