"""Small inputs, an extractor and an engine that count, for tests of the passes and their output."""

import json
from collections.abc import Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from roads import LineExtractor

from localfact.api.extract import extract_file
from localfact.api.generate import generate_file
from localfact.errors import EngineError
from localfact.llm.layers.metering import MeteringLayer
from localfact.llm.scripted import ScriptedEngine
from localfact.methods.options import GenerationOptions
from localfact.records import Extraction, Response
from localfact.runs.passes import PassOptions, PassSummary

EXTRACTOR = {"name": "lines", "model": {"model": "scripted", "revision": "0"}}
ROWS: tuple[object, ...] = (
    {"id": "a", "response": "One line.\nAnother line.", "prompt": "Why?", "source": "s", "model": "m", "topic": "t"},
    "{no json",
    {"id": "b", "response": "Third line."},
    {"id": "b", "response": ""},
    {"id": "c", "response": "boom"},
    {"id": "d", "response": "Déjà vu. 🙂\u2028Still\x85one."},
)


def written(folder: Path, *rows: object, name: str = "data.jsonl") -> Path:
    file = folder / name
    file.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows), encoding="utf-8")
    return file


def rows_of(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").split("\n") if line]


class Opened:
    """An extractor that counts how often it was opened, asked and closed."""

    def __init__(self, extractor: Any = None) -> None:
        self.extractor = extractor or LineExtractor()
        self.opened = self.closed = 0
        self.asked: list[str] = []

    def __call__(self, stack: AsyncExitStack) -> Any:
        self.opened += 1
        stack.push_async_callback(self.close)
        return self

    async def extract(self, response: Response) -> Extraction:
        self.asked.append(response.id)
        found: Extraction = await self.extractor.extract(response)
        return found

    async def close(self) -> None:
        self.closed += 1


async def extract(
    data: Path, out: Path, opened: Opened | None = None, *, extractor: Mapping[str, Any] = EXTRACTOR, **pass_options: Any
) -> PassSummary:
    return await extract_file(data, out, opened or Opened(), extractor=extractor, pass_options=PassOptions(**pass_options))


class Engines:
    """Opens one scripted engine, counting."""

    def __init__(self, answer: Any = lambda chat: f"To {chat[0].content!r} I say: yes.", **options: Any) -> None:
        self.engine = ScriptedEngine(answer, **options)
        self.opened = 0

    def __call__(self, stack: AsyncExitStack) -> Any:
        self.opened += 1
        return MeteringLayer(self.engine)

    def asked(self) -> list[str]:
        return [chat[0].content for chat in self.engine.calls]


async def generate(
    data: Path, out: Path, engines: Engines, options: GenerationOptions | None = None, **pass_options: Any
) -> PassSummary:
    return await generate_file(
        data,
        out,
        engines,
        identity=engines.engine.identity,
        options=options or GenerationOptions(),
        pass_options=PassOptions(**pass_options),
    )


class DiesSoon(LineExtractor):
    """Takes one response apart and then concerns all."""

    asked = 0

    async def extract(self, response: Response) -> Extraction:
        self.asked += 1
        if self.asked > 1:
            raise EngineError("the engine died")
        return await super().extract(response)


PROMPTS: tuple[object, ...] = (
    {"prompt": "What is peat?", "canary": "keep out", "topic": "soils"},
    {"question_id": "q1", "question": "Why moss?", "prompt_source": "set"},
    {"question_id": "q1", "question": "Why moss?", "prompt_source": "set"},
    {"no": "prompt"},
    {"topic": "A. Person"},
)
