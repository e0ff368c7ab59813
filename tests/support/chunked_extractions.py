"""FastFact's extraction of one short text by scripted models: what they are shown, and what comes of their answers."""

import asyncio
import re
from collections.abc import Callable

from asked_models import shown

from localfact.claims.chunked import ChunkedExtractor
from localfact.llm.engine import Chat
from localfact.llm.scripted import ScriptedAnswer, ScriptedEngine
from localfact.prompts import Boundary, extraction_chat
from localfact.records import Extraction, Response

TEXT = "Kepler was born in 1571. He studied in Tübingen. He moved to Graz. He died in 1630."


def frame(response: Response) -> int:
    """How many tokens the prompt has besides the chunk and its surroundings."""
    chat = extraction_chat(response.prompt, response.topic, "", "", "", boundary=Boundary())
    return asyncio.run(ScriptedEngine().count(chat))


def echo(label: str = "SUPPORTED") -> Callable[[Chat], ScriptedAnswer]:
    """A model that takes every sentence for a claim."""
    return lambda chat: "\n".join(
        f"- {claim} ###{label}###" for claim in re.findall(r"[^.]+\.", shown(chat).replace("\n", " "))
    )


async def extract(engine: ScriptedEngine, text: str = TEXT, **settings: object) -> Extraction:
    return await ChunkedExtractor(engine, **settings).extract(Response(id="r", text=text, prompt="Who was Kepler?"))  # type: ignore[arg-type]


def texts(extraction: Extraction) -> list[str]:
    return [claim.text for claim in extraction.claims]


def places(extraction: Extraction, text: str = TEXT) -> list[list[str]]:
    return [[text[span.start : span.end] for span in claim.spans] for claim in extraction.claims]
