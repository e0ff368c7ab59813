"""What a search provider is opened with: addresses, a key from the environment, the gate that its requests go through."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

from localfact.errors import InputError, MissingError
from localfact.web.searching.provider_chain import REAL_TIMING, Gate, Limit, Timing


@dataclass(frozen=True)
class ProviderSetup:
    """What a user's options and the environment say.

    Attributes:
        searxng_url: the address of the user's own SearXNG.
        addresses: provider -> where a server of the same kind is asked instead, for tests and mirrors.
    """

    searxng_url: str | None = None
    addresses: Mapping[str, str] = field(default_factory=dict)
    timing: Timing = REAL_TIMING

    def gate(self, provider: str, limit: Limit) -> Gate:
        """What keeps a provider's requests within its limit."""
        return Gate(provider, limit, self.timing)

    def key(self, provider: str, variable: str, source: str) -> str:
        """The provider's key, from an environment variable; `source` is where one is had.

        Raises:
            MissingError: it is not set. InputError: it holds what no key has.
        """
        key = os.environ.get(variable, "").strip()
        if not key:
            raise MissingError(
                f"{provider} wants a key, and {variable} is not set: get one at {source} and export {variable}=..."
            )
        if not key.isascii() or not key.isprintable():
            raise InputError(f"{variable} holds characters that no key has: set it to the key alone.")
        return key
