"""Token ids continued by a vLLM server over its OpenAI-compatible interface, which is waited for while it is away or busy.

The server is not trusted: its answers are bounded in size and time, checked, and never repeat the token that it was sent.
"""

import asyncio
import json
import math
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from localfact.errors import EngineError, InputError, RequestError
from localfact.llm.tokens.chat import ChatLayout
from localfact.llm.tokens.token_engine import REPEATED, TokenAnswer, TokenRequest
from localfact.runtime.hiding import hide, no_cookies, repeats
from localfact.runtime.keys import read_key
from localfact.runtime.loop_thread import LoopThread

if TYPE_CHECKING:
    import httpx

#: Holds what the server asks for as a bearer token; never on a command line, never in a file of ours.
TOKEN = "LOCALFACT_ENDPOINT_TOKEN"
#: Requests that are open at once; the server queues those beyond what it works on.
MOST_OPEN = 256
#: The most bytes of an answer, which is not compressed; of one to a request less, by what was asked for: a list of a token's id
#: and probabilities, and the prompt's ids, which some versions repeat. Its values take some thirty times as much memory.
MOST_BYTES, FIXED_BYTES, TOKEN_BYTES, PROMPT_BYTES = 32_000_000, 1_000_000, 2_000, 20
#: The longest window of a model.
MOST_WINDOW = 2**30
#: Rounding that may make a log-probability positive, and the sum of probabilities in 16 bits larger than 1.
ROUNDING, MOST_BEYOND = 1e-4, 0.02
#: How such a server names a token, and why it ends an answer.
TOKEN_NAME = re.compile(r"token_id:(?:0|[1-9][0-9]{0,9})", re.ASCII)
FINISHES = ("stop", "length", "repetition", "abort", "error")
#: The most characters of the longest token.
MOST_TEXT = 4_096
#: Seconds for a whole answer, however it comes, and to connect.
ANSWER_SECONDS, CONNECT_SECONDS = 600.0, 10.0
#: A server that does not answer, or has too much to do, is asked again for so long, in seconds, with pauses that grow.
PATIENCE_SECONDS, FIRST_PAUSE, LONGEST_PAUSE = 300.0, 0.5, 15.0
#: How long an address is tried at which nothing has answered yet.
FIRST_SECONDS = 10.0
#: The most tokens that an older server reports at a place.
MOST_REPORTED = 20
#: The log-probability of a token that such a server does not report, and what vLLM sends for minus infinity.
UNSEEN = -9999.0
#: What is asked of everybody, whatever the server's own defaults are.
_PLAIN = {"top_p": 1.0, "top_k": 0, "min_p": 0.0, "repetition_penalty": 1.0, "presence_penalty": 0.0, "frequency_penalty": 0.0}
_BUSY = frozenset({408, 425, 429, 502, 503, 504})
#: Characters of a server's message that are shown.
_SHOWN = 300


