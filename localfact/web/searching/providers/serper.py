"""Google's results through Serper (https://serper.dev), which needs a key."""

from typing import ClassVar

from localfact.web.searching.provider_chain import Limit, RateLimiter
from localfact.web.searching.provider_setup import ProviderSetup
from localfact.web.searching.providers.json_answers import JsonProvider, entries
from localfact.web.searching.search import FailureKind, Found, ProviderError

NAME = "serper"
KEY_VARIABLE = "SERPER_API_KEY"
ADDRESS = "https://google.serper.dev"
LIMIT = Limit(at_once=8)
MOST_RESULTS = 100

_CHECK_KEY = f"check the key in {KEY_VARIABLE} and its credits at https://serper.dev"


class Serper(JsonProvider):
    """Serper's web search (POST /search): up to 100 organic results, with dates as Google words them ("2 days ago").

    The key is only sent in the header X-API-KEY.
    """

    name = NAME
    forbidden: ClassVar = dict.fromkeys((401, 402, 403), _CHECK_KEY)

    def __init__(self, key: str, limiter: RateLimiter, *, address: str = ADDRESS) -> None:
        super().__init__(limiter, f"{address.rstrip('/')}/search", headers={"x-api-key": key}, secret=key)

    async def _ask(self, query: str, count: int) -> list[Found]:
        body: dict[str, str | int] = {"q": query, "num": min(count, MOST_RESULTS)}
        now = self._limiter.now()
        try:
            value = (await self._client.ask("POST", self._url, body=body, forbidden=self.forbidden, now=now)).value
        except ProviderError as error:
            # Used-up credits give status 400, as a bad query does.
            if error.kind is FailureKind.REFUSED and "credits" in error.detail.lower():
                raise ProviderError(NAME, FailureKind.FORBIDDEN, f"{error.detail}: {_CHECK_KEY}") from None
            raise
        if "organic" not in value and isinstance(value.get("searchParameters"), dict):
            # It repeats the query, so it is an answer, and one that may leave out a list without results.
            return []
        return entries(NAME, value.get("organic"), title="title", link="link", snippet="snippet", date="date")


def open_provider(setup: ProviderSetup) -> Serper:
    """Serper, with the key from the environment (see `ProviderSetup.key`)."""
    key = setup.key(NAME, KEY_VARIABLE, "https://serper.dev")
    return Serper(key, setup.limiter(NAME, LIMIT), address=setup.addresses.get(NAME, ADDRESS))
