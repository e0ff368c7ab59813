"""Asks a search provider's JSON API over HTTP, within limits of time and size, and names every failure."""

import asyncio
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, Literal, NoReturn

import httpx

from localfact.runtime.hiding import hide, no_cookies, repeats
from localfact.web.http_headers import retry_after_seconds, user_agent
from localfact.web.searching.provider_chain import LimitedProvider, RateLimiter
from localfact.web.searching.search import FailureKind, Found, ProviderError, plain

#: The most bytes of an answer; ten results are some 20 kB.
MAX_ANSWER_BYTES = 5_000_000
#: Seconds, for one request from connecting to the last byte.
TIME_LIMIT = 30.0
_SHOWN = 200


@dataclass(frozen=True)
class JsonAnswer:
    """A provider's answer with status 200, and the pause in seconds that it asks for, if any."""

    value: dict[str, Any]
    retry_after: float | None = None


class JsonClient:
    """A client for one provider's API.

    Redirects are not followed, as they would carry the key to another server. Proxies named in the environment, and its .netrc,
    are not used: only the given address is asked.

    Args:
        provider: its name.
        headers: for every request.
        secret: the key, which is never shown.
    """

    def __init__(self, provider: str, *, headers: Mapping[str, str] | None = None, secret: str = "") -> None:
        self._provider = provider
        self._secret = secret
        # Without compression the size limit holds for the decoded answer too.
        own = {"user-agent": user_agent(), "accept": "application/json", "accept-encoding": "identity"}
        self._http = httpx.AsyncClient(
            headers=own | dict(headers or {}),
            timeout=TIME_LIMIT,
            follow_redirects=False,
            cookies=no_cookies(),
            trust_env=False,
            # SSL_CERT_FILE is honoured, as by the fetcher.
            verify=httpx.create_ssl_context(),
        )

    async def ask(
        self,
        method: Literal["GET", "POST"],
        url: str,
        *,
        params: Mapping[str, str | int] | None = None,
        body: Mapping[str, Any] | None = None,
        accepted: Collection[int] = (200,),
        forbidden: Mapping[int, str] | None = None,
        now: datetime | None = None,
    ) -> JsonAnswer:
        """Requests a URL; returns the JSON object of the answer.

        Args:
            accepted: the statuses of an answer.
            forbidden: status -> what the user must do, for statuses by which this provider refuses every query.
            now: the time from which a Retry-After with a date is counted.

        Raises:
            ProviderError: the answer is anything but a JSON object with such a status.
        """
        try:
            async with (
                asyncio.timeout(TIME_LIMIT),
                self._http.stream(method, url, params=params, json=body) as response,
            ):
                content = await self._content(response)
                if response.status_code not in accepted:
                    self._tell_status(response, content, forbidden or {}, now)
        except (TimeoutError, httpx.TimeoutException):
            raise self._error(FailureKind.UNAVAILABLE, f"no answer within {TIME_LIMIT:g} s") from None
        except (httpx.DecodingError, httpx.RemoteProtocolError) as error:
            raise self._error(FailureKind.UNAVAILABLE, f"the answer broke off ({self._redact(str(error))})") from None
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise self._error(FailureKind.UNAVAILABLE, self._redact(str(error)) or type(error).__name__) from None
        return JsonAnswer(self._object(content), retry_after_seconds(response.headers.get("retry-after"), now))

    async def aclose(self) -> None:
        """Closes the connections."""
        await self._http.aclose()

    async def _content(self, response: httpx.Response) -> bytes:
        if response.headers.get("content-encoding", "identity").strip().lower() not in ("identity", ""):
            raise self._error(FailureKind.MALFORMED, "the answer is compressed, which was not asked for")
        content = bytearray()
        async for piece in response.aiter_raw():
            content += piece
            if len(content) > MAX_ANSWER_BYTES:
                raise self._error(FailureKind.MALFORMED, f"the answer is larger than {MAX_ANSWER_BYTES:,} bytes")
        return bytes(content)

    def _tell_status(
        self, response: httpx.Response, content: bytes, forbidden: Mapping[int, str], now: datetime | None
    ) -> NoReturn:
        status = response.status_code
        said = self._read_message(content)
        detail = f"HTTP {status}{f' ({said})' if said else ''}"
        retry_after = retry_after_seconds(response.headers.get("retry-after"), now)
        if status == 429:
            raise self._error(FailureKind.RATE_LIMITED, detail, retry_after)
        if status in forbidden:
            raise self._error(FailureKind.FORBIDDEN, f"{detail}: {forbidden[status]}")
        if response.is_redirect:
            raise self._error(FailureKind.FORBIDDEN, f"{detail}: it redirects elsewhere; give the address that it redirects to")
        if status >= 500 or status in (408, 425):
            raise self._error(FailureKind.UNAVAILABLE, detail, retry_after)
        raise self._error(FailureKind.REFUSED if status >= 400 else FailureKind.MALFORMED, detail)

    def _object(self, content: bytes) -> dict[str, Any]:
        try:
            value = json.loads(content)
        except (ValueError, RecursionError):  # ValueError also for bytes that are no text and numbers of too many digits
            raise self._error(FailureKind.MALFORMED, "the answer is not JSON") from None
        if not isinstance(value, dict):
            raise self._error(FailureKind.MALFORMED, "the answer is not a JSON object")
        if repeats(json.dumps(value, ensure_ascii=False), self._secret):  # it would be kept with the results
            raise self._error(FailureKind.MALFORMED, "the answer repeats the key")
        return value

    def _read_message(self, content: bytes) -> str:
        """The message in an error's body, where it is JSON with one."""
        try:
            value = json.loads(content)
        except (ValueError, RecursionError):
            return ""
        for key in ("message", "detail", "error"):
            if isinstance(value, dict) and isinstance(value.get(key), str):
                return self._redact(value[key])
        return ""

    def _redact(self, text: str) -> str:
        """Untrusted text for a message: short, plain, and without the key, should it be repeated there."""
        return plain(hide(text, self._secret, "[key]"), _SHOWN).rstrip(".")

    def _error(self, kind: FailureKind, detail: str, retry_after: float | None = None) -> ProviderError:
        return ProviderError(self._provider, kind, detail, retry_after=retry_after)


