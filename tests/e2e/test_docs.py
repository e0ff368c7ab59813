"""Every command of the README and of docs/ does what its line says, in a folder like its reader's.

Large language models answer by a script; the web and the hub are on loopback; of `make` what it would run is run, without the
installing before it. docs/extending.md has a test of its own, tests/test_extending.py.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from annotation_server import serving as serving_annotators
from docs_reader import ROOT, ScriptedWriter, command_line, engine, hub, prepare
from docs_reader import weights as made_weights
from loopback_hub import TOKEN
from loopback_hub import serving as serving_hub
from namespaces import only_loopback
from small_web import SmallWeb, small_web

pytestmark = pytest.mark.slow

PAGES = [
    *("README.md", "CONTRIBUTING.md", "index/sample.md"),
    *sorted(f"docs/{page.name}" for page in (ROOT / "docs").glob("*.md") if page.name != "extending.md"),
]
#: In a block of its own, what it does behind two spaces; or between backticks in a line.
COMMAND = re.compile(
    r"^    ((?:localfact|make|python -m|unshare) .*?)(?:  .*|$)|`((?:localfact|make|python -m) [^`]+)`", re.MULTILINE
)
#: What takes minutes as it stands gets less to do, and what would write into the checkout another place.
MORE = {
    "make eval": ("--limit", "1"),
    "make table10": ("--limit", "1"),
    "localfact eval --method builtin-fr2 --claims": ("--limit", "1"),
    "localfact models pull": ("--to", "pulled"),
    "python -m scripts.measure_gate": ("--limit", "1"),
    "python -m scripts.plot_collapse": ("--seeds", "1", "--out", "collapse.svg"),
    "python -m scripts.attempts": ("--share", "0.001"),
    "python -m scripts.training.compare": ("--limit", "1", "--work", "compared"),
}
#: Targets that install, gather wheels, measure for long, or run this test: `make` knows them, and they are not run here.
NOT_RUN = {
    "bundle",
    "check-gpu",
    "setup-llm",
    "bench",
    "benchmark",
    "fuzz",
    "lint",
    "test",
    "test-fast",
    "test-models",
    "test-pages",
    "test-training",
}


class Command(NamedTuple):
    """A command of a page."""

    place: str
    text: str

    def __str__(self) -> str:
        return f"{self.place} {self.text[:60]}"


def commands() -> Iterator[object]:
    """Each once; the one that starts a language model with the network unplugged is the room of models'."""
    seen = set()
    for page in PAGES:
        text = (ROOT / page).read_text(encoding="utf-8")
        for hit in COMMAND.finditer(text):
            command = Command(f"{page}:{text.count(chr(10), 0, hit.start()) + 1}", hit[1] or hit[2])
            if command.text not in seen:
                starts_engine = "--offline" in command.text and "MODEL=" in command.text
                yield pytest.param(command, id=str(command), marks=[pytest.mark.models] if starts_engine else [])
            seen.add(command.text)


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_weights(tmp_path_factory.mktemp("weights"))


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SmallWeb]:
    with small_web(tmp_path_factory.mktemp("web")) as served:
        yield served


@pytest.fixture(scope="module")
def prepared(weights: Path, web: SmallWeb, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return prepare(tmp_path_factory.mktemp("reader"), weights, web)


def run_by_make(words: list[str]) -> list[str]:
    """The command of localfact that `make` would run, after it has fetched what that needs."""
    done = subprocess.run(["make", "-n", *words], capture_output=True, text=True, cwd=ROOT, check=True)
    *_, command = [line for line in done.stdout.replace("\\\n", " ").splitlines() if line.startswith(".venv/bin/localfact")]
    return ["localfact", *shlex.split(command)[1:]]


def on_loopback(words: list[str], web: SmallWeb) -> list[str]:
    """The words of a command that searches, with the servers on loopback in place of those that the page names."""
    if "--provider" not in words and words[1:3] != ["corpus", "fetch"]:
        return words
    for option in ("--provider", "--searxng-url"):
        if option in words:
            place = words.index(option)
            words = words[:place] + words[place + 2 :]
    return [*words, *web.words]


def clear_output(folder: Path, words: list[str]) -> None:
    """Takes away what the command is to make, where the reader has one from another page."""
    if words[1:3] in (["corpus", "build"], ["papers", "build"]) or words[1] == "extract":
        made = folder / words[words.index("--out") + 1]
        if made.is_dir():
            shutil.rmtree(made)
        made.unlink(missing_ok=True)


@pytest.mark.parametrize("command", list(commands()))
def test_a_command_of_the_pages_does_what_it_says(
    command: Command, prepared: Path, weights: Path, web: SmallWeb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("localfact.llm.vllm.VLLMEngine", engine)
    monkeypatch.setattr("localfact.methods.extraction.TextWriter", ScriptedWriter)
    folder = shutil.copytree(prepared, tmp_path / "reader")
    words = shlex.split(command.text.replace("/path/to/folder", str(weights / "folder")))
    more = [word for start, words in MORE.items() if command.text.startswith(start) for word in words]
    if words[0] == "python":
        script = subprocess.run([sys.executable, *words[1:], *more], capture_output=True, text=True, cwd=folder)
        assert script.returncode == 0, script.stderr
        return
    if words[0] == "unshare":
        if not only_loopback():
            pytest.skip("no network namespace can be made")
        limited = command.text.replace(" --offline", " --offline --limit 1")
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(limited, shell=True, capture_output=True, text=True, cwd=folder, env={**os.environ, "PATH": path})
        assert done.returncode == 0, done.stderr
        return
    if words[1] == "annotate" and words[2] not in ("export", "import"):  # serves until it is stopped
        with serving_annotators(*words[2:], inside=folder) as served:
            assert served.end() == 0
        return
    if words[0] == "make":
        if words[1] in NOT_RUN:
            subprocess.run(["make", "-n", *words[1:]], capture_output=True, cwd=ROOT, check=True)
            return
        words = run_by_make(words[1:])
    clear_output(folder, words)
    user = command_line(folder, weights)
    with serving_hub(hub()) as served:
        if words[1:3] == ["models", "pull"]:
            user.environment |= {"HF_ENDPOINT": served.url, "HF_TOKEN": TOKEN}
        done = user(*on_loopback(words, web)[1:], *more)
    if "--model" in words and "--offline" in words:
        # There the engine is real, in a process of its own; its weights are random, and what it says is no claim.
        assert (done.returncode, "No claim can be read" in " ".join(done.stderr.split())) == (1, True), done.stderr
        return
    assert done.returncode == 0, done.stderr


def test_the_readme_is_one_page() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8")) <= 9_000


def test_the_python_of_the_readme_does_what_it_says(prepared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(prepared)
    (lines,) = re.findall(
        r"^    import localfact\n(?:    .*\n|\n)+", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    names: dict[str, Any] = {}
    exec(re.sub("^    ", "", lines, flags=re.MULTILINE), names)
    assert names["summary"].responses == 1
    assert names["assessment"].verdicts
