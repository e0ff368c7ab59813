"""Gives the markers around texts codes that no page can know, just before a model reads them.

The codes of `boundary.py` are hashes of text and seed: caches and transcripts need that equal calls are equal everywhere. But
whoever writes a page can compute them. So what the model is sent has other codes, keyed with a secret of this machine, and
in what it answers they are turned back. Whatever keeps calls and answers stands before this engine and knows no secret.
"""

import hashlib
import os
import re
import secrets
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from localfact.llm.calls import Call, CallResult
from localfact.llm.engine import Chat, Engine, Generation
from localfact.llm.wrapping import WrappingEngine
from localfact.prompts.boundary import MARKER

SECRET_BYTES = 32
SECRET_FILE = "boundary-secret"


class SealingEngine(WrappingEngine):
    """An engine that is sent chats whose markers have codes of its own.

    Args:
        engine: the model. secret: of any length; equal secrets give equal codes.
    """

    def __init__(self, engine: Engine, secret: bytes) -> None:
        super().__init__(engine)
        self._code = keyed(secret)

    async def _answer(self, call: Call[CallResult]) -> CallResult:
        own: dict[str, str] = {}
        answer = await replace(call, chat=sealed(call.chat, self._code, own)).ask(self._engine)
        if isinstance(answer, Generation) and own:
            return answer.model_copy(update={"text": turned_back(answer.text, own)})
        return answer


def keyed(secret: bytes) -> Callable[[str], str]:
    """Makes of a code another one of its length, always the same, that only who knows the secret can compute."""
    key = hashlib.blake2b(secret).digest()
    return lambda code: hashlib.blake2b(code.encode(), key=key, digest_size=len(code) // 2).hexdigest()


def sealed(chat: Chat, code: Callable[[str], str], own: dict[str, str] | None = None) -> Chat:
    """The chat with other codes in its markers; `own` gets them, each with the one in whose place it stands."""

    def marked(found: re.Match[str]) -> str:
        sent = code(found["code"])
        if own is not None:
            own[sent] = found["code"]
        return f"{found['before']}{sent}>>"

    return tuple(turn._replace(content=MARKER.sub(marked, turn.content)) for turn in chat)


def turned_back(text: str, own: dict[str, str]) -> str:
    """A text with the codes that it had before; they are as long, so every place in it stays."""
    return re.sub("|".join(own), lambda found: own[found[0]], text)


def machine_secret() -> bytes:
    """The secret of this machine and user, made when first asked for; where it cannot be kept, one of this call alone."""
    folder = Path(os.environ.get("XDG_STATE_HOME") or "~/.local/state").expanduser() / "localfact"
    made = secrets.token_hex(SECRET_BYTES).encode()
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        with suppress(FileExistsError):
            descriptor = os.open(folder / SECRET_FILE, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(made)
        kept = (folder / SECRET_FILE).read_bytes()
        # Another process may be writing it at this moment.
        return kept if len(kept) >= len(made) else made
    return made
