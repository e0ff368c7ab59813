"""The network unplugged. What is tried is tried in processes of their own: the guard cannot be taken away again.

No packet is ever sent outside: each program first proves, by an audit event alone, that the guard stands.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from localfact.runtime.offline import ENVIRONMENT, loopback_names

ROOT = Path(__file__).resolve().parents[2]
#: What every program here starts with; ends it with status 3 where the guard lets an address of RFC 5737 pass.
GUARDED = """
import asyncio, multiprocessing, os, socket, subprocess, sys
from localfact.errors import OfflineError
from localfact.runtime.offline import go_offline, is_offline

def prove():
    # An event as Python raises it before it connects; nothing is opened.
    try:
        sys.audit("socket.connect", socket.socket(), ("192.0.2.1", 9))
        sys.audit("socket.getaddrinfo", "example.invalid", 9, 0, 0, 0)
    except OfflineError:
        return
    os._exit(3)

if __name__ == "__main__":
    go_offline()
    prove()
    tcp, udp = socket.socket(), socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
"""
ATTEMPTS = {
    "a name": ("socket.getaddrinfo('example.invalid', 80)", "resolve the name example.invalid"),
    "a name in bytes": ("socket.getaddrinfo(b'example.invalid', 80)", "resolve the name example.invalid"),
    "a name the old way": ("socket.gethostbyname('example.invalid')", "resolve the name example.invalid"),
    "a name with its aliases": ("socket.gethostbyname_ex('example.invalid')", "resolve the name example.invalid"),
    "the name of an address": ("socket.gethostbyaddr('192.0.2.1')", "ask for the name of 192.0.2.1"),
    "the name of a peer": ("socket.getnameinfo(('192.0.2.1', 80), 0)", "ask for the name of 192.0.2.1"),
    "an address": ("tcp.connect(('192.0.2.1', 80))", "connect to 192.0.2.1 port 80"),
    "an address, errors returned": ("tcp.connect_ex(('192.0.2.1', 80))", "connect to 192.0.2.1 port 80"),
    "an address of IPv6": ("socket.socket(socket.AF_INET6).connect(('2001:db8::1', 80))", "connect to 2001:db8::1 port 80"),
    "IPv4 within IPv6": (
        "socket.socket(socket.AF_INET6).connect(('::ffff:192.0.2.1', 80))",
        "connect to ::ffff:192.0.2.1 port 80",
    ),
    "a socket given a name": ("tcp.connect(('example.invalid', 80))", "resolve the name example.invalid"),
    "a socket bound to a name": ("tcp.bind(('example.invalid', 0))", "resolve the name example.invalid"),
    "a datagram": ("udp.sendto(b'x', ('192.0.2.1', 80))", "connect to 192.0.2.1 port 80"),
    "a datagram with flags, to a name": ("udp.sendto(b'x', 0, ('example.invalid', 80))", "resolve the name example.invalid"),
    "a datagram in parts": ("udp.sendmsg((b'x', b'y'), [], 0, ('192.0.2.1', 80))", "connect to 192.0.2.1 port 80"),
    "a connected datagram socket": ("udp.connect(('192.0.2.1', 80))", "connect to 192.0.2.1 port 80"),
    "another kind of network": (
        "socket.socket(socket.AF_VSOCK).connect((2, 80))",
        "reach (2, 80)",
    ),
    "asyncio": ("asyncio.run(asyncio.open_connection('example.invalid', 80))", "resolve the name example.invalid"),
    "asyncio, an address": ("asyncio.run(asyncio.open_connection('192.0.2.1', 80))", "connect to 192.0.2.1 port 80"),
    "urllib": (
        "__import__('urllib.request').request.urlopen('http://192.0.2.1/')",
        "proxy",
    ),
    "httpx without proxies": (
        "__import__('httpx').get('https://example.invalid/', trust_env=False)",
        "resolve the name example.invalid",
    ),
    "requests without proxies": (
        "s = __import__('requests').Session(); s.trust_env = False; s.get('http://192.0.2.1/')",
        "connect to 192.0.2.1 port 80",
    ),
}
LOOPBACK = """
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        for host in ("127.0.0.1", "localhost", "::ffff:127.0.0.1", "0.0.0.0"):
            socket.create_connection((host, port), timeout=10).close()
        asyncio.run(asyncio.open_connection("localhost", port))
        tcp.connect(("localhost", port))
        udp.sendto(b"x", ("127.0.0.1", port))
        udp.sendmsg((b"x", b"y"), [], 0, ("127.0.0.1", port))
        udp.connect(("127.0.0.1", port))
        udp.sendmsg([b"x"])
    with socket.socket(socket.AF_UNIX) as file, socket.socket(socket.AF_UNIX) as caller:
        file.bind("here.socket")
        file.listen()
        caller.connect("here.socket")
    one, other = socket.socketpair()
    one.sendall(b"x")
    socket.getfqdn("127.0.0.1")
    print("all let through")