class ServerCore:
    """Continues token ids at a server. `served`: what the server calls the model; "" if unknown."""

    def __init__(self, base: str, served: str, window: int, *, exact: bool = False) -> None:
        self.window = window
        self._exact = exact
        self._base = base
        self._served = served
        self._http: httpx.AsyncClient | None = None
        self._secret = ""
        #: Waiting for a free connection is no time of the server's.
        self._open = asyncio.Semaphore(MOST_OPEN)
        self._thread = LoopThread("language model engine")

    async def ask(self, ids: Sequence[int], request: TokenRequest) -> TokenAnswer:
        """Makes one request; a server that is away or busy is waited for."""
        asked = list(ids)
        answer = await self._thread.call(self._send("POST", "/v1/completions", self._body(asked, request)))
        try:
            found = _answer(answer, request, len(asked))
        except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
            told = self._line(f"{type(error).__name__}: {error}")
            raise RequestError(f"The server's answer is not vLLM's ({told}).") from error
        if repeats(found.text, self._secret):
            raise RequestError(f"The server's answer repeats what {TOKEN} holds.")
        if self._exact and UNSEEN in found.log_probs[0].values() and set(request.children) - set(_read_reported(answer)):
            raise RequestError("The server does not report the tokens that it is asked about any more.")
        return found

    def end(self) -> None:
        """Ends it; open requests fail. May be called again."""
        self._thread.end(self._let_go)

    def facts(self, name: str | None) -> tuple[str, int, bool]:
        """What the server serves: the model's name there, its window, and whether it reports the tokens it is asked about.

        `name`: of the model that is wanted; None for the only one that there is.
        """
        found = self._thread.wait(self._send("GET", "/v1/models", None))
        try:
            models = {
                self._line(one["id"]): _within(one["max_model_len"], 1, MOST_WINDOW)
                for one in found["data"]
                if one.get("parent") is None
            }
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise EngineError(f"{self._base} is no vLLM server: its list of models cannot be read.") from error
        if len(models) != 1 and name not in models:
            served = f"{self._base} serves {', '.join(sorted(models))[:_SHOWN] or 'nothing'}"
            raise InputError(f"{served}, and none is called '{name}'." if name else f"{served}: name one with --model.")
        served = name if name is not None and name in models else next(iter(models))
        self._served, self.window = served, models[served]
        probe = TokenRequest(max_tokens=1, children=(0, 1, 2, 3))
        answer = self._thread.wait(self._send("POST", "/v1/completions", self._body([1, 2, 3], probe)))
        try:
            return served, self.window, set(_read_reported(answer)) >= set(probe.children)
        except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
            raise EngineError(f"{self._base} is no vLLM server: it reports no log-probabilities of token ids.") from error

    def compare_tokens(self, layout: ChatLayout) -> None:
        """Raises InputError where the server splits a text into other tokens than the tokenizer here does."""
        text = "Zürich, 1911: ### SUPPORTED ###\n  naïve 🌦"
        body = {"model": self._served, "prompt": text, "add_special_tokens": False}
        theirs = self._thread.wait(self._send("POST", "/tokenize", body)).get("tokens")
        if theirs != layout.decoder.encode(text, add_special_tokens=False).ids:
            raise InputError(f"{self._base} serves '{self._served}', whose tokenizer is not that of the --model named here.")

    def _body(self, ids: list[int], request: TokenRequest) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": self._served,
            "prompt": ids,
            "add_special_tokens": False,
            "max_tokens": request.max_tokens,
            "temperature": request.temperature,
            "seed": request.seed,
            "stop": list(request.stop),
            "logprobs": 0,
            "return_token_ids": True,
            "return_tokens_as_token_ids": True,
            **_PLAIN,
        }
        if request.children:
            body |= {"logprobs": MOST_REPORTED, "logprob_token_ids": list(request.children)}
        if request.grammar is not None:
            body |= {"structured_outputs": {"regex": request.grammar}, "repetition_detection": dict(REPEATED)}
        if request.thinking is not None:
            body["thinking_token_budget"] = request.thinking
        return body

    async def _send(self, method: str, path: str, body: Mapping[str, Any] | None) -> dict[str, Any]:
        """One answer. Asks again while the server is away or busy, for as long as there is patience."""
        import httpx

        if self._http is None:
            limits = httpx.Limits(max_connections=MOST_OPEN, max_keepalive_connections=MOST_OPEN)
            patience = httpx.Timeout(ANSWER_SECONDS, connect=CONNECT_SECONDS)
            self._secret = read_key(TOKEN)
            headers = {"accept-encoding": "identity"} | ({"authorization": f"Bearer {self._secret}"} if self._secret else {})
            # No proxy of the environment: it would read the texts and the token.
            self._http = httpx.AsyncClient(
                base_url=self._base, limits=limits, timeout=patience, headers=headers, trust_env=False, cookies=no_cookies()
            )
        loop = asyncio.get_running_loop()
        until, pause = math.inf, FIRST_PAUSE
        while True:
            try:
                status, content = await self._receive(self._http, method, path, body)
                if status not in _BUSY:
                    return self._read(path, status, content)
                said = f"it answers {status}"
            except (httpx.ReadTimeout, TimeoutError) as error:
                raise RequestError(f"The server took longer than {ANSWER_SECONDS:g} s for one answer.") from error
            except httpx.LocalProtocolError as error:  # what it says quotes the request, the token among it
                raise EngineError(f"A request to {self._base} cannot be written.") from error
            except httpx.TransportError as error:
                said = str(error) or type(error).__name__
                if not self._served:  # nothing has answered there yet
                    until = min(until, loop.time() + FIRST_SECONDS)
            # It was there a moment ago, or never was: patience begins with the first failure.
            until = min(until, loop.time() + PATIENCE_SECONDS)
            if loop.time() + pause > until:
                raise EngineError(
                    f"The server at {self._base} does not answer ({self._line(said)}). Everything finished is kept: "
                    "start it, and the same command goes on."
                )
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    async def _receive(
        self, http: "httpx.AsyncClient", method: str, path: str, body: Mapping[str, Any] | None
    ) -> tuple[int, bytes]:
        """Status and body of one answer, within the limits of size and time."""
        asked = body or {}
        most = FIXED_BYTES + TOKEN_BYTES * asked.get("max_tokens", 0) + PROMPT_BYTES * len(asked.get("prompt", ()))
        most = min(most, MOST_BYTES)
        async with self._open, asyncio.timeout(ANSWER_SECONDS), http.stream(method, path, json=body) as answer:
            if answer.headers.get("content-encoding", "identity") != "identity":
                raise RequestError("The server compresses its answer although it was asked not to.")
            content = bytearray()
            async for part in answer.aiter_raw():
                content += part
                if len(content) > most:
                    raise RequestError(f"The server's answer is longer than {most:,} bytes.")
        return answer.status_code, bytes(content)

    def _read(self, path: str, status: int, content: bytes) -> dict[str, Any]:
        try:
            found = json.loads(content)
        except (ValueError, RecursionError):
            found = None
        if status == 200 and isinstance(found, dict):
            return found
        said = found.get("error", found) if isinstance(found, dict) else content.decode("utf-8", "replace")
        said = self._line(said.get("message", said) if isinstance(said, dict) else said)
        if status in (401, 403):
            raise EngineError(f"The server at {self._base} wants a token that {TOKEN} does not hold.")
        if status == 404:
            raise EngineError(f"The server at {self._base} has no {path}, or not '{self._served}': {said}")
        if status in (400, 422):
            raise InputError(f"The server refuses the request: {said}")
        raise RequestError(f"The server failed at a request ({status}): {said}")

    def _line(self, said: object) -> str:
        """What a server says, on one line, cut, without the token that it was sent."""
        try:
            told = " ".join(str(said).split())
        except RecursionError:
            told = "something nested"
        return hide(told, self._secret, f"[{TOKEN}]")[:_SHOWN]

    async def _let_go(self) -> None:
        if self._http is not None:
            with suppress(Exception):  # it is gone either way
                await self._http.aclose()
            self._http = None


