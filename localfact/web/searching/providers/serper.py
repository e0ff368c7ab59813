"""Google's results through Serper (https://serper.dev), which needs a key."""

from localfact.web.searching.provider_chain import Limit, RateLimiter
from localfact.web.searching.provider_setup import ProviderSetup
from localfact.web.searching.providers.json_answers import JsonClient, entries
from localfact.web.searching.results import Search
from localfact.web.searching.search import FailureKind, Found, ProviderError, query_of, search_of

NAME = "serper"
KEY_VARIABLE = "SERPER_API_KEY"
ADDRESS = "https://google.serper.dev"
LIMIT = Limit(at_once=8)
MOST_RESULTS = 100

_CHECK_KEY = f"check the key in {KEY_VARIABLE} and its credits at https://serper.dev"
_FORBIDDEN = dict.fromkeys((401, 402, 403), _CHECK_KEY)


class Serper:
    """Serper's web search (POST /search). The key is only sent in the header X-API-KEY."""

    name = NAME

    def __init__(self, key: str, limiter: RateLimiter, *, address: str = ADDRESS) -> None:
        self._limiter = limiter
        self._url = f"{address.rstrip('/')}/search"
        self._client = JsonClient(NAME, headers={"x-api-key": key}, secret=key)

    async def search(self, query: str, count: int) -> Search:
        """Returns up to 100 organic results; their dates are as Google words them ("Jan 3, 2021", "2 days ago").

        Raises:
            ProviderError: it was not answered.
        """
        sent = query_of(NAME, query)
        found = await self._limiter.request(lambda: self._ask(sent, count))
        return search_of(NAME, query, count, found, self._limiter.timing.now())

    async def _ask(self, query: str, count: int) -> list[Found]:
        body: dict[str, str | int] = {"q": query, "num": min(count, MOST_RESULTS)}
        now = self._limiter.timing.now()
        try:
            value = (await self._client.ask("POST", self._url, body=body, forbidden=_FORBIDDEN, now=now)).value
        except ProviderError as error:
            # Used-up credits give status 400, as a bad query does.
            if error.kind is FailureKind.REFUSED and "credits" in error.detail.lower():
                raise ProviderError(NAME, FailureKind.FORBIDDEN, f"{error.detail}: {_CHECK_KEY}") from None
            raise
        if "organic" not in value and isinstance(value.get("searchParameters"), dict):
            # It repeats the query, so it is an answer, and one that may leave out a list without results.
            return []
        return entries(NAME, value.get("organic"), title="title", link="link", snippet="snippet", date="date")

    async def aclose(self) -> None:
        """Closes the connections."""
        await self._client.aclose()


def open_provider(setup: ProviderSetup) -> Serper:
    """Serper, with the key from the environment.

    Raises:
        MissingError: there is no key. InputError: it cannot be a key.
    """
    key = setup.key(NAME, KEY_VARIABLE, "https://serper.dev")
    return Serper(key, setup.limiter(NAME, LIMIT), address=setup.addresses.get(NAME, ADDRESS))
