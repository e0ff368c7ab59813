"""Runs a command where only loopback is up: a network namespace of its own, as root or as whoever may make one."""

import os
import subprocess
import sys
from functools import cache

#: Takes loopback up in a new namespace, where even that is down (netdevice(7): SIOCSIFFLAGS, IFF_UP), and runs the rest.
_LOOPBACK_UP = """
import fcntl, os, socket, struct, sys
with socket.socket() as any_socket:
    fcntl.ioctl(any_socket, 0x8914, struct.pack("16sH14x", b"lo", 1))
os.execvp(sys.argv[1], sys.argv[1:])
"""


@cache
def only_loopback() -> list[str]:
    """What stands before a command so that it runs where only loopback is up; nothing where no namespace can be made."""
    start = ["unshare", "--net"] if os.geteuid() == 0 else ["unshare", "--user", "--map-root-user", "--net"]
    inside = [*start, sys.executable, "-c", _LOOPBACK_UP]
    try:
        tried = subprocess.run([*inside, "cat", "/proc/net/route", "/proc/net/ipv6_route"], capture_output=True, text=True)
    except OSError:
        return []
    if tried.returncode:
        return []
    routes = [line.split() for line in tried.stdout.splitlines()[1:]]
    assert all("lo" in route for route in routes), "a namespace that leads somewhere"
    return inside
