"""A cluster that the command starts itself is this machine's alone: nobody else can reach it."""

import json
import subprocess
import sys

import pytest

pytestmark = pytest.mark.models

#: Joins or starts a cluster, has it work, and prints the addresses that its processes listen on.
PROGRAM = """
import json, psutil, ray
from localfact.cluster.joining import connect, leave

assert connect("auto")
assert ray.get(ray.remote(lambda: 1).remote()) == 1
processes = [psutil.Process(), *psutil.Process().children(recursive=True)]
sockets = [place for process in processes for place in process.net_connections() if place.status == psutil.CONN_LISTEN]
print(json.dumps([place.laddr.ip.removeprefix("::ffff:") for place in sockets]))
leave()
"""


def test_a_cluster_that_is_started_here_listens_on_loopback_alone_and_the_user_is_told() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    addresses = json.loads(done.stdout)
    assert len(addresses) > 3
    assert set(addresses) == {"127.0.0.1"}
    assert done.stderr == (
        "No Ray cluster runs here, so one was started for this command: on this machine alone, on loopback.\n"
    )
