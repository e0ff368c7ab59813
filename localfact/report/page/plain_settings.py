"""The settings of a run as pages show them: one level, each with its path as its name."""

from collections.abc import Mapping
from typing import Any


def plain_settings(settings: Mapping[str, Any], under: str = "") -> list[tuple[str, str]]:
    """Settings as pairs of name and value, nested ones by their path: "evidence: corpus"."""
    found = []
    for name, value in settings.items():
        path = f"{under}{name}"
        if isinstance(value, Mapping):
            found += plain_settings(value, f"{path}: ")
        elif value not in (None, "", [], ()):
            found.append((path, str(value)))
    return found


def find_differing(settings: Mapping[str, Mapping[str, Any]]) -> list[tuple[str, list[str]]]:
    """The settings in which runs differ: a setting's name, and its value in each run, "" where it has none."""
    plain = [dict(plain_settings(of_run)) for of_run in settings.values()]
    names = dict.fromkeys(name for of_run in plain for name in of_run)
    values = ((name, [of_run.get(name, "") for of_run in plain]) for name in names)
    return [(name, of_runs) for name, of_runs in values if len(set(of_runs)) > 1]
