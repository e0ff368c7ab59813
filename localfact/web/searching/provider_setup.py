"""What search providers are opened with: addresses, keys from the environment, the limiter for their requests."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from localfact.errors import MissingError
from localfact.runtime.keys import read_key
from localfact.web.searching.provider_chain import REAL_TIMING, Limit, RateLimiter, Timing


@dataclass(frozen=True)
class ProviderSetup:
    """What search providers are opened with; their keys are read from environment variables, by `key`.

    Attributes:
        searxng_url: the address of the user's own SearXNG; None where there is none.
        addresses: name of a provider -> the address of another server of the same kind to ask instead, for tests and mirrors.
        timing: clocks, sleep and randomness, which tests replace.
    """

    searxng_url: str | None = None
    addresses: Mapping[str, str] = field(default_factory=dict)
    timing: Timing = REAL_TIMING

    def limiter(self, provider: str, limit: Limit) -> RateLimiter:
        """The limiter that keeps a provider's requests within its limit."""
        return RateLimiter(provider, limit, self.timing)

    def key(self, provider: str, variable: str, source: str) -> str:
        """The provider's key, from an environment variable; `source` says where one can be got.

        Raises:
            MissingError: it is not set. InputError: it has characters that no key has.
        """
        key = read_key(variable)
        if not key:
            raise MissingError(
                f"{provider} wants a key, and {variable} is not set: get one at {source} and export {variable}=..."
            )
        return key
