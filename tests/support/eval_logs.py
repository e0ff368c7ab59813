"""Writes logs as inspect_ai writes them, without it: a zip of JSON packed by zstandard, or one document."""

import json
import struct
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import zstandard

HEAD = {
    "version": 2,
    "status": "success",
    "eval": {
        "task": "towns",
        "model": "openai/small",
        "dataset": {"name": "towns", "samples": 2, "sample_ids": ["venice", 7]},
        "config": {"epochs": 2},
    },
    "plan": {"name": "plan", "steps": []},
}


def sample(name: str | int, answer: str | None, epoch: int = 1, **more: Any) -> dict[str, Any]:
    """A sample with one choice, or with none."""
    choices = [] if answer is None else [{"message": {"role": "assistant", "content": answer}, "stop_reason": "stop"}]
    output = {"model": "small-2026", "choices": choices, "completion": answer or ""}
    return {"id": name, "epoch": epoch, "input": f"What of {name}?", "target": "", "messages": [], "output": output} | more


def write_document(file: Path, samples: Sequence[Any], **head: Any) -> Path:
    file.write_text(json.dumps({**HEAD, **head, "samples": list(samples)}), encoding="utf-8")
    return file


def write_archive(file: Path, samples: Sequence[Mapping[str, Any]], members: Mapping[str, Any] = {}, **head: Any) -> Path:
    """A log of samples, each a member of its own, beside `members`; a member that is None is left out."""
    named = {f"samples/{one['id']}_epoch_{one['epoch']}.json": one for one in samples}
    return write_members(file, {"_journal/start.json": HEAD, **named, "header.json": {**HEAD, **head}, **members})


def write_members(file: Path, members: Mapping[str, Any]) -> Path:
    """A zip of texts of JSON, or of bytes: every second one packed by deflate, the others by zstandard in two frames."""
    pack = zstandard.ZstdCompressor().compress
    with file.open("wb") as archive:
        heads = []
        for number, (name, value) in enumerate((name, value) for name, value in members.items() if value is not None):
            data = value if isinstance(value, bytes) else json.dumps(value).encode()
            way = zipfile.ZIP_DEFLATED if number % 2 else 93
            half = len(data) // 2
            packed = zlib.compress(data, wbits=-15) if number % 2 else pack(data[:half]) + pack(data[half:])
            sizes = (zlib.crc32(data), len(packed), len(data), len(name.encode()), 0)
            heads.append((way, sizes, archive.tell(), name.encode()))
            archive.write(struct.pack("<IHHHHHIIIHH", 0x04034B50, 63, 0, way, 0, 33, *sizes) + name.encode() + packed)
        begin = archive.tell()
        for way, sizes, place, name in heads:
            archive.write(
                struct.pack("<IHHHHHHIIIHHHHHII", 0x02014B50, 63, 63, 0, way, 0, 33, *sizes, 0, 0, 0, 0, place) + name
            )
        end = archive.tell()
        archive.write(struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, len(heads), len(heads), end - begin, begin, 0))
    return file
