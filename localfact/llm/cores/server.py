"""Token ids continued by a vLLM server over its OpenAI-compatible interface, which is waited for while it is away or busy."""

import asyncio
import math
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from localfact.errors import EngineError, InputError, RequestError
from localfact.llm.cores.loop_thread import LoopThread
from localfact.llm.tokens.chat import ChatLayout
from localfact.llm.tokens.token_engine import REPEATED, TokenAnswer, TokenRequest

if TYPE_CHECKING:
    import httpx

#: Holds what the server asks for as a bearer token; never on a command line, never in a file of ours.
TOKEN = "LOCALFACT_ENDPOINT_TOKEN"
#: Requests that are open at once; the server queues those beyond what it works on.
MOST_OPEN = 256
#: Seconds for an answer, and to connect.
ANSWER_SECONDS, CONNECT_SECONDS = 600.0, 10.0
#: A server that does not answer, or has too much to do, is asked again for so long, in seconds, with pauses that grow.
PATIENCE_SECONDS, FIRST_PAUSE, LONGEST_PAUSE = 300.0, 0.5, 15.0
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
        self._thread = LoopThread("endpoint")

    async def ask(self, ids: Sequence[int], request: TokenRequest) -> TokenAnswer:
        """Makes one request; a server that is away or busy is waited for."""
        asked = list(ids)
        answer = await self._thread.call(self._send("POST", "/v1/completions", self._body(asked, request)))
        try:
            found = _answer(answer, request, len(asked))
        except (KeyError, IndexError, TypeError, ValueError) as error:
            raise RequestError(f"The server's answer is not vLLM's ({type(error).__name__}: {error}).") from error
        if self._exact and UNSEEN in found.log_probs[0].values() and set(request.children) - set(_read_reported(answer)):
            raise RequestError("The server does not report the tokens that it is asked about any more.")
        return found

    def end(self) -> None:
        """Ends it; open requests fail. May be called again."""
        self._thread.end(self._let_go)

    def facts(self, name: str) -> tuple[str, int, bool]:
        """What the server serves: the model's name there, its window, and whether it reports the tokens it is asked about."""
        found = self._thread.wait(self._send("GET", "/v1/models", None))
        try:
            models = {str(one["id"]): int(one["max_model_len"]) for one in found["data"] if one.get("parent") is None}
        except (KeyError, TypeError, ValueError) as error:
            raise EngineError(f"{self._base} is no vLLM server: its list of models cannot be read.") from error
        if len(models) != 1 and name not in models:
            raise InputError(f"{self._base} serves {', '.join(sorted(models)) or 'nothing'}, and none is called '{name}'.")
        served = name if name in models else next(iter(models))
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
            patience = httpx.Timeout(ANSWER_SECONDS, connect=CONNECT_SECONDS, pool=None)
            # No proxy of the environment: it would read the texts and the token.
            self._http = httpx.AsyncClient(
                base_url=self._base, limits=limits, timeout=patience, headers=_authorization(), trust_env=False
            )
        loop = asyncio.get_running_loop()
        until, pause = math.inf, FIRST_PAUSE
        while True:
            try:
                answer = await self._http.request(method, path, json=body)
                if answer.status_code not in _BUSY:
                    return self._read(answer)
                said = f"it answers {answer.status_code}"
            except httpx.ReadTimeout as error:
                raise RequestError(f"The server took longer than {ANSWER_SECONDS:g} s for one answer.") from error
            except httpx.LocalProtocolError as error:  # what it says quotes the request, the token among it
                raise EngineError(f"A request to {self._base} cannot be written.") from error
            except httpx.TransportError as error:
                said = str(error) or type(error).__name__
            # It was there a moment ago, or never was: patience begins with the first failure.
            until = min(until, loop.time() + PATIENCE_SECONDS)
            if loop.time() + pause > until:
                raise EngineError(
                    f"The server at {self._base} does not answer ({_line(said)}). Everything finished is kept: "
                    "start it, and the same command goes on."
                )
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    def _read(self, answer: "httpx.Response") -> dict[str, Any]:
        try:
            found = answer.json()
        except ValueError:
            found = None
        if answer.status_code == 200 and isinstance(found, dict):
            return found
        said = found.get("error", found) if isinstance(found, dict) else answer.text
        said = _line(said.get("message", said) if isinstance(said, dict) else said)
        if answer.status_code in (401, 403):
            raise EngineError(f"The server at {self._base} wants a token that {TOKEN} does not hold.")
        if answer.status_code == 404:
            raise EngineError(f"The server at {self._base} has no {answer.request.url.path}, or not '{self._served}': {said}")
        if answer.status_code in (400, 422):
            raise InputError(f"The server refuses the request: {said}")
        raise RequestError(f"The server failed at a request ({answer.status_code}): {said}")

    def _let_go(self) -> None:
        if self._http is not None:
            closing = asyncio.ensure_future(self._http.aclose())
            closing.add_done_callback(lambda done: done.cancelled() or done.exception())
            self._http = None


def _authorization() -> dict[str, str]:
    """The header with the token of the environment; none where there is none. Raises InputError where it can be no token."""
    secret = os.environ.get(TOKEN, "").strip()
    if not (secret.isascii() and secret.isprintable()):
        raise InputError(f"{TOKEN} holds characters that no token has.")
    return {"authorization": f"Bearer {secret}"} if secret else {}


def _line(said: object) -> str:
    """What a server says, on one line, cut."""
    return " ".join(str(said).split())[:_SHOWN]


def _answer(answer: Mapping[str, Any], request: TokenRequest, prompt_tokens: int) -> TokenAnswer:
    """The server's answer as the engine reads it."""
    said = answer["choices"][0]
    ids = [int(token) for token in said["token_ids"]]
    if request.children:
        reported = _read_reported(answer)
        log_probs = [{child: reported.get(child, UNSEEN) for child in request.children}]
    else:
        log_probs = [{token: float(value)} for token, value in zip(ids, said["logprobs"]["token_logprobs"], strict=True)]
    stopped_by = said.get("stop_reason")
    details = (answer.get("usage") or {}).get("prompt_tokens_details") or {}
    return TokenAnswer(
        ids=ids,
        log_probs=log_probs,
        finish=str(said["finish_reason"]),
        stopped_by=stopped_by if isinstance(stopped_by, str) else None,
        text=str(said["text"]),
        prompt_tokens=prompt_tokens,
        cached_tokens=int(details.get("cached_tokens") or 0),
    )


def _read_reported(answer: Mapping[str, Any]) -> dict[int, float]:
    """Token -> log-probability at the first place, of all that the server reports."""
    top = answer["choices"][0]["logprobs"]["top_logprobs"][0]
    return {int(name.removeprefix("token_id:")): float(value) for name, value in top.items()}
