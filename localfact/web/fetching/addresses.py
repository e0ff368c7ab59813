"""Which addresses pages may be fetched from: http and https, the web's ports, and public addresses once names are resolved.

Links are untrusted. None of them may make this machine ask itself, its own network or a cloud's metadata service.
"""

import asyncio
import ipaddress
import re
import socket
from collections.abc import Awaitable, Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

from localfact.errors import InputError
from localfact.runtime.addresses import address_without_secrets
from localfact.web.fetching.failures import PageError, Reason

if TYPE_CHECKING:
    import httpx

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network
#: (host name, port) -> IP addresses as text; raises OSError or UnicodeError where the name has none.
Resolve = Callable[[str, int], Awaitable[Sequence[str]]]

#: Longer links are refused: no page needs one, and matching rules against it takes time.
MOST_LINK_CHARACTERS = 8_000
#: How many names are looked up at once; a look-up cannot be cancelled, only abandoned.
LOOKUPS_AT_ONCE = 16
#: Refused ports from 1024 on: those of other protocols (WHATWG Fetch, "bad port"). Below 1024 only 80 and 443 are allowed.
OTHER_PORTS = frozenset(
    {1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, *range(6665, 6670), 6679, 6697, 10080}
)

#: Host names and IP literals that may be passed to a resolver.
_HOST = re.compile(r"[A-Za-z0-9._-]{1,253}|[0-9A-Fa-f:.]{2,45}")
#: Global unicast; all other IPv6 space, with IPv4-mapped, NAT64, unique local and link-local addresses in it, is refused.
_GLOBAL_IPV6 = ipaddress.IPv6Network("2000::/3")
#: Refused although they are in the global space: Teredo and 6to4, which wrap any IPv4 address; documentation; the relay of
#: 6to4; the address under which Azure's machines reach their host.
_REFUSED = tuple(
    ipaddress.ip_network(network)
    for network in (
        "2001::/23",
        "2001:db8::/32",
        "2002::/16",
        "3fff::/20",
        "192.0.0.0/24",
        "192.88.99.0/24",
        "168.63.129.16/32",
    )
)


def is_public(address: Address) -> bool:
    """Whether an address is on the public Internet: not private, link-local, shared, multicast or reserved."""
    if isinstance(address, ipaddress.IPv6Address) and (address not in _GLOBAL_IPV6 or address.scope_id is not None):
        return False
    return address.is_global and not address.is_multicast and not any(address in network for network in _REFUSED)


@dataclass(frozen=True)
class AllowedHost:
    """A host, address or network that the user allows besides the public Internet, at one port or at all ports (None)."""

    host: str | None
    network: Network | None
    port: int | None

    @classmethod
    def parse(cls, text: str) -> "AllowedHost":
        """Parses "wiki.intranet", "wiki.intranet:8080", "10.1.2.3", "[fd00::1]:8080" or "10.0.0.0/8".

        Raises:
            InputError: it is none of these.
        """
        whole = text.strip().lower()
        network = _network(whole)
        if network is not None:
            return cls(None, network, None)
        parts = re.fullmatch(r"(\[[^]]*\]|[^:/@\s\[\]]+)(?::([0-9]{1,5}))?", whole)
        if parts is None:
            raise InputError(
                f"Cannot admit {text!r} (--allow-host): name a host, an address or a network (10.0.0.0/8), with :PORT or not."
            )
        network = _network(parts[1])
        port = int(parts[2]) if parts[2] else None
        return cls(None if network else _plain(parts[1]), network, port)

    def admits(self, host: str, port: int, address: Address | None) -> bool:
        """Whether a host's port is allowed by this, or the address that the host resolved to."""
        inside = self.network is not None and address is not None and address in self.network
        return self.port in (None, port) and (inside or (self.host is not None and self.host == _plain(host)))


