"""Reads YAML that may come from elsewhere: whatever is wrong with it is a ValueError, and what it holds is bounded."""

from typing import Any

import yaml

#: The most values that a document may hold, each counted as often as it is named: a few lines of aliases can name billions.
MOST_VALUES = 1_000_000


def read_yaml(text: str | bytes) -> Any:
    """The plain values of a YAML document.

    Raises:
        ValueError: it is not YAML, not UTF-8, too deep, or holds more than MOST_VALUES values.
    """
    try:
        content = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError) as error:
        raise ValueError(" ".join(str(error).split())) from None
    ahead, count = [content], 0
    while ahead:
        count += 1
        if count > MOST_VALUES:
            raise ValueError(f"more than {MOST_VALUES:,} values, or one that contains itself")
        value = ahead.pop()
        if isinstance(value, dict):
            ahead.extend(value.values())
        elif isinstance(value, list | tuple | set):
            ahead.extend(value)
    return content
