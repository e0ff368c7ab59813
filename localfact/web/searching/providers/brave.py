"""Brave's own index through its search API (https://brave.com/search/api), which needs a key."""

from typing import ClassVar

from localfact.web.searching.provider_chain import Limit, RateLimiter
from localfact.web.searching.provider_setup import ProviderSetup
from localfact.web.searching.providers.json_answers import JsonProvider, entries
from localfact.web.searching.search import FailureKind, Found, ProviderError

NAME = "brave"
KEY_VARIABLE = "BRAVE_API_KEY"
ADDRESS = "https://api.search.brave.com"
#: Its smallest plan allows one request a second.
LIMIT = Limit(at_once=1, interval=1.0)
MOST_RESULTS = 20
MOST_WORDS = 50

_CHECK_KEY = f"check the key in {KEY_VARIABLE} and its plan at https://api-dashboard.search.brave.com"


class Brave(JsonProvider):
    """Brave's web search (GET /res/v1/web/search): up to 20 results, one page of them, for the first 50 words of a query.

    The key is only sent in the header X-Subscription-Token.
    """

    name = NAME
    forbidden: ClassVar = dict.fromkeys((401, 402, 403), _CHECK_KEY)

    def __init__(self, key: str, limiter: RateLimiter, *, address: str = ADDRESS) -> None:
        url = f"{address.rstrip('/')}/res/v1/web/search"
        super().__init__(limiter, url, headers={"x-subscription-token": key}, secret=key)

    async def _ask(self, query: str, count: int) -> list[Found]:
        params: dict[str, str | int] = {"q": " ".join(query.split()[:MOST_WORDS]), "count": min(count, MOST_RESULTS)}
        params |= {"result_filter": "web", "text_decorations": "false"}
        value = (await self._get(params)).value
        web = value.get("web")
        if web is None and value.get("type") == "search":
            return []
        if not isinstance(web, dict):
            raise ProviderError(NAME, FailureKind.MALFORMED, "the answer has no part 'web'")
        return entries(NAME, web.get("results"), title="title", link="url", snippet="description", date="page_age")


def open_provider(setup: ProviderSetup) -> Brave:
    """Brave, with the key from the environment (see `ProviderSetup.key`)."""
    key = setup.key(NAME, KEY_VARIABLE, "https://brave.com/search/api")
    return Brave(key, setup.limiter(NAME, LIMIT), address=setup.addresses.get(NAME, ADDRESS))
