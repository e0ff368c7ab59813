"""DuckDuckGo's page for browsers without scripts, read by ddgs: needs no key, but soon asks for fewer requests.

ddgs knows the address, the form, a browser's headers and where results are in the page. Its `DDGS().text` is not used: it
raises the same "No results found." for a refusal, a captcha, a time limit and a page without results, puts Wikipedia's pages
first whatever their rank, and asks other engines when it does not know a name.
"""

import asyncio
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import parse_qs, urlsplit

from localfact.errors import MissingError
from localfact.web.http_headers import retry_after_seconds
from localfact.web.searching.provider_chain import Limit, LimitedProvider, RateLimiter
from localfact.web.searching.provider_setup import ProviderSetup
from localfact.web.searching.providers.json_answers import MAX_ANSWER_BYTES
from localfact.web.searching.search import FailureKind, Found, ProviderError, plain

try:
    import primp
    from ddgs.engines.duckduckgo import Duckduckgo
    from ddgs.exceptions import DDGSException, RatelimitException, TimeoutException
except ImportError as error:
    raise MissingError(
        f"DuckDuckGo is searched through ddgs, which cannot be used here ({error}). Install it: pip install 'ddgs>=9.16'"
    ) from None

NAME = "duckduckgo"
LIMIT = Limit(at_once=1, interval=1.0)
#: Seconds, for the whole of a request.
TIME_LIMIT = 20

# DuckDuckGo's bot detection answers 202 with a challenge, or 403; a 200 can hold the challenge as well.
_LIMITED = frozenset({202, 403, 418, 429})
_CHALLENGE = "//form[@id='challenge-form'] | //*[contains(@class, 'anomaly-modal')]"
_NOTHING = "//*[contains(concat(' ', normalize-space(@class), ' '), ' no-results ') or contains(@class, 'result--no-result')]"


@dataclass
class _Entry:
    """Replaces ddgs' own result class, which decodes links and so breaks those with an encoded "&" or blank in them."""

    title: str = ""
    href: str = ""
    body: str = ""


class _Engine(Duckduckgo):
    """ddgs' engine, with errors that say why there are no results."""

    @property
    def result_type(self) -> Any:
        return _Entry

    def request(self, method: str, url: str, **options: Any) -> str:
        """The page, within MAX_ANSWER_BYTES. Raises ProviderError where there is none, with the reason."""
        # A "!bang" redirects to another site, which must not be asked.
        response = self.http_client.client.request(method, url, stream=True, follow_redirects=False, **options)
        if response.status_code != 200:
            kind = FailureKind.RATE_LIMITED if response.status_code in _LIMITED else FailureKind.UNAVAILABLE
            retry_after = retry_after_seconds(response.headers.get("retry-after"))
            raise ProviderError(NAME, kind, f"HTTP {response.status_code}", retry_after=retry_after)
        content = bytearray()
        for piece in response.iter_bytes():
            content += piece
            if len(content) > MAX_ANSWER_BYTES:
                raise ProviderError(NAME, FailureKind.MALFORMED, f"the answer is larger than {MAX_ANSWER_BYTES:,} bytes")
        return content.decode("utf-8", errors="replace")

    def extract_results(self, html_text: str) -> list[Any]:
        """The results of a page; none only where the page says so."""
        tree = self.extract_tree(html_text)
        if tree.xpath(_CHALLENGE):
            raise ProviderError(NAME, FailureKind.RATE_LIMITED, "it wants proof that a human asks")
        entries = [entry for entry in super().extract_results(html_text) if entry.href]
        if not entries and not tree.xpath(_NOTHING):
            raise ProviderError(NAME, FailureKind.MALFORMED, "the page has neither results nor the words that there are none")
        return entries


class DuckDuckGo(LimitedProvider):
    """DuckDuckGo, one query after another. Each search is one page of some ten results.

    Asking for further pages in this way gets an address blocked. No proxy of the environment (HTTP_PROXY, PRIMP_PROXY) is used.

    Args:
        address: another server with the same page.
        time_limit: seconds for a request.
    """

    name = NAME

    def __init__(self, limiter: RateLimiter, *, address: str | None = None, time_limit: int = TIME_LIMIT) -> None:
        super().__init__(limiter)
        self._address = address
        self._time_limit = time_limit

    async def _ask(self, query: str, count: int) -> list[Found]:
        return await asyncio.to_thread(self._read_page, query)

    @cached_property
    def _engine(self) -> _Engine:
        engine = _Engine(timeout=self._time_limit)
        # primp takes a proxy from the environment when it is made; setting it to none afterwards undoes that.
        engine.http_client.client.proxy = None
        engine.search_url = self._address or engine.search_url
        return engine

    def _read_page(self, query: str) -> list[Found]:
        try:
            entries = self._engine.search(query) or []
        except ProviderError:
            raise
        except RatelimitException as error:
            raise ProviderError(NAME, FailureKind.RATE_LIMITED, _describe_error(error)) from None
        except (primp.TimeoutError, TimeoutException):
            raise ProviderError(NAME, FailureKind.UNAVAILABLE, f"no answer within {self._time_limit} s") from None
        except (primp.PrimpError, DDGSException) as error:
            raise ProviderError(NAME, FailureKind.UNAVAILABLE, _describe_error(error)) from None
        except Exception as error:  # parsers raise anything on untrusted input; it concerns this page alone
            raise ProviderError(NAME, FailureKind.MALFORMED, f"the page cannot be read ({_describe_error(error)})") from error
        return [Found(entry.title, _target(entry.href), entry.body) for entry in entries]


def _target(link: str) -> str:
    """The target of a link: some are redirects by DuckDuckGo (/l/?uddg=...)."""
    try:
        parts = urlsplit(link)
    except ValueError:
        return link
    if (parts.hostname or "").endswith("duckduckgo.com") and parts.path == "/l/":
        return parse_qs(parts.query).get("uddg", [link])[0]
    return link


def _describe_error(error: Exception) -> str:
    return plain(f"{type(error).__name__}: {error}", 200).rstrip(".: ")


def open_provider(setup: ProviderSetup) -> DuckDuckGo:
    """DuckDuckGo, which needs no setup."""
    return DuckDuckGo(setup.limiter(NAME, LIMIT), address=setup.addresses.get(NAME))
