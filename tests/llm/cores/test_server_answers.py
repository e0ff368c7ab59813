"""What a server may answer: bounded by what was asked for, possible as numbers, and never with the token that it was sent."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import pytest

from localfact.errors import LocalFactError, RequestError
from localfact.llm.cores.server import TOKEN, ServerCore
from localfact.llm.tokens.token_engine import TokenAnswer, TokenRequest

SECRET = "s3cret-tok_en.Value"
PAIR = {"token_id:1": -1.0, "token_id:2": -1.0}


def completion(**changed: Any) -> dict[str, Any]:
    logs = {"token_logprobs": [-0.1], "top_logprobs": [PAIR]}
    said = {"token_ids": [5], "logprobs": logs, "finish_reason": "stop", "text": "x", "stop_reason": None}
    return {"choices": [said | changed]}


def asked(answer: Mapping[str, Any] | bytes, headers: bytes = b"", *, times: int = 1) -> tuple[TokenAnswer, list[bytes]]:
    """What comes of the last of some requests, and what the server was sent."""
    seen: list[bytes] = []
    content = answer if isinstance(answer, bytes) else json.dumps(answer).encode()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        seen.append(head)
        writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\n" + headers + b"\r\n" + content)
        writer.close()

    async def run() -> TokenAnswer:
        listening = await asyncio.start_server(serve, "127.0.0.1", 0)
        core = ServerCore(f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}", "m", 100)
        try:
            for _ in range(times):
                found = await core.ask([1], TokenRequest(max_tokens=1, children=(1, 2), stop=("end",)))
        finally:
            core.end()
            listening.close()
        return found

    return asyncio.run(run()), seen


def test_what_can_be_is_read() -> None:
    assert asked(completion())[0].log_probs == [{1: -1.0, 2: -1.0}]


@pytest.mark.parametrize(
    "top",
    [
        {"token_id:1": 0.0, "token_id:2": 0.0},
        {"token_id:1": -9.0, "token_id:01": -0.1},
        {"token_id:\u0661": -1.0},
        {"token_id:-1": -1.0},
        {"token_id:1_0": -1.0},
    ],
)
def test_tokens_that_cannot_be_are_refused(top: Mapping[str, float]) -> None:
    with pytest.raises(RequestError, match="not vLLM's"):
        asked(completion(logprobs={"token_logprobs": [-0.1], "top_logprobs": [top]}))


@pytest.mark.parametrize(
    "changed",
    [
        {"finish_reason": SECRET},
        {"finish_reason": None},
        {"stop_reason": SECRET},
        {"stop_reason": "another"},
        {"text": SECRET},
        {"text": "\n".join(SECRET)},
        {"text": [SECRET]},
        {"text": "x" * 100_000},
    ],
)
def test_no_text_of_an_answer_is_one_that_was_not_asked_for(
    changed: Mapping[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(TOKEN, SECRET)
    with pytest.raises(RequestError) as refused:
        asked(completion(**changed))
    assert SECRET not in str(refused.value)


def test_an_answer_is_bounded_by_what_was_asked_for() -> None:
    with pytest.raises(LocalFactError, match=r"longer than 1,00\d,\d\d\d bytes"):
        asked(b'{"a":[' + b"[]," * 3_000_000 + b"0]}")


def test_no_cookie_of_a_server_is_kept() -> None:
    assert not any(b"cookie" in head.lower() for head in asked(completion(), b"Set-Cookie: a=b\r\n", times=2)[1])
