"""Wikipedia's full-text search through the MediaWiki API. FactReasoner takes 3 passages a claim from Wikipedia."""

from typing import ClassVar
from urllib.parse import quote

from localfact.web.searching.provider_chain import Limit, RateLimiter
from localfact.web.searching.provider_setup import ProviderSetup
from localfact.web.searching.providers.json_answers import JsonAnswer, JsonProvider, entries
from localfact.web.searching.search import FailureKind, Found, ProviderError, plain

NAME = "wikipedia"
ADDRESS = "https://en.wikipedia.org"
#: Wikimedia asks that requests be made one after another, and limits those who do not.
LIMIT = Limit(at_once=2)
#: The most results that the API gives without an account.
MOST_RESULTS = 500
#: Seconds of database lag above which the wiki is to refuse the request, as its etiquette asks of programs.
MAXLAG = 5

_BUSY = frozenset({"maxlag", "readonly", "cirrussearch-backend-error", "search-error"})
_LIMITED = frozenset({"ratelimited", "cirrussearch-too-busy-error", "actionthrottledtext"})


class Wikipedia(JsonProvider):
    """The English Wikipedia (action=query, list=search), or another server with the same API.

    Links lead to Wikipedia's articles, best first; a date is that of an article's last edit.
    """

    name = NAME
    forbidden: ClassVar = {403: "the wiki refuses this program or this address; see https://w.wiki/4wJS"}

    def __init__(self, limiter: RateLimiter, *, address: str = ADDRESS) -> None:
        super().__init__(limiter, f"{address.rstrip('/')}/w/api.php")

    async def _ask(self, query: str, count: int) -> list[Found]:
        params: dict[str, str | int] = {
            "action": "query",
            "list": "search",
            "srsearch": query,
            "srlimit": min(count, MOST_RESULTS),
            "srprop": "snippet|timestamp",
            "format": "json",
            "formatversion": 2,
            "maxlag": MAXLAG,
        }
        answer = await self._get(params)
        if "error" in answer.value:
            raise _failure(answer)
        found = answer.value.get("query")
        listed = found.get("search") if isinstance(found, dict) else None
        articles = entries(NAME, listed, title="title", link="title", snippet="snippet", date="timestamp")
        return [article._replace(link=_link(str(article.link))) for article in articles]


def _link(title: str) -> str:
    return f"{ADDRESS}/wiki/" + quote(title.replace(" ", "_"), safe="/:;@$!*(),~")


def _failure(answer: JsonAnswer) -> ProviderError:
    """The exception for an error object, which comes with status 200."""
    error = answer.value["error"]
    if not isinstance(error, dict) or not isinstance(error.get("code"), str):
        return ProviderError(NAME, FailureKind.MALFORMED, "an error without a code")
    code = error["code"]
    detail = f"{plain(code, 60)} ({plain(error.get('info'), 200).rstrip('.')})"
    if code in _LIMITED:
        return ProviderError(NAME, FailureKind.RATE_LIMITED, detail, retry_after=answer.retry_after)
    if code in _BUSY or code.startswith("internal_api_error"):
        return ProviderError(NAME, FailureKind.UNAVAILABLE, detail, retry_after=answer.retry_after)
    return ProviderError(NAME, FailureKind.REFUSED, detail)


def open_provider(setup: ProviderSetup) -> Wikipedia:
    """Wikipedia, which needs no setup."""
    return Wikipedia(setup.limiter(NAME, LIMIT), address=setup.addresses.get(NAME, ADDRESS))
