"""Every command of the README and of docs/ can be given as it stands, in a folder like its reader's.

What reads a run, a corpus or a file of figures is run; an evaluation is planned; what takes long and has tests of its own is
parsed to its last option. Large language models answer by a script, and the hub and the web are on loopback.
docs/internals/extending.md has a test of its own, tests/test_extending.py.
"""

import io
import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
import warnings
from collections.abc import Iterator
from contextlib import redirect_stdout, suppress
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import pytest
from docs_reader import ROOT, command_line, engine, hub, prepare
from docs_reader import weights as made_weights
from loopback_hub import TOKEN
from loopback_hub import serving as serving_hub
from small_web import SmallWeb, small_web
from typer.core import TyperGroup
from typer.main import get_command

from localfact.cli.main import app

pytestmark = pytest.mark.slow

PAGES = [
    *("README.md", "CONTRIBUTING.md", "index/sample.md"),
    *sorted(str(page.relative_to(ROOT)) for page in (ROOT / "docs").rglob("*.md") if page.name != "extending.md"),
]
#: In a block of its own, what it does behind two spaces; or between backticks in a line.
COMMAND = re.compile(
    r"^    ((?:localfact|make|python -m|unshare) .*?)(?:  .*|$)|`((?:localfact|make|python -m) [^`]+)`", re.MULTILINE
)
#: Commands that tests run elsewhere, by how they begin, and where.
TESTED = {
    "localfact align": "tests/api/test_align.py",
    "localfact annotate runs/": "tests/annotation",
    "localfact annotate answers": "tests/annotation",
    "localfact annotate annotations/mine": "tests/annotation",
    "localfact calibrate --relations": "tests/api/test_calibrate_relations.py",
    "localfact calibrate --verdicts": "tests/api/test_calibrate_verdicts.py",
    "localfact eval --data answers.jsonl --corpus index/mine --verdict-thresholds": "tests/api/test_calibrate_verdicts.py",
    "localfact eval --data answers.jsonl --corpus index/mine --hosts": "tests/api/test_trust.py",
    "localfact compare --methods": "tests/api/test_compare_methods.py",
    "localfact mcp": "tests/integrations/test_mcp.py",
    "localfact serve": "tests/integrations/test_service.py",
    "localfact extract --data answers.jsonl --extractor small-lm": "tests/e2e/test_small_lm.py",
    "localfact export runs/HASH --langfuse --send": "tests/integrations/test_langfuse.py",
    "localfact models pull qwen2.5-coder-1.5b": "tests/models/test_wheels.py",
    "localfact models pull smollm2-135m": "tests/models/test_wheels.py",
    "localfact models pull qwen2.5-7b --tokenizer-only": "tests/models/test_download.py",
    "localfact papers failures": "tests/api/test_failures.py",
    "localfact papers table10": "tests/papers/test_table10.py",
    "localfact trust": "tests/api/test_trust.py",
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
    "test-all",
}


#: What a `make` hands on.
UNDER_MAKE = {"MAKEFLAGS", "MAKEOVERRIDES", "MFLAGS", "MAKELEVEL", "ROOMS", "ARGS"}


class Command(NamedTuple):
    """A command of a page."""

    place: str
    text: str

    def __str__(self) -> str:
        return f"{self.place} {self.text[:60]}"


def commands() -> Iterator[Command]:
    """Each once."""
    seen = set()
    for page in PAGES:
        text = (ROOT / page).read_text(encoding="utf-8")
        for hit in COMMAND.finditer(text):
            command = Command(f"{page}:{text.count(chr(10), 0, hit.start()) + 1}", hit[1] or hit[2])
            if command.text not in seen:
                yield command
            seen.add(command.text)


COMMANDS = list(commands())


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


def made(words: list[str]) -> subprocess.CompletedProcess[str]:
    """What `make` would do; it knows nothing of the `make` that these tests may run under, nor of that one's variables."""
    environment = {name: value for name, value in os.environ.items() if name not in UNDER_MAKE}
    return subprocess.run(["make", "-n", *words], capture_output=True, text=True, cwd=ROOT, env=environment, check=True)


def run_by_make(words: list[str]) -> list[str]:
    """The command of localfact that `make` would run, after it has fetched what that needs."""
    done = made(words)
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


def help_of(module: str) -> str:
    """What a module prints of its options: a script in this process, which has the libraries loaded."""
    if not module.startswith("scripts."):  # of the package, whose assertions pytest rewrites, as of all that have plugins
        return subprocess.run([sys.executable, "-m", module, "--help"], capture_output=True, text=True, check=True).stdout
    said = io.StringIO()
    with patch.object(sys, "argv", [module, "--help"]), redirect_stdout(said), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # another test may have imported it
        with suppress(SystemExit):
            runpy.run_module(module, run_name="__main__")
    return said.getvalue()


def parse(words: list[str]) -> None:
    """Parses the words of a command as far as its last option.

    Raises:
        UsageError: there is no such command or option, or it does not take that.
    """
    command, context, name, rest = get_command(app), None, "localfact", words[1:]
    while True:
        context = command.make_context(name, rest, parent=context)
        if not isinstance(command, TyperGroup):
            return
        name, command, rest = command.resolve_command(context, [*context._protected_args, *context.args])


def test_what_is_said_to_be_tested_elsewhere_is_there() -> None:
    assert all((ROOT / place).exists() for place in TESTED.values())


@pytest.mark.parametrize("command", [command for command in COMMANDS if command.text.startswith("python ")], ids=str)
def test_a_script_of_the_pages_knows_the_options_that_they_give_it(command: Command) -> None:
    _, _, module, *words = shlex.split(command.text)
    assert {word for word in words if word.startswith("--")} <= set(help_of(module).split())


@pytest.mark.parametrize("command", [command for command in COMMANDS if not command.text.startswith("python ")], ids=str)
def test_a_command_of_the_pages_can_be_given(
    command: Command, prepared: Path, weights: Path, web: SmallWeb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = shlex.split(command.text.replace("/path/to/folder", str(weights / "folder")))
    if words[0] == "unshare":
        words = shlex.split(words[-1].partition("exec ")[2])
    if words[0] == "make":
        if words[1] in NOT_RUN:
            made(words[1:])
            return
        words = run_by_make(words[1:])
    if "--offline" in words or " ".join(words).startswith(tuple(TESTED)):  # tests/e2e/test_offline.py
        parse(words)
        return
    monkeypatch.setattr("localfact.llm.cores.vllm.VLLMEngine", engine)
    folder = shutil.copytree(prepared, tmp_path / "reader")
    clear_output(folder, words)
    user = command_line(folder, weights)
    with serving_hub(hub()) as served:
        if words[1:3] == ["models", "pull"]:
            words += ["--to", "pulled"]
            user.environment |= {"HF_ENDPOINT": served.url, "HF_TOKEN": TOKEN}
        if words[1] == "eval" and "--plan" not in words:
            words += ["--plan"]
        done = user(*on_loopback(words, web)[1:])
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
