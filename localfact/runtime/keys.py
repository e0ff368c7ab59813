"""Keys of servers, which only environment variables hold."""

import os

from localfact.errors import InputError


def read_key(variable: str) -> str:
    """The key that an environment variable holds, "" for none.

    Raises:
        InputError: it has characters that no key has.
    """
    key = os.environ.get(variable, "").strip()
    if not (key.isascii() and key.isprintable()):
        raise InputError(f"{variable} holds characters that no key has: set it to the key alone.")
    return key
