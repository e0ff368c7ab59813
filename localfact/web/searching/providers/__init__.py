"""The search providers by name, and how a chain of them is opened. Each is imported when it is first asked for."""

import difflib
import os
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from localfact.errors import InputError, MissingError
from localfact.web.searching.provider_chain import REAL_TIMING, Chain, Gate, Timing
from localfact.web.searching.search import SearchProvider

DEFAULT_PROVIDER = "duckduckgo"


class _Setup(NamedTuple):
    """What a provider is opened with."""

    searxng_url: str | None
    addresses: Mapping[str, str]
    timing: Timing


def open_provider(
    names: Sequence[str] = (DEFAULT_PROVIDER,),
    *,
    searxng_url: str | None = None,
    addresses: Mapping[str, str] | None = None,
    timing: Timing = REAL_TIMING,
) -> Chain:
    """Opens the named providers as one: the first is asked, and the next where it fails. Nothing is sent yet.

    Args:
        searxng_url: the address of the SearXNG to ask.
        addresses: provider -> where a server of the same kind is asked instead, for tests and mirrors.

    Raises:
        InputError: no name, an unknown or repeated one, searxng without an address.
        MissingError: the key of a provider is not in the environment, or ddgs is not installed.
    """
    unknown = next((name for name in names if name not in _OPENERS), None)
    if unknown is not None:
        near = difflib.get_close_matches(unknown.lower(), _OPENERS, n=1)
        hint = f" Did you mean {near[0]}?" if near else ""
        raise InputError(f"There is no search provider {unknown!r}.{hint} Known are {', '.join(_OPENERS)}.")
    if len(set(names)) < len(names):
        raise InputError("A search provider is named twice: name each once, in the order in which they are to be asked.")
    setup = _Setup(searxng_url, addresses or {}, timing)
    return Chain([_OPENERS[name](setup) for name in names], timing)


def _duckduckgo(setup: _Setup) -> SearchProvider:
    try:
        from localfact.web.searching.providers import duckduckgo
    except ImportError as error:
        raise MissingError(
            f"DuckDuckGo is searched through ddgs, which cannot be used here ({error}). Install it: pip install 'ddgs>=9.16'"
        ) from None
    gate = Gate(duckduckgo.NAME, duckduckgo.LIMIT, setup.timing)
    return duckduckgo.DuckDuckGo(gate, address=setup.addresses.get(duckduckgo.NAME))


def _searxng(setup: _Setup) -> SearchProvider:
    from localfact.web.searching.providers import searxng

    address = setup.searxng_url or setup.addresses.get(searxng.NAME)
    if not address:
        raise InputError("searxng is asked at an address of your own: give it with --searxng-url, http://127.0.0.1:8080 say.")
    return searxng.SearXNG(address, Gate(searxng.NAME, searxng.LIMIT, setup.timing))


def _serper(setup: _Setup) -> SearchProvider:
    from localfact.web.searching.providers import serper

    key = _key(serper.NAME, serper.KEY_VARIABLE, "https://serper.dev")
    gate = Gate(serper.NAME, serper.LIMIT, setup.timing)
    return serper.Serper(key, gate, address=setup.addresses.get(serper.NAME, serper.ADDRESS))


def _brave(setup: _Setup) -> SearchProvider:
    from localfact.web.searching.providers import brave

    key = _key(brave.NAME, brave.KEY_VARIABLE, "https://brave.com/search/api")
    gate = Gate(brave.NAME, brave.LIMIT, setup.timing)
    return brave.Brave(key, gate, address=setup.addresses.get(brave.NAME, brave.ADDRESS))


def _wikipedia(setup: _Setup) -> SearchProvider:
    from localfact.web.searching.providers import wikipedia

    gate = Gate(wikipedia.NAME, wikipedia.LIMIT, setup.timing)
    return wikipedia.Wikipedia(gate, address=setup.addresses.get(wikipedia.NAME, wikipedia.ADDRESS))


def _key(provider: str, variable: str, source: str) -> str:
    key = os.environ.get(variable, "").strip()
    if not key:
        raise MissingError(f"{provider} wants a key, and {variable} is not set: get one at {source} and export {variable}=...")
    if not key.isascii() or not key.isprintable():
        raise InputError(f"{variable} holds characters that no key has: set it to the key alone.")
    return key


_OPENERS: Mapping[str, Callable[[_Setup], SearchProvider]] = {
    "duckduckgo": _duckduckgo,
    "searxng": _searxng,
    "serper": _serper,
    "wikipedia": _wikipedia,
    "brave": _brave,
}
#: The names that `open_provider` knows, the default first.
PROVIDERS = tuple(_OPENERS)
