"""Replaces the codes in the markers around untrusted texts by secret ones, just before a model reads them.

The codes that `prompts/boundary.py` writes are hashes of text and seed, as caches and transcripts need equal calls everywhere.
But whoever writes a page can compute them. So what the model is sent has other codes, keyed with a secret of this machine, and
in what it answers they are turned back. Whatever keeps calls and answers stands before this layer and knows no secret.
"""

import hashlib
import os
import re
import secrets
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

from localfact.llm.calls import Call, CallResult
from localfact.llm.client import CallingEngine
from localfact.llm.engine import Chat, Generation
from localfact.llm.layers.layer import Layer
from localfact.llm.markers import MARKER
from localfact.runtime.locations import user_folder

SECRET_BYTES = 32
SECRET_FILE = "boundary-secret"


class SealingLayer(Layer):
    """Replaces the codes in the markers of a chat before the model reads it, and restores them in its answer.

    Args:
        inner: the model.
        secret: of any length; equal secrets give equal codes.
    """

    def __init__(self, inner: CallingEngine, secret: bytes) -> None:
        super().__init__(inner)
        self._code = key_codes(secret)

    async def answer(self, call: Call[CallResult]) -> CallResult:
        """Hands the call on with replaced codes, and restores those that the answer repeats."""
        chat, given = seal(call.chat, self._code)
        if not given:
            return await self._inner.answer(call)
        answer = await self._inner.answer(replace(call, chat=chat))
        if isinstance(answer, Generation):
            return answer.model_copy(update={"text": unseal(answer.text, given)})
        return answer


def key_codes(secret: bytes) -> Callable[[str], str]:
    """Returns a keyed, length-preserving mapping of codes: only who knows the secret can compute it."""
    key = hashlib.blake2b(secret).digest()
    return lambda code: hashlib.blake2b(code.encode(), key=key, digest_size=len(code) // 2).hexdigest()


def seal(chat: Chat, code: Callable[[str], str]) -> tuple[Chat, dict[str, str]]:
    """Returns the chat with replaced codes in its markers, and the replacements: new code -> original code."""
    given: dict[str, str] = {}

    def mark(found: re.Match[str]) -> str:
        sent = code(found["code"])
        given[sent] = found["code"]
        return f"{found['before']}{sent}>>"

    return tuple(turn._replace(content=MARKER.sub(mark, turn.content)) for turn in chat), given


def unseal(text: str, given: dict[str, str]) -> str:
    """Undoes `seal` in a model's answer: each code that was sent becomes the original again (`given`: sent -> original).

    Both have the same length, so that no offset in the text changes.
    """
    return re.sub("|".join(given), lambda found: given[found[0]], text)


def machine_secret() -> bytes:
    """The secret of this machine and user, made when first asked for; where it cannot be kept, one of this call alone."""
    file = user_folder("XDG_STATE_HOME", "~/.local/state") / "localfact" / SECRET_FILE
    made = secrets.token_hex(SECRET_BYTES).encode()
    passing = file.with_name(f".{SECRET_FILE}-{secrets.token_hex(4)}")
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        try:
            with os.fdopen(os.open(passing, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600), "wb") as opened:
                opened.write(made)
            with suppress(FileExistsError):
                os.link(passing, file)  # whole, or not at all: another process may do the same at this moment
            if file.stat().st_size < len(made):  # emptied by a full disk or by hand
                passing.replace(file)
        finally:
            passing.unlink(missing_ok=True)
        return file.read_bytes()
    return made
