"""Cuts this process and its children off from the network: no name is resolved, and only loopback can be connected to.

Meant for the process of one command: what `go_offline` installs stays until the process ends.
"""

import ipaddress
import os
import socket
import sys
from collections.abc import Callable, Iterable, Mapping
from multiprocessing import util
from pathlib import Path
from types import MappingProxyType
from typing import Any

from localfact.errors import OfflineError

#: A proxy address at which nothing listens: connections through it fail at once, on this machine.
_NO_PROXY = "http://127.0.0.1:9"
#: Environment variables for libraries and for the processes of the engine; they override what the user has set.
ENVIRONMENT: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HF_DATASETS_OFFLINE", "HF_HUB_DISABLE_TELEMETRY"), "1"),
        **dict.fromkeys(("VLLM_NO_USAGE_STATS", "DO_NOT_TRACK"), "1"),
        # vLLM would find its own address by connecting to a public one, gloo by resolving the host's name.
        "VLLM_HOST_IP": "127.0.0.1",
        **dict.fromkeys(("GLOO_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME", "TP_SOCKET_IFNAME"), "lo"),
        # A proxy on loopback would forward requests; and clients that do not use Python's sockets (Rust, curl) use proxies.
        **{name: _NO_PROXY for scheme in ("http", "https", "all") for name in (f"{scheme}_proxy", f"{scheme}_proxy".upper())},
        **dict.fromkeys(("no_proxy", "NO_PROXY"), "localhost,127.0.0.1,::1"),
    }
)
#: The machine's file of host names, which is read before a name server is asked.
HOSTS = Path("/etc/hosts")
#: Sockets that end on this machine, whatever the address: files, and the kernel.
_LOCAL_FAMILIES = frozenset({socket.AF_UNIX, socket.AF_NETLINK, socket.AF_ALG})
_INTERNET = frozenset({socket.AF_INET, socket.AF_INET6})
#: The methods of a socket that take an address, and where in their arguments it stands.
_ADDRESSED: Mapping[str, slice] = MappingProxyType(
    {**dict.fromkeys(("connect", "connect_ex", "bind"), slice(0, 1)), "sendto": slice(1, None), "sendmsg": slice(3, 4)}
)
_on = False


def go_offline() -> None:
    """Makes every attempt to resolve a name or to connect beyond loopback raise OfflineError, before a packet is sent.

    Allowed are UNIX sockets, loopback addresses, and the names that /etc/hosts maps to loopback addresses (localhost). This
    holds for all Python code of this process, of processes that it forks, and of those that `multiprocessing` starts. Other
    programs, and compiled code that opens its own sockets, are only given `ENVIRONMENT`: no hub, no statistics, no proxy,
    loopback as the engine's interface. To have the kernel enforce it too, run the command where only loopback is up (`unshare
    --net`).

    Call it first in a command, as libraries read their variables when they are imported. Calling it again changes nothing. It
    cannot be undone (an audit hook stays, PEP 578), so libraries and tests call it in a process of its own.
    """
    global _on
    if _on:
        return
    _on = True
    os.environ.update(ENVIRONMENT)
    allowed = loopback_names(HOSTS)
    _resolve_nothing_in_sockets(allowed)
    _guard_started_processes()
    sys.addaudithook(_guard(allowed))


def is_offline() -> bool:
    """Whether `go_offline` was called in this process, or in the one that it was forked from."""
    return _on


def loopback_names(hosts: Path) -> frozenset[str]:
    """The names that a file of hosts maps to loopback addresses, in lower case."""
    try:
        lines = hosts.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return frozenset()
    entries = [line.partition("#")[0].lower().split() for line in lines]
    listed: dict[str, list[bool]] = {}
    for address, *names in filter(None, entries):
        for name in names:
            listed.setdefault(name, []).append(_stays_here(address))
    return frozenset(name for name, loopback in listed.items() if all(loopback))


