"""Whole evaluations with the network unplugged: every call that leads outside is refused, and only loopback is up.

With rules and the shipped embedder they say what a plain run says, and a taught Llama in real vLLM answers as ever.
"""

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from commands import CommandLine, QuickCommandLine
from engines import NEEDS_VLLM
from lessons import RESPONSES
from namespaces import only_loopback
from taught_model import EXTRACTION_TOKENS, VERIFICATION_TOKENS, Taught

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ("--data", ROOT / "index/sample-responses.jsonl", "--corpus", ROOT / "index/sample", "--limit", "1")
#: Stands before all other hooks, in every Python that is started (as sitecustomize): writes down whatever names a host that is
#: not loopback, also where a library swallows the refusal, and raises.
WATCH = """
import os, socket, sys
log = os.open(os.environ["WATCH_LOG"], os.O_CREAT | os.O_WRONLY | os.O_APPEND)
NAMES = ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr", "socket.getnameinfo")
PEERS = ("socket.connect", "socket.sendto", "socket.sendmsg")
HERE = ("127.0.0.1", "::1", "localhost", "", "None")

def watch(event, given):
    host = given[0] if event in NAMES else given[1] if event in PEERS and isinstance(given[1], tuple) else None
    host = host[0] if isinstance(host, tuple) else host
    if host is not None and str(host) not in HERE:
        os.write(log, f"{event} {host}\\n".encode())
        raise RuntimeError(f"the network is unplugged: {event} {host}")

sys.addaudithook(watch)
os.write(log, b"watched\\n")
"""
#: The command line, which says at its end whether it was offline.
COMMAND = """
import os, sys
from localfact.cli.main import main
from localfact.runtime.offline import is_offline
try:
    main()
finally:
    with open(os.environ["WATCH_LOG"], "a") as log:
        log.write(f"offline: {is_offline()}\\n")
"""


class UnpluggedCommandLine(CommandLine):
    """The command line where the network is unplugged, with what it and its processes try to reach outside in a file."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.log = folder / "log"
        (folder / "watch").mkdir()
        (folder / "watch/sitecustomize.py").write_text(WATCH, encoding="utf-8")
        paths = [str(folder / "watch"), *filter(None, [self.environment.get("PYTHONPATH")])]
        self.environment |= {"WATCH_LOG": str(self.log), "PYTHONPATH": os.pathsep.join(paths)}

    def arguments(self, words: Sequence[str | Path]) -> list[str]:
        return [*only_loopback(), sys.executable, "-c", COMMAND, *map(str, words)]

    def tried_outside(self) -> set[str]:
        """The calls that name another machine. Asserts that somebody watched and that the command was offline."""
        written = set(self.log.read_text().splitlines())
        assert written >= {"watched", "offline: True"}
        return written - {"watched", "offline: True"}


@pytest.fixture
def unplugged(tmp_path: Path) -> UnpluggedCommandLine:
    return UnpluggedCommandLine(tmp_path)


def assessments(folder: Path) -> bytes:
    return (folder / "out/assessments.jsonl").read_bytes()


@pytest.fixture(scope="module")
def plain_sample(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """What a run says that was not told to stay offline."""
    folder = tmp_path_factory.mktemp("plain")
    done = QuickCommandLine(folder)("eval", "--method", "builtin-fr2", *SAMPLE, "--out", "out")
    assert done.returncode == 0, done.stderr
    return assessments(folder)


def test_the_sample_is_scored_without_leaving_the_machine(
    unplugged: UnpluggedCommandLine, plain_sample: bytes, tmp_path: Path
) -> None:
    done = unplugged("eval", "--method", "builtin-fr2", *SAMPLE, "--out", "out", "--offline")
    assert done.returncode == 0, done.stderr
    assert assessments(tmp_path) == plain_sample
    assert not unplugged.tried_outside()


def test_a_text_is_checked_without_leaving_the_machine(unplugged: UnpluggedCommandLine) -> None:
    text = "Marie Curie was born in Warsaw in 1867."
    done = unplugged("check", "-", "--topic", "Marie Curie", "--embedder", "none", "--json", "--offline", stdin=text)
    assert done.returncode == 0, done.stderr
    assert len(json.loads(done.stdout)["verdicts"]) == 2  # born in a place, born on a day
    assert not unplugged.tried_outside()


@NEEDS_VLLM
@pytest.mark.models
def test_a_language_model_answers_without_leaving_the_machine(
    unplugged: UnpluggedCommandLine, school: Taught, tmp_path: Path
) -> None:
    lengths = ("--extraction-tokens", str(EXTRACTION_TOKENS), "--verification-tokens", str(VERIFICATION_TOKENS))
    model = ("--model", school.model, "--engine-arg", "enforce_eager=true")
    evidence = ("--corpus", school.corpus, "--embedder", "none")
    done = unplugged(
        *("eval", "--method", "fastfact", "--data", school.data, *model, *evidence, *lengths, "--out", "out", "--offline")
    )
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in assessments(tmp_path).splitlines()]
    assert [row["status"] for row in rows] == ["scored", "scored", "abstained"]
    assert len(rows) == len(RESPONSES)
    assert any(verdict["passages"] for row in rows for verdict in row["verdicts"])
    assert not unplugged.tried_outside()
