"""What a scripted model is shown between the markers of its prompts, and one that answers late."""

import asyncio
import re
from collections.abc import Callable

from localfact.llm.engine import Chat, Generation
from localfact.llm.scripted import ScriptedAnswer, ScriptedEngine


def all_shown(chat: Chat, kind: str) -> list[str]:
    """What a prompt shows between markers of that kind, its examples first."""
    marked = rf"<<{kind} ([0-9a-f]{{8}})>>\n(.*?)\n<<end {kind} \1>>"
    return [text for _, text in re.findall(marked, chat[0].content, re.DOTALL)]


def shown(chat: Chat, kind: str = "text") -> str:
    """What a prompt shows between the last markers of that kind."""
    return all_shown(chat, kind)[-1]


class LastFirstEngine(ScriptedEngine):
    """Answers only when so many prompts have been asked, the last one first."""

    def __init__(self, answer: Callable[[Chat], ScriptedAnswer], prompts: int) -> None:
        super().__init__(answer)
        self._prompts = prompts
        self._waiting: list[asyncio.Event] = []

    async def generate(self, chat: Chat, **settings: object) -> Generation:  # type: ignore[override]
        turn = asyncio.Event()
        self._waiting.append(turn)
        if len(self._waiting) == self._prompts:
            self._waiting.pop().set()
        await turn.wait()
        generation = await super().generate(chat, **settings)  # type: ignore[arg-type]
        if self._waiting:
            self._waiting.pop().set()
        return generation