def _guard(allowed: frozenset[str]) -> Callable[[str, tuple[Any, ...]], None]:
    """An audit hook that raises OfflineError for a connection or name look-up beyond loopback.

    Python calls the hook for every audited event; all but those of connecting, sending and name look-up are ignored.

    Args:
        allowed: the host names that stand for loopback addresses, in lower case.
    """

    def check_connection(event: str, opened: socket.socket, address: Any) -> None:
        if address is not None and opened.family not in _LOCAL_FAMILIES:
            _admit_address(opened.family, address, allowed)

    def check_name(event: str, host: Any, *_: Any) -> None:
        _admit_name(host, allowed)

    def check_look_up(event: str, address: Any) -> None:
        # Reverse look-ups: a name server is asked for all addresses that are not in the file of hosts.
        host = address[0] if isinstance(address, tuple) else address
        if str(host) not in ("127.0.0.1", "::1") and _text(host) not in allowed:
            raise _refusal(f"ask for the name of {host}")

    checks: dict[str, Callable[..., None]] = {
        **dict.fromkeys(("socket.connect", "socket.sendto", "socket.sendmsg"), check_connection),
        **dict.fromkeys(("socket.getaddrinfo", "socket.gethostbyname"), check_name),
        **dict.fromkeys(("socket.gethostbyaddr", "socket.getnameinfo"), check_look_up),
    }

    def hook(event: str, given: tuple[Any, ...]) -> None:
        check = checks.get(event)
        if check is not None:
            check(event, *given)

    return hook


def _resolve_nothing_in_sockets(allowed: frozenset[str]) -> None:
    """Checks names before a socket's methods get them: they resolve a name before Python audits the call."""

    def guard(method: Callable[..., Any], place: slice) -> Callable[..., Any]:
        def first_the_name(self: socket.socket, *given: Any) -> Any:
            for address in given[place]:
                if isinstance(address, tuple) and address and self.family in _INTERNET:
                    _admit_name(address[0], allowed)
            return method(self, *given)

        return first_the_name

    for name, place in _ADDRESSED.items():
        setattr(socket.socket, name, guard(getattr(socket.socket, name), place))


def _guard_started_processes() -> None:
    """Makes a Python process that `multiprocessing` starts (spawn, forkserver) go offline before anything else."""
    start = util.spawnv_passfds
    package = str(Path(__file__).resolve().parents[2])
    first = f"import sys; sys.path.append({package!r}); from localfact.runtime import offline; offline.go_offline(); "

    def spawn(path: Any, words: Iterable[Any], descriptors: Any) -> int:
        given = list(words)
        program = given.index("-c") + 1 if "-c" in given else 0
        if program and "resource_tracker" not in given[program]:  # which opens no socket
            given[program] = first + given[program]
        return int(start(path, given, descriptors))

    util.spawnv_passfds = spawn  # type: ignore[assignment]


def _admit_address(family: int, address: Any, allowed: frozenset[str]) -> None:
    if family not in _INTERNET or not isinstance(address, tuple):
        raise _refusal(f"reach {address!r}")
    host = _text(address[0])
    if host not in allowed and not _stays_here(host):
        raise _refusal(f"connect to {host} port {address[1]}")


def _admit_name(host: Any, allowed: frozenset[str]) -> None:
    """Checks a host: IP addresses pass, as nothing is resolved for them."""
    name = _text(host)
    if name in allowed or name == "":
        return
    try:
        ipaddress.ip_address(name)
    except ValueError:
        raise _refusal(f"resolve the name {name}") from None


def _text(host: Any) -> str:
    if host is None:
        return ""
    return (host.decode("ascii", "replace") if isinstance(host, bytes | bytearray) else str(host)).lower()


def _stays_here(host: str) -> bool:
    """Whether an address is loopback; as a destination, the unspecified address is too."""
    try:
        address = ipaddress.ip_address(host or "0.0.0.0")
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None) or address
    return bool(mapped.is_loopback or mapped.is_unspecified)


def _refusal(tried: str) -> OfflineError:
    return OfflineError(
        f"Something tried to {tried}, and --offline forbids it. What it wanted must lie on this machine; "
        "without --offline it may be fetched."
    )
