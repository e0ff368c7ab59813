"""What search engines take for orders, made plain words: in the queries that models write, and in all queries that are sent."""

import re

_COLON = re.compile(r"(?<!\d)[:：]|[:：](?!\d)")
_CONJUNCTION = re.compile(r"(?<!\S)(?:AND|OR|NOT|NEAR|AROUND)(?!\S)")


def without_fields(text: str) -> str:
    """The text in which "site:", "intitle: " and all their like have a blank for the colon; a time of day keeps it."""
    return _COLON.sub(" ", text)


def without_conjunctions(text: str) -> str:
    """The text in which "OR" and its like, as words of their own, are in lower case."""
    return _CONJUNCTION.sub(lambda found: found.group().lower(), text)