class JsonProvider(LimitedProvider):
    """A provider with a JSON API at one address.

    Attributes:
        forbidden: status -> what the user must do, for statuses by which it refuses every query.
    """

    forbidden: ClassVar[Mapping[int, str]]

    def __init__(self, limiter: RateLimiter, url: str, *, headers: Mapping[str, str] | None = None, secret: str = "") -> None:
        super().__init__(limiter)
        self._url = url
        self._client = JsonClient(self.name, headers=headers, secret=secret)

    async def aclose(self) -> None:
        """Closes the connections."""
        await self._client.aclose()

    async def _get(self, params: Mapping[str, str | int]) -> JsonAnswer:
        now = self._limiter.now()
        return await self._client.ask("GET", self._url, params=params, forbidden=self.forbidden, now=now)


def entries(provider: str, value: object, *, title: str, link: str, snippet: str, date: str) -> list[Found]:
    """The results in an answer's list of objects, by this provider's names for their fields.

    Raises:
        ProviderError: malformed: it is no list of objects with a link each.
    """
    if not isinstance(value, list):
        raise ProviderError(provider, FailureKind.MALFORMED, "the answer has no list of results")
    if not all(isinstance(entry, dict) and isinstance(entry.get(link), str) for entry in value):
        raise ProviderError(provider, FailureKind.MALFORMED, f"a result in the answer has no {link!r}")
    return [Found(entry.get(title), entry[link], entry.get(snippet), entry.get(date)) for entry in value]
