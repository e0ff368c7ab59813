"""The search providers by name, and how a chain of them is opened. A new one is a file here and its name in PROVIDERS."""

from collections.abc import Mapping, Sequence
from importlib import import_module

from localfact.errors import InputError
from localfact.runtime.suggesting import suggest
from localfact.web.searching.provider_chain import REAL_TIMING, Chain, Timing
from localfact.web.searching.provider_setup import ProviderSetup

#: A name is that of a file here, imported when it is first asked for, with a function `open_provider`.
PROVIDERS = (
    "duckduckgo",
    "searxng",
    "serper",
    "wikipedia",
    "brave",
)
DEFAULT_PROVIDER = "duckduckgo"


def open_provider(
    names: Sequence[str] = (DEFAULT_PROVIDER,),
    *,
    searxng_url: str | None = None,
    addresses: Mapping[str, str] | None = None,
    timing: Timing = REAL_TIMING,
) -> Chain:
    """Opens the named providers as one: the first is asked, and the next where it fails. Nothing is sent yet.

    Args:
        searxng_url: the address of the user's SearXNG.
        addresses: provider -> another server of the same kind to ask instead, for tests and mirrors.

    Raises:
        InputError: no name, an unknown or repeated one, searxng without an address.
        MissingError: the key of a provider is not in the environment, or ddgs is not installed.
    """
    unknown = next((name for name in names if name not in PROVIDERS), None)
    if unknown is not None:
        hint = suggest(unknown.lower(), PROVIDERS)
        raise InputError(f"There is no search provider '{unknown}'. {hint}There are: {', '.join(PROVIDERS)}.")
    if len(set(names)) < len(names):
        raise InputError("A search provider is named twice: name each once, in the order in which they are to be asked.")
    setup = ProviderSetup(searxng_url, addresses or {}, timing)
    return Chain([import_module(f"{__name__}.{name}").open_provider(setup) for name in names], timing)
