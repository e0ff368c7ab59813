"""What a machine has: the smallest GPU decides, a container's limit counts, and what torch reports is taken over."""

import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from localfact.llm.placing.hardware import GIB, Gpu, Hardware, detect, has_bfloat16, host_memory

A100 = Gpu(name="A100", memory_gib=79.2, capability=(8, 0))
H100 = Gpu(name="H100", memory_gib=79.1, capability=(9, 0))


def test_the_smallest_and_the_oldest_gpu_decide() -> None:
    mixed = Hardware(gpus=(H100, A100), memory_gib=500)
    assert (mixed.device, mixed.gpu_memory_gib, mixed.capability) == ("cuda", 79.1, (8, 0))
    none = Hardware(memory_gib=16)
    assert (none.device, none.gpu_memory_gib, none.capability) == ("cpu", 0.0, (0, 0))


def test_equal_gpus_are_counted_when_shown() -> None:
    assert Hardware(gpus=(A100, A100, H100), memory_gib=500).describe() == "2 x A100 with 79 GiB, 1 x H100 with 79 GiB"
    assert Hardware(memory_gib=23.5).describe() == "CPU with 24 GiB"


def test_what_torch_reports_is_taken_over(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    properties = SimpleNamespace(name="H200", total_memory=140 * GIB, major=9, minor=0)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda index: properties)
    assert detect().gpus == (Gpu(name="H200", memory_gib=140.0, capability=(9, 0)),) * 2


def test_without_cuda_there_are_no_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    found = detect()
    assert found.gpus == ()
    assert 0 < found.memory_gib <= os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / GIB


@pytest.mark.parametrize(
    ("said", "has"),
    [
        ("flags\t\t: fpu avx2 avx512f avx512_bf16 avx512_vnni\n", True),
        ("flags\t\t: amx_bf16 avx512_fp16\n", True),
        ("Features\t: fp asimd i8mm bf16 dgh\n", True),
        ("flags\t\t: fpu avx2 avx512f\nFeatures\t: fp asimd sme_b16f32 sbf16x\n", False),
        (None, True),
    ],
)
def test_what_processors_say_of_bfloat16(tmp_path: Path, said: str | None, has: bool) -> None:
    if said is not None:
        (tmp_path / "cpuinfo").write_text(said)
    assert has_bfloat16(tmp_path / "cpuinfo") == has


def test_the_limit_of_a_container_is_the_memory(tmp_path: Path) -> None:
    limit, none = tmp_path / "limit", tmp_path / "none"
    limit.write_text(f"{1 << 20}\n")
    none.write_text("max\n")
    assert host_memory((none, limit, tmp_path / "absent")) == 1 << 20
    assert host_memory((none,)) == host_memory(())
