"""Reads what is typed for options that are tables: arguments of the engine, priors of hosts."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from localfact.errors import InputError
from localfact.runtime.plain_yaml import read_yaml_file

#: Characters of a path that an error shows.
LONGEST_SHOWN = 300


def read_engine_args(typed: Any) -> Any:
    """Parses arguments of the engine from "key=value" texts; a dash in a key is an underscore. A mapping is returned as it is.

    Raises:
        InputError: one has no "=", or a key occurs twice.
    """
    if isinstance(typed, Mapping):
        return typed
    arguments: dict[str, str] = {}
    for text in typed:
        key, separator, value = text.partition("=")
        key = key.strip().replace("-", "_")
        if not separator or not key:
            raise InputError(f"--engine-arg {text!r:.100} is not key=value; for example --engine-arg max_model_len=8192.")
        if key in arguments:
            raise InputError(f"--engine-arg {key:.100} is given twice.")
        arguments[key] = value.strip()
    return arguments


def read_hosts(table: Any) -> Any:
    """The table of host priors, from a YAML file where it is named by its path; hosts in lower case.

    Raises:
        InputError: the file holds no such table; the message names the host.
    """
    if not isinstance(table, str | Path):
        return table
    shown = "".join(sign for sign in " ".join(str(table).split()) if sign.isprintable())[:LONGEST_SHOWN]
    try:
        hosts = read_yaml_file(Path(table)) or {}
    except OSError as error:
        raise InputError(f"{shown} cannot be read: {error.strerror}.") from None
    except ValueError as error:
        raise InputError(f"{shown} is not YAML: {' '.join(str(error).split()).rstrip('.')}.") from None
    if not isinstance(hosts, dict):
        raise InputError(f"{shown} should hold one 'host: prior' a line.")
    for host, prior in hosts.items():
        if isinstance(prior, bool) or not isinstance(prior, int | float) or not 0 <= prior <= 1:
            raise InputError(f"{shown}: the prior of {host!s:.100} must be a number from 0 to 1, not {prior!r:.100}.")
    return {str(host).lower(): float(prior) for host, prior in hosts.items()}