"""


def run(program: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs a program from a file, as multiprocessing wants it."""
    file = folder / "program.py"
    file.write_text(GUARDED + program, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run([sys.executable, file], cwd=folder, env=environment, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize("attempt", sorted(ATTEMPTS))
def test_what_leads_outside_is_refused_before_a_packet_and_named(attempt: str, tmp_path: Path) -> None:
    tried, named = ATTEMPTS[attempt]
    done = run(f"    {tried}\n", tmp_path)
    last = done.stderr.strip().splitlines()[-1]
    assert done.returncode == 1, done.stderr
    if named == "proxy":  # of loopback, where nothing listens: told by the environment
        assert "Connection refused" in last
    else:
        assert last.startswith("localfact.errors.OfflineError: ")
        assert f"tried to {named}, and --offline forbids it" in last


def test_loopback_unix_sockets_and_localhost_are_let_through(tmp_path: Path) -> None:
    done = run(LOOPBACK, tmp_path)
    assert done.stdout == "all let through\n", done.stderr


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_a_process_that_multiprocessing_starts_is_guarded_too(method: str, tmp_path: Path) -> None:
    started = f"""
def child():
    prove()
    assert is_offline()
    print("guarded", flush=True)

if __name__ == "__main__":
    process = multiprocessing.get_context({method!r}).Process(target=child)
    process.start()
    process.join()
    sys.exit(process.exitcode)
"""
    done = run(started, tmp_path)
    assert (done.returncode, done.stdout) == (0, "guarded\n"), done.stderr


def test_other_programs_are_told_by_the_environment_whatever_the_user_has_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ENVIRONMENT:
        monkeypatch.setenv(name, "something else")
    done = run("    sys.exit(subprocess.run(['env']).returncode)\n", tmp_path)
    told = dict(line.split("=", 1) for line in done.stdout.splitlines() if "=" in line)
    assert {name: told.get(name) for name in ENVIRONMENT} == dict(ENVIRONMENT)
    assert told["VLLM_HOST_IP"] == "127.0.0.1"
    assert told["HTTPS_PROXY"] == told["https_proxy"] == "http://127.0.0.1:9"


def test_going_offline_again_changes_nothing(tmp_path: Path) -> None:
    again = """
    once = socket.socket.connect, multiprocessing.util.spawnv_passfds
    go_offline()
    assert once == (socket.socket.connect, multiprocessing.util.spawnv_passfds)
    print(is_offline())
"""
    assert run("    import multiprocessing.util\n" + again, tmp_path).stdout == "True\n"


def test_importing_the_module_guards_nothing() -> None:
    program = "import localfact.runtime.offline, sys; sys.audit('socket.getaddrinfo', 'example.invalid', 9, 0, 0, 0)"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-c", program], env=environment, check=True)


def test_only_names_that_the_file_of_hosts_keeps_on_loopback_need_no_name_server(tmp_path: Path) -> None:
    hosts = tmp_path / "hosts"
    hosts.write_text(
        "# 127.0.0.1 comment\n127.0.0.1\tlocalhost Box # ours\n::1 localhost\n\n192.0.2.7 elsewhere\n"
        "127.0.1.1 moved\n192.0.2.7 moved\nnonsense here\n"
    )
    assert loopback_names(hosts) == {"localhost", "box"}
    assert loopback_names(tmp_path / "nowhere") == frozenset()