class Addresses:
    """Checks links, and resolves names to addresses that may be connected to.

    Args:
        allow_hosts: what is allowed besides the public Internet (`AllowedHost.parse`). An allowed name may resolve to any
            address; an allowed address or network may be reached by any name that resolves to it.
        resolve: resolves names; the system by default.

    Raises:
        InputError: an entry is neither host, address nor network.
    """

    def __init__(self, allow_hosts: Collection[str] = (), resolve: Resolve | None = None) -> None:
        self._admissions = tuple(AllowedHost.parse(entry) for entry in allow_hosts)
        self._resolve = resolve or self._system_resolve
        self._lookups = ThreadPoolExecutor(LOOKUPS_AT_ONCE, "names")

    def target(self, link: "str | httpx.URL") -> "httpx.URL":
        """The URL to ask for: without fragment, its host in ASCII.

        Raises:
            PageError: ADDRESS_REFUSED, with the reason: no http or https URL, credentials, a port, an IP address.
        """
        import httpx

        shown = address_without_secrets(str(link))[:200]
        try:
            url = httpx.URL(link.strip() if isinstance(link, str) else link).copy_with(fragment=None)
        except (httpx.InvalidURL, ValueError) as error:
            raise PageError(Reason.ADDRESS_REFUSED, f"{shown} is no address") from error
        if url.scheme not in ("http", "https"):
            raise PageError(Reason.ADDRESS_REFUSED, f"{shown} is neither http nor https")
        if not _HOST.fullmatch(host_of(url)) or url.port == 0 or port_of(url) > 65535:
            raise PageError(Reason.ADDRESS_REFUSED, f"{shown} names no host, or no port that there is")
        if len(str(url)) > MOST_LINK_CHARACTERS:
            raise PageError(Reason.ADDRESS_REFUSED, f"{shown} ... has more than {MOST_LINK_CHARACTERS:,} characters")
        if url.userinfo:
            raise PageError(Reason.ADDRESS_REFUSED, f"an address with credentials at {host_of(url)}")
        self._check_literal(host_of(url), port_of(url))
        return url

    async def resolve(self, host: str, port: int) -> tuple[str, ...]:
        """The addresses of a host, if all of them are allowed.

        Raises:
            PageError: NAME_NOT_RESOLVED; ADDRESS_REFUSED, with the first address that is not allowed.
        """
        try:
            found = (host,) if _literal(host) else tuple(dict.fromkeys(await self._resolve(host, port)))
        except (OSError, UnicodeError) as error:
            raise PageError(Reason.NAME_NOT_RESOLVED, host) from error
        if not found:
            raise PageError(Reason.NAME_NOT_RESOLVED, host)
        for text in found:
            if not self._is_allowed(host, port, ipaddress.ip_address(text)):
                named = text if text == host else f"{host} resolves to {text}, which"
                raise PageError(Reason.ADDRESS_REFUSED, f"{named} is not a public address")
        return found

    def close(self) -> None:
        """Ends the threads of look-ups."""
        self._lookups.shutdown(wait=False, cancel_futures=True)

    def _check_literal(self, host: str, port: int) -> None:
        address = _literal(host)
        if any(admission.admits(host, port, address) for admission in self._admissions):
            return
        if (port < 1024 and port not in (80, 443)) or port in OTHER_PORTS:
            raise PageError(Reason.ADDRESS_REFUSED, f"port {port} of {host} is not one of the web's")
        if address is not None and not is_public(address):
            raise PageError(Reason.ADDRESS_REFUSED, f"{host} is not a public address")

    def _is_allowed(self, host: str, port: int, address: Address) -> bool:
        return is_public(address) or any(admission.admits(host, port, address) for admission in self._admissions)

    async def _system_resolve(self, host: str, port: int) -> Sequence[str]:
        # getaddrinfo also reads odd spellings of IPv4 addresses (2130706433, 0x7f.1, 0177.0.0.1): its result is what is checked
        # and connected to.
        loop = asyncio.get_running_loop()
        found = await loop.run_in_executor(
            self._lookups, lambda: socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
        )
        return [str(entry[4][0]) for entry in found]


def host_of(url: "httpx.URL") -> str:
    """The host of a URL as it is sent: a name in ASCII, or an IP address without brackets."""
    return url.raw_host.decode("ascii")


def port_of(url: "httpx.URL") -> int:
    """The port of a URL; the default of its scheme where it names none."""
    return url.port or (443 if url.scheme == "https" else 80)


def _literal(host: str) -> Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def _network(text: str) -> Network | None:
    try:
        return ipaddress.ip_network(text.removeprefix("[").removesuffix("]"), strict=False)
    except ValueError:
        return None


def _plain(host: str) -> str:
    """A host name normalised: ASCII, lower case, without a final dot."""
    name = host.lower().rstrip(".")
    if name.isascii():
        return name
    import idna

    try:
        return idna.encode(name).decode("ascii")
    except idna.IDNAError as error:
        raise InputError(f"'{host}' is no host name.") from error
