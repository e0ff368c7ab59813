"""Turns search operators into plain words, in the queries that models write and in all queries that are sent."""

import re

_COLON = re.compile(r"(?<!\d)[:：]|[:：](?!\d)")
_CONJUNCTION = re.compile(r"(?<!\S)(?:AND|OR|NOT|NEAR|AROUND)(?!\S)")


def without_fields(text: str) -> str:
    """The text with a blank for the colon of "site:", "intitle: " and the like; a time of day keeps its colon."""
    return _COLON.sub(" ", text)


def without_conjunctions(text: str) -> str:
    """The text with "OR", "AND" and the like in lower case where they are words of their own."""
    return _CONJUNCTION.sub(lambda found: found.group().lower(), text)
