"""Which name was meant by one that there is not."""

import difflib
from collections.abc import Iterable


def suggest(name: str, known: Iterable[str]) -> str:
    """ "Did you mean 'rules'? " with the nearest of the known names and a space behind it; "" where none is near."""
    near = difflib.get_close_matches(name, list(known), n=1)
    return f"Did you mean '{near[0]}'? " if near else ""