def _within(value: object, least: int, most: int) -> int:
    """A whole number of a server's. Raises ValueError where it is none, or out of range."""
    if type(value) is not int or not least <= value <= most:
        raise ValueError(f"{str(value)[:40]} is not a whole number from {least} to {most}")
    return value


def _log_prob(value: object) -> float:
    """A log-probability of a server's. Raises ValueError where it is none."""
    if type(value) not in (int, float) or not -math.inf < (found := float(str(value))) <= ROUNDING:
        raise ValueError(f"{str(value)[:40]} is no log-probability")
    return min(found, 0.0)


def _answer(answer: Mapping[str, Any], request: TokenRequest, prompt_tokens: int) -> TokenAnswer:
    """The server's answer as the engine reads it."""
    said = answer["choices"][0]
    ids = [_within(token, 0, MOST_WINDOW) for token in said["token_ids"]]
    if not len(ids) <= request.max_tokens:
        raise ValueError(f"{len(ids)} tokens where {request.max_tokens} were asked for")
    if request.children:
        reported = _read_reported(answer)
        log_probs = [{child: reported.get(child, UNSEEN) for child in request.children}]
    else:
        log_probs = [{token: _log_prob(value)} for token, value in zip(ids, said["logprobs"]["token_logprobs"], strict=True)]
    stopped_by, finish, text = said.get("stop_reason"), said["finish_reason"], said["text"]
    if finish not in FINISHES or not isinstance(text, str) or len(text) > MOST_TEXT * (len(ids) + 1):
        raise ValueError("its text, or why it ended, is none")
    if isinstance(stopped_by, str) and stopped_by not in request.stop:
        raise ValueError("it ended at a text that was not asked for")
    details = (answer.get("usage") or {}).get("prompt_tokens_details") or {}
    return TokenAnswer(
        ids=ids,
        log_probs=log_probs,
        finish=finish,
        stopped_by=stopped_by if isinstance(stopped_by, str) else None,
        text=text,
        prompt_tokens=prompt_tokens,
        cached_tokens=_within(details.get("cached_tokens") or 0, 0, prompt_tokens),
    )


def _read_reported(answer: Mapping[str, Any]) -> dict[int, float]:
    """Token -> log-probability at the first place, of all that the server reports."""
    top = answer["choices"][0]["logprobs"]["top_logprobs"][0]
    if not all(TOKEN_NAME.fullmatch(name) for name in top):
        raise ValueError("a token is named by something else than its number")
    found = {int(name.removeprefix("token_id:")): _log_prob(value) for name, value in top.items()}
    if math.fsum(map(math.exp, found.values())) > 1 + MOST_BEYOND:
        raise ValueError("tokens that are together more probable than 1")
    return found
